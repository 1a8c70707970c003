// Snapshots: the whole state in one file, to back up, restore and move between stores. The file is made of the log's
// frames: the revision, the entries, and at the end their number and a SHA-256 over all before it.
//
// A file store can be saved while a server has it open: the log is read without its lock, up to the last sound frame.
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import {
  decodePayload,
  encodeFrame,
  encodeRevisionFrame,
  FRAME_HEADER_BYTES,
  payloadAt,
} from "./file/frame.ts";
import { crashPoint } from "../api/crash-point.ts";
import {
  makeDirectories,
  removeIfThere,
  syncDirectory,
} from "./file/directories.ts";
import { DirectoryLock } from "./file/directory-lock.ts";
import { nodeFileSystem, type FileSystem } from "./file/file-system.ts";
import { createLog } from "./file/log-file.ts";
import { StoreError, type NewEntry, type Store } from "./store.ts";

export interface SnapshotEntry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly revision: number;
  /** Epoch milliseconds; 0: never. */
  readonly expiresAtMs: number;
}

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

const MAGIC = Buffer.from("orbit snapshot 1\n");
const DIGEST_BYTES = 32;
const FRAME_BYTES = 256 * 1024;
const PARALLEL_WRITES = 256;

/** The state of a running or stopped file store, from its directory. */
export function readStoreDirectory(directory: string): Snapshot {
  const content = fs.readFileSync(path.join(directory, "log"));
  const live = new Map<string, SnapshotEntry>();
  let revision = 1;
  let at = 0;
  for (
    let payload = payloadAt(content, at);
    payload;
    payload = payloadAt(content, at)
  ) {
    at += FRAME_HEADER_BYTES + payload.length;
    for (const { key, value, ...rest } of decodePayload(payload)) {
      revision = Math.max(revision, rest.revision);
      if (value) live.set(key, { key, value, ...rest });
      else live.delete(key);
    }
  }
  return { revision, entries: inOrder([...live.values()]) };
}

/** The state of any store that has been started. @param ttlSecondsOf how long keys live that expire (events) */
export async function readStore(
  store: Pick<Store, "list">,
  ttlSecondsOf: TtlRule,
  nowMs: number,
): Promise<Snapshot> {
  const { revision, values } = await store.list("");
  const entries = values.map((value) => {
    const ttlSeconds = ttlSecondsOf(value.key);
    return {
      ...value,
      expiresAtMs: ttlSeconds === undefined ? 0 : nowMs + ttlSeconds * 1000,
    };
  });
  return { revision, entries: inOrder(entries) };
}

export type TtlRule = (key: string) => number | undefined;

/** Events expire an hour after their last write; stores other than the file store do not tell when. */
export const eventTtl: TtlRule = (key) =>
  /\/events\//.test(key) ? 3600 : undefined;

/** Writes the file whole or not at all, readable by its owner only. */
export async function saveSnapshot(
  snapshot: Snapshot,
  file: string,
  fileSystem: FileSystem = nodeFileSystem,
): Promise<SnapshotStatus> {
  const temporary = `${file}.${process.pid}.new`;
  const hash = createHash("sha256");
  const log = await createLog(fileSystem, temporary);
  try {
    const write = (bytes: Buffer): Promise<void> => {
      hash.update(bytes);
      return log.appendUnsynced(bytes);
    };
    await write(MAGIC);
    await write(encodeRevisionFrame(snapshot.revision));
    for (const chunk of chunks(snapshot.entries))
      await write(encodeFrame(chunk));
    const count = Buffer.alloc(8);
    count.writeBigUInt64BE(BigInt(snapshot.entries.length));
    await write(count);
    const digest = hash.digest();
    await log.appendUnsynced(digest);
    crashPoint("store.snapshot.written");
    await log.sync();
    await log.close();
    crashPoint("store.snapshot.beforeRename");
    await fileSystem.rename(temporary, file);
    crashPoint("store.snapshot.renamed");
    await syncDirectory(fileSystem, path.dirname(file));
    const { revision, entries } = snapshot;
    return {
      revision,
      keys: entries.length,
      bytes: log.bytes,
      sha256: digest.toString("hex"),
    };
  } catch (error) {
    await log.close().catch(() => undefined);
    await removeIfThere(fileSystem, temporary).catch(() => undefined);
    throw error;
  }
}

