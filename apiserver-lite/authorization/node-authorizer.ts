// Node authorization: an agent (group system:nodes, user system:node:<name>) may read what the pods bound to its node
// refer to, and the objects that are its own; the rest is as the role system:node says. The references are counted per
// node as pods come and go, so that a question is one look-up.
import type {
  AccessAttributes,
  AccessDecision,
  Authorizer,
  UserInfo,
} from "../../api/contracts.ts";
import rbacFacts from "../../api/facts/rbac-bootstrap.json";
import type { AnyObject } from "../../api/object.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { PolicyRule } from "../../api/types/rbac-v1.ts";
import type { ClusterState } from "./cluster-state.ts";
import { rulesAllow } from "./policy-rule.ts";
import { podReferences } from "./pod-references.ts";

const NODES_GROUP = "system:nodes";
const USER_PREFIX = "system:node:";

/** The node an agent speaks for; undefined for everybody else. */
export function nodeOfUser(user: UserInfo): string | undefined {
  if (!user.groups.includes(NODES_GROUP) || !user.name.startsWith(USER_PREFIX))
    return undefined;
  return user.name.slice(USER_PREFIX.length) || undefined;
}

export class NodeAuthorizer implements Authorizer {
  readonly #state: ClusterState;
  /** Node → `resource/namespace/name` → how many of its pods refer to it. */
  readonly #references = new Map<string, Map<string, number>>();
  readonly #rules: readonly PolicyRule[];
  #stop: (() => void) | undefined;

  constructor(state: ClusterState) {
    this.#state = state;
    const role = rbacFacts.clusterRoles.find(
      ({ name }) => name === "system:node",
    );
    this.#rules = (role?.rules ?? []) as PolicyRule[];
  }

  start(): void {
    for (const pod of this.#state.list("", "pods")) this.#count(pod, 1);
    this.#stop = this.#state.onChange("", "pods", ({ object, previous }) => {
      // Only the binding adds references: a bound pod's spec is fixed as far as they go.
      if (previous) this.#count(previous, -1);
      if (object) this.#count(object, 1);
    });
  }

  stop(): void {
    this.#stop?.();
    this.#references.clear();
  }

  authorize(attributes: AccessAttributes): AccessDecision {
    const node = nodeOfUser(attributes.user);
    if (node === undefined) return noOpinion("");
    if (attributes.resourceRequest) {
      const refusal = this.#refusal(node, attributes);
      if (refusal === undefined) return { decision: "allow", reason: "" };
      if (refusal !== "") return noOpinion(refusal);
    }
    return rulesAllow(this.#rules, attributes)
      ? { decision: "allow", reason: "" }
      : noOpinion("");
  }

  /** Undefined: allowed. "": the role decides. Otherwise why not. */
  #refusal(node: string, attributes: AccessAttributes): string | undefined {
    const { group, resource, subresource, verb, namespace, name } = attributes;
    switch (`${group}/${resource}`) {
      case "/secrets":
      case "/configmaps":
        return this.#readable(node, attributes, ["get", "list", "watch"]);
      case "/persistentvolumeclaims":
        return subresource === "status"
          ? ""
          : this.#readable(node, attributes, ["get"]);
      case "/persistentvolumes":
        return verb === "get" && subresource === ""
          ? this.#readableVolume(node, name)
          : denyPath(node);
      case "/serviceaccounts":
        if (subresource === "token") {
          if (verb !== "create")
            return "can only create tokens for individual service accounts";
          return this.#refers(node, resource, namespace, name)
            ? undefined
            : denyPath(node);
        }
        return this.#readable(node, attributes, ["get"]);
      case "coordination.k8s.io/leases":
        if (namespace !== "kube-node-lease")
          return 'can only access leases in the "kube-node-lease" system namespace';
        if (!["get", "create", "update", "patch", "delete"].includes(verb)) {
          return "can only get, create, update, patch, or delete a node lease";
        }
        return verb === "create" || name === node
          ? undefined
          : "can only access node lease with the same name as the requesting node";
      case "storage.k8s.io/csinodes":
        if (!["get", "create", "update", "patch", "delete"].includes(verb)) {
          return "can only get, create, update, patch, or delete a CSINode";
        }
        return verb === "create" || name === node
          ? undefined
          : "can only access CSINode with the same name as the requesting node";
      case "storage.k8s.io/volumeattachments":
        return verb === "get" && this.#ownsAttachment(node, name)
          ? undefined
          : denyPath(node);
      default:
        return "";
    }
  }

  #readable(
    node: string,
    { resource, subresource, verb, namespace, name }: AccessAttributes,
    verbs: string[],
  ): string | undefined {
    if (!verbs.includes(verb) || subresource !== "")
      return `can only read resources of this type`;
    if (name === "") return "can only read resources of this type";
    return this.#refers(node, resource, namespace, name)
      ? undefined
      : denyPath(node);
  }

  #refers(
    node: string,
    resource: string,
    namespace: string,
    name: string,
  ): boolean {
    return (
      (this.#references.get(node)?.get(`${resource}/${namespace}/${name}`) ??
        0) > 0
    );
  }

  #readableVolume(node: string, name: string): string | undefined {
    const volume = this.#state.read("", "persistentvolumes", "", name);
    const { claimRef } = (volume?.["spec"] ?? {}) as {
      claimRef?: { namespace: string; name: string };
    };
    const bound =
      claimRef &&
      this.#refers(
        node,
        "persistentvolumeclaims",
        claimRef.namespace,
        claimRef.name,
      );
    return bound ? undefined : denyPath(node);
  }

  #ownsAttachment(node: string, name: string): boolean {
    const attachment = this.#state.read(
      "storage.k8s.io",
      "volumeattachments",
      "",
      name,
    );
    return (
      (attachment?.["spec"] as { nodeName?: string } | undefined)?.nodeName ===
      node
    );
  }

  #count(object: Readonly<AnyObject>, by: 1 | -1): void {
    const pod = object as unknown as Pod;
    const node = pod.spec.nodeName;
    if (!node) return;
    let counts = this.#references.get(node);
    if (!counts) this.#references.set(node, (counts = new Map()));
    for (const reference of podReferences(pod)) {
      const key = `${reference.resource}/${pod.metadata.namespace ?? ""}/${reference.name}`;
      const count = (counts.get(key) ?? 0) + by;
      if (count > 0) counts.set(key, count);
      else counts.delete(key);
    }
    if (counts.size === 0) this.#references.delete(node);
  }
}

function noOpinion(reason: string): AccessDecision {
  return { decision: "no-opinion", reason };
}

function denyPath(node: string): string {
  return `no relationship found between node '${node}' and this object`;
}
