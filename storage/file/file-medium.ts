// An append-only log in a directory, with every live value in memory (the same bytes the watch cache holds). When more
// than half of the log is garbage it is compacted: the live entries go to a new file while commits go on to the old
// one; the frames committed meanwhile follow, and the new file takes the old one's name.
//
// Invariants: `log` is complete at every moment; `log.new` is garbage after a crash; appends and the switch of files
// exclude each other. An idle store does no input or output and has no timer.
import * as path from "node:path";
import type { Logger } from "pino";
import type { Medium, MediumEntry, MediumWrite } from "../local/local-store.ts";
import { crashPoint } from "../../api/crash-point.ts";
import { StoreError } from "../store.ts";
import {
  makeDirectories,
  removeIfThere,
  syncDirectory,
} from "./directories.ts";
import { DirectoryLock } from "./directory-lock.ts";
import {
  decodePayload,
  encodeFrame,
  encodeRevisionFrame,
  recordBytes,
} from "./frame.ts";
import type { FileSystem } from "./file-system.ts";
import type { LogFile } from "./log-file.ts";
import { asStoreError, createLog, openLog } from "./log-file.ts";

export interface FileMediumOptions {
  readonly directory: string;
  readonly fileSystem: FileSystem;
  readonly logger: Logger | undefined;
  /** Logs smaller than this are never compacted. */
  readonly compactAboveBytes: number;
}

interface LiveEntry extends MediumEntry {
  readonly value: Uint8Array;
}

/** Frames of a compacted file: large enough for speed, small enough not to hold the event loop. */
const COMPACTION_FRAME_BYTES = 256 * 1024;

