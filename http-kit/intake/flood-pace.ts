// How fast a tenant that floods gets on while others ask as well. Every request it is served fills the nursery and
// keeps the processor from the others' turns, so that with all of the loop's idle time for the flood a collection, or
// a turn of its requests, is nearly always in the way of another's GET. A tenant that is alone is not paced, nor one
// that sends some hundred requests at once, as a client does that starts its informers.
//
// Invariants: costs one comparison a request; without others no lane is paced.

/** Some requests of lanes that flood are handed on once in so long. */
const paceMs = 2;
/** Others ask who have done so in this time. */
const othersMs = 1000;
/** So many requests that had to wait, none of them so long after the one before, are a flood. */
const floodRequests = 256;
const calmMs = 250;

/** Of one lane: how many of its requests had to wait, one soon after the other. */
export class Delays {
  #count = 0;
  #lastMs = 0;

  get flood(): boolean {
    return this.#count > floodRequests;
  }

  add(nowMs: number): void {
    if (nowMs - this.#lastMs > calmMs) this.#count = 0;
    this.#count++;
    this.#lastMs = nowMs;
  }
}

export class FloodPace {
  #last: object | undefined;
  /** How often a request was another's than the one before. */
  #changes = 0;
  #changesSeen = 0;
  #othersUntilMs = 0;
  #nextMs = 0;

  /** A request of this lane came. */
  asks(lane: object): void {
    if (lane === this.#last) return;
    if (this.#last) this.#changes++;
    this.#last = lane;
  }

  /** How long those who flood have to wait; 0: some of their requests may be handed on now. */
  waitMs(nowMs: number): number {
    if (this.#changes !== this.#changesSeen) {
      this.#changesSeen = this.#changes;
      this.#othersUntilMs = nowMs + othersMs;
    }
    return nowMs < this.#othersUntilMs ? Math.max(0, this.#nextMs - nowMs) : 0;
  }

  /** Some were handed on. */
  passed(nowMs: number): void {
    this.#nextMs = nowMs + paceMs;
  }
}
