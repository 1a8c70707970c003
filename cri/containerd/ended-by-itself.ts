// What stops or removes a container that has just ended by itself asks again. containerd is still deleting its task then:
// it closes its connection to the container's shim, with which a kill under way fails, and for some milliseconds more CRI
// has the container as running, though a stop has said that it is not.
import { sleep } from "../../api/queueing/backoff.ts";
import type { Clock } from "../../api/clock.ts";
import { RuntimeError } from "../runtime.ts";

/** What is so for longer than their sum has another cause, such as a dead shim: its error is given. */
const delaysMs = [2, 8, 32, 128, 512];

/** The call failed because what it was to end is ending by itself. */
export function isEnding(error: unknown): boolean {
  return (
    error instanceof RuntimeError &&
    /ttrpc: closed|container is still running, to stop first/.test(
      error.message,
    )
  );
}

/** @param end a call that may be made more than once. */
export async function retryEndedByItself<T>(
  clock: Clock,
  end: () => Promise<T>,
): Promise<T> {
  for (const delayMs of delaysMs)
    try {
      return await end();
    } catch (error) {
      if (!isEnding(error)) throw error;
      await sleep(clock, delayMs);
    }
  return end();
}
