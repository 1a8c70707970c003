// Opening by descriptor what a container can move about: Linux open(2) flags that node:fs does not name, and the path
// through which a call reaches what a descriptor refers to, whatever its name leads to by now.
import type { FileHandle } from "node:fs/promises";
import { constants } from "node:fs";

export const openPathFlags = {
  /** Only a name for the inode is wanted, so that FIFOs and devices are not touched. */
  path: 0o10000000,
  noFollow: constants.O_NOFOLLOW,
  directory: constants.O_DIRECTORY,
} as const;

export function descriptorPath(handle: FileHandle): string {
  return `/proc/self/fd/${handle.fd}`;
}
