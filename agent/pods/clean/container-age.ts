// Whether a dead container is old enough to be removed, by the runtime's time of its creation.

/** One from the future is of a clock that was set back since: it is older than any that clock has shown since. */
export const isOldEnough = (
  createdAtMs: number,
  minimumAgeMs: number,
  nowMs: number,
): boolean => createdAtMs > nowMs || nowMs - createdAtMs >= minimumAgeMs;
