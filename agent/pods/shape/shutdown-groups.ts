// Which pods end together when the machine shuts down: by the highest period whose priority theirs reaches, those of lower
// priority first; a pod below all periods belongs to the lowest. Pure.
import type { ShutdownPeriod } from "../../config/shutdown-period.ts";

export interface PodGroup<T> {
  readonly graceSeconds: number;
  readonly pods: readonly T[];
}

/** In the order in which they end; groups without pods are left out. */
export function podGroups<T>(
  periods: readonly ShutdownPeriod[],
  pods: readonly T[],
  priorityOf: (pod: T) => number,
): PodGroup<T>[] {
  const sorted = [...periods].sort((a, b) => a.priority - b.priority);
  const groups = sorted.map(({ graceSeconds }) => ({
    graceSeconds,
    pods: [] as T[],
  }));
  for (const pod of pods) {
    const reached = sorted.findLastIndex(
      ({ priority }) => priority <= priorityOf(pod),
    );
    groups[Math.max(0, reached)]!.pods.push(pod);
  }
  return groups.filter((group) => group.pods.length > 0);
}

/** How long all groups may take. */
export function totalSeconds(periods: readonly ShutdownPeriod[]): number {
  return periods.reduce((sum, { graceSeconds }) => sum + graceSeconds, 0);
}
