// The directory of scheduled snapshots: their names, which of them there are, and which go when there are too many.
//
//   orbit-7c0a91d2-20260131T120000Z-r4711.snapshot     owner, time taken (UTC), revision
//   orbit-7c0a91d2-20260131T120000Z-r4711.snapshot.812.new     being written by process 812
//
// Invariants: a file under a final name is whole and durable (temporary name, fsync, rename, fsync of the directory).
// Only regular files with a final name of the same owner are ever listed or removed: a directory may be shared with other
// servers' snapshots and with any other file.
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { syncDirectory } from "../file/directories.ts";
import { nodeFileSystem } from "../file/file-system.ts";

interface StoredSnapshot {
  /** In the directory. */
  readonly name: string;
  /** When it was taken, epoch milliseconds (whole seconds). */
  readonly takenAtMs: number;
  readonly revision: number;
  readonly bytes: number;
}

/** A temporary file this old has no writer any more. */
const ABANDONED_MS = 3_600_000;
const FINAL = /^orbit-([0-9a-f]{8})-(\d{8}T\d{6}Z)-r(\d+)\.snapshot$/;
const TEMPORARY =
  /^orbit-([0-9a-f]{8})-\d{8}T\d{6}Z-r\d+\.snapshot\.(\d+)\.new$/;

/** The owner's part of the names: this machine's store in `storeDirectory`. */
export function snapshotOwner(storeDirectory: string): string {
  return createHash("sha256")
    .update(`${os.hostname()}\n${path.resolve(storeDirectory)}`)
    .digest("hex")
    .slice(0, 8);
}

export function snapshotName(
  owner: string,
  takenAtMs: number,
  revision: number,
): string {
  const time = new Date(takenAtMs)
    .toISOString()
    .replace(/\.\d+/, "")
    .replaceAll(/[-:]/g, "");
  return `orbit-${owner}-${time}-r${revision}.snapshot`;
}

/** Makes the directory (mode 0700) in one that is there, durably; nothing when it is there itself. */
export async function makeSnapshotDirectory(directory: string): Promise<void> {
  try {
    fs.mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw error;
  }
  await syncDirectory(nodeFileSystem, path.dirname(directory));
}

/** The owner's snapshots (default: every owner's), the oldest first; none when there is no such directory. */
export function listSnapshots(
  directory: string,
  owner?: string,
): StoredSnapshot[] {
  const found: StoredSnapshot[] = [];
  for (const name of namesIn(directory)) {
    const match = FINAL.exec(name);
    if (!match || (owner !== undefined && match[1] !== owner)) continue;
    const stat = fs.lstatSync(path.join(directory, name), {
      throwIfNoEntry: false,
    });
    if (!stat?.isFile()) continue;
    found.push({
      name,
      takenAtMs: Date.parse(
        match[2]!.replace(/^(....)(..)(..T..)(..)(..)Z$/, "$1-$2-$3:$4:$5Z"),
      ),
      revision: Number(match[3]),
      bytes: stat.size,
    });
  }
  return found.sort(
    (a, b) => a.takenAtMs - b.takenAtMs || a.revision - b.revision,
  );
}

/**
 * Removes the owner's oldest snapshots until `keep` are left, and gives their names. `newest` is not removed whatever its
 * time says: the clock may have been set back.
 */
export async function pruneSnapshots(
  directory: string,
  owner: string,
  keep: number,
  newest?: string,
): Promise<string[]> {
  const all = listSnapshots(directory, owner);
  const surplus = all
    .filter(({ name }) => name !== newest)
    .slice(0, Math.max(0, all.length - keep))
    .map(({ name }) => name);
  for (const name of surplus)
    fs.rmSync(path.join(directory, name), { force: true });
  if (surplus.length > 0) await syncDirectory(nodeFileSystem, directory);
  return surplus;
}

/** Removes the owner's temporary files of `pid`, and those of any process that are older than an hour. */
export function removeAbandoned(
  directory: string,
  owner: string,
  pid: number,
  nowMs: number,
): void {
  for (const name of namesIn(directory)) {
    const match = TEMPORARY.exec(name);
    if (match?.[1] !== owner) continue;
    const file = path.join(directory, name);
    const stat = fs.lstatSync(file, { throwIfNoEntry: false });
    if (!stat?.isFile()) continue;
    if (Number(match[2]) === pid || nowMs - stat.mtimeMs > ABANDONED_MS)
      fs.rmSync(file, { force: true });
  }
}

function namesIn(directory: string): string[] {
  try {
    return fs.readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
