// Puts a process into a cgroup of its own, outside of that of the service or the session that started it: what ends all
// of the service's processes (systemctl kill, the end of a session) then leaves containerd, its shims and so all pods
// alone. In the unified hierarchy and in each of version 1 that takes it; the directories stay, as containerd does.
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../directories.ts";

/** @param group absolute below each hierarchy's root, e.g. /orbit-runtime; @returns in how many hierarchies it is now */
export async function moveToCgroup(
  pid: number,
  group: string,
  mount = "/sys/fs/cgroup",
): Promise<number> {
  let moved = 0;
  for (const hierarchy of await hierarchies(mount)) {
    const directory = join(hierarchy, group);
    try {
      await makeDirectory(directory);
      await fs.writeFile(join(directory, "cgroup.procs"), `${pid}\n`);
      moved++;
    } catch {
      // Read-only, or cpuset of version 1, which wants its values set first: the process stays where it is.
      await fs.rmdir(directory).catch(() => undefined);
    }
  }
  return moved;
}

async function hierarchies(mount: string): Promise<string[]> {
  const names = await fs.readdir(mount).catch((): string[] => []);
  if (names.includes("cgroup.procs")) return [mount];
  return names.map((name) => join(mount, name));
}
