// Keeps container logs within their size: the runtime rotates a log that has grown beyond it. Looks again when the fastest
// growing log could be full, and when the disk has lost as much as a log may take, by any writer; at the latest after
// the monitor interval. An idle node looks at each log once in that time.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type {
  ContainerLogs,
  LoggedContainer,
} from "../../cri/logs/container-logs.ts";

interface LogRotationOptions {
  logs: Pick<ContainerLogs, "sizeBytes" | "rotate" | "renew">;
  /** Running containers with a log. */
  containers: () => readonly LoggedContainer[];
  maxSizeBytes: number;
  /** The one being written included. */
  maxFiles: number;
  intervalMs: number;
  /** Logs that are rotated at the same time. */
  maxWorkers: number;
  /** Of all logs together. */
  budget: { enforce(): Promise<unknown> };
  clock: Clock;
  logger: Logger;
}

const shortestIntervalMs = 250;
const newLogMs = 500;
/** Between tries at a log that fail. */
const longestPauseMs = 60_000;
/** The directories of all logs are read no more often than that, and without a rotation once a minute. */
const budgetEveryMs = 5000;
/** While the disk fills fast. */
const hurriedBudgetEveryMs = 1000;
const idleBudgetEveryMs = 60_000;

export class LogRotation {
  readonly #options: LogRotationOptions;
  readonly #sizes = new Map<string, { bytes: number; atMs: number }>();
  /** Logs whose last rotation or renewal failed. */
  readonly #failures = new Map<string, { pauseMs: number; untilMs: number }>();
  #timer: Timer | undefined;
  #dueAtMs = Infinity;
  #stopped = false;
  #rotated = false;
  /** Of the disk at the last look; undefined: not known yet. */
  #spaceBytes: number | undefined;
  #hurried = false;
  #budgetedAtMs = -Infinity;

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

  /** There may be a new log, and it may be fast. */
  soon(): void {
    if (this.#stopped || !this.#timer) return;
    if (this.#dueAtMs - this.#options.clock.monotonic() <= newLogMs) return;
    this.#timer.cancel();
    this.#schedule(newLogMs);
  }

  /** What the file system has left, reported often: a slow log may have turned fast since the last look. */
  spaceLeft(bytes: number): void {
    this.#spaceBytes ??= bytes;
    if (this.#spaceBytes - bytes < this.#options.maxSizeBytes) return;
    this.#hurried = true;
    this.soon();
  }

  #schedule(delayMs: number): void {
    this.#dueAtMs = this.#options.clock.monotonic() + delayMs;
    this.#timer = this.#options.clock.after(delayMs, () => {
      // Looked at just now: soon() waits for the next.
      this.#dueAtMs = -Infinity;
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
    const { containers, intervalMs, maxWorkers } = this.#options;
    const all = containers();
    this.#spaceBytes = undefined;
    const waiting = [...all];
    let nextMs = intervalMs;
    const work = async (): Promise<void> => {
      for (let each = waiting.shift(); each; each = waiting.shift())
        nextMs = Math.min(nextMs, await this.#checkOne(each));
    };
    await Promise.all(
      Array.from({ length: Math.min(maxWorkers, all.length) }, work),
    );
    const present = new Set(all.map(({ id }) => id));
    for (const known of [this.#sizes, this.#failures])
      for (const id of known.keys()) if (!present.has(id)) known.delete(id);
    await this.#keepBudget();
    return Math.max(shortestIntervalMs, Math.ceil(nextMs));
  }

  async #keepBudget(): Promise<void> {
    const { clock, budget, logger } = this.#options;
    const sinceMs = clock.monotonic() - this.#budgetedAtMs;
    const everyMs = this.#hurried ? hurriedBudgetEveryMs : budgetEveryMs;
    this.#hurried = false;
    if (sinceMs < (this.#rotated ? everyMs : idleBudgetEveryMs)) return;
    this.#rotated = false;
    this.#budgetedAtMs = clock.monotonic();
    await budget
      .enforce()
      .catch((error: unknown) =>
        logger.warn({ err: error }, "can't keep the logs within their budget"),
      );
  }

  /** Resolves to when the log could be full again. */
  async #checkOne(container: LoggedContainer): Promise<number> {
    const { logs, clock, maxSizeBytes } = this.#options;
    const { id } = container;
    const bytes = await logs.sizeBytes(container);
    const nowMs = clock.monotonic();
    if (bytes === undefined) return this.#renew(container, nowMs);
    const before = this.#sizes.get(id);
    this.#sizes.set(id, { bytes, atMs: nowMs });
    if (bytes >= maxSizeBytes) return this.#rotate(container, nowMs);
    // A new one may be fast: its rate is known with the second look.
    if (!before) return bytes > 0 ? newLogMs : Infinity;
    if (bytes <= before.bytes || nowMs <= before.atMs) return Infinity;
    const bytesPerMs = (bytes - before.bytes) / (nowMs - before.atMs);
    return (maxSizeBytes - bytes) / bytesPerMs;
  }

  /** The log of a container that writes on was removed. */
  #renew(container: LoggedContainer, nowMs: number): Promise<number> {
    const { logs, containers } = this.#options;
    this.#sizes.delete(container.id);
    return this.#attempt(container, nowMs, "begin a new log", async () => {
      // It may have ended since, and its log gone with it.
      if (containers().some(({ id }) => id === container.id))
        await logs.renew(container);
      return Infinity;
    });
  }

  #rotate(container: LoggedContainer, nowMs: number): Promise<number> {
    const { logs, maxFiles } = this.#options;
    return this.#attempt(container, nowMs, "rotate a log", async () => {
      this.#rotated = true;
      await logs.rotate(container, maxFiles);
      this.#sizes.set(container.id, { bytes: 0, atMs: nowMs });
      return shortestIntervalMs * 2;
    });
  }

  /** What fails, on a full disk for instance, is tried again with growing pauses. */
  async #attempt(
    { id, logPath }: LoggedContainer,
    nowMs: number,
    what: string,
    work: () => Promise<number>,
  ): Promise<number> {
    const { logger, intervalMs } = this.#options;
    const failure = this.#failures.get(id);
    if (failure && nowMs < failure.untilMs) return failure.untilMs - nowMs;
    try {
      const nextMs = await work();
      this.#failures.delete(id);
      return nextMs;
    } catch (err) {
      const pauseMs = Math.min(
        Math.max(intervalMs, longestPauseMs),
        failure ? failure.pauseMs * 2 : shortestIntervalMs * 2,
      );
      this.#failures.set(id, { pauseMs, untilMs: nowMs + pauseMs });
      logger.warn(
        { err, logPath, retryMs: pauseMs },
        `can't ${what} of a container`,
      );
      return pauseMs;
    }
  }
}
