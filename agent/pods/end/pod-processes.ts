// Ends pods' processes without their container runtime, by the cgroups the agent made for them: the last resort when the
// machine halts and the runtime is gone or hangs. No hooks and no order; TERM, the grace, KILL.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../../api/clock.ts";

interface PodProcessesOptions {
  /** Where the cgroup file systems are mounted. */
  cgroupMount: string;
  /** The cgroup above all pods of the agent, as it lies below the mount. */
  cgroupRoot: string;
  /** The agent's: its pods have directories there. */
  rootDirectory: string;
  graceMs: number;
  clock: Clock;
}

const lookEveryMs = 100;

/** Resolves to how many processes had to be ended. */
export async function endPodProcesses(
  options: PodProcessesOptions,
): Promise<number> {
  const { clock, graceMs } = options;
  const found = await podProcesses(options);
  signal(found, "SIGTERM");
  const deadlineMs = clock.monotonic() + graceMs;
  let left = found;
  while (left.size > 0 && clock.monotonic() < deadlineMs) {
    await new Promise<void>((resolve) => clock.after(lookEveryMs, resolve));
    left = await podProcesses(options);
  }
  signal(left, "SIGKILL");
  return found.size;
}

function signal(pids: ReadonlySet<number>, name: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, name);
    } catch {
      // It ended meanwhile.
    }
}

async function podProcesses({
  cgroupMount,
  cgroupRoot,
  rootDirectory,
}: PodProcessesOptions): Promise<Set<number>> {
  const uids = await readdir(join(rootDirectory, "pods")).catch(
    (): string[] => [],
  );
  const own = new Set(uids.map((uid) => `pod${uid}`));
  const pids = new Set<number>();
  const visit = async (directory: string, isPod: boolean): Promise<void> => {
    const entries = await readdir(directory, { withFileTypes: true }).catch(
      () => [],
    );
    if (isPod) {
      const text = await readFile(
        join(directory, "cgroup.procs"),
        "utf8",
      ).catch(() => "");
      for (const pid of text.split("\n").map(Number))
        if (pid > 0) pids.add(pid);
    }
    for (const entry of entries)
      if (entry.isDirectory())
        await visit(
          join(directory, entry.name),
          isPod || own.has(podNameOf(entry.name)),
        );
  };
  // The unified hierarchy's root is the mount itself; those of version 1 are below it.
  const hierarchies = await readdir(cgroupMount).catch((): string[] => []);
  for (const place of ["", ...hierarchies])
    await visit(join(cgroupMount, place, cgroupRoot), false);
  return pids;
}

/** pod1-2 of itself and of the slice kubepods-burstable-pod1_2.slice. */
function podNameOf(directory: string): string {
  return directory.endsWith(".slice")
    ? directory
        .slice(directory.lastIndexOf("-") + 1, -".slice".length)
        .replaceAll("_", "-")
    : directory;
}
