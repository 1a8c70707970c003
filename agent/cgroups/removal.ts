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
  let entries;
  try {
    entries = await readdir(directory, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  for (const entry of entries)
    if (entry.isDirectory())
      await removeTree(join(directory, entry.name), rmdir);
  for (let attempt = 1; ; attempt++) {
    try {
      await rmdir(directory);
      return;
    } catch (error) {
      if (isMissing(error)) return;
      if (
        (error as NodeJS.ErrnoException).code !== "EBUSY" ||
        attempt === tries
      )
        throw error;
      await killAll(directory);
      await new Promise((resolve) => setTimeout(resolve, 2 * attempt));
    }
  }
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
