// NodeRestriction: what an agent that authorization let through may write: its own Node (without labels, taints and
// owners that would draw or keep away pods), mirror pods and the status of pods bound to it, the status of its claims,
// tokens of its pods, its lease, CSINode, device slices, and requests for its own certificates. As in the reference it
// looks at what agents send; other users pass.
import { isDeepStrictEqual } from "node:util";
import { errors } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { parseCsr } from "../../../api/pki/signing-request.ts";
import type { Node, Pod } from "../../../api/types/core-v1.ts";
import { nodeOfUser } from "../../authorization/node-authorizer.ts";
import { referencesOf } from "../../../api/objects/pod-references.ts";
import type { StrategyContext } from "../../resources/strategy.ts";
import { forbiddenNodeLabels } from "./node-labels.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../plugin.ts";
import { admitAudience, admitToken } from "./node-tokens.ts";
import { isMirrorPod, MIRROR_ANNOTATION, nameOf, refuse } from "./requests.ts";
import { typed } from "../../resources/typed.ts";

/** Signers of certificates that say which node their holder is. */
const nodeSigners = [
  "kubernetes.io/kubelet-serving",
  "kubernetes.io/kube-apiserver-client-kubelet",
];

/** @param restrictsAudiences the gate ServiceAccountNodeAudienceRestriction */
export const createNodeRestriction = (
  restrictsAudiences = false,
): AdmissionPlugin => ({
  name: "NodeRestriction",
  writesWhole: true,
  // The strategy drops these statuses while their gate is off: what the agent sent is seen before.
  admit(attributes, context) {
    const { resource, subresource, operation, user } = attributes;
    if (resource.group !== "" || !nodeOfUser(user)) return;
    const place = `${operation} ${resource.resource}/${subresource}`;
    if (place === "UPDATE pods/status") admitClaimStatuses(attributes);
    if (restrictsAudiences && place === "CREATE serviceaccounts/token")
      admitAudience(attributes, context);
  },
  validate(attributes, context) {
    if (attributes.operation === "CONNECT") return;
    const node = nodeOfUser(attributes.user);
    if (node === undefined) return;
    if (node === "")
      refuse(
        attributes,
        `could not determine node from user ${JSON.stringify(attributes.user.name)}`,
      );
    const { group, resource } = attributes.resource;
    const { subresource } = attributes;
    switch (`${group}/${resource}`) {
      case "/pods":
        return admitPod(node, attributes, context);
      case "/nodes":
        return admitNode(node, attributes);
      case "/persistentvolumeclaims":
        if (subresource !== "status")
          refuse(attributes, "may only update PVC status");
        return admitClaimStatus(node, attributes);
      case "/serviceaccounts":
        if (attributes.operation === "CREATE" && subresource === "token")
          admitToken(node, attributes, context);
        return;
      case "coordination.k8s.io/leases":
        if (attributes.namespace !== "kube-node-lease")
          refuse(
            attributes,
            'can only access leases in the "kube-node-lease" system namespace',
          );
        if (nameOf(attributes) !== node)
          refuse(
            attributes,
            "can only access node lease with the same name as the requesting node",
          );
        return;
      case "storage.k8s.io/csinodes":
        if (nameOf(attributes) !== node)
          refuse(
            attributes,
            "can only access CSINode with the same name as the requesting node",
          );
        return;
      case "resource.k8s.io/resourceslices":
        return admitResourceSlice(node, attributes);
      case "certificates.k8s.io/certificatesigningrequests":
        return admitSigningRequest(node, attributes);
    }
  },
});

