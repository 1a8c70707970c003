// Which of a container's instances the stats summary shows, and what of one that has ended. Runtimes keep the instance of
// before a restart, and go on listing it: without figures, and at no time.
import type { ContainerStats } from "../../cri/usage.ts";
import { containerNameLabel } from "../pods/shape/labels.ts";

/** One of each container: the running one, else one that has ended, which uses nothing now. */
export function latestInstances(
  stats: readonly ContainerStats[],
  nowMs: number,
): ContainerStats[] {
  const latest = new Map<string, ContainerStats>();
  for (const each of stats) {
    const name = each.labels[containerNameLabel] ?? each.name;
    const other = latest.get(name);
    if (!other || other.timestampMs <= each.timestampMs) latest.set(name, each);
  }
  return [...latest.values()].map((each) =>
    each.timestampMs === 0 ? idle(each, nowMs) : each,
  );
}

const idle = (stats: ContainerStats, nowMs: number): ContainerStats => ({
  ...stats,
  timestampMs: nowMs,
  cpuUsageNanoseconds: 0,
  memoryUsageBytes: 0,
  memoryWorkingSetBytes: 0,
  memoryRssBytes: 0,
  pageFaults: 0,
  majorPageFaults: 0,
});
