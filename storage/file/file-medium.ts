// An append-only log in a directory (frame.ts). When more than half of the log is garbage it is compacted (compaction.ts)
// while commits go on, and the new file takes the old one's name.
//
// Files: log; log.new, garbage after a crash; log.torn-<time>, what crashes tore (torn-tail.ts); lock.
// Invariants: `log` is complete at every moment, header and all; appends and the switch of files exclude each other; no
// commit is acknowledged while it is not known which file the name `log` will have after a power cut. An idle store does
// no input or output and has no timer.
import * as path from "node:path";
import type { Logger } from "pino";
import { crashPoint } from "../../api/crash-point.ts";
import type { Clock } from "../../api/clock.ts";
import type { Medium, MediumWrite } from "../local/local-store.ts";
import { LiveValues } from "../local/live-values.ts";
import { StoreError } from "../store.ts";
import { copyFrames, writeState } from "./compaction.ts";
import {
  makeDirectories,
  removeIfThere,
  syncDirectory,
} from "./directories.ts";
import type { AcquireLock, Releasable } from "./directory-lock.ts";
import type { FileSystem } from "./file-system.ts";
import {
  encodeFrame,
  encodeRevisionFrame,
  newSeed,
  recordBytes,
} from "./frame.ts";
import { asStoreError, createLog, LogFile } from "./log-file.ts";
import { loadLog } from "./log-loader.ts";
import type { LogContent } from "./log-reader.ts";
import { keepTornTail } from "./torn-tail.ts";

interface FileMediumOptions {
  readonly directory: string;
  readonly fileSystem: FileSystem;
  readonly lock: AcquireLock;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
  /** Logs smaller than this are never compacted. */
  readonly compactAboveBytes: number;
}

/** Frames committed during a compaction are copied while commits go on until fewer bytes than this are left. */
const LAST_COPY_BYTES = 1024 * 1024;

export class FileMedium implements Medium {
  readonly #options: FileMediumOptions;
  readonly #file: string;
  readonly #newFile: string;
  #state = new LiveValues();
  #liveBytes = 0;
  #revision = 0;
  #seed = 0;
  #lock: Releasable | undefined;
  #log: LogFile | undefined;
  /** The log ends with the mark of a closed store. */
  #markedClosed = false;
  /** A rename whose durability is unknown: the directory must be synced before anything is acknowledged. */
  #unsyncedRename = false;
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

  /** Of the log; one that is being written by a compaction is not counted yet. */
  get bytes(): number | undefined {
    return this.#log?.bytes;
  }

