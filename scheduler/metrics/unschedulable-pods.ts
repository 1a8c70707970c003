// How many pods wait in vain, by profile and by each plug-in that refused them.
import type { ProfileSet } from "../profile-set.ts";
import type { SchedulingQueue } from "../scheduling-queue.ts";
import type { UnschedulableCount } from "./scheduler-metrics.ts";

export function unschedulablePods(
  queue: Pick<SchedulingQueue, "unschedulable">,
  profiles: Pick<ProfileSet, "find">,
): Iterable<UnschedulableCount> {
  const found = new Map<string, UnschedulableCount>();
  for (const { pod, refusedBy } of queue.unschedulable()) {
    const profile = profiles.find(pod)?.name;
    if (profile === undefined) continue;
    for (const plugin of refusedBy) {
      const key = `${profile}/${plugin}`;
      const known = found.get(key);
      if (known) known.pods++;
      else found.set(key, { profile, plugin, pods: 1 });
    }
  }
  return found.values();
}
