// How much an image archive may take of a file system. A small archive can hold more than a disk, and the node ends pods when
// less than 15 % of it is free (the default threshold of images, the higher one): what an archive takes stays above that.
import { statfs } from "node:fs/promises";

/** Of the file system stays free. */
const usualShare = 1 / 6;
/** Where less is free to begin with, which is a node with thresholds of its own. */
const leastShare = 1 / 20;

export interface DiskRoom {
  readonly directory: string;
  /** Bytes that may still be written, 0 or less where there are none. */
  left(): Promise<number>;
}

/** Of the directory's file system, as it is now, for one archive. */
export async function diskRoom(directory: string): Promise<DiskRoom> {
  const { bavail, blocks } = await statfs(directory);
  const share = bavail > blocks * usualShare ? usualShare : leastShare;
  return {
    directory,
    async left() {
      const now = await statfs(directory);
      return Math.floor((now.bavail - now.blocks * share) * now.bsize);
    },
  };
}

/** For messages. */
export const keptFree = "where a part of the file system stays free";