/** Reads and checks a snapshot; StoreError "corrupt" when a byte of it is not as it was written. */
export function loadSnapshot(
  file: string,
): Snapshot & { readonly status: SnapshotStatus } {
  const content = fs.readFileSync(file);
  const bodyEnd = content.length - DIGEST_BYTES;
  const framesEnd = bodyEnd - 8;
  if (
    framesEnd < MAGIC.length ||
    !content.subarray(0, MAGIC.length).equals(MAGIC)
  ) {
    throw new StoreError("corrupt", `${file} is not a snapshot`);
  }
  const digest = createHash("sha256")
    .update(content.subarray(0, bodyEnd))
    .digest();
  if (!digest.equals(content.subarray(bodyEnd)))
    throw new StoreError("corrupt", `${file} is damaged`);
  const frames = content.subarray(MAGIC.length, framesEnd);
  const entries: SnapshotEntry[] = [];
  let revision = 1;
  let at = 0;
  for (
    let payload = payloadAt(frames, at);
    payload;
    payload = payloadAt(frames, at)
  ) {
    at += FRAME_HEADER_BYTES + payload.length;
    for (const { key, value, ...rest } of decodePayload(payload)) {
      revision = Math.max(revision, rest.revision);
      if (value) entries.push({ key, value, ...rest });
    }
  }
  const keys = Number(content.readBigUInt64BE(framesEnd));
  if (at !== frames.length || entries.length !== keys)
    throw new StoreError("corrupt", `${file} is damaged`);
  const status = {
    revision,
    keys,
    bytes: content.length,
    sha256: digest.toString("hex"),
  };
  return { revision, entries, status };
}

/**
 * Makes a file store's directory from a snapshot: the same revisions, so that what clients know stays true. The
 * directory must not hold a store yet, unless `replace` is set; no server may use it.
 */
export async function restoreToDirectory(
  snapshot: Snapshot,
  directory: string,
  replace = false,
  fileSystem: FileSystem = nodeFileSystem,
): Promise<void> {
  await makeDirectories(fileSystem, directory);
  const lock = DirectoryLock.acquire(directory);
  try {
    const file = path.join(directory, "log");
    if (!replace && fs.existsSync(file) && fs.statSync(file).size > 0) {
      throw new StoreError("locked", `${directory} already holds a store`);
    }
    const temporary = path.join(directory, "log.new");
    const log = await createLog(fileSystem, temporary);
    try {
      await log.appendUnsynced(encodeRevisionFrame(snapshot.revision));
      for (const chunk of chunks(snapshot.entries))
        await log.appendUnsynced(encodeFrame(chunk));
      await log.sync();
    } finally {
      await log.close();
    }
    crashPoint("store.restore.beforeRename");
    await fileSystem.rename(temporary, file);
    crashPoint("store.restore.renamed");
    await syncDirectory(fileSystem, directory);
  } finally {
    lock.release();
  }
}

/** Writes a snapshot's entries into an empty store that has been started. They get revisions of that store. */
export async function restoreToStore(
  snapshot: Snapshot,
  store: Store,
  nowMs: number,
): Promise<void> {
  if ((await store.list("")).values.length > 0)
    throw new StoreError("locked", "the store is not empty");
  const entries = snapshot.entries.map(({ key, value, expiresAtMs }) => ({
    key,
    value,
    ...(expiresAtMs > 0
      ? { ttlSeconds: Math.max(1, Math.ceil((expiresAtMs - nowMs) / 1000)) }
      : {}),
  }));
  const written = store.writeNew
    ? await store.writeNew(entries)
    : await writeEach(store, entries);
  if (!written)
    throw new StoreError(
      "unavailable",
      "somebody else writes to the store at the same time",
    );
}

async function writeEach(
  store: Store,
  entries: readonly NewEntry[],
): Promise<boolean> {
  for (let from = 0; from < entries.length; from += PARALLEL_WRITES) {
    const writes = entries
      .slice(from, from + PARALLEL_WRITES)
      .map(({ key, value, ttlSeconds }) =>
        store.write({
          key,
          expectedRevision: 0,
          encode: () => value,
          ...(ttlSeconds ? { ttlSeconds } : {}),
        }),
      );
    const results = await Promise.all(writes);
    if (results.some((result) => !result.ok)) return false;
  }
  return true;
}

/** Copies the whole state of one started store into another, empty one. */
export async function migrate(
  from: Store,
  to: Store,
  nowMs: number,
): Promise<number> {
  const snapshot = await readStore(from, eventTtl, nowMs);
  await restoreToStore(snapshot, to, nowMs);
  return snapshot.entries.length;
}

function inOrder(entries: SnapshotEntry[]): SnapshotEntry[] {
  return entries.sort((a, b) => (a.key < b.key ? -1 : 1));
}

function* chunks(
  entries: readonly SnapshotEntry[],
): Generator<SnapshotEntry[]> {
  let chunk: SnapshotEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    chunk.push(entry);
    bytes += entry.value.length;
    if (bytes < FRAME_BYTES) continue;
    yield chunk;
    chunk = [];
    bytes = 0;
  }
  if (chunk.length > 0) yield chunk;
}
