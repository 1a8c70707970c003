// fsGroup: everything in a volume belongs to the group and is readable (and writable) by it, new files inherit it.
import { chmod, lchown, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** `onlyWhenRootDiffers`: fsGroupChangePolicy OnRootMismatch. */
export async function setGroup(
  directory: string,
  groupId: number,
  onlyWhenRootDiffers: boolean,
): Promise<void> {
  if (onlyWhenRootDiffers) {
    const root = await lstat(directory);
    if (root.gid === groupId && (root.mode & 0o2070) === 0o2070) return;
  }
  await visit(directory, groupId);
}

async function visit(path: string, groupId: number): Promise<void> {
  const found = await lstat(path);
  await lchown(path, found.uid, groupId);
  if (found.isSymbolicLink()) return;
  const mode = found.mode & 0o7777;
  if (!found.isDirectory()) {
    await chmod(path, mode | 0o660);
    return;
  }
  await chmod(path, mode | 0o2770);
  for (const name of await readdir(path))
    await visit(join(path, name), groupId);
}
