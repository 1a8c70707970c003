// A volume's own directory below a pod's.
import { dirname } from "node:path";
import { makeDirectory } from "../../../cri/directories.ts";
import { pooledCalls, type FileCalls } from "./file-calls.ts";
import { bindMount, isMountPoint } from "./mounts.ts";

/**
 * Makes the directory with this mode. A link in its place is refused: rights and owner of what it leads to would be
 * changed.
 */
export async function ensureVolumeDirectory(
  path: string,
  mode: number,
  calls: FileCalls = pooledCalls,
): Promise<void> {
  await makeDirectory(dirname(path), 0o750, calls);
  await calls
    .mkdir(path, { mode: 0o777 })
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  const found = await calls.lstat(path);
  if (!found.isDirectory())
    throw new Error(`${path} is not a directory: it must not be a link`);
  if ((found.mode & 0o7777) !== mode) await calls.chmod(path, mode);
}

/** Binds what is mounted for the node at a pod's own directory. Idempotent. */
export async function bindVolume(
  source: string,
  path: string,
  options: readonly string[] = [],
): Promise<void> {
  if (await isMountPoint(path)) return;
  await ensureVolumeDirectory(path, 0o750);
  await bindMount(source, path, options);
}
