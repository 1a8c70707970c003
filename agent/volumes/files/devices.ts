// File systems on block devices: made when the device holds nothing that is known, checked and mounted.
import { execFile } from "node:child_process";
import {} from "node:fs/promises";
import { promisify } from "node:util";
import { makeDirectory } from "../../../cri/directories.ts";
import { isMountPoint } from "./mounts.ts";

const run = promisify(execFile);
/** A check of a large file system takes its time. */
const timeoutMs = 120_000;
/** Types whose mkfs is asked for; others must be on the device already. */
const makeable = new Set(["ext3", "ext4", "xfs", "btrfs"]);

/** What is on the device, as blkid names it; "" when nothing is known to be. */
async function contentOf(device: string): Promise<string> {
  try {
    const { stdout } = await run(
      "blkid",
      ["-p", "-s", "TYPE", "-s", "PTTYPE", "-o", "export", device],
      { timeout: timeoutMs },
    );
    const type = /^TYPE=(.*)$/m.exec(stdout)?.[1];
    const table = /^PTTYPE=(.*)$/m.exec(stdout)?.[1];
    return type ?? (table === undefined ? "" : `a partition table (${table})`);
  } catch (error) {
    // blkid's way of reporting that it has found nothing.
    if ((error as { code?: unknown }).code === 2) return "";
    throw error;
  }
}

/** Idempotent. Never writes over what is on the device: another type than asked for is refused by mount. */
export async function mountDevice(
  device: string,
  target: string,
  fsType: string,
  options: readonly string[],
): Promise<void> {
  if (await isMountPoint(target)) return;
  await makeDirectory(target, 0o750);
  const content = await contentOf(device);
  if (content === "") {
    if (options.includes("ro"))
      throw new Error(
        `${device} holds no file system, and none is made on a volume that is only read`,
      );
    if (!makeable.has(fsType))
      throw new Error(`no file system of type ${fsType} can be made`);
    const quick = fsType.startsWith("ext") ? ["-F", "-m0"] : ["-f"];
    await run(`mkfs.${fsType}`, [...quick, device], { timeout: timeoutMs });
  } else if (content !== fsType)
    throw new Error(
      `failed to mount the volume as "${fsType}", it already contains ${content}. Mount error: wrong fs type`,
    );
  await run(
    "mount",
    ["-t", fsType, "-o", ["defaults", ...options].join(","), device, target],
    { timeout: timeoutMs },
  );
}
