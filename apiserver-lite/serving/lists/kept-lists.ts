// Lists asked for again while nothing has changed: their joined bytes, so that the second and every further reader costs
// no copying. A key names its bytes for ever (it holds the revision), so nothing here can be stale, only unused.
// Invariants: at most `maxBytes` in all; a list is kept when it is asked for the second time, so that single big lists
// do not stay in memory; the least recently used goes first.

export interface KeptList {
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;
}

const maxAsked = 64;

export class KeptLists {
  readonly #lists = new Map<string, KeptList>();
  readonly #asked = new Set<string>();
  #bytes = 0;

  constructor(private readonly maxBytes = 16 * 1024 * 1024) {}

  /** Of one list. */
  get maxListBytes(): number {
    return this.maxBytes / 2;
  }

  get(key: string): KeptList | undefined {
    const list = this.#lists.get(key);
    if (!list) return undefined;
    this.#lists.delete(key);
    this.#lists.set(key, list);
    return list;
  }

  /** Has it been asked for before? Then it is worth keeping. */
  asked(key: string): boolean {
    if (this.#asked.delete(key)) return true;
    if (this.#asked.size >= maxAsked) this.#asked.clear();
    this.#asked.add(key);
    return false;
  }

  keep(key: string, list: KeptList): void {
    if (list.bytes > this.maxListBytes || this.#lists.has(key)) return;
    this.#lists.set(key, list);
    this.#bytes += list.bytes;
    for (const [oldest, { bytes }] of this.#lists) {
      if (this.#bytes <= this.maxBytes) break;
      this.#lists.delete(oldest);
      this.#bytes -= bytes;
    }
  }
}
