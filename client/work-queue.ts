// A queue of keys and the workers on it: the engine under every reconciler.
//
// Invariants: a key waits at most once (so the queue is bounded by the number of objects); one key is never worked on by
// two workers at once; a key added while it is worked on is worked on again afterwards. Delayed keys share one timer;
// of several delays for one key the soonest holds. A failed key comes back after baseMs · 2^failures, at most maxMs,
// until a success (or forget) resets it: 5 ms … 1000 s as the reference.
import { backoffMs } from "../api/queueing/backoff.ts";
import type { Logger } from "pino";
import type { Clock, Timer } from "../api/clock.ts";

/** What a worker says: nothing, or when to look at the key again although nothing changed. */
export interface WorkResult {
  requeueAfterMs?: number;
}

/** Receives what a queue does; the composition turns it into the metrics of /metrics. */
export interface WorkQueueMetrics {
  /** A key begins to wait. */
  added(): void;
  /** Work on a key begins, which waited so long. */
  taken(waitedMs: number): void;
  worked(durationMs: number): void;
  /** A failed key will be tried again. */
  retried(): void;
}

interface WorkQueueOptions {
  name: string;
  clock: Clock;
  logger: Logger;
  /** Workers at once; default 1. */
  concurrency?: number;
  /** Does the work for one key. A rejection is logged and retried with back-off. */
  process: (key: string) => Promise<WorkResult | void>;
  baseBackoffMs?: number;
  maxBackoffMs?: number;
  /** Called after each key: how long it took and whether it failed. */
  onProcessed?: (key: string, durationMs: number, error: unknown) => void;
  metrics?: WorkQueueMetrics;
  /** Is this failure expected (a conflict …), to be logged quietly? */
  isExpected?: (error: unknown) => boolean;
}

export class WorkQueue {
  readonly #ready = new Set<string>();
  /** key → monotonic time the work began. */
  readonly #working = new Map<string, number>();
  /** key → monotonic time it began to wait; kept only for metrics. */
  readonly #waitingSince = new Map<string, number>();
  /** Added while worked on. */
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  /** key → monotonic time it is due. */
  readonly #delayed = new Map<string, number>();
  #timer: Timer | undefined;
  #timerDueMs = Infinity;
  #pumpPlanned = false;
  #running = false;
  #whenIdle: (() => void)[] = [];

  constructor(private readonly options: WorkQueueOptions) {}

  /** Keys that wait to be worked on now. */
  get length(): number {
    return this.#ready.size + this.#again.size;
  }

  /** Keys that wait, are delayed or are worked on. */
  get pending(): number {
    return this.length + this.#working.size + this.#delayed.size;
  }

  /** How long each key under work has been worked on. */
  get workingForMs(): number[] {
    const nowMs = this.options.clock.monotonic();
    return [...this.#working.values()].map((sinceMs) => nowMs - sinceMs);
  }

  start(): void {
    this.#running = true;
    this.#plan();
  }

  /** No new work is begun; resolves when what is under way has ended. Keys added before start() or after stop() are kept. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerDueMs = Infinity;
    if (this.#working.size > 0)
      await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  add(key: string): void {
    this.#delayed.delete(key);
    this.#noteWaiting(key);
    if (this.#working.has(key)) this.#again.add(key);
    else {
      this.#ready.add(key);
      this.#plan();
    }
  }

  /** @param delayMs 0 or less adds at once */
  addAfter(key: string, delayMs: number): void {
    if (delayMs <= 0) return this.add(key);
    const dueMs = this.options.clock.monotonic() + delayMs;
    if ((this.#delayed.get(key) ?? Infinity) <= dueMs) return;
    this.#delayed.set(key, dueMs);
    if (dueMs < this.#timerDueMs) this.#arm(dueMs);
  }

  /** Adds after the key's back-off, which grows. */
  addRateLimited(key: string): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const { baseBackoffMs: baseMs = 5, maxBackoffMs: maxMs = 1_000_000 } =
      this.options;
    this.addAfter(key, backoffMs({ baseMs, maxMs }, failures));
  }

  /** How often the key failed in a row. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Resets the key's back-off. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  #noteWaiting(key: string): void {
    const { metrics, clock } = this.options;
    if (!metrics || this.#waitingSince.has(key)) return;
    this.#waitingSince.set(key, clock.monotonic());
    metrics.added();
  }

  #arm(dueMs: number): void {
    this.#timer?.cancel();
    this.#timerDueMs = dueMs;
    const { clock } = this.options;
    this.#timer = clock.after(Math.max(0, dueMs - clock.monotonic()), () => {
      this.#timer = undefined;
      this.#timerDueMs = Infinity;
      const nowMs = clock.monotonic();
      let nextMs = Infinity;
      for (const [key, keyDueMs] of this.#delayed) {
        // Timers may fire a fraction of a millisecond early.
        if (keyDueMs <= nowMs + 1) this.add(key);
        else nextMs = Math.min(nextMs, keyDueMs);
      }
      if (nextMs < Infinity) this.#arm(nextMs);
    });
  }

  /** Work begins in a later turn of the event loop, so that events of one turn fall together. */
  #plan(): void {
    if (this.#pumpPlanned || !this.#running) return;
    this.#pumpPlanned = true;
    setImmediate(() => {
      this.#pumpPlanned = false;
      this.#pump();
    });
  }

  #pump(): void {
    if (!this.#running) return;
    for (const key of this.#ready) {
      if (this.#working.size >= (this.options.concurrency ?? 1)) return;
      this.#ready.delete(key);
      void this.#work(key);
    }
    if (this.#timer === undefined && this.#delayed.size > 0)
      this.#arm(Math.min(...this.#delayed.values()));
  }

  async #work(key: string): Promise<void> {
    const { clock, logger, name, process, onProcessed, isExpected, metrics } =
      this.options;
    const startedMs = clock.monotonic();
    this.#working.set(key, startedMs);
    if (metrics) {
      metrics.taken(startedMs - (this.#waitingSince.get(key) ?? startedMs));
      this.#waitingSince.delete(key);
    }
    let failure: unknown;
    try {
      const result = await process(key);
      this.#failures.delete(key);
      if (result?.requeueAfterMs !== undefined)
        this.#addAfterWork(key, result.requeueAfterMs);
    } catch (error) {
      failure = error ?? new Error("failed without a reason");
      if (isExpected?.(error))
        logger.debug({ err: error, queue: name, key }, "will try again");
      else logger.warn({ err: error, queue: name, key }, "will try again");
      metrics?.retried();
      this.addRateLimited(key);
    }
    this.#working.delete(key);
    const durationMs = clock.monotonic() - startedMs;
    metrics?.worked(durationMs);
    onProcessed?.(key, durationMs, failure);
    if (this.#again.delete(key)) {
      this.#delayed.delete(key);
      this.#ready.add(key);
    }
    if (this.#running) this.#plan();
    if (this.#working.size === 0) {
      for (const resolve of this.#whenIdle) resolve();
      this.#whenIdle = [];
    }
  }

  #addAfterWork(key: string, delayMs: number): void {
    if (delayMs <= 0) {
      this.#noteWaiting(key);
      this.#again.add(key);
    } else this.addAfter(key, delayMs);
  }
}