function admitPod(
  node: string,
  attributes: AdmissionAttributes,
  context: StrategyContext,
): void {
  const { operation, subresource, namespace, name, oldObject } = attributes;
  const who = `node ${JSON.stringify(node)}`;
  /** The pod as it is, which the request does not change. */
  const present = (): Pod => {
    const pod = oldObject ?? context.read("", "pods", namespace, name);
    if (!pod) throw errors.notFound(attributes.resource, name);
    return typed<Pod>(pod);
  };
  switch (subresource) {
    case "":
      if (operation === "CREATE")
        return admitMirrorPod(node, attributes, context);
      if (operation !== "DELETE")
        refuse(
          attributes,
          `unexpected operation ${JSON.stringify(operation)}, ${who} can only create and delete mirror pods`,
        );
      if (present().spec.nodeName !== node)
        refuse(
          attributes,
          `${who} can only delete pods with spec.nodeName set to itself`,
        );
      return;
    case "status":
      return admitPodStatus(who, node, attributes);
    case "eviction":
      if (operation !== "CREATE")
        refuse(attributes, `unexpected operation ${operation}`);
      if (present().spec.nodeName !== node)
        refuse(
          attributes,
          `node ${node} can only evict pods with spec.nodeName set to itself`,
        );
      return;
    default:
      refuse(
        attributes,
        `unexpected pod subresource ${JSON.stringify(subresource)}, only 'status' and 'eviction' are allowed`,
      );
  }
}

function admitPodStatus(
  who: string,
  node: string,
  attributes: AdmissionAttributes,
): void {
  const { operation, object, oldObject } = attributes;
  if (operation !== "UPDATE")
    refuse(attributes, `unexpected operation ${JSON.stringify(operation)}`);
  const old = typed<Pod>(oldObject!);
  const pod = typed<Pod>(object!);
  if (old.spec.nodeName !== node)
    refuse(
      attributes,
      `${who} can only update pod status for pods with spec.nodeName set to itself`,
    );
  if (!isDeepStrictEqual(pod.metadata.labels ?? {}, old.metadata.labels ?? {}))
    refuse(attributes, `${who} cannot update labels through pod status`);
}

function admitClaimStatuses(attributes: AdmissionAttributes): void {
  const claimsOf = (pod: AnyObject | undefined): unknown =>
    pod && (typed<Pod>(pod).status?.resourceClaimStatuses ?? []);
  const { object, oldObject, user } = attributes;
  if (isDeepStrictEqual(claimsOf(object), claimsOf(oldObject))) return;
  const who = `node ${JSON.stringify(nodeOfUser(user))}`;
  refuse(attributes, `${who} cannot update resource claim statues`);
}

function admitMirrorPod(
  node: string,
  attributes: AdmissionAttributes,
  context: StrategyContext,
): void {
  const pod = typed<Pod>(attributes.object!);
  const who = `node ${JSON.stringify(node)}`;
  if (!isMirrorPod(pod))
    refuse(
      attributes,
      `pod does not have ${JSON.stringify(MIRROR_ANNOTATION)} annotation, ${who} can only create mirror pods`,
    );
  if (pod.spec.nodeName !== node)
    refuse(
      attributes,
      `${who} can only create pods with spec.nodeName set to itself`,
    );
  admitMirrorOwner(node, pod, attributes, context);
  for (const { resource } of referencesOf(pod)) {
    refuse(
      attributes,
      `${who} can not create pods that reference ${resource === "serviceaccounts" ? "a service account" : resource.replace(/\..*/, "")}`,
    );
  }
  if ((pod.spec.resourceClaims ?? []).length > 0)
    refuse(
      attributes,
      `${who} can not create pods that reference resourceclaims`,
    );
}

/** A mirror pod goes when its Node goes, and holds nothing up. */
function admitMirrorOwner(
  node: string,
  pod: Pod,
  attributes: AdmissionAttributes,
  context: StrategyContext,
): void {
  const who = `node ${JSON.stringify(node)}`;
  const [owner, ...more] = pod.metadata.ownerReferences ?? [];
  if (more.length > 0)
    refuse(
      attributes,
      `${who} can only create pods with a single owner reference set to itself`,
    );
  if (
    owner?.apiVersion !== "v1" ||
    owner.kind !== "Node" ||
    owner.name !== node
  )
    refuse(
      attributes,
      `${who} can only create pods with an owner reference set to itself`,
    );
  if (!owner.controller)
    refuse(
      attributes,
      `${who} can only create pods with a controller owner reference set to itself`,
    );
  if (owner.blockOwnerDeletion)
    refuse(
      attributes,
      `${who} must not set blockOwnerDeletion on an owner reference`,
    );
  const present = context.read("", "nodes", "", node);
  if (!present) throw errors.notFound({ group: "", resource: "nodes" }, node);
  if (present.metadata.uid !== owner.uid)
    refuse(
      attributes,
      `node ${node} UID mismatch: expected ${owner.uid} got ${present.metadata.uid}`,
    );
}

