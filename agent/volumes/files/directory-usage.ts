// What a directory uses, by reading it, while containers change it as they like: each directory is opened once, by its name
// in the open one above it and without following a link, so that nothing outside is read; and a directory of millions of
// files is read a few hundred entries at a time, so that it takes neither the memory nor the turns of this process. What is
// mounted below is not counted.
import { lstat, open, opendir, type FileHandle } from "node:fs/promises";
import { descriptorPath, openPathFlags } from "./descriptors.ts";

interface DirectoryUsage {
  readonly bytes: number;
  readonly inodes: number;
}

/** Of `blocks` in what stat says. */
export const blockBytes = 512;
/** Each level holds two descriptors. What lies deeper is more than any limit allows. */
const deepestLevel = 256;
const entriesAtOnce = 256;
/** Inodes with several names of which it is known that they are counted. Those beyond count with each name. */
const maxSeen = 200_000;

interface Walk {
  bytes: number;
  inodes: number;
  /** Of the directory's file system. */
  device: number;
  readonly seen: Set<number>;
  readonly mounts: ReadonlySet<string>;
}

/**
 * Of all files and directories below, each inode once; what vanishes meanwhile counts nothing. `mounts`: paths below at which
 * something is mounted. They are not even looked at: a file system that a pod serves may never answer.
 */
export async function directoryUsage(
  path: string,
  mounts: readonly string[] = [],
): Promise<DirectoryUsage> {
  const walk: Walk = {
    ...{ bytes: 0, inodes: 0, device: NaN },
    ...{ seen: new Set(), mounts: new Set(mounts) },
  };
  // The directory itself may be reached through links: its path is the agent's or the administrator's.
  await addBelow(path, path, openPathFlags.directory, walk, 0);
  return { bytes: walk.bytes, inodes: walk.inodes };
}

/** `name`: the path as it would be without descriptors. */
async function addBelow(
  path: string,
  name: string,
  flags: number,
  walk: Walk,
  level: number,
): Promise<void> {
  if (level === deepestLevel) {
    walk.bytes = Number.MAX_SAFE_INTEGER;
    return;
  }
  const handle = await open(path, openPathFlags.path | flags).catch(
    () => undefined,
  );
  if (!handle) return;
  try {
    if (level === 0) walk.device = (await handle.stat()).dev;
    await addEntries(handle, name, walk, level);
  } finally {
    await handle.close();
  }
}

async function addEntries(
  directory: FileHandle,
  directoryName: string,
  walk: Walk,
  level: number,
): Promise<void> {
  const path = descriptorPath(directory);
  const entries = await opendir(path, { bufferSize: entriesAtOnce }).catch(
    () => undefined,
  );
  if (!entries) return;
  const { directory: only, noFollow } = openPathFlags;
  for await (const { name } of entries) {
    if (walk.bytes === Number.MAX_SAFE_INTEGER) return;
    const child = `${path}/${name}`;
    const childName = `${directoryName}/${name}`;
    if (walk.mounts.has(childName)) continue;
    const found = await lstat(child).catch(() => undefined);
    if (!found || found.dev !== walk.device) continue;
    if (found.nlink > 1 && !found.isDirectory()) {
      if (walk.seen.has(found.ino)) continue;
      if (walk.seen.size < maxSeen) walk.seen.add(found.ino);
    }
    walk.bytes += found.blocks * blockBytes;
    walk.inodes++;
    if (found.isDirectory())
      await addBelow(child, childName, only | noFollow, walk, level + 1);
  }
}
