// Requests that wait for their clients: a list of which no more is read has no work to do. One that has waited for a
// while, all in all, is reported, so that it gives its seats back and clients who do not read keep no others waiting.
// Invariants: one timer, only while something waits; each is reported once, at most a period late.
import type { Clock } from "../../api/clock.ts";

/** How long one answer may wait for its client before that is others' to feel. */
const patienceMs = 2;
const periodMs = 2;

/**
 * One that waits; emptied when it waits no longer, as a set that changes often leaves old tables behind, which hold what
 * was in them until the next full collection.
 */
interface Stall {
  one: Stalling | undefined;
  /** When it would have begun if it had waited once. */
  readonly sinceMs: number;
}

export interface Stalling {
  /** How long it has waited before. */
  waitedMs: number;
  /** Kept here. */
  stall: Stall | undefined;
  /** It has waited for too long. It waits no longer. */
  stalled(): void;
}

export class Stalls {
  readonly #waiting = new Set<Stall>();
  #armed = false;

  constructor(private readonly clock: Clock) {}

  begin(one: Stalling): void {
    if (one.waitedMs >= patienceMs) return one.stalled();
    const sinceMs = this.clock.monotonic() - one.waitedMs;
    if (one.stall) this.#forget(one.stall);
    one.stall = { one, sinceMs };
    this.#waiting.add(one.stall);
    this.#arm();
  }

  end(one: Stalling): void {
    const { stall } = one;
    if (!stall) return;
    this.#forget(stall);
    one.waitedMs = this.clock.monotonic() - stall.sinceMs;
  }

  #forget(stall: Stall): void {
    this.#waiting.delete(stall);
    if (stall.one) stall.one.stall = undefined;
    stall.one = undefined;
  }

  readonly #look = (): void => {
    this.#armed = false;
    const nowMs = this.clock.monotonic();
    for (const stall of this.#waiting) {
      const { one, sinceMs } = stall;
      if (!one || nowMs - sinceMs < patienceMs) continue;
      this.#forget(stall);
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
