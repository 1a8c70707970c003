// subPath mounts. A container may change links inside its volume at any time, so a checked path proves nothing later:
// the sub-path is opened once, component by component below the volume and without following links out of it, and what
// the descriptor refers to is bind-mounted to a place of the agent's own. The runtime is given that place.

import {
  chmod,
  mkdir,
  open,
  readlink,
  realpath,
  stat,
  writeFile,
  type FileHandle,
} from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { makeDirectory } from "../../../cri/directories.ts";
import { descriptorPath, openPathFlags } from "./descriptors.ts";
import { bindDescriptor, isMountPoint, unmount } from "./mounts.ts";

/** Resolves to `target`, on which the sub-path is mounted. */
export async function mountSubPath(
  volumePath: string,
  subPath: string,
  target: string,
  readOnlyVolume: boolean,
): Promise<string> {
  if (isAbsolute(subPath) || subPath.split("/").includes(".."))
    throw new Error(
      `subPath "${subPath}" must not be absolute or contain '..'`,
    );
  const root = await realpath(volumePath);
  if (!readOnlyVolume) await makeMissing(root, subPath);
  const handle = await openBelow(root, subPath);
  try {
    const wanted = await handle.stat();
    if (await isMountPoint(target)) {
      const mounted = await stat(target);
      if (mounted.dev === wanted.dev && mounted.ino === wanted.ino)
        return target;
      await unmount(target);
    }
    await makeDirectory(dirname(target), 0o750);
    if (wanted.isDirectory()) await makeDirectory(target);
    else await writeFile(target, "", { flag: "a" });
    await bindDescriptor(handle.fd, target);
    return target;
  } finally {
    await handle.close();
  }
}

/** What the descriptor was opened from can't have been outside: its real name is checked after opening. */
async function openBelow(root: string, subPath: string): Promise<FileHandle> {
  const resolved = await realpath(join(root, subPath)).catch(
    (error: NodeJS.ErrnoException) => {
      throw new Error(
        error.code === "ENOENT"
          ? `failed to prepare subPath: "${subPath}" does not exist`
          : `failed to prepare subPath: ${error.message}`,
      );
    },
  );
  return openResolved(root, resolved, subPath);
}

/** Opens a path without links; rejects when what was opened is not below the volume. */
async function openResolved(
  root: string,
  resolved: string,
  subPath: string,
): Promise<FileHandle> {
  const refuse = (): never => {
    throw new Error(`subPath "${subPath}" leads out of its volume`);
  };
  if (!isBelow(root, resolved)) refuse();
  const handle = await open(
    resolved,
    openPathFlags.path | openPathFlags.noFollow,
  );
  try {
    // Its real name now: a directory above it may have been swapped for a link before it was opened.
    if (!isBelow(root, await readlink(descriptorPath(handle)))) refuse();
    // Resolved paths end in no link: it was put there since.
    if ((await handle.stat()).isSymbolicLink()) refuse();
  } catch (error) {
    await handle.close();
    throw error;
  }
  return handle;
}

/** Makes what is missing, each directory in an open one that is below the volume: never through a link put there since. */
async function makeMissing(root: string, subPath: string): Promise<void> {
  let directory = await open(
    root,
    openPathFlags.path | openPathFlags.directory,
  );
  try {
    // As the volume itself, whatever this process's umask says.
    const mode = (await directory.stat()).mode & 0o777;
    for (const segment of subPath
      .split("/")
      .filter((part) => part !== "" && part !== ".")) {
      const next = await openOrMake(root, directory, segment, subPath, mode);
      await directory.close();
      directory = next;
    }
  } finally {
    await directory.close();
  }
}

async function openOrMake(
  root: string,
  directory: FileHandle,
  segment: string,
  subPath: string,
  mode: number,
): Promise<FileHandle> {
  const path = `${descriptorPath(directory)}/${segment}`;
  const openEntry = (): Promise<FileHandle> =>
    open(path, openPathFlags.path | openPathFlags.noFollow);
  const entry = await openEntry().catch(
    async (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      await mkdir(path, { mode });
      const made = await openEntry();
      await giveMode(made, mode);
      return made;
    },
  );
  let isLink: boolean;
  try {
    isLink = (await entry.stat()).isSymbolicLink();
  } catch (error) {
    await entry.close();
    throw error;
  }
  if (!isLink) return entry;
  await entry.close();
  const target = await realpath(path).catch((error: Error) => {
    throw new Error(`failed to prepare subPath: ${error.message}`);
  });
  return openResolved(root, target, subPath);
}

/** To a directory just made, unless something else is in its place by now. What it inherited of its group stays. */
async function giveMode(made: FileHandle, mode: number): Promise<void> {
  try {
    const found = await made.stat();
    if (found.isDirectory())
      await chmod(descriptorPath(made), (found.mode & 0o2000) | mode);
  } catch (error) {
    await made.close();
    throw error;
  }
}

function isBelow(root: string, path: string): boolean {
  return path === root || path.startsWith(root === "/" ? "/" : `${root}/`);
}
