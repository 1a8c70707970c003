// Looks at processes through /proc: is this pid still the one that was started, may processes lower their OOM score.
import * as fs from "node:fs/promises";
import { delimiter, join } from "node:path";

/** Start time in clock ticks since boot (field 22 of stat), which with the pid names a process for good. */
export async function processStartTicks(
  pid: number,
): Promise<string | undefined> {
  try {
    const stat = await fs.readFile(`/proc/${pid}/stat`, "utf8");
    // The command is in parentheses and may hold blanks and parentheses itself.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/** Bit 24 of the effective capabilities: without it every lowering of oom_score_adj fails. */
export async function hasSysResource(): Promise<boolean> {
  const status = await fs.readFile("/proc/self/status", "utf8");
  const mask = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  return mask !== undefined && ((BigInt(`0x${mask}`) >> 24n) & 1n) === 1n;
}

/** Absolute path of a program on PATH or in the usual system directories. */
export async function findProgram(
  name: string,
  path = process.env["PATH"] ?? "",
): Promise<string | undefined> {
  const directories = [
    ...path.split(delimiter),
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
  ];
  for (const directory of directories) {
    if (!directory.startsWith("/")) continue;
    const candidate = join(directory, name);
    try {
      await fs.access(candidate, fs.constants.X_OK);
      if ((await fs.stat(candidate)).isFile()) return candidate;
    } catch {
      // not there
    }
  }
  return undefined;
}
