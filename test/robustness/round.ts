// What one round of the runner gives back.

export interface RoundResult {
  /** How many faults of each kind were made. */
  readonly faults: ReadonlyMap<string, number>;
  /** Broken invariants in words; none when all held. */
  readonly broken: readonly string[];
}

export class Faults {
  readonly counts = new Map<string, number>();

  add(kind: string, count = 1): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + count);
  }
}
