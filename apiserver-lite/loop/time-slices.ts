// Shares the event loop between long pieces of work. Each works for at most a slice, then waits for its turn behind the
// others; between two turns the loop answers everybody else. Many pieces of work together hold the loop no longer than
// one: they share the slice of a turn, and the first slice is shared by all that begin in the same turn.
//
//   for (const each of many) {
//     work(each); // some microseconds
//     if (slices.over) await slices.next(who);
//   }
//
// Invariants: a turn of the loop has one slice, which begins either where work begins or where those who wait go on; who
// waits is resumed in the order of waiting; an idle process has no timer and no immediate pending.
import type { Pause } from "../../api/queueing/steps.ts";
import type { LoopWatch, LoopWork } from "./loop-watch.ts";

const defaultSliceMs = 1;

interface Waiting {
  readonly resume: () => void;
  readonly who: LoopWork | undefined;
}

export class TimeSlices {
  #waiting: Waiting[] = [];
  #endMs = 0;
  /** A slice has begun in this turn of the loop. */
  #begun = false;
  /** It began before those who wait could go on: it is their turn in the next one. */
  #early = false;

  constructor(
    private readonly watch?: LoopWatch,
    private readonly sliceMs = defaultSliceMs,
  ) {}

  /** Pieces of work that wait for their turn. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Is this turn's slice used up? Begins one where none has begun. About 50 ns: ask after each few microseconds. */
  get over(): boolean {
    const nowMs = performance.now();
    if (this.#begun) return nowMs >= this.#endMs;
    this.#early = true;
    this.#begin(nowMs);
    return false;
  }

  /** Resolves when it is the caller's turn. */
  next(who?: LoopWork): Promise<void> {
    return new Promise((resume) => {
      this.#waiting.push({ resume, who });
      if (this.#begun) return;
      this.#early = true;
      this.#begin(performance.now());
    });
  }

  /** The pauses of one piece of work, which begins now: none before it has had the time of a slice. */
  pauses(who?: LoopWork): Pause {
    let endMs = performance.now() + this.sliceMs;
    return () =>
      performance.now() < endMs
        ? undefined
        : this.next(who).then(() => {
            endMs = performance.now() + this.sliceMs;
          });
  }

  #begin(nowMs: number): void {
    this.#begun = true;
    this.#endMs = nowMs + this.sliceMs;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    if (this.#early) {
      this.#early = false;
      setImmediate(this.#turn);
      return;
    }
    this.#begun = false;
    if (this.#waiting.length === 0) return;
    this.#begin(performance.now());
    this.#resume();
  };

  /** The next, and when it is done before the slice is over (it waits for its client, say) the one behind it. */
  readonly #resume = (): void => {
    const next = this.#waiting.shift();
    if (!next) return;
    if (next.who) this.watch?.enter(next.who);
    next.resume();
    // It goes on in a microtask that is queued now, ahead of this one.
    queueMicrotask(() => {
      if (this.#waiting.length > 0 && performance.now() < this.#endMs)
        this.#resume();
    });
  };
}
