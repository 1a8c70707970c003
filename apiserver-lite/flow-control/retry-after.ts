// After how many seconds a refused client should come back: doubled, up to 32, while a level refuses at least three
// requests a second, lowered by one when it refuses less than one. Seconds without refusals change nothing: they are
// looked at when the next request is refused.

const maxSeconds = 32;

export class RetryAfter {
  /** Refused requests by second, the newest last; no more seconds than the longest answer. */
  readonly #refused = new Map<number, number>();
  #second = -1;
  #raisedAt = -Infinity;
  seconds = 1;

  /** A request is refused. */
  refused(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      for (const at of this.#refused.keys())
        if (second - at > maxSeconds) this.#refused.delete(at);
      this.#adapt(second);
    }
    this.#refused.set(second, (this.#refused.get(second) ?? 0) + 1);
  }

  /** By the seconds before this one. */
  #adapt(second: number): void {
    const { seconds } = this;
    let lately = 0;
    for (const [at, count] of this.#refused)
      if (second - at <= seconds) lately += count;
    if (second - this.#raisedAt >= seconds && lately >= 3 * seconds) {
      this.seconds = Math.min(2 * seconds, maxSeconds);
      this.#raisedAt = second;
    } else if (lately < seconds && seconds > 1) this.seconds--;
  }
}
