// Removes a directory in memory at once: for the dozen files of a pod's token Node's pool of threads costs ten times the
// work. Links are removed, never followed, and what is mounted below is left.
import { lstatSync, opendirSync, rmdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";

/** Calls that it makes at most; a pod's token is some thirty. */
export const removalCalls = 60;
const callsOfDirectory = 6;

/**
 * True: nothing of it is left, or it was not there. False: it takes more calls, or something in it can't be removed so; some
 * of it may be gone then.
 */
export function removeSmallTree(directory: string): boolean {
  let left = removalCalls;
  const removeBelow = (parent: string, device: number): boolean => {
    if ((left -= callsOfDirectory) < 0) return false;
    const found = lstatSync(parent);
    if (!found.isDirectory() || found.dev !== device) return false;
    const names = opendirSync(parent);
    try {
      for (let entry = names.readSync(); entry; entry = names.readSync()) {
        const path = join(parent, entry.name);
        if (entry.isDirectory()) {
          if (!removeBelow(path, device)) return false;
        } else if (--left < 0) return false;
        else unlinkSync(path);
      }
    } finally {
      names.closeSync();
    }
    rmdirSync(parent);
    return true;
  };
  try {
    return removeBelow(directory, lstatSync(directory).dev);
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    return code === "ENOENT" && path === directory;
  }
}
