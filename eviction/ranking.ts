// In which order pods are ended under pressure, as the reference ranks them: those that use more than they asked for
// first, then the less important, then those furthest above their request. Of processes nothing is asked for, so there
// only the priority counts.
import {
  noUsage,
  podMemory,
  podStorage,
  type EvictablePod,
  type PodUsage,
} from "./pod-usage.ts";

export type Starved = "memory" | "ephemeral-storage" | "pids";

/** A new array, the first to end first; those that never end are not in it. */
export function rankForEviction(
  pods: readonly EvictablePod[],
  usage: ReadonlyMap<string, PodUsage>,
  starved: Starved,
): EvictablePod[] {
  const rows = pods
    .filter(({ critical }) => !critical)
    .map((candidate) => {
      const { metadata, spec } = candidate.pod;
      const used = usage.get(metadata.uid ?? "") ?? noUsage;
      const amount =
        starved === "memory"
          ? podMemory(used)
          : starved === "pids"
            ? 0
            : podStorage(used);
      const above = amount - (candidate.requests.get(starved) ?? 0);
      return { candidate, above, priority: spec.priority ?? 0 };
    });
  rows.sort(
    (a, b) =>
      Number(b.above > 0) - Number(a.above > 0) ||
      a.priority - b.priority ||
      b.above - a.above,
  );
  return rows.map(({ candidate }) => candidate);
}
