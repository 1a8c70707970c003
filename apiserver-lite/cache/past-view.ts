// What a resource held at a past revision, as far as it differs from the present: made from the undo log once, then carried
// on, so that each page of a long list only looks at what happened since the page before.
//
// Example, revision 5: a@7 replaced a@5, b@8 was made → before = {a@5}; at revision 5 the resource held what is present with
// a revision up to 5, and `before`.
// Invariant: every event above `revision` up to `upTo` has been added, in order.
import type { CacheEntry } from "./cache-entry.ts";
import type { CacheEvent } from "./history.ts";
import { OrderedEntries } from "./ordered-entries.ts";

export class PastView {
  readonly #changed = new Set<string>();
  readonly #before = new OrderedEntries();
  #upTo: number;

  constructor(readonly revision: number) {
    this.#upTo = revision;
  }

  get upTo(): number {
    return this.#upTo;
  }

  add({ key, previous, revision }: CacheEvent): void {
    if (revision <= this.#upTo) return;
    this.#upTo = revision;
    // The oldest event of a key says what was before.
    if (this.#changed.has(key)) return;
    this.#changed.add(key);
    if (previous) this.#before.set(previous);
  }

  /** Entries with from ≤ key < to that have been replaced or deleted since, in key order. */
  before(from: string, to: string): readonly CacheEntry[] {
    return this.#before.slice(from, to);
  }
}

/** In key order: those of `present` that are not newer than `revision`, and those of `before`. */
export function* pastEntries(
  present: readonly CacheEntry[],
  before: readonly CacheEntry[],
  revision: number,
): Generator<CacheEntry, void> {
  let at = 0;
  for (const entry of present) {
    if (entry.revision > revision) continue;
    while (at < before.length && before[at]!.key < entry.key)
      yield before[at++]!;
    yield entry;
  }
  while (at < before.length) yield before[at++]!;
}
