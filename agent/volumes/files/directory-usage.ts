// What a directory uses, by reading it.
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

interface DirectoryUsage {
  readonly bytes: number;
  readonly inodes: number;
}

/** Of `blocks` in what stat says. */
export const blockBytes = 512;
/** Of all files and directories below, each inode once; what vanishes meanwhile counts nothing. */
export async function directoryUsage(path: string): Promise<DirectoryUsage> {
  const seen = new Set<number>();
  const pending = [path];
  const sum = { bytes: 0, inodes: 0 };
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const directory = next;
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
  return sum;
}
