// Questions plugins ask about the request before them.
import { isDeepStrictEqual } from "node:util";
import { errors } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { AdmissionAttributes } from "../plugin.ts";
import { nameOf } from "../request-name.ts";
import { typed } from "../../resources/typed.ts";

export { nameOf };

export const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

/** Throws ApiError 403 that says why. */
export function refuse(attributes: AdmissionAttributes, why: string): never {
  throw errors.forbidden(attributes.resource, nameOf(attributes), why);
}

/** The object of a create of this resource itself (no subresource); undefined for every other request. */
export function createdObject(
  attributes: AdmissionAttributes,
  group: string,
  resource: string,
): AnyObject | undefined {
  const { operation, subresource, object } = attributes;
  const same =
    attributes.resource.group === group &&
    attributes.resource.resource === resource;
  return same && operation === "CREATE" && subresource === ""
    ? object
    : undefined;
}

export function createdPod(attributes: AdmissionAttributes): Pod | undefined {
  return typed<Pod>(createdObject(attributes, "", "pods"));
}

/** The pod of a create, or of an update of its resources. */
export function resourcedPod(attributes: AdmissionAttributes): Pod | undefined {
  return isResize(attributes)
    ? typed<Pod>(attributes.object)
    : createdPod(attributes);
}

/** Is it an update through pods/resize? */
export function isResize(attributes: AdmissionAttributes): boolean {
  const { operation, resource, subresource } = attributes;
  return (
    operation === "UPDATE" &&
    subresource === "resize" &&
    resource.group === "" &&
    resource.resource === "pods"
  );
}

export function isMirrorPod(pod: Pod): boolean {
  return pod.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined;
}

/** Is it a write of a pod itself, and of none of its subresources? */
function isPodWrite(attributes: AdmissionAttributes): boolean {
  const { operation, resource, subresource } = attributes;
  return (
    resource.group === "" &&
    resource.resource === "pods" &&
    subresource === "" &&
    (operation === "CREATE" || operation === "UPDATE")
  );
}

/** The pod of a create or an update of pods themselves; undefined for every other request. */
export function writtenPod(attributes: AdmissionAttributes): Pod | undefined {
  return isPodWrite(attributes) ? typed<Pod>(attributes.object) : undefined;
}

/** The garbage collector's writes: the objects are equal but for finalizers, owner references and who manages fields. */
export function changesOnlyOwnership(
  object: Readonly<AnyObject>,
  old: Readonly<AnyObject>,
): boolean {
  return isDeepStrictEqual(withoutOwnership(object), withoutOwnership(old));
}

function withoutOwnership({ metadata, ...rest }: Readonly<AnyObject>): object {
  const {
    finalizers: _,
    ownerReferences: __,
    managedFields: ___,
    resourceVersion: ____,
    ...kept
  } = metadata;
  return { ...rest, metadata: kept };
}
