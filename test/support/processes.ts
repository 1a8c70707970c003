// Processes that tests find by what they name or by their cgroup, and end.
import * as fs from "node:fs";
import * as path from "node:path";
import { eventually } from "./eventually.ts";

const mount = "/sys/fs/cgroup";

/** The pids whose command line names a path. */
export function processesNaming(text: string): number[] {
  const pids: number[] = [];
  for (const name of fs.readdirSync("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      if (fs.readFileSync(`/proc/${name}/cmdline`, "utf8").includes(text))
        pids.push(Number(name));
    } catch {
      // It ended meanwhile.
    }
  }
  return pids;
}

/** The processes in this group and in those below it, of any controller. */
export function processesIn(parent: string): number[] {
  if (!/^\/[^/]/.test(parent)) throw new Error(`"${parent}" is everybody's`);
  const pids = ["", ...fs.readdirSync(mount)]
    .map((controller) => path.join(mount, controller, parent))
    .filter((root) => fs.existsSync(root))
    .flatMap((root) => [
      root,
      ...fs
        .readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => path.join(entry.parentPath, entry.name)),
    ])
    .flatMap((group) => {
      try {
        return fs
          .readFileSync(path.join(group, "cgroup.procs"), "utf8")
          .split("\n")
          .filter(Boolean)
          .map(Number);
      } catch {
        return []; // The group went meanwhile.
      }
    });
  return [...new Set(pids)];
}

/** Sends a signal to a process that may have ended. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

/**
 * Ends what names a path and what runs in cgroups: what a test that failed, or a daemon that was killed, left to nobody.
 */
export async function endProcesses(
  text: string,
  ...cgroups: string[]
): Promise<void> {
  await eventually(
    () => {
      const pids = [...processesNaming(text), ...cgroups.flatMap(processesIn)];
      for (const pid of pids) sendSignal(pid, "SIGKILL");
      return pids.length === 0;
    },
    { what: `the processes of ${text} to end` },
  );
}
