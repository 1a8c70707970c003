// Those who wait until the cache has come to a revision.
import type { Clock } from "../../api/clock.ts";

interface Waiter {
  readonly revision: number;
  settle(come: boolean): void;
}

export class RevisionWaiters {
  readonly #waiting = new Set<Waiter>();

  constructor(private readonly clock: Clock) {}

  /** Resolves true once `reached` is called with `revision` or more, false after timeoutMs and when waiting is ended. */
  wait(revision: number, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        revision,
        settle: (come) => {
          this.#waiting.delete(waiter);
          timer.cancel();
          resolve(come);
        },
      };
      const timer = this.clock.after(timeoutMs, () => waiter.settle(false));
      this.#waiting.add(waiter);
    });
  }

  reached(revision: number): void {
    if (this.#waiting.size === 0) return;
    for (const waiter of [...this.#waiting])
      if (waiter.revision <= revision) waiter.settle(true);
  }

  end(): void {
    for (const waiter of [...this.#waiting]) waiter.settle(false);
  }
}
