// In which order pods are ended under pressure, as the reference ranks them: those that use more than they asked for
// first, then the less important, then those furthest above their request. Of processes nothing is asked for: there the
// priority goes first, then the number.
import {
  noUsage,
  podMemory,
  podStorage,
  type DiskShare,
  type EvictablePod,
  type PodUsage,
} from "./pod-usage.ts";

export type Starved = "memory" | "ephemeral-storage" | "inodes" | "pids";

/** A new array, the first to end first; those that never end are not in it. `share`: what lies on the file system that is short. */
export function rankForEviction(
  pods: readonly EvictablePod[],
  usage: ReadonlyMap<string, PodUsage>,
  starved: Starved,
  share: DiskShare = "all",
): EvictablePod[] {
  const rows = pods
    .filter(({ critical }) => !critical)
    .map((candidate) => {
      const { metadata, spec } = candidate.pod;
      const used = amountUsed(
        usage.get(metadata.uid ?? "") ?? noUsage,
        starved,
        share,
      );
      const above = used - (candidate.requests.get(starved) ?? 0);
      return {
        candidate,
        above,
        exceeds: starved !== "pids" && above > 0,
        priority: spec.priority ?? 0,
      };
    });
  rows.sort(
    (a, b) =>
      Number(b.exceeds) - Number(a.exceeds) ||
      a.priority - b.priority ||
      b.above - a.above,
  );
  return rows.map(({ candidate }) => candidate);
}

function amountUsed(
  usage: PodUsage,
  starved: Starved,
  share: DiskShare,
): number {
  switch (starved) {
    case "memory":
      return podMemory(usage);
    case "pids":
      return usage.processes;
    case "inodes":
      return podStorage(usage, "inodes", share);
    case "ephemeral-storage":
      return podStorage(usage, "bytes", share);
  }
}