function admitNode(node: string, attributes: AdmissionAttributes): void {
  const { operation, object, oldObject } = attributes;
  const who = `node ${JSON.stringify(node)}`;
  const name = nameOf(attributes);
  if (name !== node)
    refuse(
      attributes,
      `${who} is not allowed to modify node ${JSON.stringify(name)}`,
    );
  const now = typed<Node>(object);
  const before = typed<Node>(oldObject);
  const configSource = now?.spec?.configSource;
  const labels = forbiddenNodeLabels(
    now?.metadata.labels,
    before?.metadata.labels,
  ).join(", ");
  if (operation === "CREATE") {
    // Its agent may read what a configuration source names.
    if (configSource)
      refuse(
        attributes,
        `${who} is not allowed to create pods with a non-nil configSource`,
      );
    if (labels !== "")
      refuse(
        attributes,
        `${who} is not allowed to set the following labels: ${labels}`,
      );
  }
  if (operation !== "UPDATE") return;
  if (
    configSource &&
    !isDeepStrictEqual(configSource, before?.spec?.configSource)
  )
    refuse(
      attributes,
      `${who} is not allowed to update configSource to a new non-nil configSource`,
    );
  if (!isDeepStrictEqual(now?.spec?.taints ?? [], before?.spec?.taints ?? []))
    refuse(attributes, `${who} is not allowed to modify taints`);
  // With an owner that is gone the Node would be collected, and registered again with labels and taints of its choice.
  if (
    !isDeepStrictEqual(
      now?.metadata.ownerReferences ?? [],
      before?.metadata.ownerReferences ?? [],
    )
  )
    refuse(attributes, `${who} is not allowed to modify ownerReferences`);
  if (labels !== "")
    refuse(attributes, `is not allowed to modify labels: ${labels}`);
}

function admitClaimStatus(node: string, attributes: AdmissionAttributes): void {
  const { operation, object, oldObject } = attributes;
  if (operation !== "UPDATE")
    refuse(attributes, `unexpected operation ${JSON.stringify(operation)}`);
  const same = isDeepStrictEqual(
    withoutMounting(object!),
    withoutMounting(oldObject!),
  );
  if (!same)
    refuse(
      attributes,
      `node ${JSON.stringify(node)} is not allowed to update fields other than status.capacity and status.conditions`,
    );
}

/** A claim without what its node may write: how large it is, and how its growing goes. */
function withoutMounting(claim: Readonly<AnyObject>): object {
  const { metadata, status, ...rest } = claim;
  const { resourceVersion: _, managedFields: __, ...kept } = metadata;
  const {
    capacity: ___,
    conditions: ____,
    allocatedResources: _____,
    allocatedResourceStatuses: ______,
    ...keptStatus
  } = (status ?? {}) as Record<string, unknown>;
  return { ...rest, metadata: kept, status: keptStatus };
}

function admitResourceSlice(
  node: string,
  attributes: AdmissionAttributes,
): void {
  const { operation, object, oldObject } = attributes;
  if (operation === "UPDATE") return;
  const slice = operation === "CREATE" ? object : oldObject;
  const spec = slice?.["spec"] as { nodeName?: string } | undefined;
  if (spec?.nodeName !== node)
    refuse(
      attributes,
      `can only ${operation === "CREATE" ? "create" : "delete"} ResourceSlice with the same NodeName as the requesting node`,
    );
}

function admitSigningRequest(
  node: string,
  attributes: AdmissionAttributes,
): void {
  if (attributes.operation !== "CREATE") return;
  const spec = (attributes.object?.["spec"] ?? {}) as {
    signerName?: string;
    request?: string;
  };
  if (!nodeSigners.includes(spec.signerName ?? "")) return;
  let commonName: string | undefined;
  try {
    const text = Buffer.from(spec.request ?? "", "base64").toString();
    ({ commonName } = parseCsr(text).subject);
  } catch (error) {
    refuse(attributes, `unable to parse csr: ${(error as Error).message}`);
  }
  if (commonName !== `system:node:${node}`)
    refuse(
      attributes,
      `can only create a node CSR with CN=system:node:${node}`,
    );
}
