// One step of a rollout or a scaling, on the ReplicaSets as observed: the sizes that the rules allow now. The next step
// comes with the next event. Nothing here writes.
import type { Deployment, ReplicaSet } from "../../api/types/apps-v1.ts";
import { byCreation } from "./revisions.ts";
import {
  desiredReplicasAnnotation,
  isRolling,
  maxUnavailable,
  newSetReplicas,
  proportionalSizes,
  replicasOf,
  totalAvailable,
  totalReplicas,
} from "./sizes.ts";

/** Carried out in order; a ReplicaSet may come twice, and each time is an event of its own. */
export interface SizeStep {
  /** As it was observed. */
  readonly set: ReplicaSet;
  readonly replicas: number;
}

const isActive = (set: ReplicaSet): boolean => replicasOf(set) > 0;

/** The Deployment's size differs from the one its active ReplicaSets were last sized for. */
export function isScalingEvent(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
): boolean {
  return sets.filter(isActive).some((set) => {
    const desired = set.metadata.annotations?.[desiredReplicasAnnotation];
    return desired !== undefined && Number(desired) !== replicasOf(deployment);
  });
}

/** Follows a new size without moving the rollout on. */
export function scaleSteps(
  deployment: Deployment,
  newSet: ReplicaSet | undefined,
  oldSets: readonly ReplicaSet[],
): SizeStep[] {
  const wanted = replicasOf(deployment);
  const all = newSet ? [...oldSets, newSet] : [...oldSets];
  const active = all.filter(isActive);
  if (active.length <= 1) {
    // One active, or none: then the new one, or the latest old one.
    const only = active[0] ?? newSet ?? [...oldSets].sort(byCreation).at(-1);
    return only && replicasOf(only) !== wanted
      ? [{ set: only, replicas: wanted }]
      : [];
  }
  if (newSet && isSaturated(deployment, newSet)) return stopSteps(oldSets);
  if (!isRolling(deployment)) return [];
  return [...proportionalSizes(deployment, active)].map(([set, replicas]) => ({
    set,
    replicas,
  }));
}

/** No replicas for any that has some. */
function stopSteps(sets: readonly ReplicaSet[]): SizeStep[] {
  return sets.filter(isActive).map((set) => ({ set, replicas: 0 }));
}

function isSaturated(deployment: Deployment, newSet: ReplicaSet): boolean {
  const wanted = replicasOf(deployment);
  const annotated = Number(
    newSet.metadata.annotations?.[desiredReplicasAnnotation],
  );
  return (
    replicasOf(newSet) === wanted &&
    annotated === wanted &&
    (newSet.status?.availableReplicas ?? 0) === wanted
  );
}

/** A step of RollingUpdate: grow the new within the surge, or shrink the old within what may be unavailable. */
export function rollingSteps(
  deployment: Deployment,
  newSet: ReplicaSet,
  oldSets: readonly ReplicaSet[],
): SizeStep[] {
  const wanted = replicasOf(deployment);
  const replicas =
    replicasOf(newSet) > wanted
      ? wanted
      : newSetReplicas(deployment, [...oldSets, newSet], newSet);
  return replicas === replicasOf(newSet)
    ? shrinkSteps(deployment, newSet, oldSets)
    : [{ set: newSet, replicas }];
}

function shrinkSteps(
  deployment: Deployment,
  newSet: ReplicaSet,
  oldSets: readonly ReplicaSet[],
): SizeStep[] {
  if (totalReplicas(oldSets) === 0) return [];
  const minAvailable = replicasOf(deployment) - maxUnavailable(deployment);
  const newUnavailable = replicasOf(newSet) - availableOf(newSet);
  let room =
    totalReplicas([...oldSets, newSet]) - minAvailable - newUnavailable;
  if (room <= 0) return [];
  const sets = [...oldSets].sort(byCreation);
  const sizes = new Map(sets.map((set) => [set, replicasOf(set)]));
  const steps: SizeStep[] = [];
  const shrink = (set: ReplicaSet, count: number): void => {
    const replicas = sizes.get(set)! - count;
    sizes.set(set, replicas);
    steps.push({ set, replicas });
  };
  // Pods that are not available go first: they cost nothing.
  for (const set of sets) {
    const count = Math.min(room, replicasOf(set) - availableOf(set));
    if (count <= 0) continue;
    room -= count;
    shrink(set, count);
  }
  let spare = totalAvailable([...oldSets, newSet]) - minAvailable;
  for (const set of sets) {
    const count = Math.min(spare, sizes.get(set)!);
    if (count <= 0) continue;
    spare -= count;
    shrink(set, count);
  }
  return steps;
}

const availableOf = (set: ReplicaSet): number =>
  set.status?.availableReplicas ?? 0;
