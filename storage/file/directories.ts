// Directories of the file store: made durably, synced, and files in them removed whether they are there or not.
import * as path from "node:path";
import type { FileSystem } from "./file-system.ts";

/**
 * Makes a directory and its missing parents (mode 0700), each durable in its own parent. A process that ended before it
 * could sync may have made a directory that exists already: it and its parent are made durable all the same.
 */
export async function makeDirectories(
  fileSystem: FileSystem,
  directory: string,
): Promise<void> {
  const parent = path.dirname(directory);
  try {
    await fileSystem.makeDirectory(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return syncEntry(fileSystem, directory, 2);
    if (code !== "ENOENT" || parent === directory) throw error;
    await makeDirectories(fileSystem, parent);
    return makeDirectories(fileSystem, directory);
  }
  await syncDirectory(fileSystem, parent);
}

/** A directory's entry in its parent, and so on upwards. */
async function syncEntry(
  fileSystem: FileSystem,
  directory: string,
  levels: number,
): Promise<void> {
  const parent = path.dirname(directory);
  if (levels === 0 || parent === directory) return;
  try {
    await syncDirectory(fileSystem, parent);
  } catch (error) {
    // The directory is not readable, so another user made it.
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
  }
  await syncEntry(fileSystem, parent, levels - 1);
}

/** Makes creations, renames and removals in a directory durable. */
export async function syncDirectory(
  fileSystem: FileSystem,
  directory: string,
): Promise<void> {
  const handle = await fileSystem.open(directory, "read");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function removeIfThere(
  fileSystem: FileSystem,
  file: string,
): Promise<void> {
  try {
    await fileSystem.unlink(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
