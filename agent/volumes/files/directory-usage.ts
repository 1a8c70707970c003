// What a directory uses, by reading it.
import { lstat, open as openFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { descriptorPath, openPathFlags } from "./descriptors.ts";

interface DirectoryUsage {
  readonly bytes: number;
  readonly inodes: number;
}

/** Of `blocks` in what stat says. */
export const blockBytes = 512;
/** Paths of more are read from an open directory on, since the kernel takes none of more than 4096 bytes. */
const maxPathBytes = 3000;
/** Each holds a descriptor. What lies deeper, more than 150 KB of path, is more than any limit allows. */
const maxOpen = 64;

/** Of all files and directories below, each inode once; what vanishes meanwhile counts nothing. */
export async function directoryUsage(path: string): Promise<DirectoryUsage> {
  const sum = { bytes: 0, inodes: 0 };
  await addUsage(path, sum, new Set(), 0);
  return sum;
}

async function addUsage(
  base: string,
  sum: { bytes: number; inodes: number },
  seen: Set<number>,
  open: number,
): Promise<void> {
  const pending = [base];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const directory = next;
    if (Buffer.byteLength(directory) - base.length > maxPathBytes) {
      await addBelow(directory, sum, seen, open);
      continue;
    }
    const entries = await readdir(directory, { withFileTypes: true }).catch(
      () => [],
    );
    for (const entry of entries) {
      const child = join(directory, entry.name);
      const found = await lstat(child).catch(() => undefined);
      if (!found || (found.nlink > 1 && seen.has(found.ino))) continue;
      if (found.nlink > 1) seen.add(found.ino);
      sum.bytes += found.blocks * blockBytes;
      sum.inodes++;
      if (entry.isDirectory()) pending.push(child);
    }
  }
}

async function addBelow(
  directory: string,
  sum: { bytes: number; inodes: number },
  seen: Set<number>,
  open: number,
): Promise<void> {
  if (open === maxOpen) {
    sum.bytes = Number.MAX_SAFE_INTEGER;
    return;
  }
  const { path, directory: only, noFollow } = openPathFlags;
  const handle = await openFile(directory, path | only | noFollow).catch(
    () => undefined,
  );
  if (!handle) return;
  try {
    await addUsage(descriptorPath(handle), sum, seen, open + 1);
  } finally {
    await handle.close();
  }
}
