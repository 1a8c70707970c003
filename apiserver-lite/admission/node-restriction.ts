// NodeRestriction: an agent changes only its own node, the pods bound to it, and its lease, and asks for tokens only for
// pods that run there.
import { isDeepStrictEqual } from "node:util";
import { errors } from "../../api/errors.ts";
import type { AnyObject } from "../../api/object.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { nodeOfUser } from "../authorization/node-authorizer.ts";
import { podReferences } from "../authorization/pod-references.ts";
import type { StrategyContext } from "../registry/strategy.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "./plugin.ts";
import { isMirrorPod, nameOf } from "./requests.ts";

const RESTRICTED_PREFIX = "node-restriction.kubernetes.io";
/** Labels of these domains an agent may set on itself. */
const AGENT_LABEL_DOMAINS = ["kubelet.kubernetes.io", "node.kubernetes.io"];
const AGENT_LABELS = new Set([
  "kubernetes.io/hostname",
  "kubernetes.io/arch",
  "kubernetes.io/os",
  "beta.kubernetes.io/instance-type",
  "node.kubernetes.io/instance-type",
  "failure-domain.beta.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
]);

export const nodeRestriction: AdmissionPlugin = {
  name: "NodeRestriction",
  validate(attributes, context) {
    const node = nodeOfUser(attributes.user);
    if (node === undefined) {
      if (attributes.user.groups.includes("system:nodes"))
        refuse(attributes, "could not determine node from user");
      return;
    }
    const { group, resource } = attributes.resource;
    switch (`${group}/${resource}`) {
      case "/pods":
        return admitPod(node, attributes, context);
      case "/nodes":
        return admitNode(node, attributes);
      case "/serviceaccounts":
        if (attributes.subresource === "token")
          admitToken(node, attributes, context);
        return;
      case "coordination.k8s.io/leases":
        if (
          attributes.namespace !== "kube-node-lease" ||
          nameOf(attributes) !== node
        ) {
          refuse(
            attributes,
            "can only access node lease with the same name as the requesting node",
          );
        }
        return;
      case "storage.k8s.io/csinodes":
        if (nameOf(attributes) !== node) {
          refuse(
            attributes,
            "can only access CSINode with the same name as the requesting node",
          );
        }
    }
  },
};

function refuse(attributes: AdmissionAttributes, why: string): never {
  throw errors.forbidden(attributes.resource, nameOf(attributes), why);
}

function admitPod(
  node: string,
  attributes: AdmissionAttributes,
  context: StrategyContext,
): void {
  const { operation, subresource, namespace, name } = attributes;
  const bound = (): Pod | undefined =>
    (attributes.oldObject ??
      context.read("", "pods", namespace, name)) as unknown as Pod | undefined;
  if (subresource === "") {
    if (operation === "CREATE") return admitMirrorPod(node, attributes);
    if (operation === "DELETE") {
      const pod = bound();
      if (pod && pod.spec.nodeName !== node) {
        refuse(
          attributes,
          `node ${JSON.stringify(node)} can only delete pods with spec.nodeName set to itself`,
        );
      }
      return;
    }
    refuse(
      attributes,
      `unexpected operation ${JSON.stringify(operation)}, node ${JSON.stringify(node)} can only create and delete mirror pods`,
    );
  }
  if (subresource === "status") {
    if (bound()?.spec.nodeName !== node) {
      refuse(
        attributes,
        `node ${JSON.stringify(node)} can only update pod status for pods with spec.nodeName set to itself`,
      );
    }
    if (
      !isDeepStrictEqual(
        attributes.object?.metadata.labels,
        attributes.oldObject?.metadata.labels,
      )
    ) {
      refuse(
        attributes,
        `node ${JSON.stringify(node)} cannot update labels through pod status`,
      );
    }
    return;
  }
  if (subresource === "eviction") {
    const pod = context.read("", "pods", namespace, name) as unknown as
      Pod | undefined;
    if (pod && pod.spec.nodeName !== node) {
      refuse(
        attributes,
        `node ${JSON.stringify(node)} can only evict pods with spec.nodeName set to itself`,
      );
    }
    return;
  }
  refuse(
    attributes,
    `unexpected pod subresource ${JSON.stringify(subresource)}`,
  );
}

