// How many requests begin in one turn of the event loop. Seats bound what runs at once, but most requests run to their end
// without a pause, so that a thousand that come together would all be served before anything else. Through the gate only
// so many begin that a turn stays short; the others wait in their queues, which are fair, and the next turn goes on with
// them, between the requests that came meanwhile. While the loop is behind, refusals are answered a few a turn: clients
// that come back at once are as slow as the server can bear.
//
// Long work, which shares the loop in slices of time, is another matter: while pieces of it wait for their slices
// (`scarce`), only flows that have nothing running begin more.
// Invariants: what was refused by `mayBegin` and given to `later` is dispatched in a later turn; a gate at which nothing
// waits schedules nothing.

/** Requests that begin in a turn: some hundred microseconds of work. */
const maxBegun = 8;
/** Pieces of long work that may wait. */
const fewPieces = 4;
/** Fewer in a turn are not worth to look at the next. */
const fewBegun = 4;
const refusalsATurn = 4;
/** Refusals that wait; further ones are answered at once. */
const maxRefusals = 5000;

interface GateOptions {
  /** Pieces of long work that wait for their slice of the loop's time. */
  readonly backlog: () => number;
  /** Calls back in the next turn of the loop. */
  readonly nextTurn?: (callback: () => void) => void;
}

/** What has requests that wait. */
interface Dispatching {
  /** At most so many. */
  dispatch(most: number): void;
}

export class LoopGate {
  #begun = 0;
  #scheduled = false;
  /** Each once; few. A Set would make its table in the old generation each turn. */
  #waiting: Dispatching[] = [];
  readonly #refusals: (() => void)[] = [];
  readonly #nextTurn: (callback: () => void) => void;

  constructor(private readonly options: GateOptions) {
    this.#nextTurn = options.nextTurn ?? setImmediate;
  }

  get scarce(): boolean {
    return this.options.backlog() >= fewPieces;
  }

  /** Counts one; false: not in this turn. */
  mayBegin(): boolean {
    if (this.#begun >= maxBegun) return false;
    if (++this.#begun >= fewBegun) this.#schedule();
    return true;
  }

  /** Its requests wait for the next turn, not for seats. */
  later(one: Dispatching): void {
    if (!this.#waiting.includes(one)) this.#waiting.push(one);
    this.#schedule();
  }

  /** @param answer called now, or, when the loop is behind, in a later turn */
  refuse(answer: () => void): void {
    if (this.#waiting.length === 0 || this.#refusals.length >= maxRefusals)
      return answer();
    this.#refusals.push(answer);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#nextTurn(this.#turn);
  }

  readonly #turn = (): void => {
    this.#scheduled = false;
    this.#begun = 0;
    if (this.#refusals.length > 0)
      for (const answer of this.#refusals.splice(0, refusalsATurn)) answer();
    const sets = this.#waiting;
    if (sets.length > 0) {
      this.#waiting = [];
      const each = Math.max(1, Math.floor(maxBegun / sets.length));
      for (const one of sets) one.dispatch(each);
    }
    if (this.#refusals.length > 0) this.#schedule();
  };
}
