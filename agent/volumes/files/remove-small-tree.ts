// Removes a directory in memory at once: for the dozen files of a pod's token Node's pool of threads costs ten times the
// work. Links are removed, never followed, and what is mounted below is left.
import { lstatSync, opendirSync, rmdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { reserveDirectCalls } from "./file-calls.ts";

const maxEntries = 40;
/** Each is looked at and removed; some are opened, too. */
const callsAtMost = 3 * maxEntries;

/**
 * True: nothing of it is left, or it was not there. False: it has more entries, or something in it can't be removed so, or
 * the event loop would be held for too long; some of it may be gone then.
 */
export function removeSmallTree(directory: string): boolean {
  if (!reserveDirectCalls(callsAtMost)) return false;
  let left = maxEntries;
  const removeBelow = (parent: string, device: number): boolean => {
    const found = lstatSync(parent);
    if (!found.isDirectory() || found.dev !== device) return false;
    const names = opendirSync(parent);
    try {
      for (let entry = names.readSync(); entry; entry = names.readSync()) {
        const path = join(parent, entry.name);
        if (--left < 0) return false;
        if (!entry.isDirectory()) unlinkSync(path);
        else if (!removeBelow(path, device)) return false;
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