function admitMirrorPod(node: string, attributes: AdmissionAttributes): void {
  const pod = attributes.object as unknown as Pod;
  const who = JSON.stringify(node);
  if (!isMirrorPod(pod))
    refuse(
      attributes,
      `pod does not have "kubernetes.io/config.mirror" annotation, node ${who} can only create mirror pods`,
    );
  if (pod.spec.nodeName !== node)
    refuse(
      attributes,
      `node ${who} can only create pods with spec.nodeName set to itself`,
    );
  const owners = pod.metadata.ownerReferences ?? [];
  if (owners.length > 1)
    refuse(
      attributes,
      `node ${who} can only create pods with a single owner reference set to itself`,
    );
  const [owner] = owners;
  if (
    owner &&
    (owner.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== node)
  ) {
    refuse(
      attributes,
      `node ${who} can only create pods with an owner reference set to itself`,
    );
  }
  for (const { resource } of podReferences({
    ...pod,
    metadata: { ...pod.metadata, annotations: {} },
  })) {
    refuse(
      attributes,
      `node ${who} can not create pods that reference ${resource}`,
    );
  }
}

function admitNode(node: string, attributes: AdmissionAttributes): void {
  const { operation, object, oldObject } = attributes;
  if (nameOf(attributes) !== node) {
    refuse(
      attributes,
      `node ${JSON.stringify(node)} is not allowed to modify node ${JSON.stringify(nameOf(attributes))}`,
    );
  }
  if (operation !== "CREATE" && operation !== "UPDATE") return;
  const taints = (from: Readonly<AnyObject> | undefined): unknown =>
    (from?.["spec"] as { taints?: unknown } | undefined)?.taints;
  if (
    operation === "UPDATE" &&
    !isDeepStrictEqual(taints(object) ?? [], taints(oldObject) ?? [])
  ) {
    refuse(
      attributes,
      `node ${JSON.stringify(node)} is not allowed to modify taints`,
    );
  }
  const forbidden = changedLabels(object, oldObject).filter(
    (label) => !isAgentLabel(label),
  );
  if (forbidden.length > 0) {
    refuse(
      attributes,
      `is not allowed to ${operation === "CREATE" ? "set" : "modify"} labels: ${forbidden.join(", ")}`,
    );
  }
}

function changedLabels(
  now: Readonly<AnyObject> | undefined,
  before: Readonly<AnyObject> | undefined,
): string[] {
  const labels = now?.metadata.labels ?? {};
  const old = before?.metadata.labels ?? {};
  return [...new Set([...Object.keys(labels), ...Object.keys(old)])]
    .filter((key) => labels[key] !== old[key])
    .sort();
}

/** Labels outside of the project's domains are the agent's to set, except those made to be kept from it. */
function isAgentLabel(label: string): boolean {
  const slash = label.indexOf("/");
  const domain = slash < 0 ? "" : label.slice(0, slash);
  const within = (parent: string): boolean =>
    domain === parent || domain.endsWith(`.${parent}`);
  if (within(RESTRICTED_PREFIX)) return false;
  if (AGENT_LABELS.has(label)) return true;
  if (!within("kubernetes.io") && !within("k8s.io")) return true;
  return AGENT_LABEL_DOMAINS.some(within);
}

function admitToken(
  node: string,
  attributes: AdmissionAttributes,
  context: StrategyContext,
): void {
  const spec = (attributes.object?.["spec"] ?? {}) as {
    boundObjectRef?: {
      apiVersion?: string;
      kind?: string;
      name?: string;
      uid?: string;
    };
  };
  const reference = spec.boundObjectRef;
  if (reference?.kind !== "Pod" || reference.apiVersion !== "v1")
    refuse(attributes, "node requested token not bound to a pod");
  if (!reference.uid)
    refuse(attributes, "node requested token with a pod binding without a uid");
  const pod = context.read(
    "",
    "pods",
    attributes.namespace,
    reference.name ?? "",
  ) as unknown as Pod | undefined;
  if (!pod)
    throw errors.notFound(
      { group: "", resource: "pods" },
      reference.name ?? "",
    );
  if (pod.metadata.uid !== reference.uid) {
    refuse(
      attributes,
      `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  if (pod.spec.nodeName !== node) {
    refuse(
      attributes,
      "node requested token bound to a pod scheduled on a different node",
    );
  }
}
