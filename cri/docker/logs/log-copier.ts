// Copies one container's log from the daemon's own file into a file in the CRI format, as it grows, through the daemon's
// rotation (the file is renamed to .1, and one .1 is kept) and through restarts of the agent and of the daemon, each entry
// once. Woken by inotify; an idle container costs nothing. Invariants: one pass at a time; a pass reads to the end.
import { watch, type FSWatcher } from "node:fs";
import * as fs from "node:fs/promises";
import { basename, dirname } from "node:path";
import { makeDirectory } from "../../directories.ts";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../../api/clock.ts";
import { logFileFlags, openLogFile } from "../../logs/regular-file.ts";
import { convertEntries } from "./json-log.ts";
import {
  beginning,
  linesBeyond,
  readPosition,
  writePosition,
  type LogPosition,
} from "./log-position.ts";

/** Converted without a pause for others. */
const chunkBytes = 64 * 1024;
/** The daemon cuts output at 16 KiB, of which each byte takes six at most. */
const maxEntryBytes = 256 * 1024;
/** What is written close together is copied together. */
const gatherMs = 10;
const savePositionMs = 1000;
/** Where inotify is not to be had. */
const pollMs = 1000;

interface LogCopierOptions {
  /** The daemon's file; it comes with the start of the container. */
  source: string;
  /** The copy. */
  logPath: string;
  clock: Clock;
  logger: Logger;
}

