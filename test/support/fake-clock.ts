// A Clock moved by hand. Time stands still until advance(): then due timers run in order of their time (and of their
// making, within one millisecond), each seeing now() at its own due time. Timers made by a timer run in the same advance
// when they fall due within it.
import type { Clock, Timer } from "../../api/clock.ts";

interface Scheduled {
  dueMs: number;
  sequence: number;
  callback: () => void;
}

export class FakeClock implements Clock {
  #elapsedMs = 0;
  #sequence = 0;
  #wallJumpMs = 0;
  readonly #timers = new Set<Scheduled>();

  /** @param startMs wall-clock epoch milliseconds at the start */
  constructor(private readonly startMs: number = Date.UTC(2025, 0, 1)) {}

  now(): number {
    return this.startMs + this.#wallJumpMs + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  after(delayMs: number, callback: () => void): Timer {
    const timer = {
      dueMs: this.#elapsedMs + Math.max(0, delayMs),
      sequence: this.#sequence++,
      callback,
    };
    this.#timers.add(timer);
    return { cancel: () => this.#timers.delete(timer) };
  }

  /** Somebody sets the machine's clock: the wall's time changes, monotonic time and timers do not. */
  jump(ms: number): void {
    this.#wallJumpMs += ms;
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the next timer, or undefined when none waits. */
  get nextDelayMs(): number | undefined {
    const next = this.#next(Infinity);
    return next && next.dueMs - this.#elapsedMs;
  }

  /** Moves time and runs what falls due, without letting promises settle in between. */
  advance(ms: number): void {
    const endMs = this.#elapsedMs + ms;
    for (let timer = this.#next(endMs); timer; timer = this.#next(endMs))
      this.#fire(timer);
    this.#elapsedMs = endMs;
  }

  /** As advance, but promises settle before each timer and at the end, so that async code goes on in between. */
  async advanceAsync(ms: number): Promise<void> {
    const endMs = this.#elapsedMs + ms;
    await settle();
    for (let timer = this.#next(endMs); timer; timer = this.#next(endMs)) {
      this.#fire(timer);
      await settle();
    }
    this.#elapsedMs = endMs;
    await settle();
  }

  #fire(timer: Scheduled): void {
    this.#timers.delete(timer);
    this.#elapsedMs = Math.max(this.#elapsedMs, timer.dueMs);
    timer.callback();
  }

  #next(endMs: number): Scheduled | undefined {
    let next: Scheduled | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > endMs) continue;
      if (
        !next ||
        timer.dueMs < next.dueMs ||
        (timer.dueMs === next.dueMs && timer.sequence < next.sequence)
      )
        next = timer;
    }
    return next;
  }
}

/** Lets promise chains and setImmediate callbacks that are ready run. */
export async function settle(turns = 3): Promise<void> {
  for (let turn = 0; turn < turns; turn++)
    await new Promise<void>((resolve) => setImmediate(resolve));
}
