// Work that others ask for, as often as they like, done at most once in a time: at once after a quiet one, and once more at
// the end of a busy one, so that the last request is never left out.
import type { Clock, Timer } from "../../api/clock.ts";

export class AtMostEvery {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #work: () => void;
  #doneAtMs = -Infinity;
  #timer: Timer | undefined;

  constructor(clock: Clock, periodMs: number, work: () => void) {
    this.#clock = clock;
    this.#periodMs = periodMs;
    this.#work = work;
  }

  ask(): void {
    if (this.#timer) return;
    const leftMs = this.#doneAtMs + this.#periodMs - this.#clock.monotonic();
    if (leftMs <= 0) return this.#do();
    this.#timer = this.#clock.after(leftMs, () => this.#do());
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #do(): void {
    this.#timer = undefined;
    this.#doneAtMs = this.#clock.monotonic();
    this.#work();
  }
}
