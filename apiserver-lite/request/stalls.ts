// Requests that wait for their clients: a list of which no more is read has no work to do. One that has waited for a
// while, all in all, is reported, so that it gives its seats back and clients who do not read keep no others waiting.
// Invariants: one timer, only while something waits; each is reported once, at most a period late.
import type { Clock } from "../../api/clock.ts";

/** How long one answer may wait for its client before that is others' to feel. */
const patienceMs = 2;
const periodMs = 2;

export interface Stalling {
  /** How long it has waited before. */
  waitedMs: number;
  /** It has waited for too long. It waits no longer. */
  stalled(): void;
}

export class Stalls {
  /** With the time at which each would have begun if it had waited once. */
  readonly #waiting = new Map<Stalling, number>();
  #armed = false;

  constructor(private readonly clock: Clock) {}

  begin(one: Stalling): void {
    if (one.waitedMs >= patienceMs) return one.stalled();
    this.#waiting.set(one, this.clock.monotonic() - one.waitedMs);
    this.#arm();
  }

  end(one: Stalling): void {
    const sinceMs = this.#waiting.get(one);
    if (sinceMs === undefined) return;
    this.#waiting.delete(one);
    one.waitedMs = this.clock.monotonic() - sinceMs;
  }

  readonly #look = (): void => {
    this.#armed = false;
    const nowMs = this.clock.monotonic();
    for (const [one, sinceMs] of this.#waiting) {
      if (nowMs - sinceMs < patienceMs) continue;
      this.#waiting.delete(one);
      one.stalled();
    }
    if (this.#waiting.size > 0) this.#arm();
  };

  #arm(): void {
    if (this.#armed) return;
    this.#armed = true;
    this.clock.after(periodMs, this.#look);
  }
}
