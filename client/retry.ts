// Repeats a read-modify-write that lost against another writer.
import type { Clock } from "../api/clock.ts";
import { isConflict } from "../api/errors.ts";
import { Backoff, sleep } from "./backoff.ts";

/**
 * Runs attempt again while it fails with a conflict, at most `attempts` times (default 5) with short growing pauses
 * (10 ms, 20 ms … with jitter). attempt has to read the object anew each time.
 */
export async function retryOnConflict<T>(
  clock: Clock,
  attempt: () => Promise<T>,
  attempts = 5,
): Promise<T> {
  const backoff = new Backoff({ baseMs: 10, maxMs: 1000, jitter: 0.1 });
  for (let left = attempts; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error) || left <= 1) throw error;
      await sleep(clock, backoff.nextMs());
    }
  }
}