export class FileMedium implements Medium {
  readonly #options: FileMediumOptions;
  readonly #file: string;
  readonly #newFile: string;
  readonly #live = new Map<string, LiveEntry>();
  #liveBytes = 0;
  #revision = 0;
  #lock: DirectoryLock | undefined;
  #log: LogFile | undefined;
  /** Frames committed since the compaction under way took its picture. */
  #sincePicture: Buffer[] | undefined;
  #compaction: Promise<void> | undefined;
  #closing = false;
  /** After a failed compaction the next waits until the log is this long. */
  #compactAtBytes = 0;
  /** Appends and the switch of files, one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: FileMediumOptions) {
    this.#options = options;
    this.#file = path.join(options.directory, "log");
    this.#newFile = path.join(options.directory, "log.new");
  }

  async open(): Promise<{ revision: number; entries: Iterable<MediumEntry> }> {
    const { directory, fileSystem, logger } = this.#options;
    this.#closing = false;
    try {
      await makeDirectories(fileSystem, directory);
      this.#lock = DirectoryLock.acquire(directory);
      await removeIfThere(fileSystem, this.#newFile);
      if (!(await fileSystem.list(directory)).includes("log")) {
        await (await createLog(fileSystem, this.#file)).close();
        await syncDirectory(fileSystem, directory);
      }
      this.#log = await openLog(fileSystem, this.#file, (payload) =>
        this.#replay(payload),
      );
    } catch (error) {
      this.#lock?.release();
      this.#lock = undefined;
      throw asStoreError(error, `can't open the store in ${directory}`);
    }
    logger?.debug(
      { directory, revision: this.#revision, keys: this.#live.size },
      "opened the store",
    );
    return { revision: this.#revision, entries: this.#live.values() };
  }

  read(key: string): Uint8Array | undefined {
    return this.#live.get(key)?.value;
  }

  async commit(writes: readonly MediumWrite[]): Promise<void> {
    const frame = encodeFrame(writes);
    await this.#exclusive(async () => {
      crashPoint("store.commit.begin");
      await this.#openedLog().append(frame);
      crashPoint("store.commit.durable");
      this.#sincePicture?.push(frame);
    });
    for (const write of writes) this.#apply(write);
    this.#compactIfWorthIt();
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#compaction;
    await this.#exclusive(async () => {
      await this.#log?.close();
      this.#log = undefined;
    });
    this.#live.clear();
    this.#liveBytes = 0;
    this.#lock?.release();
    this.#lock = undefined;
  }

  #openedLog(): LogFile {
    if (!this.#log) throw new StoreError("closed", "the store is closed");
    return this.#log;
  }

  #replay(payload: Buffer): void {
    for (const write of decodePayload(payload)) {
      // A copy: a view would keep the whole file in memory.
      if (write.key !== "")
        this.#apply({
          ...write,
          value: write.value && Uint8Array.prototype.slice.call(write.value),
        });
      else this.#revision = Math.max(this.#revision, write.revision);
    }
  }

  #apply({ key, revision, expiresAtMs, value }: MediumWrite): void {
    const old = this.#live.get(key);
    if (old) this.#liveBytes -= recordBytes(key, old.value.length);
    if (value) {
      this.#live.set(key, { key, revision, expiresAtMs, value });
      this.#liveBytes += recordBytes(key, value.length);
    } else {
      this.#live.delete(key);
    }
    this.#revision = Math.max(this.#revision, revision);
  }

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  #compactIfWorthIt(): void {
    const bytes = this.#log?.bytes ?? 0;
    if (
      this.#compaction ||
      this.#closing ||
      bytes < this.#options.compactAboveBytes
    )
      return;
    if (bytes < 2 * this.#liveBytes || bytes < this.#compactAtBytes) return;
    this.#compaction = this.#compact()
      .catch(async (error: unknown) => {
        this.#compactAtBytes = bytes + this.#options.compactAboveBytes;
        await removeIfThere(this.#options.fileSystem, this.#newFile).catch(
          () => undefined,
        );
        if (!this.#closing)
          this.#options.logger?.warn(
            { err: error },
            "can't compact the store; trying again later",
          );
      })
      .finally(() => {
        this.#compaction = undefined;
        this.#sincePicture = undefined;
      });
  }

  async #compact(): Promise<void> {
    // The picture: taken between two commits' effects, in one turn.
    const entries = [...this.#live.values()];
    const revision = this.#revision;
    this.#sincePicture = [];
    crashPoint("store.compact.begin");
    const next = await createLog(this.#options.fileSystem, this.#newFile);
    try {
      await next.appendUnsynced(encodeRevisionFrame(revision));
      for (const chunk of chunks(entries)) {
        if (this.#closing)
          throw new StoreError("closed", "the store is closing");
        await next.appendUnsynced(encodeFrame(chunk));
      }
      crashPoint("store.compact.written");
      await next.sync();
      crashPoint("store.compact.synced");
      await this.#exclusive(() => this.#switchTo(next));
    } catch (error) {
      await next.close();
      throw error;
    }
  }

  async #switchTo(next: LogFile): Promise<void> {
    for (const frame of this.#sincePicture!) await next.appendUnsynced(frame);
    await next.sync();
    const { directory, fileSystem } = this.#options;
    crashPoint("store.compact.beforeRename");
    await fileSystem.rename(this.#newFile, this.#file);
    crashPoint("store.compact.renamed");
    const old = this.#openedLog();
    this.#log = next;
    await syncDirectory(fileSystem, directory);
    crashPoint("store.compact.durable");
    await old.close();
    this.#options.logger?.debug(
      { fromBytes: old.bytes, toBytes: next.bytes },
      "compacted the store",
    );
  }
}

function* chunks(entries: readonly LiveEntry[]): Generator<LiveEntry[]> {
  let chunk: LiveEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    chunk.push(entry);
    bytes += recordBytes(entry.key, entry.value.length);
    if (bytes < COMPACTION_FRAME_BYTES) continue;
    yield chunk;
    chunk = [];
    bytes = 0;
  }
  if (chunk.length > 0) yield chunk;
}
