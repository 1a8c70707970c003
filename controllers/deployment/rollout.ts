// One step of a rollout or a scaling, on the ReplicaSets as observed. Each step makes the writes that the rules allow
// now; the next comes with the next event.
import type { Deployment, ReplicaSet } from "../../api/types/apps-v1.ts";
import { byCreation } from "./revisions.ts";
import type { ReplicaSetWriter } from "./replica-set-writer.ts";
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
export async function scaleStep(
  deployment: Deployment,
  newSet: ReplicaSet | undefined,
  oldSets: readonly ReplicaSet[],
  writer: ReplicaSetWriter,
): Promise<void> {
  const wanted = replicasOf(deployment);
  const all = newSet ? [...oldSets, newSet] : [...oldSets];
  const active = all.filter(isActive);
  if (active.length <= 1) {
    // One active, or none: then the new one, or the latest old one.
    const only = active[0] ?? newSet ?? [...oldSets].sort(byCreation).at(-1);
    if (only && replicasOf(only) !== wanted)
      await writer.scale(deployment, only, wanted);
    return;
  }
  if (newSet && isSaturated(deployment, newSet)) {
    for (const set of oldSets.filter(isActive))
      await writer.scale(deployment, set, 0);
    return;
  }
  if (!isRolling(deployment)) return;
  for (const [set, size] of proportionalSizes(deployment, active))
    await writer.scale(deployment, set, size);
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
export async function rollingStep(
  deployment: Deployment,
  newSet: ReplicaSet,
  oldSets: readonly ReplicaSet[],
  writer: ReplicaSetWriter,
): Promise<ReplicaSet[]> {
  const wanted = replicasOf(deployment);
  const all = [...oldSets, newSet];
  const size =
    replicasOf(newSet) > wanted
      ? wanted
      : newSetReplicas(deployment, all, newSet);
  if (size !== replicasOf(newSet))
    return [...oldSets, await writer.scale(deployment, newSet, size)];
  return [...(await shrinkOld(deployment, newSet, oldSets, writer)), newSet];
}

async function shrinkOld(
  deployment: Deployment,
  newSet: ReplicaSet,
  oldSets: readonly ReplicaSet[],
  writer: ReplicaSetWriter,
): Promise<ReplicaSet[]> {
  const sets = [...oldSets].sort(byCreation);
  if (totalReplicas(sets) === 0) return sets;
  const minAvailable = replicasOf(deployment) - maxUnavailable(deployment);
  const newUnavailable =
    replicasOf(newSet) - (newSet.status?.availableReplicas ?? 0);
  const room = totalReplicas([...sets, newSet]) - minAvailable - newUnavailable;
  if (room <= 0) return sets;
  // Pods that are not available go first: they cost nothing.
  let left = room;
  for (const [index, set] of sets.entries()) {
    if (left <= 0) break;
    const unhealthy = replicasOf(set) - (set.status?.availableReplicas ?? 0);
    if (replicasOf(set) === 0 || unhealthy <= 0) continue;
    const count = Math.min(left, unhealthy);
    left -= count;
    sets[index] = await writer.scale(deployment, set, replicasOf(set) - count);
  }
  let spare = totalAvailable([...oldSets, newSet]) - minAvailable;
  for (const [index, set] of sets.entries()) {
    if (spare <= 0) break;
    if (replicasOf(set) === 0) continue;
    const count = Math.min(replicasOf(set), spare);
    spare -= count;
    sets[index] = await writer.scale(deployment, set, replicasOf(set) - count);
  }
  return sets;
}
