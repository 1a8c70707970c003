// File systems whose server may be gone: a call that it never answers would hold one of this process's few threads for good,
// so a program of its own makes it, which can be ended.
import { execFile } from "node:child_process";
import type { VolumeUsage } from "../volume-plugin.ts";
import { mountLines, mountTarget } from "./mounts.ts";

const patienceMs = 5000;
const fields = ["%a", "%b", "%f", "%S", "%c", "%d"];

/** Types of file systems that another machine, or another process of this one, serves. */
const served =
  / - (?:nfs4?|cifs|smb3|fuse\S*|ceph|9p|glusterfs|lustre|afs|gpfs|autofs) /;

/**
 * Rejects when the path, which need not exist, is below a mount of such a type that does not answer; others are not asked.
 * A path that leads there by a symbolic link is not asked, either.
 */
export async function ensureAnswer(path: string): Promise<void> {
  const above = (await mountLines())
    .filter((line) => served.test(line))
    .map(mountTarget)
    .filter((target) => path === target || path.startsWith(`${target}/`));
  await Promise.all(above.map((target) => remoteUsage(target)));
}

/** What it has and uses. Rejects when the file system does not answer. */
export function remoteUsage(path: string): Promise<VolumeUsage> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const child = execFile(
      "stat",
      ["-f", "-c", fields.join(" "), "--", path],
      (error, text) => {
        isOver = true;
        clearTimeout(timer);
        const numbers = text.trim().split(" ").map(Number);
        if (error || numbers.length !== fields.length)
          return reject(error ?? new Error(`unexpected answer: ${text}`));
        const [available, blocks, free, blockBytes, inodes, inodesFree] =
          numbers as [number, number, number, number, number, number];
        resolve({
          availableBytes: available * blockBytes,
          capacityBytes: blocks * blockBytes,
          usedBytes: (blocks - free) * blockBytes,
          inodesFree,
          inodes,
          inodesUsed: inodes - inodesFree,
        });
      },
    );
    // A program that waits in the kernel may not end at all: it is not waited for.
    const timer = setTimeout(() => {
      if (isOver) return;
      child.kill("SIGKILL");
      child.unref();
      reject(new Error(`the file system at ${path} does not answer`));
    }, patienceMs);
  });
}
