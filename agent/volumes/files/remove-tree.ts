// Removes what a pod wrote, however deep: a container makes directories in directories without ever naming them by a whole
// path, and the kernel takes no path of more than 4096 bytes. What lies too deep is moved up first, a few levels at a time.
import { randomBytes } from "node:crypto";
import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** Names have at most 255 bytes: paths of so many levels are short enough. */
const maxLevels = 8;

/** Of a directory in which no container writes any more. It need not exist. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENAMETOOLONG") throw error;
    await flatten(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function flatten(root: string): Promise<void> {
  const pending = [{ path: root, level: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { path, level } = next;
    for (const entry of await readdir(path, { withFileTypes: true })) {
      // Links are not followed: a link is no directory here.
      if (!entry.isDirectory()) continue;
      const child = join(path, entry.name);
      if (level < maxLevels) {
        pending.push({ path: child, level: level + 1 });
        continue;
      }
      const moved = join(root, `.removed-${randomBytes(16).toString("hex")}`);
      await rename(child, moved);
      pending.push({ path: moved, level: 1 });
    }
  }
}
