// Who owns an object: ownerReferences and the one among them that is its controller.
import { apiVersionOf } from "../object.ts";
import type { GroupVersionKind, KubeObject } from "../object.ts";
import type { OwnerReference } from "../types/meta-v1.ts";

/** The owner reference with controller: true, of which an object has at most one. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller);
}

export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid;
}

/** A controller reference that holds up foreground deletion of the owner, as the reference's controllers make them. */
export function controllerReference(
  ref: GroupVersionKind,
  owner: KubeObject,
): OwnerReference {
  return {
    apiVersion: apiVersionOf(ref),
    kind: ref.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}
