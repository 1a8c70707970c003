// Time enters every part as a Clock, so that tests can move it by hand (test/support/fake-clock.ts).

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Wall-clock milliseconds since the epoch. */
  now(): number;
  /** Monotonic milliseconds, for durations. */
  monotonic(): number;
  /** Calls back once after delayMs; the timer does not keep the process alive. */
  after(delayMs: number, callback: () => void): Timer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(delayMs, 0x7fffffff));
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

/**
 * Clocks of machines differ by that much at most: a time further ahead was written before the clock was set back, and
 * nothing may wait until it comes again.
 */
export const clockToleranceMs = 60_000;

/** RFC 3339 with whole seconds in UTC, the form of metadata timestamps: `2006-01-02T15:04:05Z`. */
export function formatTime(epochMs: number): string {
  const second = Math.floor(epochMs / 1000);
  if (second !== lastSecond) {
    lastText = `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
    lastSecond = second;
  }
  return lastText;
}

/** Times are mostly the present one: printed once a second. */
let lastSecond = Number.NaN;
let lastText = "";

/** RFC 3339 with microseconds, the form of Lease times and event times. */
export function formatMicroTime(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 23)}000Z`;
}
