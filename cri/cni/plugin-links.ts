// The network plug-ins of a private containerd: links to the machine's, in a directory where one of our own can lie beside
// them, as containerd 1.6 looks into one directory only.
import { randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../directories.ts";

/** Makes the link, or replaces what is there: who looks for it at this moment finds the old one or the new one. */
export async function replaceLink(target: string, path: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  await fs.symlink(target, temporary);
  await fs.rename(temporary, path);
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
      else if (!wanted.has(entry.name)) await fs.rm(path, { force: true });
    }
    for (const [name, target] of wanted)
      await replaceLink(target, join(directory, name));
    return directory;
  } catch {
    return machine;
  }
}
