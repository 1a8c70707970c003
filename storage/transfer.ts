// The whole state on its way: out of a store or a file store's directory, into an empty one.
//
// A file store can be read while a server has it open: the log is read without its lock, up to the last sound frame.
import * as path from "node:path";
import { crashPoint } from "../api/crash-point.ts";
import { writeState } from "./file/compaction.ts";
import { makeDirectories, syncDirectory } from "./file/directories.ts";
import { DirectoryLock } from "./file/directory-lock.ts";
import { nodeFileSystem, type FileSystem } from "./file/file-system.ts";
import { newSeed } from "./file/frame.ts";
import { createLog } from "./file/log-file.ts";
import { loadLog } from "./file/log-loader.ts";
import type { StoredVersion } from "./local/live-version.ts";
import { inKeyOrder, type Snapshot } from "./snapshot.ts";
import { StoreError, type NewEntry, type Store } from "./store.ts";

const PARALLEL_WRITES = 256;

/** The state of a running or stopped file store, from its directory. StoreError "corrupt" when its log is damaged. */
export async function readStoreDirectory(
  directory: string,
  fileSystem: FileSystem = nodeFileSystem,
): Promise<Snapshot> {
  const file = path.join(directory, "log");
  const handle = await fileSystem.open(file, "read");
  try {
    const state = new Map<string, StoredVersion>();
    const { revision } = await loadLog(handle, file, state);
    return {
      revision: Math.max(revision, 1),
      entries: inKeyOrder([...state.values()]),
    };
  } finally {
    await handle.close();
  }
}

/** The state of any store that has been started. @param ttlSecondsOf how long keys live that expire (events) */
export async function readStore(
  store: Pick<Store, "list">,
  ttlSecondsOf: TtlRule,
  nowMs: number,
): Promise<Snapshot> {
  const { revision, values } = await store.list("");
  const entries = values.map(({ key, value, revision: at }) => {
    const ttlSeconds = ttlSecondsOf(key);
    const expiresAtMs =
      ttlSeconds === undefined ? 0 : nowMs + ttlSeconds * 1000;
    return { key, value, revision: at, expiresAtMs };
  });
  return { revision, entries: inKeyOrder(entries) };
}

type TtlRule = (key: string) => number | undefined;

/** Events expire an hour after their last write; stores other than the file store do not report when. */
export const eventTtl: TtlRule = (key) =>
  /\/events\//.test(key) ? 3600 : undefined;

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
  const lock = await DirectoryLock.acquire(directory);
  try {
    const file = path.join(directory, "log");
    if (!replace && (await holdsStore(fileSystem, directory)))
      throw new StoreError("locked", `${directory} already holds a store`);
    const temporary = path.join(directory, "log.new");
    const log = await createLog(fileSystem, temporary);
    try {
      const { revision, entries } = snapshot;
      await writeState(log, newSeed(), revision, entries);
      await log.sync();
    } finally {
      await log.close();
    }
    crashPoint("store.restore.beforeRename");
    await fileSystem.rename(temporary, file);
    crashPoint("store.restore.renamed");
    await syncDirectory(fileSystem, directory);
  } finally {
    await lock.release();
  }
}

async function holdsStore(
  fileSystem: FileSystem,
  directory: string,
): Promise<boolean> {
  if (!(await fileSystem.list(directory)).includes("log")) return false;
  const log = await fileSystem.open(path.join(directory, "log"), "read");
  try {
    return (await log.size()) > 0;
  } finally {
    await log.close();
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
