// Shares the event loop between long pieces of work. Each works for at most a slice, then waits for its turn behind the
// others; between two turns the loop answers everybody else. Many pieces of work together hold the loop no longer than
// one: they share the slice of a turn, and the first slice is shared by all that begin in the same turn.
//
//   for (const each of many) {
//     work(each); // some microseconds
//     if (slices.over) await slices.next(who);
//   }
//
// Invariants: a turn of the loop has one slice, which begins either where work begins or where those who wait go on;
// tenants go on in turn, however many pieces of work each has, and the pieces of one in the order of waiting; an idle
// process has no timer and no immediate pending.
import type { Pause } from "../../api/queueing/steps.ts";
import type { LoopWatch, LoopWork } from "./loop-watch.ts";

const defaultSliceMs = 1;

interface Waiting {
  readonly resume: () => void;
  readonly who: LoopWork | undefined;
}

export class TimeSlices {
  /** By tenant; the next one first. */
  readonly #waiting = new Map<string, Waiting[]>();
  #count = 0;
  /** How many waited when this turn began. */
  #countOfTurn = 0;
  #endMs = 0;
  /** A slice has begun in this turn of the loop. */
  #begun = false;
  /** It began before those who wait could go on: it is their turn in the next one. */
  #early = false;

  constructor(
    private readonly watch?: LoopWatch,
    private readonly sliceMs = defaultSliceMs,
  ) {}

  /** Pieces of work that wait for their turn, or did in this turn of the loop. */
  get backlog(): number {
    return Math.max(this.#count, this.#countOfTurn);
  }

  /** Is this turn's slice used up? Begins one where none has begun. About 50 ns: ask after each few microseconds. */
  get over(): boolean {
    const nowMs = performance.now();
    if (this.#begun) return nowMs >= this.#endMs;
    this.#early = true;
    this.#begin(nowMs);
    return false;
  }

  /** Work was begun that takes some more of this turn, when the slice is over. */
  follows(ms: number): void {
    if (this.#begun) this.#endMs -= ms;
  }

  /** Resolves when it is the caller's turn. */
  next(who?: LoopWork): Promise<void> {
    return new Promise((resume) => {
      this.#add({ resume, who });
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
    this.#countOfTurn = this.#count;
    if (this.#count === 0) return;
    this.#begin(performance.now());
    this.#resume();
  };

  /** The next, and when it is done before the slice is over (it waits for its client, say) the one behind it. */
  readonly #resume = (): void => {
    const next = this.#take();
    if (!next) return;
    if (next.who) this.watch?.enter(next.who);
    next.resume();
    // It goes on in a microtask that is queued now, ahead of this one; what it writes leaves in a tick that is queued there.
    queueMicrotask(this.#afterTicks);
  };

  readonly #afterTicks = (): void => process.nextTick(this.#goOn);

  readonly #goOn = (): void => {
    if (this.#count > 0 && performance.now() < this.#endMs) this.#resume();
  };

  #add(waiting: Waiting): void {
    this.#count++;
    const tenant = waiting.who?.tenant ?? "";
    const others = this.#waiting.get(tenant);
    if (others) others.push(waiting);
    else this.#waiting.set(tenant, [waiting]);
  }

  /** The first of the tenant whose turn it is, which is the last tenant from then on. */
  #take(): Waiting | undefined {
    for (const [tenant, all] of this.#waiting) {
      this.#count--;
      const next = all.shift();
      this.#waiting.delete(tenant);
      if (all.length > 0) this.#waiting.set(tenant, all);
      return next;
    }
    return undefined;
  }
}
