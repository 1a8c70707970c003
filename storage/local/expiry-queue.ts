// Which keys expire when: a binary heap by monotonic time, which no change of the wall clock moves, for one timer. Entries are never removed from the middle; whoever
// takes a due one checks that the key still has the revision it was added with.

interface Expiry {
  readonly key: string;
  readonly revision: number;
  /** Monotonic. */
  readonly dueMs: number;
}

export class ExpiryQueue {
  readonly #heap: Expiry[] = [];

  get nextDueMs(): number | undefined {
    return this.#heap[0]?.dueMs;
  }

  add(expiry: Expiry): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(expiry);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (heap[parent]!.dueMs <= expiry.dueMs) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = expiry;
  }

  /** Takes the earliest entry that is due at nowMs. */
  takeDue(nowMs: number): Expiry | undefined {
    const heap = this.#heap;
    const first = heap[0];
    if (!first || first.dueMs > nowMs) return undefined;
    const last = heap.pop()!;
    if (heap.length > 0) this.#siftDown(last);
    return first;
  }

  #siftDown(item: Expiry): void {
    const heap = this.#heap;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (
        child + 1 < heap.length &&
        heap[child + 1]!.dueMs < heap[child]!.dueMs
      )
        child++;
      if (heap[child]!.dueMs >= item.dueMs) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = item;
  }
}
