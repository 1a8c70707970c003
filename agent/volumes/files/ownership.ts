// fsGroup: everything in a volume belongs to the group and is readable (and writable) by it, new files inherit it.
// A container may run already and swap a directory for a link at any moment. So nothing is reached by its path: each
// entry is opened once, by name below the open directory and without following a link, and what the descriptor refers
// to is changed. Whatever is swapped meanwhile, only what was in the volume gets the group.
import {
  chmod,
  chown,
  lchown,
  open,
  opendir,
  type FileHandle,
} from "node:fs/promises";
import { descriptorPath, openPathFlags } from "./descriptors.ts";

/** A descriptor is held for each level: a bound, so that a container can't use up those of the agent. */
const deepestLevel = 512;

/** `onlyWhenRootDiffers`: fsGroupChangePolicy OnRootMismatch. */
export async function setGroup(
  directory: string,
  groupId: number,
  onlyWhenRootDiffers: boolean,
): Promise<void> {
  // The volume itself may be reached through links: its path is the agent's or the administrator's.
  const handle = await open(
    directory,
    openPathFlags.path | openPathFlags.directory,
  );
  try {
    if (onlyWhenRootDiffers) {
      const root = await handle.stat();
      if (root.gid === groupId && (root.mode & 0o2070) === 0o2070) return;
    }
    await change(handle, groupId, 0);
  } finally {
    await handle.close();
  }
}

async function change(
  handle: FileHandle,
  groupId: number,
  level: number,
): Promise<void> {
  const path = descriptorPath(handle);
  const found = await handle.stat();
  await chown(path, found.uid, groupId);
  const mode = found.mode & 0o7777;
  if (!found.isDirectory()) {
    await chmod(path, mode | 0o660);
    return;
  }
  await chmod(path, mode | 0o2770);
  if (level >= deepestLevel)
    throw new Error(`the volume is deeper than ${deepestLevel} directories`);
  // Not all names at once: there may be millions.
  for await (const { name } of await opendir(path, { bufferSize: 256 }))
    await changeEntry(`${path}/${name}`, groupId, level + 1);
}

/** `path` names an entry of an open directory. */
async function changeEntry(
  path: string,
  groupId: number,
  level: number,
): Promise<void> {
  let handle: FileHandle;
  try {
    handle = await open(path, openPathFlags.path | openPathFlags.noFollow);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  try {
    const found = await handle.stat();
    if (found.isSymbolicLink()) await lchown(path, found.uid, groupId);
    else await change(handle, groupId, level);
  } finally {
    await handle.close();
  }
}
