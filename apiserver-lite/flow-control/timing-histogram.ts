// How long a ratio had which value, as a histogram whose weights are nanoseconds: what the reference calls observations at
// the end of every nanosecond. The time since the last change is added when the ratio changes or is read.
// Worked example: 0.5 for 2 ms and 1 for 1 ms, bounds [0.5, 1]: buckets 2e6 and 3e6, sum 2e6, count 3e6.
import { Histogram } from "../../api/metrics/histogram.ts";

const nsPerMs = 1e6;
/** Numerators below it have a sum of their own until the histogram is read: most changes are of a few requests. */
const plain = 16;

export class TimingHistogram {
  readonly #histogram: Histogram;
  #sinceMs: number;
  readonly #heldMs = new Float64Array(plain);

  constructor(
    bounds: readonly number[],
    nowMs: number,
    private numerator = 0,
    private denominator = 1,
  ) {
    this.#histogram = new Histogram(bounds);
    this.#sinceMs = nowMs;
  }

  set(numerator: number, nowMs: number): void {
    this.#settle(nowMs);
    this.numerator = numerator;
  }

  add(delta: number, nowMs: number): void {
    this.set(this.numerator + delta, nowMs);
  }

  get value(): number {
    return this.numerator;
  }

  /** @param denominator above 0 */
  setDenominator(denominator: number, nowMs: number): void {
    this.#settle(nowMs);
    this.#fold();
    this.denominator = denominator;
  }

  /** Up to now. */
  read(nowMs: number): Histogram {
    this.#settle(nowMs);
    this.#fold();
    return this.#histogram;
  }

  #settle(nowMs: number): void {
    const heldMs = nowMs - this.#sinceMs;
    if (heldMs <= 0) return;
    this.#sinceMs = nowMs;
    const { numerator } = this;
    if (numerator < plain) this.#heldMs[numerator]! += heldMs;
    else this.#observe(numerator, heldMs);
  }

  #fold(): void {
    for (const [numerator, heldMs] of this.#heldMs.entries())
      if (heldMs > 0) this.#observe(numerator, heldMs);
    this.#heldMs.fill(0);
  }

  #observe(numerator: number, heldMs: number): void {
    this.#histogram.observe(
      numerator / this.denominator,
      Math.round(heldMs * nsPerMs),
    );
  }
}
