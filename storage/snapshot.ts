// Snapshots: the whole state in one file, to back up, restore and move between stores.
//
//   "orbit snapshot 2\n" | a log (file/frame.ts) of the revision and the entries | u64 number of entries | SHA-256 of all
//   before it
//
// Snapshots of version 1 hold frames of format 1 in place of the log; they are read, and not written any more.
import { createHash, type Hash } from "node:crypto";
import * as path from "node:path";
import { crashPoint } from "../api/crash-point.ts";
import { writeState } from "./file/compaction.ts";
import { removeIfThere, syncDirectory } from "./file/directories.ts";
import {
  nodeFileSystem,
  type FileSystem,
  type OpenFile,
} from "./file/file-system.ts";
import { FileWindow, WINDOW_BYTES } from "./file/file-window.ts";
import { newSeed } from "./file/frame.ts";
import { createLog } from "./file/log-file.ts";
import { loadLog } from "./file/log-loader.ts";
import type { StoredVersion } from "./local/live-version.ts";
import { StoreError } from "./store.ts";

type SnapshotEntry = StoredVersion;

export interface Snapshot {
  /** The newest revision in it; a store made from it goes on above. */
  readonly revision: number;
  /** In key order. */
  readonly entries: readonly SnapshotEntry[];
}

export interface SnapshotStatus {
  readonly revision: number;
  readonly keys: number;
  /** Of the file. */
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

const MAGIC = "orbit snapshot 2\n";
const MAGIC_1 = "orbit snapshot 1\n";
const COUNT_BYTES = 8;
const DIGEST_BYTES = 32;

/** Writes the file whole or not at all, readable by its owner only. */
export async function saveSnapshot(
  snapshot: Snapshot,
  file: string,
  fileSystem: FileSystem = nodeFileSystem,
): Promise<SnapshotStatus> {
  const temporary = `${file}.${process.pid}.new`;
  const hash = createHash("sha256");
  const { revision, entries } = snapshot;
  const log = await createLog(fileSystem, temporary);
  const hashed = {
    appendUnsynced: (bytes: Buffer): Promise<void> => {
      hash.update(bytes);
      return log.appendUnsynced(bytes);
    },
  };
  let digest: Buffer;
  try {
    try {
      await hashed.appendUnsynced(Buffer.from(MAGIC));
      await writeState(hashed, newSeed(), revision, entries);
      const count = Buffer.alloc(COUNT_BYTES);
      count.writeBigUInt64BE(BigInt(entries.length));
      await hashed.appendUnsynced(count);
      digest = hash.digest();
      await log.appendUnsynced(digest);
      crashPoint("store.snapshot.written");
      await log.sync();
    } finally {
      await log.close();
    }
    crashPoint("store.snapshot.beforeRename");
    await fileSystem.rename(temporary, file);
    crashPoint("store.snapshot.renamed");
    await syncDirectory(fileSystem, path.dirname(file));
  } catch (error) {
    await removeIfThere(fileSystem, temporary).catch(() => undefined);
    throw error;
  }
  return {
    revision,
    keys: entries.length,
    bytes: log.bytes,
    sha256: digest.toString("hex"),
  };
}

/** Reads and checks a snapshot; StoreError "corrupt" when a byte of it is not as it was written. */
export async function loadSnapshot(
  file: string,
  fileSystem: FileSystem = nodeFileSystem,
): Promise<Snapshot & { readonly status: SnapshotStatus }> {
  const handle = await fileSystem.open(file, "read");
  try {
    return await readSnapshot(handle, file);
  } finally {
    await handle.close();
  }
}

async function readSnapshot(
  handle: OpenFile,
  file: string,
): Promise<Snapshot & { readonly status: SnapshotStatus }> {
  const damaged = (): StoreError =>
    new StoreError("corrupt", `${file} is damaged`);
  const bytes = await handle.size();
  const bodyEnd = bytes - DIGEST_BYTES;
  const logEnd = bodyEnd - COUNT_BYTES;
  const window = new FileWindow(handle, bytes);
  const magic = (await window.read(0, MAGIC.length)).toString("latin1");
  if (logEnd < MAGIC.length || (magic !== MAGIC && magic !== MAGIC_1))
    throw new StoreError("corrupt", `${file} is not a snapshot`);
  const digest = (await hashOf(window, bodyEnd)).digest();
  if (!digest.equals(await window.read(bodyEnd, DIGEST_BYTES))) throw damaged();
  const keys = Number(
    (await window.read(logEnd, COUNT_BYTES)).readBigUInt64BE(0),
  );
  const state = new Map<string, StoredVersion>();
  const part = { from: MAGIC.length, to: logEnd };
  const content = await loadLog(handle, file, state, part);
  if (content.soundBytes !== logEnd || state.size !== keys) throw damaged();
  const revision = Math.max(content.revision, 1);
  return {
    revision,
    entries: inKeyOrder([...state.values()]),
    status: { revision, keys, bytes, sha256: digest.toString("hex") },
  };
}

async function hashOf(window: FileWindow, end: number): Promise<Hash> {
  const hash = createHash("sha256");
  for (let at = 0; at < end; at += WINDOW_BYTES)
    hash.update(await window.read(at, Math.min(WINDOW_BYTES, end - at)));
  return hash;
}

export function inKeyOrder(entries: SnapshotEntry[]): SnapshotEntry[] {
  return entries.sort((a, b) => (a.key < b.key ? -1 : 1));
}
