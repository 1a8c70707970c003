// Which pods above (or below) a StatefulSet's range of ordinals may be deleted now.
//
// Parallel: all that are not terminating yet. OrderedReady: one at a time from the highest ordinal down, each only when
// it is available; while pods are unhealthy the sequence halts, so that their data can be looked after. The one unhealthy
// pod that may go is the first of them in order of ordinals, and only when its turn has come: else a set could never
// be emptied. The replicas that stay are healthy when this is asked; the caller has waited for them.
import type { Pod } from "../../api/types/core-v1.ts";

interface PodHealth {
  /** Running, ready, and not terminating. */
  isHealthy(pod: Pod): boolean;
  /** Healthy for minReadySeconds. */
  isAvailable(pod: Pod): boolean;
}

/** @param condemned pods out of the range, by descending ordinal */
export function podsToScaleDown(
  condemned: readonly Pod[],
  ordered: boolean,
  { isHealthy, isAvailable }: PodHealth,
): readonly Pod[] {
  if (!ordered)
    return condemned.filter((pod) => !pod.metadata.deletionTimestamp);
  const [highest] = condemned;
  if (!highest || highest.metadata.deletionTimestamp) return [];
  const firstUnhealthy = condemned.findLast((pod) => !isHealthy(pod));
  return isAvailable(highest) || highest === firstUnhealthy ? [highest] : [];
}
