// hostPath volumes: the type is checked, and what may be made is made. As a persistent volume without a type it is a
// directory.
import { open, stat } from "node:fs/promises";
import { constants, type Stats } from "node:fs";
import { makeDirectory } from "../../../cri/directories.ts";
import { ensureAnswer } from "../files/remote-usage.ts";
import type { VolumePlugin } from "../volume-plugin.ts";

export const hostPathPlugin: VolumePlugin = {
  field: "hostPath",
  serves: ["pod", "persistent"],
  async mount({ source, persistentVolume }) {
    const { path, type = "" } = source.hostPath!;
    if (type || persistentVolume) await ensureAnswer(path);
    await checkHostPath(path, type);
    if (persistentVolume && !type) await makeDirectory(path);
    return { path, readOnly: false };
  },
};

/** Rejects with the reference's text when what is there is of another type. */
export async function checkHostPath(path: string, type: string): Promise<void> {
  if (type === "") return;
  let found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  });
  if (!found && type === "DirectoryOrCreate") {
    await makeDirectory(path, 0o755);
    found = await stat(path);
  } else if (!found && type === "FileOrCreate") {
    await makeFile(path);
    found = await stat(path);
  }
  const expected = expectations[type];
  if (!expected) throw new Error(`unknown hostPath type ${type}`);
  if (!found || !expected.test(found))
    throw new Error(
      `hostPath type check failed: ${path} is not a ${expected.name}`,
    );
}

/** A pipe that was put there since must not hold a thread until it is read, and what is there keeps its content. */
export async function makeFile(path: string): Promise<void> {
  const flags = constants.O_CREAT | constants.O_RDONLY | constants.O_NONBLOCK;
  await (await open(path, flags, 0o644)).close();
}

const expectations: Record<
  string,
  { name: string; test: (found: Stats) => boolean }
> = {
  Directory: { name: "directory", test: (found) => found.isDirectory() },
  DirectoryOrCreate: {
    name: "directory",
    test: (found) => found.isDirectory(),
  },
  File: { name: "file", test: (found) => found.isFile() },
  FileOrCreate: { name: "file", test: (found) => found.isFile() },
  Socket: { name: "socket file", test: (found) => found.isSocket() },
  CharDevice: {
    name: "character device",
    test: (found) => found.isCharacterDevice(),
  },
  BlockDevice: { name: "block device", test: (found) => found.isBlockDevice() },
};
