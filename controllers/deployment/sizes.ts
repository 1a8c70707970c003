// The arithmetic of a rollout: how many pods more or fewer than wanted there may be, and how sizes are shared out.
import type { Deployment, ReplicaSet } from "../../api/types/apps-v1.ts";
import { scaledValue } from "../../api/objects/int-or-string.ts";

export const desiredReplicasAnnotation =
  "deployment.kubernetes.io/desired-replicas";
export const maxReplicasAnnotation = "deployment.kubernetes.io/max-replicas";

export const replicasOf = (object: { spec: { replicas?: number } }): number =>
  object.spec.replicas ?? 1;

export const totalReplicas = (sets: readonly ReplicaSet[]): number =>
  sets.reduce((sum, set) => sum + replicasOf(set), 0);

export const totalAvailable = (sets: readonly ReplicaSet[]): number =>
  sets.reduce((sum, set) => sum + (set.status?.availableReplicas ?? 0), 0);

export const isRolling = (deployment: Deployment): boolean =>
  (deployment.spec.strategy?.type ?? "RollingUpdate") === "RollingUpdate";

function fenceposts(deployment: Deployment): {
  surge: number;
  unavailable: number;
} {
  const { rollingUpdate } = deployment.spec.strategy ?? {};
  const replicas = replicasOf(deployment);
  const surge = scaledValue(rollingUpdate?.maxSurge, replicas, "up");
  const unavailable = scaledValue(
    rollingUpdate?.maxUnavailable,
    replicas,
    "down",
  );
  // With both zero (by rounding) the rollout would never move.
  return surge === 0 && unavailable === 0
    ? { surge: 0, unavailable: 1 }
    : { surge, unavailable };
}

export function maxSurge(deployment: Deployment): number {
  return isRolling(deployment) ? fenceposts(deployment).surge : 0;
}

export function maxUnavailable(deployment: Deployment): number {
  const replicas = replicasOf(deployment);
  if (!isRolling(deployment) || replicas === 0) return 0;
  return Math.min(fenceposts(deployment).unavailable, replicas);
}

/** How large the new ReplicaSet may be now, given all that exist. */
export function newSetReplicas(
  deployment: Deployment,
  allSets: readonly ReplicaSet[],
  newSet: ReplicaSet,
): number {
  const wanted = replicasOf(deployment);
  if (!isRolling(deployment)) return wanted;
  const room = wanted + maxSurge(deployment) - totalReplicas(allSets);
  const current = replicasOf(newSet);
  if (room <= 0) return current;
  return current + Math.min(room, wanted - current);
}

/**
 * Sizes that share `wanted + surge` among several ReplicaSets in proportion to what they have, as the reference scales a
 * Deployment in the middle of a rollout. The first in order takes what rounding left over.
 */
export function proportionalSizes(
  deployment: Deployment,
  activeSets: readonly ReplicaSet[],
): Map<ReplicaSet, number> {
  const wanted = replicasOf(deployment);
  const allowed = wanted > 0 ? wanted + maxSurge(deployment) : 0;
  const toAdd = allowed - totalReplicas(activeSets);
  const byAge = (a: ReplicaSet, b: ReplicaSet): number =>
    Date.parse(a.metadata.creationTimestamp ?? "") -
      Date.parse(b.metadata.creationTimestamp ?? "") ||
    (a.metadata.name < b.metadata.name ? -1 : 1);
  const sets = [...activeSets].sort(
    (a, b) =>
      replicasOf(b) - replicasOf(a) || (toAdd > 0 ? -byAge(a, b) : byAge(a, b)),
  );
  const sizes = new Map<ReplicaSet, number>();
  let added = 0;
  for (const set of sets) {
    const share = toAdd === 0 ? 0 : proportion(set, deployment, toAdd, added);
    sizes.set(set, replicasOf(set) + share);
    added += share;
  }
  const [first] = sets;
  if (first && toAdd !== 0)
    sizes.set(first, Math.max(0, sizes.get(first)! + toAdd - added));
  return sizes;
}

function proportion(
  set: ReplicaSet,
  deployment: Deployment,
  toAdd: number,
  added: number,
): number {
  const current = replicasOf(set);
  if (current === 0 || toAdd === added) return 0;
  const wanted = replicasOf(deployment);
  let share: number;
  if (wanted === 0) share = -current;
  else {
    const annotated = Number(
      set.metadata.annotations?.[maxReplicasAnnotation] ?? 0,
    );
    // Never annotated: what the status said the Deployment had.
    const before = annotated || deployment.status?.replicas || 0;
    if (before === 0) return 0;
    share =
      Math.round((current * (wanted + maxSurge(deployment))) / before) -
      current;
  }
  const left = toAdd - added;
  return toAdd > 0 ? Math.min(share, left) : Math.max(share, left);
}
