// Waiting for a condition with a deadline instead of sleeping. The error names what was awaited and what was seen last.

/**
 * ORBIT_TEST_PATIENCE=6: each deadline is six times as far away, those of commands too, for an emulated machine. jest has
 * --testTimeout besides.
 */
export const patience = Number(process.env["ORBIT_TEST_PATIENCE"] ?? 1);

export interface EventuallyOptions {
  /** Default: half a minute, for machines that are slow or busy. */
  timeoutMs?: number;
  intervalMs?: number;
  /** What is awaited, for the error. */
  what?: string;
}

/**
 * Calls `probe` until it returns something truthy (which is returned), or the deadline passes. A probe that throws
 * counts as "not yet"; its last error is the cause of the timeout error.
 */
export async function eventually<T>(
  probe: () => T | Promise<T>,
  {
    timeoutMs = 30_000,
    intervalMs = 20,
    what = "condition",
  }: EventuallyOptions = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs * patience;
  let last: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= deadline) {
      const seen =
        last instanceof Error ? last.message : String(JSON.stringify(last));
      throw new Error(
        `timed out after ${timeoutMs} ms waiting for ${what}; last: ${seen}`,
        { cause: last },
      );
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
