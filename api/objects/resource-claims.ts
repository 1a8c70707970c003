// How pods and their ResourceClaims know each other: by name, or by a claim that was made from a template for one pod and
// is named in the pod's status. Pure; errors have the reference's texts.
import type { ResourceClaim } from "../types/resource-v1beta1.ts";
import type { Pod, PodResourceClaim } from "../types/core-v1.ts";
import { controllerOf } from "./owner-references.ts";

/** Held by an allocated claim, so that it is not removed before its devices are given back. */
export const claimFinalizer = "resource.kubernetes.io/delete-protection";

/** The pod's claim is to be made from its template yet. */
export class ClaimNotMade extends Error {}

interface ClaimName {
  /** Undefined: it was found that the pod needs none. */
  readonly name: string | undefined;
  /** Made for this pod: a claim of that name that the pod does not own is another's. */
  readonly generated: boolean;
}

/** @throws ClaimNotMade; Error for a reference of a kind that is not known */
export function claimNameOf(pod: Pod, podClaim: PodResourceClaim): ClaimName {
  const { name, namespace } = pod.metadata;
  if (podClaim.resourceClaimName !== undefined)
    return { name: podClaim.resourceClaimName, generated: false };
  if (podClaim.resourceClaimTemplateName === undefined)
    throw new Error(
      `pod "${namespace}/${name}", spec.resourceClaim ${JSON.stringify(podClaim.name)}: none of the supported fields are set`,
    );
  const made = pod.status?.resourceClaimStatuses?.find(
    (status) => status.name === podClaim.name,
  );
  if (!made)
    throw new ClaimNotMade(
      `pod "${namespace}/${name}": ResourceClaim not created yet`,
    );
  return { name: made.resourceClaimName, generated: true };
}

/** Keys of the claims the pod is known to use. */
export function resourceClaimKeysOf(pod: Pod): string[] {
  return (pod.spec.resourceClaims ?? []).flatMap((podClaim) => {
    try {
      const { name } = claimNameOf(pod, podClaim);
      return name === undefined ? [] : [`${pod.metadata.namespace}/${name}`];
    } catch {
      return [];
    }
  });
}

/** Why a claim that was made for a pod is not this pod's; undefined: it is. */
export function foreignClaim(
  pod: Pod,
  { metadata }: ResourceClaim,
): string | undefined {
  const { namespace, name, uid } = pod.metadata;
  return metadata.namespace === namespace &&
    controllerOf({ metadata })?.uid === uid
    ? undefined
    : `ResourceClaim ${metadata.namespace}/${metadata.name} was not created for pod ${namespace}/${name} (pod is not owner)`;
}

export function isReservedFor(pod: Pod, { status }: ResourceClaim): boolean {
  return (status?.reservedFor ?? []).some(
    ({ uid }) => uid === pod.metadata.uid,
  );
}
