// A bound on how long a caller waits for the container runtime. The call itself goes on; only the waiting ends.
import type { Clock } from "../api/clock.ts";
import { RuntimeError } from "./runtime.ts";

/** Rejects with a RuntimeError "timeout" when the work is not done in that time. */
export function within<T>(
  clock: Clock,
  timeoutMs: number,
  work: Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(timeoutMs, () =>
      reject(
        new RuntimeError(
          "timeout",
          `the container runtime did not answer in ${timeoutMs / 1000} s`,
        ),
      ),
    );
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}
