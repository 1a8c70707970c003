// A histogram of plain numbers: counts by upper bound, their sum and their number. Counting costs one look through the
// bounds; a scrape makes the text from it (family.ts).

export class Histogram {
  count = 0;
  sum = 0;
  readonly #counts: number[];

  /** @param bounds upper bounds, each in its bucket, in rising order; a bucket without a bound follows them */
  constructor(private readonly bounds: readonly number[]) {
    this.#counts = bounds.map(() => 0);
  }

  /** @param weight how often, or how long, the value was seen */
  observe(value: number, weight = 1): void {
    this.count += weight;
    this.sum += value * weight;
    const { bounds } = this;
    for (let bucket = 0; bucket < bounds.length; bucket++)
      if (value <= bounds[bucket]!) {
        this.#counts[bucket]! += weight;
        return;
      }
  }

  /** Bounds, from `least` on, with how many values are at or below them; the last bound is Infinity. */
  *cumulative(least = 0): Generator<readonly [bound: number, count: number]> {
    let total = 0;
    for (const [index, bound] of this.bounds.entries()) {
      total += this.#counts[index]!;
      if (bound >= least) yield [bound, total];
    }
    yield [Infinity, this.count];
  }
}
