// Webhooks of kubeconfigs (tokens, permissions, images) are asked again when the answer, or how the connection broke, says
// that this passes: five times at most, with pauses that grow, as at the reference. A question changes nothing, so one may
// be asked twice. Who refuses the connection is not asked again, nor is one that gives no answer in its time.
import type { Clock } from "../../api/clock.ts";
import { WebhookCallError, WebhookStatusError } from "./call-failure.ts";

const calls = 5;
const factor = 1.5;
const jitter = 0.2;
const defaultPauseMs = 500;
const passingCodes: ReadonlySet<number> = new Set([429, 500, 504]);
const passingReasons: ReadonlySet<string> = new Set([
  "InternalError",
  "Timeout",
  "TooManyRequests",
]);
/** Of a connection that the other side has ended. */
const broken: ReadonlySet<string> = new Set(["ECONNRESET", "UND_ERR_SOCKET"]);

function passes(error: unknown): boolean {
  if (error instanceof WebhookStatusError)
    return (
      passingCodes.has(error.statusCode) ||
      passingReasons.has(error.status.reason ?? "")
    );
  return (
    error instanceof WebhookCallError &&
    broken.has((error.cause as NodeJS.ErrnoException | undefined)?.code ?? "")
  );
}

/**
 * Rejects with what the last call rejected with.
 * @param pauseMs before the second call
 */
export async function askedAgain<T>(
  call: () => Promise<T>,
  clock: Clock,
  pauseMs = defaultPauseMs,
  random: () => number = Math.random,
): Promise<T> {
  for (let count = 1, delayMs = pauseMs; ; count++, delayMs *= factor) {
    try {
      return await call();
    } catch (error) {
      if (count >= calls || !passes(error)) throw error;
    }
    const waitMs = delayMs * (1 + jitter * random());
    await new Promise<void>((resolve) => void clock.after(waitMs, resolve));
  }
}
