// fsGroup: everything in a volume belongs to the group and is readable (and writable) by it, new files inherit it.
// A container may run already and swap a directory for a link at any moment. So nothing is reached by its path: each
// entry is opened once, by name below the open directory and without following a link, and what the descriptor refers
// to is changed. Whatever is swapped meanwhile, only what was in the volume gets the group. What can't be changed (a file that
// was made immutable, what a pod mounted there read-only) is counted and left, as at the reference: one file must not keep a
// pod from its volume.
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
/** What is added to a directory's mode. */
const directoryMode = 0o2770;
/** Of chown(2). */
const sameOwner = -1;

/** What could not be changed. */
interface Unchanged {
  count: number;
  /** Why the first of them could not. */
  error: unknown;
}

/** @param onlyWhenRootDiffers fsGroupChangePolicy OnRootMismatch. Resolves to what was left as it is. */
export async function setGroup(
  directory: string,
  groupId: number,
  onlyWhenRootDiffers: boolean,
): Promise<Unchanged> {
  const unchanged: Unchanged = { count: 0, error: undefined };
  // The volume itself may be reached through links: its path is the agent's or the administrator's.
  const handle = await open(
    directory,
    openPathFlags.path | openPathFlags.directory,
  );
  try {
    if (onlyWhenRootDiffers) {
      const root = await handle.stat();
      if (root.gid === groupId && (root.mode & directoryMode) === directoryMode)
        return unchanged;
    }
    await change(handle, groupId, 0, unchanged);
  } finally {
    await handle.close();
  }
  return unchanged;
}

async function change(
  handle: FileHandle,
  groupId: number,
  level: number,
  unchanged: Unchanged,
): Promise<void> {
  const path = descriptorPath(handle);
  const found = await handle.stat();
  const mode = found.mode & 0o7777;
  const isDirectory = found.isDirectory();
  // Before the directory itself: where it was begun and broken off the root differs still, and OnRootMismatch begins again.
  if (isDirectory) await changeEntries(path, groupId, level, unchanged);
  await chown(path, sameOwner, groupId)
    .then(() => chmod(path, mode | (isDirectory ? directoryMode : 0o660)))
    .catch((error: unknown) => {
      unchanged.count++;
      unchanged.error ??= error;
    });
}

async function changeEntries(
  path: string,
  groupId: number,
  level: number,
  unchanged: Unchanged,
): Promise<void> {
  if (level >= deepestLevel)
    throw new Error(`the volume is deeper than ${deepestLevel} directories`);
  // Not all names at once: there may be millions.
  for await (const { name } of await opendir(path, { bufferSize: 256 }))
    await changeEntry(`${path}/${name}`, groupId, level + 1, unchanged);
}

/** `path` names an entry of an open directory. */
async function changeEntry(
  path: string,
  groupId: number,
  level: number,
  unchanged: Unchanged,
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
    if (!found.isSymbolicLink())
      await change(handle, groupId, level, unchanged);
    // It may be gone, and what it leads to is not the volume's.
    else await lchown(path, sameOwner, groupId).catch(() => undefined);
  } finally {
    await handle.close();
  }
}
