// Requests, or what they come by, in the order they came, linked to one another: every request enters a list and leaves
// it, mostly as the only one, for which a Set would make its table again and again, in the old generation once it is there.
// Invariant: a request is in at most one list at a time.

/** What can be in a list; its fields are the list's. */
export abstract class Listed {
  list: RequestList<Listed> | undefined;
  before: Listed | undefined;
  after: Listed | undefined;
}

export class RequestList<T extends Listed> {
  size = 0;
  #first: T | undefined;
  #last: T | undefined;

  get first(): T | undefined {
    return this.#first;
  }

  has(one: T): boolean {
    return one.list === this;
  }

  /** @param one in no list */
  add(one: T): void {
    const last = this.#last;
    one.list = this;
    one.before = last;
    if (last) last.after = one;
    else this.#first = one;
    this.#last = one;
    this.size++;
  }

  /** Does nothing when it is not in this list. */
  delete(one: T): void {
    if (one.list !== this) return;
    const { before, after } = one;
    if (before) before.after = after;
    else this.#first = after as T | undefined;
    if (after) after.before = before;
    else this.#last = before as T | undefined;
    one.list = one.before = one.after = undefined;
    this.size--;
  }

  *[Symbol.iterator](): Generator<T> {
    for (let one = this.#first; one; one = one.after as T | undefined)
      yield one;
  }
}