export class LogCopier {
  readonly #options: LogCopierOptions;
  #copy: fs.FileHandle | undefined;
  #source: fs.FileHandle | undefined;
  /** Where the next entry begins, in the file that is open. */
  #at: Pick<LogPosition, "first" | "offset"> = beginning;
  /** The end of the file before it, as long as nothing of this one is copied. */
  #before: Pick<LogPosition, "first" | "offset"> | undefined;
  /** Entries from there on that the copy holds already. */
  #skip = 0;
  #rest: Buffer = Buffer.alloc(0);
  #unsaved = false;
  #watcher: FSWatcher | undefined;
  readonly #timers = new Map<"pass" | "save" | "poll", Timer>();
  /** The passes, one after another. */
  #turn: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: LogCopierOptions) {
    this.#options = options;
  }

  /** Opens the copy where the last copier left it; resolves to false when all of the log was copied by then. */
  async open(): Promise<boolean> {
    const { logPath } = this.#options;
    await makeDirectory(dirname(logPath), 0o755);
    const found = await readPosition(logPath);
    if (found?.done === true) return false;
    // Read as well as appended to.
    this.#copy = await openLogFile(logPath, logFileFlags.append, 0o640);
    if (found) {
      this.#at = found;
      const { size } = await this.#copy.stat();
      // A smaller copy was begun after the position was written: all of its lines come after it.
      const from = size < found.copiedBytes ? 0 : found.copiedBytes;
      this.#skip = await linesBeyond(this.#copy, from);
    } else await this.#save();
    return true;
  }

  /** Copies whenever the daemon writes. */
  follow(): void {
    const { source } = this.#options;
    try {
      this.#watcher = watch(
        dirname(source),
        { persistent: false },
        (_event, name) => {
          if (name === null || name === basename(source)) this.#wake();
        },
      );
      this.#watcher.on("error", () => this.#poll());
    } catch {
      this.#poll();
    }
    this.#wake();
  }

  /** Everything that the daemon has written by now is in the copy. */
  drain(): Promise<void> {
    return this.#next(() => this.#pass());
  }

  /** The container has ended: the rest is copied, and the copier closed. */
  async finish(): Promise<void> {
    await this.#next(async () => {
      if (this.#closed) return;
      await this.#pass();
      await this.#save(true);
    });
    await this.close();
  }

  /** Nothing is copied while the work, which renames the copy, is under way. */
  rotate(work: () => Promise<void>): Promise<void> {
    return this.#next(async () => {
      await this.#pass();
      await this.#save();
      await work();
      this.#wake();
    });
  }

  /** Within rotate(): the copy was renamed, and a new one is begun at its path. */
  async reopen(): Promise<void> {
    if (this.#closed) return;
    const copy = await openLogFile(
      this.#options.logPath,
      logFileFlags.append,
      0o640,
    );
    await this.#copy?.close();
    this.#copy = copy;
    await this.#save();
  }

  /** What is not copied yet is left to the next copier. */
  async close(): Promise<void> {
    this.#watcher?.close();
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
    await this.#next(async () => {
      if (this.#closed) return;
      if (this.#unsaved) await this.#save();
      this.#closed = true;
      await this.#source?.close();
      await this.#copy?.close();
    });
  }

  #next(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  #wake(): void {
    this.#later("pass", gatherMs, () => {
      this.drain().catch((error: unknown) =>
        this.#options.logger.warn(
          { err: error, file: this.#options.logPath },
          "a container's log can't be copied",
        ),
      );
    });
  }

  #poll(): void {
    this.#later("poll", pollMs, () => {
      this.#wake();
      this.#poll();
    });
  }

  #later(
    name: "pass" | "save" | "poll",
    delayMs: number,
    work: () => void,
  ): void {
    if (this.#closed || this.#timers.has(name)) return;
    this.#timers.set(
      name,
      this.#options.clock.after(delayMs, () => {
        this.#timers.delete(name);
        work();
      }),
    );
  }

  async #save(done = false): Promise<void> {
    // Lines that are to be skipped are in the copy already, beyond the position.
    if (!this.#copy || this.#skip > 0) return;
    const { size } = await this.#copy.stat();
    const { first, offset } = this.#before ?? this.#at;
    await writePosition(this.#options.logPath, {
      first,
      offset,
      copiedBytes: size,
      done,
    });
    this.#unsaved = false;
  }

  async #pass(): Promise<void> {
    if (this.#closed) return;
    this.#source ??= await this.#openSource();
    while (this.#source && !this.#closed) {
      await this.#copyOpened(this.#source);
      const next = await this.#rotated(this.#source);
      if (!next) break;
      // It was renamed after the last read, perhaps: the rest of it comes first.
      await this.#copyOpened(this.#source);
      await this.#source.close();
      await this.#begin(next);
    }
    if (this.#unsaved)
      this.#later("save", savePositionMs, () => {
        this.#next(() => this.#saveAgain()).catch((error: unknown) =>
          this.#options.logger.warn({ err: error }, "can't keep a position"),
        );
      });
  }

  async #saveAgain(): Promise<void> {
    if (this.#unsaved && !this.#closed) await this.#save();
  }

  async #begin(source: fs.FileHandle): Promise<void> {
    this.#source = source;
    this.#rest = Buffer.alloc(0);
    this.#before ??= this.#at;
    this.#at = beginning;
    await this.#save();
  }

  async #copyOpened(source: fs.FileHandle): Promise<void> {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    for (;;) {
      const { bytesRead } = await source.read(
        chunk,
        0,
        chunkBytes,
        this.#at.offset + this.#rest.length,
      );
      if (bytesRead === 0) return;
      const input = Buffer.concat([this.#rest, chunk.subarray(0, bytesRead)]);
      const { text, entries, bytes, first } = convertEntries(input, this.#skip);
      if (entries === 0 && input.length > maxEntryBytes)
        throw new Error(`an entry of ${this.#options.source} has no end`);
      this.#rest = Buffer.from(input.subarray(bytes));
      if (entries === 0) continue;
      if (text !== "") await this.#copy?.appendFile(text);
      this.#skip = Math.max(0, this.#skip - entries);
      this.#at = {
        first: this.#at.first || (first ?? ""),
        offset: this.#at.offset + bytes,
      };
      this.#unsaved = true;
      // The position is never further back than the file before this one, which the daemon keeps.
      if (this.#before) {
        this.#before = undefined;
        await this.#save();
      }
    }
  }

  /** The file that the position is in, or the oldest there is. */
  async #openSource(): Promise<fs.FileHandle | undefined> {
    const { source, logger, logPath } = this.#options;
    const wanted = this.#at.first;
    for (const path of [source, `${source}.1`]) {
      const handle = await openIfThere(path);
      if (!handle) continue;
      if (wanted !== "" && (await firstTime(handle)) === wanted) return handle;
      await handle.close();
    }
    const oldest =
      (await openIfThere(`${source}.1`)) ?? (await openIfThere(source));
    if (oldest && wanted !== "") {
      logger.warn(
        { file: logPath },
        "output of a container is lost: there was more of it than the daemon keeps",
      );
      this.#at = beginning;
      this.#skip = 0;
    }
    return oldest;
  }

  /** The next file when the daemon has begun another one. */
  async #rotated(opened: fs.FileHandle): Promise<fs.FileHandle | undefined> {
    const { source } = this.#options;
    const { ino } = await opened.stat();
    const current = await statIfThere(source);
    if (!current || current.ino === ino) return undefined;
    const older = await statIfThere(`${source}.1`);
    // Rotated twice since the last look: the one in between comes first.
    if (older && older.ino !== ino) {
      const between = await openIfThere(`${source}.1`);
      if (between) return between;
    }
    return openIfThere(source);
  }
}

async function firstTime(handle: fs.FileHandle): Promise<string | undefined> {
  const chunk = Buffer.allocUnsafe(maxEntryBytes);
  const { bytesRead } = await handle.read(chunk, 0, maxEntryBytes, 0);
  const end = chunk.subarray(0, bytesRead).indexOf(0x0a) + 1;
  return convertEntries(chunk.subarray(0, end)).first;
}

async function openIfThere(path: string): Promise<fs.FileHandle | undefined> {
  try {
    return await fs.open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function statIfThere(path: string): Promise<{ ino: number } | undefined> {
  return fs.stat(path).catch(() => undefined);
}
