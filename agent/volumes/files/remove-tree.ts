// Removes what a pod wrote, however much and however deep: a container makes millions of files, and directories in directories
// without ever naming them by a whole path. A few are removed here; the rest by rm(1), which takes neither the turns nor
// the memory of this process. Each directory is opened by its name in the open one above it and without following a link.
import { execFile } from "node:child_process";
import { lstat, open, opendir, rmdir, unlink } from "node:fs/promises";
import { promisify } from "node:util";
import { descriptorPath, openPathFlags } from "./descriptors.ts";

/** Most pods have fewer: a program costs more than these. */
const fewEntries = 500;
const fewLevels = 32;

/** There is more than a few entries. */
class TooMuch extends Error {}

interface Removal {
  /** Of the file system; what another one has below was mounted there and is not the pod's. */
  readonly device: number;
  left: number;
}

/** It need not exist. Rejects when something is mounted below, which is left as it is. */
export async function removeTree(path: string): Promise<void> {
  try {
    const found = await lstat(path);
    if (!found.isDirectory()) return await unlink(path);
    await removeBelow(path, { device: found.dev, left: fewEntries }, 0);
    await rmdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    if (!(error instanceof TooMuch)) throw error;
    await promisify(execFile)("rm", ["-rf", "--one-file-system", "--", path]);
  }
}

async function removeBelow(
  path: string,
  removal: Removal,
  level: number,
): Promise<void> {
  if (level >= fewLevels) throw new TooMuch();
  const { path: name, directory: only, noFollow } = openPathFlags;
  const handle = await open(path, name | only | noFollow);
  try {
    if ((await handle.stat()).dev !== removal.device)
      throw new Error(`${path} is on another file system`);
    const inside = descriptorPath(handle);
    for await (const entry of await opendir(inside)) {
      if (removal.left-- <= 0) throw new TooMuch();
      const child = `${inside}/${entry.name}`;
      // Something else may remove it meanwhile.
      if (entry.isDirectory()) {
        await removeBelow(child, removal, level + 1).catch(ignoreAbsent);
        await rmdir(child).catch(ignoreAbsent);
      } else await unlink(child).catch(ignoreAbsent);
    }
  } finally {
    await handle.close();
  }
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
