// Removes a cgroup and what is below it, deepest first: cgroup directories can't be removed recursively. Processes
// that are left are killed; the kernel lets go of a dying process's cgroup a moment later, hence the few tries.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const tries = 20;

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

export async function removeTree(
  directory: string,
  rmdir: (path: string) => Promise<void>,
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await rmdir(directory);
      return;
    } catch (error) {
      if (isMissing(error)) return;
      if (!isInUse(error) || attempt === tries) throw error;
    }
    // Most have nothing below them.
    if (attempt === 0) await removeBelow(directory, rmdir);
    else {
      await killAll(directory);
      await new Promise((resolve) => setTimeout(resolve, 2 * attempt));
    }
  }
}

async function removeBelow(
  directory: string,
  rmdir: (path: string) => Promise<void>,
): Promise<void> {
  try {
    for (const entry of await readdir(directory, { withFileTypes: true }))
      if (entry.isDirectory())
        await removeTree(join(directory, entry.name), rmdir);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** By processes or by cgroups below it; outside of cgroupfs a directory that is not empty has a code of its own. */
function isInUse(error: unknown): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return code === "EBUSY" || code === "ENOTEMPTY";
}

async function killAll(directory: string): Promise<void> {
  const text = await readFile(join(directory, "cgroup.procs"), "utf8").catch(
    () => "",
  );
  for (const line of text.split("\n")) {
    const pid = Number(line);
    if (pid > 1) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It is gone already.
      }
    }
  }
}
