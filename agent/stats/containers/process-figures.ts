// What the processes of a cgroup hold open, as cAdvisor counts it: descriptors, sockets among them, and the limit that the
// first process has. What ends meanwhile counts nothing. No pod can make a scrape long: what is above the bounds is left out.
import { readlinkSync } from "node:fs";
import { opendir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CgroupAmount } from "../../../api/contracts.ts";

type ProcessFigures = Partial<
  Record<
    Extract<CgroupAmount, "fileDescriptors" | "sockets" | "maxOpenFiles">,
    number
  >
>;

/** Of a cgroup's descriptors that are counted; the kernel lists some 1,000 in a millisecond. */
const mostCounted = 100_000;
/** Of those that it is asked of what they are, some 3 us each. */
const mostLooked = 1000;

/** @param pids of the cgroup, its first process first */
export async function processFigures(
  pids: readonly number[],
  proc = "/proc",
): Promise<ProcessFigures> {
  let fileDescriptors = 0;
  let sockets = 0;
  for (const pid of pids) {
    const directory = join(proc, String(pid), "fd");
    for await (const name of names(directory)) {
      fileDescriptors++;
      if (fileDescriptors > mostCounted) return {};
      if (fileDescriptors <= mostLooked && isSocket(join(directory, name)))
        sockets++;
    }
  }
  const maxOpenFiles = await openFilesLimit(proc, pids[0]);
  return {
    fileDescriptors,
    ...(fileDescriptors > mostLooked ? {} : { sockets }),
    ...(maxOpenFiles === undefined ? {} : { maxOpenFiles }),
  };
}

async function* names(directory: string): AsyncGenerator<string> {
  const opened = await opendir(directory, { bufferSize: 256 }).catch(
    () => undefined,
  );
  if (!opened) return;
  try {
    for await (const { name } of opened) yield name;
  } catch {
    // The process has ended.
  }
}

function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith("socket:");
  } catch {
    return false;
  }
}

/** The soft limit; -1 for none, as cAdvisor says it. */
async function openFilesLimit(
  proc: string,
  pid: number | undefined,
): Promise<number | undefined> {
  if (pid === undefined) return undefined;
  const limits = await readFile(
    join(proc, String(pid), "limits"),
    "utf8",
  ).catch(() => "");
  const [, soft] = /^Max open files +(\d+|unlimited) /m.exec(limits) ?? [];
  if (soft === undefined) return undefined;
  return soft === "unlimited" ? -1 : Number(soft);
}
