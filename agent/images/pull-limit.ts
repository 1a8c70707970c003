// How many pulls may begin: --registry-qps and --registry-burst. One that comes too soon fails at once and is tried again
// with the image's back-off, as at the reference.
import type { Clock } from "../../api/clock.ts";
import { TokenBucket } from "../../api/queueing/token-bucket.ts";

/** @throws Error when there is no place for a pull now; perSecond 0: there always is */
export function pullLimit(
  clock: Clock,
  perSecond: number,
  burst: number,
): () => void {
  if (perSecond <= 0) return () => undefined;
  const bucket = new TokenBucket(clock, perSecond, burst);
  return () => {
    if (!bucket.tryTake()) throw new Error("pull QPS exceeded");
  };
}
