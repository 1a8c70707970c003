// Keeps container logs within their size: a log that has grown beyond it is renamed, the runtime told to begin a new one,
// older ones are compressed and the oldest removed. Looks again when the fastest growing log could be full, at the
// latest after the monitor interval; an idle node stats each log once in that time.
import { createReadStream, createWriteStream } from "node:fs";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { Runtime } from "../../cri/runtime.ts";

interface LogRotationOptions {
  runtime: Pick<Runtime, "reopenContainerLog">;
  /** Running containers with a log. */
  containers: () => readonly { id: string; logPath: string }[];
  maxSizeBytes: number;
  /** The one being written included. */
  maxFiles: number;
  intervalMs: number;
  clock: Clock;
  logger: Logger;
}

const shortestIntervalMs = 250;

export class LogRotation {
  readonly #options: LogRotationOptions;
  readonly #sizes = new Map<string, { bytes: number; atMs: number }>();
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: LogRotationOptions) {
    this.#options = options;
  }

  start(): void {
    // maxSizeBytes ≤ 0: logs are not rotated.
    if (this.#options.maxSizeBytes > 0)
      this.#schedule(this.#options.intervalMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #schedule(delayMs: number): void {
    this.#timer = this.#options.clock.after(delayMs, () => {
      this.check().then(
        (nextMs) => {
          if (!this.#stopped) this.#schedule(nextMs);
        },
        (error: unknown) => {
          this.#options.logger.warn(
            { err: error },
            "can't look after the container logs",
          );
          if (!this.#stopped) this.#schedule(this.#options.intervalMs);
        },
      );
    });
  }

  /** Rotates what is too big; resolves to the milliseconds until the next look. */
  async check(): Promise<number> {
    const { containers, maxSizeBytes, intervalMs, clock, logger } =
      this.#options;
    let nextMs = intervalMs;
    const present = new Set<string>();
    for (const { id, logPath } of containers()) {
      present.add(id);
      const bytes = (await stat(logPath).catch(() => undefined))?.size ?? 0;
      const nowMs = clock.monotonic();
      const before = this.#sizes.get(id);
      this.#sizes.set(id, { bytes, atMs: nowMs });
      if (bytes >= maxSizeBytes) {
        await this.#rotate(id, logPath).catch((error: unknown) =>
          logger.warn(
            { err: error, logPath },
            "can't rotate a container's log",
          ),
        );
        this.#sizes.set(id, { bytes: 0, atMs: nowMs });
        nextMs = Math.min(nextMs, shortestIntervalMs * 2);
      } else if (before && bytes > before.bytes && nowMs > before.atMs) {
        const bytesPerMs = (bytes - before.bytes) / (nowMs - before.atMs);
        nextMs = Math.min(nextMs, (maxSizeBytes - bytes) / bytesPerMs);
      }
    }
    for (const id of this.#sizes.keys())
      if (!present.has(id)) this.#sizes.delete(id);
    return Math.max(shortestIntervalMs, Math.ceil(nextMs));
  }

  async #rotate(id: string, logPath: string): Promise<void> {
    const { runtime, maxFiles, clock, logger } = this.#options;
    const directory = dirname(logPath);
    const prefix = `${basename(logPath)}.`;
    const older = (await readdir(directory))
      .filter((name) => name.startsWith(prefix))
      .sort();
    for (const name of older.filter((name) => name.endsWith(".tmp")))
      await rm(join(directory, name), { force: true });
    const rotated = older.filter((name) => !name.endsWith(".tmp"));
    // With the new one and the one about to be renamed, maxFiles are left.
    const surplus = rotated.splice(
      0,
      Math.max(0, rotated.length - (maxFiles - 2)),
    );
    for (const name of surplus)
      await rm(join(directory, name), { force: true });
    const stamp = new Date(clock.now())
      .toISOString()
      .replace(/[-:]/g, "")
      .replace("T", "-")
      .slice(0, 15);
    const target = `${logPath}.${stamp}`;
    await rename(logPath, target);
    try {
      await runtime.reopenContainerLog(id);
    } catch (error) {
      await rename(target, logPath).catch(() => undefined);
      throw error;
    }
    // The newest one stays plain: readers may still be at it.
    // Awaited, so that the next rotation does not meet half of it.
    for (const name of rotated.filter((each) => !each.endsWith(".gz")))
      await compress(join(directory, name)).catch((error: unknown) =>
        logger.warn({ err: error, file: name }, "can't compress a rotated log"),
      );
  }
}

async function compress(path: string): Promise<void> {
  const temporary = `${path}.tmp`;
  await pipeline(
    createReadStream(path),
    createGzip({ level: 1 }),
    createWriteStream(temporary),
  );
  await rename(temporary, `${path}.gz`);
  await rm(path, { force: true });
}
