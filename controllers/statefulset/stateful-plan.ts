// The writes that a StatefulSet's order allows now, and its status, as functions of set, pods and revisions. OrderedReady
// makes and removes one pod at a time and waits for each; Parallel does all at once. Nothing here writes.
import { objectKey } from "../../api/object.ts";
import {
  isPodAvailable,
  isPodReady,
  isPodTerminal,
} from "../../api/objects/pod-state.ts";
import type {
  ControllerRevision,
  StatefulSet,
  StatefulSetStatus,
} from "../../api/types/apps-v1.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { PlannedEvent } from "../workloads/planned-event.ts";
import {
  firstOrdinal,
  isInRange,
  ordinalOf,
  revisionNameOf,
} from "./pod-identity.ts";
import { podsToScaleDown } from "./scale-down.ts";

export interface StatefulState {
  readonly set: StatefulSet;
  readonly owned: readonly Pod[];
  /** Of the template that pods below the partition keep. */
  readonly current: ControllerRevision;
  /** Of the present template. */
  readonly update: ControllerRevision;
  readonly nowMs: number;
}

/** Carried out one after the other; the first that fails ends the sync. */
export type StatefulWrite =
  /** With its claims. */
  | {
      readonly action: "create";
      readonly ordinal: number;
      readonly revision: ControllerRevision;
    }
  | { readonly action: "claims"; readonly ordinal: number }
  /** Of its claims, by the set's retention policy. */
  | { readonly action: "owners"; readonly pod: Pod }
  | {
      readonly action: "delete";
      readonly pod: Pod;
      readonly event?: PlannedEvent;
    };

export function planStateful(state: StatefulState): StatefulWrite[] {
  const { set, owned } = state;
  const ordered = set.spec.podManagementPolicy !== "Parallel";
  const { writes, done } = fillPlaces(state, ordered);
  if (!done) return writes;
  const condemned = owned
    .filter((pod) => !isInRange(set, ordinalOf(set, pod)))
    .sort((a, b) => ordinalOf(set, b) - ordinalOf(set, a));
  writes.push(...condemned.map((pod) => ({ action: "owners", pod }) as const));
  const going = podsToScaleDown(condemned, ordered, {
    isHealthy,
    isAvailable: (pod) => isAvailable(state, pod),
  });
  writes.push(...going.map((pod) => ({ action: "delete", pod }) as const));
  if (ordered && condemned.length > 0) return writes;
  const outdated = podToUpdate(state);
  if (outdated) writes.push({ action: "delete", pod: outdated });
  return writes;
}

const placesOf = (set: StatefulSet): { start: number; end: number } => {
  const start = firstOrdinal(set);
  return { start, end: start + (set.spec.replicas ?? 1) };
};

const byOrdinal = ({ set, owned }: StatefulState): Map<number, Pod> =>
  new Map(owned.map((pod) => [ordinalOf(set, pod), pod]));

/** From the lowest ordinal up; `done`: what comes after may be looked at in the same sync. */
function fillPlaces(
  state: StatefulState,
  ordered: boolean,
): { writes: StatefulWrite[]; done: boolean } {
  const { set } = state;
  const { start, end } = placesOf(set);
  const pods = byOrdinal(state);
  const writes: StatefulWrite[] = [];
  for (let ordinal = start; ordinal < end; ordinal++) {
    const pod = pods.get(ordinal);
    const isFilled = pod && (!isPodTerminal(pod) || isGoing(pod));
    if (!isFilled) {
      writes.push(
        pod
          ? { action: "delete", pod, event: recreation(set, pod) }
          : {
              action: "create",
              ordinal,
              revision: revisionFor(state, ordinal),
            },
      );
      if (ordered) return { writes, done: false };
    } else {
      const isDone = !ordered || isAvailable(state, pod);
      if (isDone || isWaiting(pod))
        writes.push({ action: "claims", ordinal }, { action: "owners", pod });
      if (!isDone) return { writes, done: false };
    }
  }
  return { writes, done: true };
}

/** A missing pod keeps the old template where the rollout has not reached it. */
function revisionFor(
  { set, current, update }: StatefulState,
  ordinal: number,
): ControllerRevision {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  return type !== "OnDelete" &&
    ordinal - firstOrdinal(set) < (rollingUpdate?.partition ?? 0)
    ? current
    : update;
}

/** From the highest ordinal down to the partition: the first that is of another template, when all above are available. */
function podToUpdate(state: StatefulState): Pod | undefined {
  const { set, update } = state;
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === "OnDelete") return undefined;
  const { start, end } = placesOf(set);
  const pods = byOrdinal(state);
  const lowest = start + (rollingUpdate?.partition ?? 0);
  for (let ordinal = end - 1; ordinal >= lowest; ordinal--) {
    const pod = pods.get(ordinal);
    if (!pod) return undefined;
    if (revisionNameOf(pod) !== update.metadata.name && !isGoing(pod))
      return pod;
    if (!isAvailable(state, pod)) return undefined;
  }
  return undefined;
}

function recreation(set: StatefulSet, pod: Pod): PlannedEvent {
  const failed = pod.status?.phase === "Failed";
  return {
    type: failed ? "Warning" : "Normal",
    reason: failed ? "RecreatingFailedPod" : "RecreatingTerminatedPod",
    message: `StatefulSet ${objectKey(set)} is recreating ${failed ? "failed" : "terminated"} Pod ${pod.metadata.name}`,
  };
}

export function statefulStatus(state: StatefulState): StatefulSetStatus {
  const { set, owned, current, update } = state;
  const countOf = (revision: ControllerRevision): number =>
    owned.filter(
      (pod) => revisionNameOf(pod) === revision.metadata.name && !isGoing(pod),
    ).length;
  // What is being deleted counts for as long as it serves.
  const ready = owned.filter(isServing);
  const { collisionCount, conditions } = set.status ?? {};
  const status: StatefulSetStatus = {
    replicas: owned.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) =>
      isPodAvailable(pod, set.spec.minReadySeconds ?? 0, state.nowMs),
    ).length,
    currentReplicas: countOf(current),
    updatedReplicas: countOf(update),
    currentRevision: current.metadata.name,
    updateRevision: update.metadata.name,
    observedGeneration: set.metadata.generation ?? 0,
    collisionCount: collisionCount ?? 0,
    ...(conditions ? { conditions } : {}),
  };
  const isRolledOut =
    (set.spec.updateStrategy?.type ?? "RollingUpdate") === "RollingUpdate" &&
    status.updatedReplicas === (set.spec.replicas ?? 1) &&
    status.updatedReplicas === status.replicas &&
    status.readyReplicas === status.replicas;
  if (isRolledOut) {
    status.currentReplicas = status.updatedReplicas!;
    status.currentRevision = update.metadata.name;
  }
  return status;
}

const isGoing = (pod: Pod): boolean =>
  pod.metadata.deletionTimestamp !== undefined;

/** It may be for a claim that is missing. */
const isWaiting = (pod: Pod): boolean =>
  pod.status?.phase === "Pending" && !isGoing(pod);

const isServing = (pod: Pod): boolean =>
  pod.status?.phase === "Running" && isPodReady(pod);

const isHealthy = (pod: Pod): boolean => isServing(pod) && !isGoing(pod);

const isAvailable = ({ set, nowMs }: StatefulState, pod: Pod): boolean =>
  isHealthy(pod) && isPodAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);
