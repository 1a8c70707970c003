// How long a ratio had which value, as a histogram whose weights are nanoseconds: what the reference calls observations at
// the end of every nanosecond. The time since the last change is added when the ratio changes or is read.
// Worked example: 0.5 for 2 ms and 1 for 1 ms, bounds [0.5, 1]: buckets 2e6 and 3e6, sum 2e6, count 3e6.
import { Histogram } from "../../api/metrics/histogram.ts";

const nsPerMs = 1e6;

export class TimingHistogram {
  readonly #histogram: Histogram;
  #ratio = 0;
  #sinceMs: number;

  constructor(
    bounds: readonly number[],
    nowMs: number,
    private numerator = 0,
    private denominator = 1,
  ) {
    this.#histogram = new Histogram(bounds);
    this.#sinceMs = nowMs;
    this.#ratio = numerator / denominator;
  }

  set(numerator: number, nowMs: number): void {
    this.#settle(nowMs);
    this.numerator = numerator;
    this.#ratio = numerator / this.denominator;
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
    this.denominator = denominator;
    this.#ratio = this.numerator / denominator;
  }

  /** Up to now. */
  read(nowMs: number): Histogram {
    this.#settle(nowMs);
    return this.#histogram;
  }

  #settle(nowMs: number): void {
    const heldMs = nowMs - this.#sinceMs;
    if (heldMs <= 0) return;
    this.#sinceMs = nowMs;
    this.#histogram.observe(this.#ratio, Math.round(heldMs * nsPerMs));
  }
}
