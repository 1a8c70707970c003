// Images from archives in a directory (DATA/images/*.tar, .tar.gz, .tar.zst), for nodes without a registry: imported at the
// start and when a file is new or another one, and pinned, so that garbage collection leaves them alone. A file counts when it
// has not changed for a moment: it may be on its way here. What was imported is recorded beside the archives, and a start
// imports it again only when the runtime has lost it. An archive that can't be used is reported once, and tried again when
// it changes; a runtime that does not answer is waited for.
import { watch, type FSWatcher } from "node:fs";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { makeDirectory } from "../../cri/directories.ts";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { RuntimeError, type Runtime } from "../../cri/runtime.ts";

interface ArchiveDirectoryOptions {
  readonly directory: string;
  readonly runtime: Pick<Runtime, "importImage" | "listImages">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Pods may have waited for them. */
  readonly onImported: (names: readonly string[]) => void;
  readonly onProblem: (file: string, message: string) => void;
}

interface Imported {
  /** Of the file: its inode, size and time. */
  readonly stamp: string;
  readonly names: readonly string[];
}

const archiveName = /^[^.].*\.(tar|tar\.gz|tgz|tar\.zst|tzst)$/;
const recordName = ".imported.json";
/** A file that was changed later than this may be on its way. */
const settleMs = 2_000;
const retryMs = 10_000;
const stopMs = 1_000;
/** Where the directory can't be watched. */
const rescanMs = 60_000;

export class ArchiveDirectory {
  readonly #options: ArchiveDirectoryOptions;
  /** By file: imported, or found to be bad (without names). */
  readonly #done = new Map<string, Imported>();
  #watcher: FSWatcher | undefined;
  #timer: Timer | undefined;
  #work: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: ArchiveDirectoryOptions) {
    this.#options = options;
  }

  /** Returns at once: pods start while images come in. */
  start(): void {
    this.#work = this.#begin().catch((error: unknown) =>
      this.#options.logger.error(
        { err: error, directory: this.#options.directory },
        "can't use the directory of image archives",
      ),
    );
  }

  /** An import that takes long ends with the connection to the runtime. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#watcher?.close();
    await Promise.race([
      this.#work,
      new Promise<void>((resolve) =>
        this.#options.clock.after(stopMs, resolve),
      ),
    ]);
  }

  async #begin(): Promise<void> {
    const { directory, logger } = this.#options;
    await makeDirectory(directory, 0o700);
    await this.#readRecord();
    if (this.#stopped) return;
    const lost = (err: unknown): void => {
      logger.warn(
        { err, directory },
        "can't watch the image archives; they are looked at each minute",
      );
      this.#watcher?.close();
      this.#watcher = undefined;
      this.#scanIn(rescanMs);
    };
    try {
      this.#watcher = watch(directory, (_event, name) => {
        if (name === null || archiveName.test(name)) this.#scanIn(settleMs);
      });
      this.#watcher.on("error", lost);
    } catch (error) {
      lost(error);
    }
    await this.#scan();
  }

  #scanIn(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(delayMs, () => {
      this.#work = this.#work.then(() =>
        this.#scan().catch((error: unknown) => {
          this.#options.logger.warn(
            { err: error },
            "can't read the image archives",
          );
          this.#scanIn(retryMs);
        }),
      );
    });
  }

  async #scan(): Promise<void> {
    const { directory, clock } = this.#options;
    const names = (await fs.readdir(directory)).filter((name) =>
      archiveName.test(name),
    );
    for (const name of this.#done.keys())
      if (!names.includes(name)) this.#done.delete(name);
    let again = this.#watcher ? Infinity : rescanMs;
    for (const name of names.sort()) {
      if (this.#stopped) return;
      const stat = await fs
        .stat(path.join(directory, name))
        .catch(() => undefined);
      if (!stat?.isFile()) continue;
      const stamp = `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
      if (this.#done.get(name)?.stamp === stamp) continue;
      // A file from the future is not waited for.
      const ageMs = clock.now() - stat.mtimeMs;
      if (ageMs >= 0 && ageMs < settleMs)
        again = Math.min(again, settleMs - ageMs);
      else if (!(await this.#import(name, stamp)))
        again = Math.min(again, retryMs);
    }
    if (again < Infinity && !this.#stopped) this.#scanIn(again);
  }

  /** False: it is to be tried again. */
  async #import(name: string, stamp: string): Promise<boolean> {
    const { directory, runtime, logger, onImported, onProblem } = this.#options;
    const file = path.join(directory, name);
    try {
      const names = await runtime.importImage(file, { pinned: true });
      this.#done.set(name, { stamp, names });
      logger.info({ file, images: names }, "imported images");
      onImported(names);
      await this.#writeRecord();
      return true;
    } catch (error) {
      const bad =
        error instanceof RuntimeError &&
        ["invalid", "unsupported"].includes(error.code);
      if (!bad) {
        logger.warn({ err: error, file }, "can't import images now");
        return false;
      }
      this.#done.set(name, { stamp, names: [] });
      onProblem(file, error.message);
      return true;
    }
  }

  get #recordFile(): string {
    return path.join(this.#options.directory, recordName);
  }

  /** Files whose images the runtime still has need no import. */
  async #readRecord(): Promise<void> {
    let recorded: [string, Imported][];
    try {
      recorded = Object.entries(
        JSON.parse(await fs.readFile(this.#recordFile, "utf8")) as Record<
          string,
          Imported
        >,
      );
    } catch {
      // There is none, or it is damaged: all is imported again.
      return;
    }
    const images = await this.#options.runtime.listImages().catch(() => []);
    const present = new Set(
      images.flatMap(({ pinned, repoTags, repoDigests }) =>
        pinned ? [...repoTags, ...repoDigests] : [],
      ),
    );
    for (const [name, { stamp, names }] of recorded)
      if (
        Array.isArray(names) &&
        names.length > 0 &&
        names.every((each) => present.has(each))
      )
        this.#done.set(name, { stamp, names });
  }

  async #writeRecord(): Promise<void> {
    const record = Object.fromEntries(
      [...this.#done].filter(([, { names }]) => names.length > 0),
    );
    const partial = `${this.#recordFile}.partial`;
    await fs.writeFile(partial, JSON.stringify(record), { mode: 0o600 });
    await fs.rename(partial, this.#recordFile);
  }
}
