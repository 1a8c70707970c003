// How much an image archive may take of a file system. A small archive can hold more than a disk, and the node ends pods when
// less than 15 % of it is free (the default threshold of images, the higher one): what an archive takes stays above that.
import { statfs } from "node:fs/promises";

/** Of the file system stays free. */
const freeShare = 1 / 6;

/** Bytes that may still be written into the directory, 0 or less where there are none. */
export async function roomIn(directory: string): Promise<number> {
  const { bavail, blocks, bsize } = await statfs(directory);
  return Math.floor((bavail - blocks * freeShare) * bsize);
}
