// Runs one pass at a time: a wake during a pass is one more pass after it, wakes in the same turn are one pass. A pass says
// when the next one is due; a pass that fails is tried again with doubling delays. Bounded: after many passes in a row the
// loop rests, so that a pass that always asks for another one can't hold a processor.
import { Backoff } from "../../../api/queueing/backoff.ts";
import type { Clock, Timer } from "../../../api/clock.ts";

/** "again": at once; else milliseconds until the next pass, Infinity: only when woken. */
export type NextPass = "again" | number;

interface PassLoopOptions {
  pass: () => Promise<NextPass>;
  /** A pass failed and is tried again after that time. */
  onFailure: (error: unknown, retryMs: number) => void;
  clock: Clock;
}

const retries = { baseMs: 1000, maxMs: 15_000 };
const maxPassesInARow = 50;
const restMs = 1000;

export class PassLoop {
  readonly #options: PassLoopOptions;
  #pending = false;
  #closed = false;
  #running: Promise<void> | undefined;
  #timer: Timer | undefined;
  readonly #retries = new Backoff(retries);

  constructor(options: PassLoopOptions) {
    this.#options = options;
  }

  wake(): void {
    if (this.#closed) return;
    this.#pending = true;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
  }

  /** No further pass begins. Resolves when the present one is through: not to be awaited by the pass itself. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#running;
  }

  async #run(): Promise<void> {
    // Changes that arrive in the same turn are one pass.
    await Promise.resolve();
    for (let passes = 0; this.#pending && !this.#closed; passes++) {
      this.#pending = false;
      this.#timer?.cancel();
      try {
        const next = await this.#options.pass();
        this.#retries.reset();
        if (next === "again") this.#pending = true;
        else this.#wakeIn(next);
      } catch (error) {
        if (this.#closed) return;
        const retryMs = this.#retries.nextMs();
        this.#options.onFailure(error, retryMs);
        this.#pending = false;
        this.#wakeIn(retryMs);
        return;
      }
      if (passes > maxPassesInARow) {
        this.#wakeIn(restMs);
        return;
      }
    }
  }

  #wakeIn(delayMs: number): void {
    this.#timer?.cancel();
    if (this.#closed || delayMs === Infinity) return;
    this.#timer = this.#options.clock.after(delayMs, () => this.wake());
  }
}
