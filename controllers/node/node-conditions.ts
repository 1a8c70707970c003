// From a node's conditions to its taints, and what its conditions become when it falls silent.
import { formatTime } from "../../api/clock.ts";
import type { Node, NodeCondition, Taint } from "../../api/types/core-v1.ts";
import { findCondition } from "../../api/objects/conditions.ts";

const notReadyTaint = "node.kubernetes.io/not-ready";
const unreachableTaint = "node.kubernetes.io/unreachable";

/** condition type → status → taint key */
const conditionTaints: readonly [type: string, status: string, key: string][] =
  [
    ["Ready", "False", notReadyTaint],
    ["Ready", "Unknown", unreachableTaint],
    ["MemoryPressure", "True", "node.kubernetes.io/memory-pressure"],
    ["DiskPressure", "True", "node.kubernetes.io/disk-pressure"],
    ["PIDPressure", "True", "node.kubernetes.io/pid-pressure"],
    ["NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"],
  ];
const unschedulableTaint = "node.kubernetes.io/unschedulable";
const managedNoSchedule = new Set([
  ...conditionTaints.map(([, , key]) => key),
  unschedulableTaint,
]);
const managedNoExecute = new Set([notReadyTaint, unreachableTaint]);

export function readyStatus(
  node: Node,
): "True" | "False" | "Unknown" | undefined {
  return findCondition(node.status?.conditions, "Ready")?.status as
    "True" | "False" | "Unknown" | undefined;
}

/**
 * The taints the node should have; the list it has when that is right already.
 * @param evict whether a node that is not ready is to have its NoExecute taint
 */
export function wantedTaints(
  node: Node,
  evict: boolean,
  nowMs: number,
): readonly Taint[] {
  const current = node.spec.taints ?? [];
  const keys = conditionTaints
    .filter(
      ([type, status]) =>
        findCondition(node.status?.conditions, type)?.status === status,
    )
    .map(([, , key]) => key);
  // A node that never reported is given time: admission tainted it as not ready, and that stays.
  const silent = readyStatus(node) === undefined;
  if (silent) keys.push(notReadyTaint);
  if (node.spec.unschedulable) keys.push(unschedulableTaint);
  const wanted: Taint[] = keys.map((key) => ({ key, effect: "NoSchedule" }));
  const broken = keys.find((key) => managedNoExecute.has(key));
  if (broken && !silent && evict)
    wanted.push({ key: broken, effect: "NoExecute" });
  const time = formatTime(nowMs);
  const kept = current.filter(
    ({ key, effect }) =>
      !(effect === "NoSchedule" && managedNoSchedule.has(key)) &&
      !(effect === "NoExecute" && managedNoExecute.has(key)),
  );
  const managed = wanted.map(
    (taint) =>
      current.find(
        (other) => other.key === taint.key && other.effect === taint.effect,
      ) ?? { ...taint, timeAdded: time },
  );
  const same =
    kept.length + managed.length === current.length &&
    managed.every((taint) => current.includes(taint));
  return same ? current : [...kept, ...managed];
}

/** Pods are evicted from it, because it was not ready or not reachable when this was last decided. */
export function isEvicted({ spec }: Node): boolean {
  return (spec.taints ?? []).some(
    ({ key, effect }) => effect === "NoExecute" && managedNoExecute.has(key),
  );
}

const watchedTypes = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/** The conditions of a node that has not been heard of for too long; undefined when they say so already. */
export function silentConditions(
  node: Node,
  nowMs: number,
): NodeCondition[] | undefined {
  const time = formatTime(nowMs);
  let changed = false;
  const conditions = [...(node.status?.conditions ?? [])];
  for (const type of watchedTypes) {
    const index = conditions.findIndex((condition) => condition.type === type);
    const old = conditions[index];
    if (old?.status === "Unknown") continue;
    changed = true;
    const next: NodeCondition = {
      ...old,
      type,
      status: "Unknown",
      lastHeartbeatTime:
        old?.lastHeartbeatTime ?? node.metadata.creationTimestamp ?? time,
      lastTransitionTime: time,
      reason: old ? "NodeStatusUnknown" : "NodeStatusNeverUpdated",
      message: old
        ? "Kubelet stopped posting node status."
        : "Kubelet never posted node status.",
    };
    if (index < 0) conditions.push(next);
    else conditions[index] = next;
  }
  return changed ? conditions : undefined;
}
