// Removes a directory in memory at once: for the dozen files of a pod's token Node's pool of threads costs ten times the
// work. Links are removed, never followed.
import { opendirSync, rmdirSync, unlinkSync, type Dir } from "node:fs";
import { join } from "node:path";

/**
 * True: nothing of it is left, or it was not there. False: it has more entries than `maxEntries`, or something in it can't
 * be removed so; some of it is gone then.
 */
export function removeSmallTree(
  directory: string,
  maxEntries: number,
): boolean {
  let left = maxEntries;
  const removeBelow = (parent: string): boolean => {
    const names = opened(parent);
    if (!names) return true;
    try {
      for (let entry = names.readSync(); entry; entry = names.readSync()) {
        const path = join(parent, entry.name);
        if (--left < 0) return false;
        if (!entry.isDirectory()) unlinkSync(path);
        else if (!removeBelow(path)) return false;
      }
    } finally {
      names.closeSync();
    }
    rmdirSync(parent);
    return true;
  };
  try {
    return removeBelow(directory);
  } catch {
    return false;
  }
}

function opened(directory: string): Dir | undefined {
  try {
    return opendirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
