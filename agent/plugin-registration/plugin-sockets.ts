// Which plug-in sockets lie below a directory, and when that changes (inotify on each directory, then the whole tree is
// read again). A socket that was removed and made again has another stamp. Names that begin with a dot are not looked at,
// as at the reference; links are not followed.
import { watch, type FSWatcher } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../../cri/directories.ts";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";

interface PluginSocketsOptions {
  readonly directory: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The complete set after each reading: path → stamp of that socket file. */
  readonly onSockets: (sockets: ReadonlyMap<string, string>) => void;
}

/** Anything that can write there could make directories without end. */
const maxDirectories = 256;
const maxSockets = 1024;
const maxDepth = 8;
/** Several events of one change are answered by one reading. */
const settleMs = 20;

export class PluginSockets {
  readonly #options: PluginSocketsOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: Timer | undefined;
  #reading: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: PluginSocketsOptions) {
    this.#options = options;
  }

  /** Makes the directory where it is missing, and resolves when it was read once. */
  async start(): Promise<void> {
    await makeDirectory(this.#options.directory, 0o750);
    await this.#read();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#reading;
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #changed(): void {
    if (this.#stopped) return;
    this.#timer ??= this.#options.clock.after(settleMs, () => {
      this.#timer = undefined;
      void this.#read();
    });
  }

  #read(): Promise<void> {
    this.#reading = this.#reading.then(async () => {
      if (this.#stopped) return;
      const sockets = new Map<string, string>();
      const directories = new Set<string>();
      await this.#readDirectory(
        this.#options.directory,
        0,
        sockets,
        directories,
      );
      for (const [path, watcher] of this.#watchers)
        if (!directories.has(path)) {
          watcher.close();
          this.#watchers.delete(path);
        }
      this.#options.onSockets(sockets);
    });
    return this.#reading;
  }

  /** It is watched before it is read, so that nothing made in between is missed. */
  async #readDirectory(
    directory: string,
    depth: number,
    sockets: Map<string, string>,
    directories: Set<string>,
  ): Promise<void> {
    if (depth > maxDepth || directories.size >= maxDirectories) {
      this.#options.logger.warn(
        { directory },
        "too many directories of plug-ins: this one is not looked at",
      );
      return;
    }
    directories.add(directory);
    this.#watch(directory);
    const names = await readdir(directory).catch((): string[] => []);
    for (const name of names) {
      if (name.startsWith(".")) continue;
      const path = join(directory, name);
      const found = await lstat(path, { bigint: true }).catch(() => undefined);
      if (found?.isDirectory())
        await this.#readDirectory(path, depth + 1, sockets, directories);
      else if (found?.isSocket() && sockets.size < maxSockets)
        sockets.set(path, `${found.ino}:${found.birthtimeNs}`);
    }
  }

  #watch(directory: string): void {
    if (this.#watchers.has(directory) || this.#stopped) return;
    try {
      const watcher = watch(directory, () => this.#changed());
      watcher.on("error", () => this.#changed());
      this.#watchers.set(directory, watcher);
    } catch (error) {
      this.#options.logger.warn(
        { err: error, directory },
        "can't watch a directory of plug-ins",
      );
    }
  }
}
