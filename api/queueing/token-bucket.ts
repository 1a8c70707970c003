// A token bucket: `burst` at once, then `perSecond`.
import type { Clock } from "../clock.ts";

export class TokenBucket {
  #tokens: number;
  #refilledMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly perSecond: number,
    private readonly burst: number,
  ) {
    this.#tokens = burst;
    this.#refilledMs = clock.monotonic();
  }

  /** Takes a token when there is one. */
  tryTake(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  /** Takes a token when there is one and returns 0; else the milliseconds until there will be one, at least 1. */
  takeOrWaitMs(): number {
    if (this.tryTake()) return 0;
    return Math.ceil(((1 - this.#tokens) / this.perSecond) * 1000);
  }

  /** Takes a token, now or in the future; returns how long to wait for it, in milliseconds. */
  reserve(): number {
    this.#refill();
    this.#tokens--;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.perSecond) * 1000;
  }

  #refill(): void {
    const nowMs = this.clock.monotonic();
    this.#tokens = Math.min(
      this.burst,
      this.#tokens + ((nowMs - this.#refilledMs) / 1000) * this.perSecond,
    );
    this.#refilledMs = nowMs;
  }
}
