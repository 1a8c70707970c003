// The network plug-ins of a private containerd: links to the machine's, in a directory where one of our own can lie beside
// them, as containerd 1.6 looks into one directory only.
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../directories.ts";

/** Another start makes the same links. */
function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

/** Brings the links up to date. Resolves to the directory, or to the machine's own when the links can't be made. */
export async function linkPlugins(
  directory: string,
  machine: string,
): Promise<string> {
  try {
    const names = await fs.readdir(machine);
    await makeDirectory(directory, 0o755);
    const present = await fs.readdir(directory, { withFileTypes: true });
    const wanted = new Map(names.map((name) => [name, join(machine, name)]));
    for (const entry of present) {
      if (!entry.isSymbolicLink()) {
        wanted.delete(entry.name);
        continue;
      }
      const path = join(directory, entry.name);
      const target = await fs.readlink(path).catch(() => undefined);
      if (target !== undefined && target === wanted.get(entry.name))
        wanted.delete(entry.name);
      else await fs.rm(path, { force: true });
    }
    for (const [name, target] of wanted)
      await fs.symlink(target, join(directory, name)).catch(unlessThere);
    return directory;
  } catch {
    return machine;
  }
}
