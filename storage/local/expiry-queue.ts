// Which keys expire when, by monotonic time, which no change of the wall clock moves, for one timer. Entries are never
// removed before they are due: the caller that takes a due one checks that the key still has the revision it was added
// with.
import { BinaryHeap } from "../../api/queueing/binary-heap.ts";

interface Expiry {
  readonly key: string;
  readonly revision: number;
  /** Monotonic. */
  readonly dueMs: number;
}

export class ExpiryQueue {
  readonly #heap = new BinaryHeap<Expiry>((a, b) => a.dueMs < b.dueMs);

  get nextDueMs(): number | undefined {
    return this.#heap.peek()?.dueMs;
  }

  add(expiry: Expiry): void {
    this.#heap.push(expiry);
  }

  /** Takes the earliest entry that is due at nowMs. */
  takeDue(nowMs: number): Expiry | undefined {
    const first = this.#heap.peek();
    return first && first.dueMs <= nowMs ? this.#heap.pop() : undefined;
  }
}
