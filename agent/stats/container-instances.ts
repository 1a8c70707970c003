// Which of a container's instances the stats summary shows: what runs, as at the reference. Runtimes go on listing what has
// ended, without figures and at no time; readers such as metrics-server drop a whole pod for a container that used nothing.
import type { ContainerStats } from "../../cri/usage.ts";
import { containerNameLabel } from "../pods/shape/labels.ts";

/** One of each container that runs. */
export function runningInstances(
  stats: readonly ContainerStats[],
): ContainerStats[] {
  const latest = new Map<string, ContainerStats>();
  for (const each of stats) {
    if (each.timestampMs === 0) continue;
    const name = each.labels[containerNameLabel] ?? each.name;
    const other = latest.get(name);
    if (!other || other.timestampMs <= each.timestampMs) latest.set(name, each);
  }
  return [...latest.values()];
}
