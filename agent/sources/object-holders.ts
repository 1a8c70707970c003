// Which pods hold which objects, both ways.
export class ObjectHolders {
  readonly #keysOf = new Map<string, ReadonlySet<string>>();
  readonly #holdersOf = new Map<string, Set<string>>();

  has(holder: string): boolean {
    return this.#keysOf.has(holder);
  }

  keys(): string[] {
    return [...this.#holdersOf.keys()];
  }

  of(key: string): readonly string[] {
    return [...(this.#holdersOf.get(key) ?? [])];
  }

  /** Replaces what it held. Returns the keys without a holder left. */
  hold(holder: string, keys: readonly string[]): string[] {
    const before = this.#keysOf.get(holder) ?? new Set();
    const now = new Set(keys);
    for (const key of now) {
      const holders = this.#holdersOf.get(key) ?? new Set();
      this.#holdersOf.set(key, holders.add(holder));
    }
    if (now.size > 0) this.#keysOf.set(holder, now);
    else this.#keysOf.delete(holder);
    return [...before].filter(
      (key) => !now.has(key) && this.#drop(key, holder),
    );
  }

  release(holder: string): string[] {
    return this.hold(holder, []);
  }

  #drop(key: string, holder: string): boolean {
    const holders = this.#holdersOf.get(key);
    holders?.delete(holder);
    if (holders && holders.size > 0) return false;
    return this.#holdersOf.delete(key);
  }
}
