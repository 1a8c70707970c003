// Takes a snapshot at each time of a schedule. One that fails is logged and counted and has no influence on the next.
//
// Invariants: at most one snapshot is under way; a time that comes while one is counts as skipped. One timer, and none
// after stop(); stop() ends the snapshot under way.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { CronSchedule } from "./cron-schedule.ts";

/** One snapshot as it was written. */
export interface TakenSnapshot {
  readonly name: string;
  readonly revision: number;
  readonly keys: number;
  readonly bytes: number;
  /** Names of the older snapshots that were removed for it. */
  readonly removed: readonly string[];
  /** Why older snapshots could not be removed. */
  readonly pruneFailure: string | undefined;
}

interface SnapshotSchedulerOptions {
  readonly schedule: CronSchedule;
  /**
   * Writes one snapshot, durably, and removes the surplus. Rejects when it can't write it, or when the signal aborts;
   * nothing of it is left then. Must not hold the event loop.
   */
  readonly take: (
    takenAtMs: number,
    signal: AbortSignal,
  ) => Promise<TakenSnapshot>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface SnapshotCounts {
  taken: number;
  failed: number;
  /** Times that came while a snapshot was under way. */
  skipped: number;
  /** Snapshots whose surplus could not be removed. */
  pruneFailed: number;
  /** Epoch milliseconds; undefined before the first. */
  lastTakenAtMs: number | undefined;
  lastDurationMs: number;
  lastBytes: number;
}

/** Timers count monotonic time: after a suspend, or with the clock set, the wall clock is asked at least this often. */
const LONGEST_WAIT_MS = 3_600_000;

export class SnapshotScheduler {
  readonly counts: SnapshotCounts = {
    taken: 0,
    failed: 0,
    skipped: 0,
    pruneFailed: 0,
    lastTakenAtMs: undefined,
    lastDurationMs: 0,
    lastBytes: 0,
  };
  readonly #options: SnapshotSchedulerOptions;
  readonly #abort = new AbortController();
  #timer: Timer | undefined;
  #underWay: Promise<void> | undefined;

  constructor(options: SnapshotSchedulerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#wait(this.#options.schedule.next(this.#options.clock.now()));
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    this.#timer?.cancel();
    this.#timer = undefined;
    await this.#underWay;
  }

  #wait(dueMs: number): void {
    if (this.#abort.signal.aborted) return;
    const { clock, schedule } = this.#options;
    const delayMs = Math.min(dueMs - clock.now(), LONGEST_WAIT_MS);
    this.#timer = clock.after(delayMs, () => {
      const nowMs = clock.now();
      if (nowMs >= dueMs) {
        this.#begin(nowMs);
        this.#wait(schedule.next(nowMs));
      } else {
        // Not yet; and if the clock was set back, an earlier time may have become due first.
        this.#wait(Math.min(dueMs, schedule.next(nowMs)));
      }
    });
  }

  #begin(nowMs: number): void {
    const { logger } = this.#options;
    if (this.#underWay) {
      this.counts.skipped++;
      logger.warn("a snapshot is due while the one before is still written");
      return;
    }
    this.#underWay = this.#takeOne(nowMs).finally(() => {
      this.#underWay = undefined;
    });
  }

  /** Never rejects. */
  async #takeOne(takenAtMs: number): Promise<void> {
    const { take, clock, logger } = this.#options;
    const { counts } = this;
    const startedMs = clock.monotonic();
    let taken: TakenSnapshot;
    try {
      taken = await take(takenAtMs, this.#abort.signal);
    } catch (err) {
      if (this.#abort.signal.aborted) return;
      counts.failed++;
      logger.error(
        { err, failedSnapshots: counts.failed },
        "the scheduled snapshot failed",
      );
      return;
    }
    counts.taken++;
    counts.lastTakenAtMs = takenAtMs;
    counts.lastDurationMs = clock.monotonic() - startedMs;
    counts.lastBytes = taken.bytes;
    const { removed, pruneFailure, ...written } = taken;
    logger.info({ ...written, removed }, "took a snapshot of the store");
    if (pruneFailure === undefined) return;
    counts.pruneFailed++;
    logger.error({ reason: pruneFailure }, "old snapshots can't be removed");
  }
}
