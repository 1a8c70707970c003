// Who owns the claims of a StatefulSet's pods, by its persistentVolumeClaimRetentionPolicy: what deletes them is the garbage
// collector. With whenDeleted the set owns a claim; with whenScaled the pod does as soon as it is out of the range.
// Invariants, as at the reference: owners that are neither the set nor the pod stay; a claim that names an earlier set or
// pod of the same name, and one that something else controls, gets no owner here.
import { controllerReference } from "../../api/objects/owner-references.ts";
import {
  apiVersionOf,
  type GroupVersionKind,
  type KubeObject,
} from "../../api/object.ts";
import type { StatefulSet } from "../../api/types/apps-v1.ts";
import type { PersistentVolumeClaim, Pod } from "../../api/types/core-v1.ts";
import type { OwnerReference } from "../../api/types/meta-v1.ts";
import { pods, statefulSets } from "../../client/resources.ts";
import { isInRange, ordinalOf } from "./pod-identity.ts";

interface Retention {
  /** What the claim's owners have to become; undefined: they are right. */
  readonly owners?: OwnerReference[];
  /** Something else controls the claim, so that the policy has no effect on it. */
  readonly conflicts: boolean;
}

const names =
  (ref: GroupVersionKind, object: KubeObject) =>
  (owner: OwnerReference): boolean =>
    owner.kind === ref.kind &&
    owner.apiVersion === apiVersionOf(ref) &&
    owner.name === object.metadata.name;

const deletes = (set: StatefulSet, when: "whenDeleted" | "whenScaled") =>
  set.spec.persistentVolumeClaimRetentionPolicy?.[when] === "Delete";

/** Whether the claim waits for the collector: it belongs to a pod of this name that is gone. @param pod its name is enough */
export function isStaleClaim(
  claim: PersistentVolumeClaim,
  set: StatefulSet,
  pod: KubeObject,
): boolean {
  if (!deletes(set, "whenScaled")) return false;
  const owner = claim.metadata.ownerReferences?.find(names(pods, pod));
  return owner !== undefined && owner.uid !== pod.metadata.uid;
}

export function claimRetention(
  claim: PersistentVolumeClaim,
  set: StatefulSet,
  pod: Pod,
): Retention {
  const owners = claim.metadata.ownerReferences ?? [];
  const both = [names(statefulSets, set), names(pods, pod)] as const;
  const uids = [set.metadata.uid, pod.metadata.uid] as const;
  const isStale = both.some((isNamed, at) => {
    const owner = owners.find(isNamed);
    return owner !== undefined && owner.uid !== uids[at];
  });
  const others = owners.filter((owner) => !both.some((named) => named(owner)));
  const whenDeleted = deletes(set, "whenDeleted");
  const whenScaled = deletes(set, "whenScaled");
  const conflicts =
    (whenDeleted || whenScaled) &&
    (isStale || others.some(({ controller }) => controller));
  if (isStale) return { conflicts };
  const byPod = whenScaled && !isInRange(set, ordinalOf(set, pod));
  const wanted = conflicts ? [] : [whenDeleted && !byPod, byPod];
  const isRight = uids.every((uid, at) => {
    const own = owners.filter((owner) => owner.uid === uid);
    return (
      own.length > 0 === (wanted[at] ?? false) &&
      (conflicts || own.every(({ controller }) => controller))
    );
  });
  if (isRight) return { conflicts };
  return {
    conflicts,
    owners: [
      ...others,
      ...(wanted[0] ? [controllerReference(statefulSets, set)] : []),
      ...(wanted[1] ? [controllerReference(pods, pod)] : []),
    ],
  };
}
