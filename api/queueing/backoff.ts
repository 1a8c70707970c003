// Exponential back-off, as every retry of the program waits: as a function of the failures so far, and as an object that
// counts them. Also the wait itself.
import type { Clock } from "../clock.ts";

interface BackoffOptions {
  baseMs: number;
  maxMs: number;
  /** Each step multiplies by this; default 2. */
  factor?: number;
  /** Up to this share is added at random; default 0. */
  jitter?: number;
}

/** The delay in milliseconds after so many failures in a row before the last one: 0 → baseMs, 1 → twice that … maxMs. */
export function backoffMs(options: BackoffOptions, failures: number): number {
  const { baseMs, maxMs, factor = 2, jitter = 0 } = options;
  const delayMs = Math.min(maxMs, baseMs * factor ** failures);
  return jitter === 0 ? delayMs : delayMs * (1 + jitter * Math.random());
}

export class Backoff {
  #failures = 0;

  constructor(private readonly options: BackoffOptions) {}

  /** The delay before the next try, in milliseconds; grows with each call until reset(). */
  nextMs(): number {
    return backoffMs(this.options, this.#failures++);
  }

  get failures(): number {
    return this.#failures;
  }

  reset(): void {
    this.#failures = 0;
  }
}

/** Waits on the clock, or less when the signal aborts. */
export function sleep(
  clock: Clock,
  delayMs: number,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      timer.cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.after(delayMs, done);
    signal?.addEventListener("abort", done, { once: true });
  });
}
