// Which pods of a ReplicaSet go first when it shrinks, as the reference ranks them: not yet assigned, then by phase,
// not ready, lower deletion cost, more siblings on the node, ready for a shorter time, more restarts, younger. Times are
// compared by powers of two of their age, so that among pods of about one age the choice is spread by uid.
import type { Pod } from "../../api/types/core-v1.ts";
import { isPodReady, podReadyCondition } from "../../api/objects/pod-state.ts";

const phaseRank: Record<string, number> = {
  Pending: 0,
  Unknown: 1,
  Running: 2,
};
const deletionCost = "controller.kubernetes.io/pod-deletion-cost";

/**
 * @param siblings active pods that count as spread together (all of the Deployment); a pod's rank is their number on its node
 * @returns the pods, those to be deleted first in front
 */
export function deletionOrder(
  pods: readonly Pod[],
  siblings: readonly Pod[],
  nowMs: number,
): Pod[] {
  const perNode = new Map<string, number>();
  for (const { spec } of siblings)
    if (spec.nodeName)
      perNode.set(spec.nodeName, (perNode.get(spec.nodeName) ?? 0) + 1);
  const keys = new Map(pods.map((pod) => [pod, rankOf(pod, perNode, nowMs)]));
  return [...pods].sort((a, b) => {
    const left = keys.get(a)!;
    const right = keys.get(b)!;
    for (let index = 0; index < left.length; index++) {
      const difference = left[index]! - right[index]!;
      if (difference !== 0 && !Number.isNaN(difference)) return difference;
    }
    return (a.metadata.uid ?? "") < (b.metadata.uid ?? "") ? -1 : 1;
  });
}

/** Compared number by number; the smaller goes first. */
function rankOf(
  pod: Pod,
  perNode: ReadonlyMap<string, number>,
  nowMs: number,
): number[] {
  const node = pod.spec.nodeName ?? "";
  const ready = isPodReady(pod);
  const readySinceMs = Date.parse(
    podReadyCondition(pod)?.lastTransitionTime ?? "",
  );
  const cost = Number(pod.metadata.annotations?.[deletionCost] ?? 0);
  const restarts = (pod.status?.containerStatuses ?? []).map(
    (status) => status.restartCount,
  );
  return [
    node === "" ? 0 : 1,
    phaseRank[pod.status?.phase ?? "Pending"] ?? 1,
    ready ? 1 : 0,
    Number.isFinite(cost) ? cost : 0,
    -(perNode.get(node) ?? 0),
    ready ? ageClass(readySinceMs, nowMs) : 0,
    -Math.max(0, ...restarts),
    ageClass(Date.parse(pod.metadata.creationTimestamp ?? ""), nowMs),
  ];
}

/** The power of two of an age in seconds; the younger the smaller. */
function ageClass(sinceMs: number, nowMs: number): number {
  const seconds = Math.max(1, (nowMs - sinceMs) / 1000);
  return Number.isNaN(seconds) ? 0 : Math.floor(Math.log2(seconds));
}
