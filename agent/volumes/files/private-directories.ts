// Directories of the agent's own on the host. Pods' volumes hold secrets, and files in them are often readable for all
// as the container's user is not known: so only root may pass the directories above them. Payloads of secrets lie
// on a tmpfs, so that they are never written to a disk (where the kernel can, not to swap either).
// Invariant: a directory named here is a real directory of this process's user without any right for others.
import { chmod, lstat, statfs } from "node:fs/promises";
import { makeDirectory } from "../../../cri/directories.ts";
import { mountTmpfs } from "./mounts.ts";

const tmpfsMagic = 0x01021994;
const ramfsMagic = 0x858458f6;

/** Makes the directory, and missing ones above it, or takes the rights of others away from one that is there. */
export async function ensurePrivateDirectory(path: string): Promise<void> {
  await makeDirectory(path, 0o700);
  const found = await lstat(path);
  if (!found.isDirectory())
    throw new Error(`${path} is not a directory: it must not be a link`);
  const self = process.geteuid!();
  if (found.uid !== self)
    throw new Error(`${path} belongs to user ${found.uid}, not to ${self}`);
  if ((found.mode & 0o777) !== 0o700) await chmod(path, 0o700);
}

/** The same in memory: a tmpfs is mounted on it unless its file system is one already. */
export async function ensureMemoryDirectory(path: string): Promise<void> {
  await ensurePrivateDirectory(path);
  if (await isInMemory(path)) return;
  await mountTmpfs(path, undefined, ["mode=0700"]);
  if (!(await isInMemory(path)))
    throw new Error(`${path} is not in memory: secrets are not written to it`);
}

async function isInMemory(path: string): Promise<boolean> {
  // As a signed number where the kernel's type is one.
  const type = (await statfs(path)).type >>> 0;
  return type === tmpfsMagic || type === ramfsMagic;
}
