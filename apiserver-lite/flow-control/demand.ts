// How many seats a priority level could have used: the average, the deviation and the highest value over a period, each
// weighted by time, and a smoothed figure that rises at once and falls with a half-life of five minutes. Levels borrow
// from one another by it.

/** Each period the smoothed figure keeps so much of what it was. */
const smoothing = 0.977;

export class SeatDemand {
  #sinceMs: number;
  #value = 0;
  #elapsed = 0;
  #integral = 0;
  #integralOfSquares = 0;
  #highest = 0;
  /** Of the period that ended last. */
  average = 0;
  deviation = 0;
  highWatermark = 0;
  smoothed = 0;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  set(seats: number, nowMs: number): void {
    this.#settle(nowMs);
    this.#value = seats;
    if (seats > this.#highest) this.#highest = seats;
  }

  /** Ends the period and begins the next. */
  endPeriod(nowMs: number): void {
    this.#settle(nowMs);
    this.highWatermark = Math.round(this.#highest);
    const elapsed = this.#elapsed;
    if (elapsed > 0) {
      this.average = this.#integral / elapsed;
      const variance =
        this.#integralOfSquares / elapsed - this.average * this.average;
      this.deviation = Math.sqrt(Math.max(0, variance));
      const envelope = this.average + this.deviation;
      this.smoothed = Math.max(
        envelope,
        smoothing * this.smoothed + (1 - smoothing) * envelope,
      );
    }
    this.#elapsed = this.#integral = this.#integralOfSquares = 0;
    this.#highest = this.#value;
  }

  #settle(nowMs: number): void {
    const ms = nowMs - this.#sinceMs;
    if (ms <= 0) return;
    this.#sinceMs = nowMs;
    this.#elapsed += ms;
    this.#integral += this.#value * ms;
    this.#integralOfSquares += this.#value * this.#value * ms;
  }
}
