// A binary heap: the element that comes first by `before` is at hand at once, in any number of them.
//
// Invariant: no element comes before its parent, items[(index - 1) >> 1]. Elements must not change their order while
// they are in it.

export class BinaryHeap<T> {
  readonly #items: T[] = [];

  /** @param before whether a comes out before b; false for equals */
  constructor(private readonly before: (a: T, b: T) => boolean) {}

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    this.#rise(this.#items.length - 1, item);
  }

  pop(): T | undefined {
    return this.#items.length > 0 ? this.#takeAt(0) : undefined;
  }

  /** Takes an element out of the middle, in time proportional to the size; false when it is not there. */
  remove(item: T): boolean {
    const index = this.#items.indexOf(item);
    if (index < 0) return false;
    this.#takeAt(index);
    return true;
  }

  #takeAt(index: number): T {
    const items = this.#items;
    const taken = items[index]!;
    const last = items.pop()!;
    if (index < items.length) {
      this.#sink(index, last);
      if (items[index] === last) this.#rise(index, last);
    }
    return taken;
  }

  /** Places the item at the index or above. */
  #rise(index: number, item: T): void {
    const items = this.#items;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.before(item, items[parent]!)) break;
      items[index] = items[parent]!;
      index = parent;
    }
    items[index] = item;
  }

  /** Places the item at the index or below. */
  #sink(index: number, item: T): void {
    const items = this.#items;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (
        child + 1 < items.length &&
        this.before(items[child + 1]!, items[child]!)
      )
        child++;
      if (!this.before(items[child]!, item)) break;
      items[index] = items[child]!;
      index = child;
    }
    items[index] = item;
  }
}
