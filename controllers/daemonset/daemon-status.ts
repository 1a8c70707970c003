// The status of a DaemonSet, counted over the nodes: where a pod is meant to run, runs, is ready, is of the new template.
import { isPodAvailable, isPodReady } from "../../api/objects/pod-state.ts";
import type { DaemonSetStatus } from "../../api/types/apps-v1.ts";
import { revisionHashLabel } from "../workloads/revision-history.ts";
import { byAge } from "./daemon-plan.ts";
import type { DaemonState } from "./daemon-plan.ts";
import { daemonPlacement } from "./daemon-placement.ts";

export function daemonStatus(state: DaemonState): DaemonSetStatus {
  const { set, nodes, podsByNode, hash, nowMs } = state;
  const counts = {
    desiredNumberScheduled: 0,
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    numberReady: 0,
    numberAvailable: 0,
    updatedNumberScheduled: 0,
  };
  for (const node of nodes) {
    const { shouldRun } = daemonPlacement(set.spec.template, node);
    const there = podsByNode.get(node.metadata.name) ?? [];
    if (!shouldRun) {
      if (there.length > 0) counts.numberMisscheduled++;
      continue;
    }
    counts.desiredNumberScheduled++;
    const [oldest] = [...there].sort(byAge);
    if (!oldest) continue;
    counts.currentNumberScheduled++;
    if (isPodReady(oldest)) counts.numberReady++;
    if (isPodAvailable(oldest, set.spec.minReadySeconds ?? 0, nowMs))
      counts.numberAvailable++;
    if (oldest.metadata.labels?.[revisionHashLabel] === hash)
      counts.updatedNumberScheduled++;
  }
  const { collisionCount, conditions } = set.status ?? {};
  return {
    ...counts,
    numberUnavailable: counts.desiredNumberScheduled - counts.numberAvailable,
    observedGeneration: set.metadata.generation ?? 0,
    ...(collisionCount === undefined ? {} : { collisionCount }),
    ...(conditions ? { conditions } : {}),
  };
}
