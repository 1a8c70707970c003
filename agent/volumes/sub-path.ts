// subPath mounts. A container may change links inside its volume at any time, so a checked path proves nothing later:
// the sub-path is opened once, component by component below the volume and without following links out of it, and what
// the descriptor refers to is bind-mounted to a place of the agent's own. The runtime is given that place.

import {
  mkdir,
  open,
  readlink,
  realpath,
  stat,
  writeFile,
  type FileHandle,
} from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { bindDescriptor, isMountPoint, unmount } from "./mounts.ts";

/** Linux open(2) flags: only a name for the inode is wanted, so that FIFOs and devices are not touched. */
const oPath = 0o10000000;
const oNoFollow = 0o400000;

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
    await mkdir(dirname(target), { recursive: true, mode: 0o750 });
    if (wanted.isDirectory()) await mkdir(target, { recursive: true });
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
  if (!isBelow(root, resolved))
    throw new Error(`subPath "${subPath}" leads out of its volume`);
  const handle = await open(resolved, oPath | oNoFollow);
  const actual = await readlink(`/proc/self/fd/${handle.fd}`);
  if (isBelow(root, actual)) return handle;
  await handle.close();
  throw new Error(`subPath "${subPath}" leads out of its volume`);
}

async function makeMissing(root: string, subPath: string): Promise<void> {
  let directory = root;
  for (const segment of subPath
    .split("/")
    .filter((part) => part !== "" && part !== ".")) {
    const next = join(directory, segment);
    const found = await realpath(next).catch(() => undefined);
    if (found === undefined) {
      await mkdir(next, { mode: 0o755 });
      directory = next;
    } else {
      if (!isBelow(root, found))
        throw new Error(`subPath "${subPath}" leads out of its volume`);
      directory = found;
    }
  }
}

function isBelow(root: string, path: string): boolean {
  return path === root || path.startsWith(root === "/" ? "/" : `${root}/`);
}