  async open(state: LiveValues): Promise<number> {
    const { directory, fileSystem, lock, logger } = this.#options;
    this.#closing = false;
    this.#state = state;
    try {
      await makeDirectories(fileSystem, directory);
      this.#lock = await lock(directory);
      await removeIfThere(fileSystem, this.#newFile);
      if ((await fileSystem.list(directory)).includes("log"))
        await this.#load(state);
      else await this.#rewrite(newSeed());
    } catch (error) {
      await this.#log?.close().catch(() => undefined);
      this.#log = undefined;
      await this.#lock?.release();
      this.#lock = undefined;
      throw asStoreError(error, `can't open the store in ${directory}`);
    }
    for (const { key, value } of state.values())
      this.#liveBytes += recordBytes(key, value.length);
    logger?.debug(
      { directory, revision: this.#revision, keys: state.size },
      "opened the store",
    );
    return this.#revision;
  }

  async commit(writes: readonly MediumWrite[]): Promise<void> {
    const frame = encodeFrame(this.#seed, writes);
    await this.#exclusive(async () => {
      crashPoint("store.commit.begin");
      const log = this.#openedLog();
      try {
        await this.#syncRename();
      } catch (error) {
        throw asStoreError(error, "can't write to the store");
      }
      await log.append(frame);
      this.#markedClosed = false;
      crashPoint("store.commit.durable");
    });
    this.#count(writes);
  }

  /** Before the state has them. */
  #count(writes: readonly MediumWrite[]): void {
    const bytesOf = (key: string, value: Uint8Array | undefined): number =>
      value ? recordBytes(key, value.length) : 0;
    const replaced = new Map<string, number>();
    for (const { key, value } of writes) {
      const bytes = bytesOf(key, value);
      this.#liveBytes +=
        bytes -
        (replaced.get(key) ?? bytesOf(key, this.#state.get(key)?.value));
      replaced.set(key, bytes);
    }
    this.#revision = writes.at(-1)!.revision;
  }

  maintain(): void {
    const bytes = this.#log?.bytes ?? 0;
    if (
      this.#compaction ||
      this.#closing ||
      bytes < this.#options.compactAboveBytes ||
      bytes < 2 * this.#liveBytes ||
      bytes < this.#compactAtBytes
    )
      return;
    this.#compaction = this.#compact().finally(() => {
      this.#compaction = undefined;
    });
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#compaction;
    try {
      await this.#exclusive(async () => {
        const log = this.#log;
        this.#log = undefined;
        if (log) await this.#closeLog(log);
      });
    } finally {
      this.#liveBytes = 0;
      await this.#lock?.release();
      this.#lock = undefined;
    }
  }

  /** A mark behind the last frame: without it, damage in that frame could be taken for a write that a crash tore. */
  async #closeLog(log: LogFile): Promise<void> {
    try {
      if (!this.#markedClosed) {
        await this.#syncRename();
        await log.append(encodeRevisionFrame(this.#seed, this.#revision));
      }
      crashPoint("store.close.marked");
    } catch (error) {
      this.#options.logger?.warn({ err: error }, "can't mark the store closed");
    }
    // Everything acknowledged is durable: what fails here loses nothing.
    await log.close().catch((error: unknown) => {
      this.#options.logger?.warn({ err: error }, "can't close the store's log");
    });
  }

  #openedLog(): LogFile {
    if (!this.#log) throw new StoreError("closed", "the store is closed");
    return this.#log;
  }

  async #load(state: LiveValues): Promise<void> {
    const { fileSystem, logger } = this.#options;
    const handle = await fileSystem.open(this.#file, "update");
    let content: LogContent;
    try {
      content = await loadLog(handle, this.#file, state);
    } catch (error) {
      await handle.close();
      throw error;
    }
    this.#log = new LogFile(handle, content.soundBytes);
    this.#revision = content.revision;
    this.#markedClosed = content.closed;
    if (content.bytes > content.soundBytes) await this.#cutTail(content);
    this.#seed = content.format.seed;
    if (content.format.version === 2) return this.#syncFound();
    logger?.info("rewriting the store's log in the present format");
    const old = this.#log;
    await this.#rewrite(newSeed());
    await old.close();
  }

  /** What a killed process had not synced was readable here: it must be durable before anybody relies on it. */
  async #syncFound(): Promise<void> {
    await this.#openedLog().sync();
    const { directory, fileSystem } = this.#options;
    await syncDirectory(fileSystem, directory);
  }

  async #cutTail({ soundBytes, bytes, revision }: LogContent): Promise<void> {
    const { directory, fileSystem, clock, logger } = this.#options;
    const log = this.#openedLog();
    const copy = await keepTornTail(
      fileSystem,
      directory,
      log.handle,
      soundBytes,
      bytes,
      clock.now(),
    );
    logger?.warn(
      { bytes: bytes - soundBytes, revision, copy },
      "a crash tore the end of the store's log: cut off, and kept beside it",
    );
    crashPoint("store.open.beforeCut");
    await log.cut();
    crashPoint("store.open.cut");
  }

  /** Makes a whole log from the state, durable under its name when it resolves. */
  async #rewrite(seed: number): Promise<void> {
    const { directory, fileSystem } = this.#options;
    const next = await createLog(fileSystem, this.#newFile);
    try {
      await writeState(next, seed, this.#revision, this.#state.values());
      await next.sync();
      crashPoint("store.rewrite.beforeRename");
      await fileSystem.rename(this.#newFile, this.#file);
      crashPoint("store.rewrite.renamed");
      await syncDirectory(fileSystem, directory);
    } catch (error) {
      await next.close().catch(() => undefined);
      throw error;
    }
    this.#log = next;
    this.#seed = seed;
    this.#markedClosed = false;
  }

  async #compact(): Promise<void> {
    const { fileSystem, compactAboveBytes, logger } = this.#options;
    const old = this.#openedLog();
    const start = old.bytes;
    let next: LogFile | undefined;
    try {
      crashPoint("store.compact.begin");
      next = await createLog(fileSystem, this.#newFile);
      const fresh = next;
      await writeState(
        fresh,
        this.#seed,
        this.#revision,
        this.#state.values(),
        () => this.#refuseWhenClosing(),
      );
      await fresh.sync();
      let copied = start;
      while (old.bytes - copied > LAST_COPY_BYTES) {
        this.#refuseWhenClosing();
        const end = old.bytes;
        await copyFrames(old, copied, end, fresh);
        copied = end;
      }
      crashPoint("store.compact.synced");
      await this.#exclusive(async () => {
        await copyFrames(old, copied, old.bytes, fresh);
        await fresh.sync();
        await this.#switchTo(fresh);
      });
      logger?.debug(
        { fromBytes: old.bytes, toBytes: fresh.bytes },
        "compacted the store",
      );
    } catch (error) {
      this.#compactAtBytes = old.bytes + compactAboveBytes;
      // The file that became the log stays open, whatever failed afterwards.
      if (next !== this.#log) await next?.close().catch(() => undefined);
      if (!this.#unsyncedRename)
        await removeIfThere(fileSystem, this.#newFile).catch(() => undefined);
      if (!this.#closing)
        logger?.warn(
          { err: error },
          "can't compact the store; trying again later",
        );
    }
    if (this.#log !== old) await old.close().catch(() => undefined);
  }

  #refuseWhenClosing(): void {
    if (this.#closing) throw new StoreError("closed", "the store is closing");
  }

  async #switchTo(next: LogFile): Promise<void> {
    const { fileSystem } = this.#options;
    crashPoint("store.compact.beforeRename");
    await fileSystem.rename(this.#newFile, this.#file);
    crashPoint("store.compact.renamed");
    this.#log = next;
    this.#markedClosed = false;
    this.#unsyncedRename = true;
    await this.#syncRename();
    crashPoint("store.compact.durable");
  }

  /** Before this has succeeded a power cut could bring back the old file, without what was written since. */
  async #syncRename(): Promise<void> {
    if (!this.#unsyncedRename) return;
    await syncDirectory(this.#options.fileSystem, this.#options.directory);
    this.#unsyncedRename = false;
  }

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}
