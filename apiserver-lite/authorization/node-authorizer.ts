// Node authorization as the reference has it since 1.32 (with selectors): an agent (group system:nodes, user
// system:node:<name>) reads its own Node, its own pods, what those refer to, and changes what is its own; the rest is as
// the role system:node says. NodeRestriction (admission) checks a request's body.
import { qualifiedResource } from "../../api/object.ts";
import type {
  AccessAttributes,
  AccessDecision,
  Authorizer,
  UserInfo,
} from "../../api/contracts.ts";
import rbacFacts from "../../api/facts/rbac-bootstrap.json";
import { parseFieldSelector } from "../../api/selectors.ts";
import type { PolicyRule } from "../../api/types/rbac-v1.ts";
import type { ClusterState } from "../resources/state.ts";
import { NodeRelations } from "./node-relations.ts";
import { rulesAllow } from "./policy-rule.ts";

const NODES_GROUP = "system:nodes";
const USER_PREFIX = "system:node:";
const LEASE_NAMESPACE = "kube-node-lease";
/** Verbs on the one object that is named as the node is. */
const ownVerbs = ["get", "create", "update", "patch", "delete"];

/** The node an agent speaks for; "" when its name says none; undefined for everybody else. */
export function nodeOfUser(user: UserInfo): string | undefined {
  return user.name.startsWith(USER_PREFIX) && user.groups.includes(NODES_GROUP)
    ? user.name.slice(USER_PREFIX.length)
    : undefined;
}

/** A refusal's reason, or "allow", or that the role decides. */
type Opinion = "allow" | "by role" | { readonly refused: string };

const silently: Opinion = { refused: "" };

export class NodeAuthorizer implements Authorizer {
  readonly #relations: NodeRelations;
  readonly #rules: readonly PolicyRule[];

  /** @param bySelectors false: as before 1.32 nodes, pods and slices of every node may be read */
  constructor(
    state: ClusterState,
    private readonly bySelectors = true,
  ) {
    this.#relations = new NodeRelations(state);
    const role = rbacFacts.clusterRoles.find(
      ({ name }) => name === "system:node",
    );
    this.#rules = (role?.rules ?? []) as PolicyRule[];
  }

  /** Resolves when it knows every pod. */
  start(): Promise<void> {
    return this.#relations.start();
  }

  stop(): void {
    this.#relations.stop();
  }

  authorize(attributes: AccessAttributes): AccessDecision {
    const { user } = attributes;
    const node = nodeOfUser(user);
    if (node === undefined) return noOpinion("");
    if (node === "")
      return noOpinion(`unknown node for user ${JSON.stringify(user.name)}`);
    const opinion = attributes.resourceRequest
      ? this.#opinion(node, attributes)
      : "by role";
    if (opinion === "allow") return { decision: "allow", reason: "" };
    if (opinion !== "by role") return noOpinion(opinion.refused);
    return rulesAllow(this.#rules, attributes)
      ? { decision: "allow", reason: "" }
      : noOpinion("");
  }

  #opinion(node: string, attributes: AccessAttributes): Opinion {
    const { group, resource, subresource } = attributes;
    switch (`${group}/${resource}`) {
      case "/secrets":
      case "/configmaps":
        return this.#readObject(node, attributes);
      case "/persistentvolumeclaims":
        return subresource === "status"
          ? this.#updateStatus(node, attributes)
          : this.#get(node, attributes);
      case "/persistentvolumes":
      case "resource.k8s.io/resourceclaims":
      case "storage.k8s.io/volumeattachments":
        return this.#get(node, attributes);
      case "/serviceaccounts":
        return this.#createToken(node, attributes);
      case "coordination.k8s.io/leases":
        return leaseOpinion(node, attributes);
      case "storage.k8s.io/csinodes":
        return csiNodeOpinion(node, attributes);
      case "resource.k8s.io/resourceslices":
        return this.#resourceSlice(node, attributes);
      case "/nodes":
        return this.bySelectors ? nodeOpinion(node, attributes) : "by role";
      case "/pods":
        return this.bySelectors ? this.#pod(node, attributes) : "by role";
      default:
        return "by role";
    }
  }

  #readObject(node: string, attributes: AccessAttributes): Opinion {
    const { verb, subresource, namespace } = attributes;
    if (!["get", "list", "watch"].includes(verb))
      return { refused: "can only read resources of this type" };
    if (subresource !== "") return { refused: "cannot read subresource" };
    if (namespace === "")
      return { refused: "can only read namespaced object of this type" };
    return this.#related(node, attributes);
  }

  #get(node: string, attributes: AccessAttributes): Opinion {
    if (attributes.verb !== "get")
      return { refused: "can only get individual resources of this type" };
    if (attributes.subresource !== "")
      return { refused: "cannot get subresource" };
    return this.#related(node, attributes);
  }

  #updateStatus(node: string, attributes: AccessAttributes): Opinion {
    return ["update", "patch"].includes(attributes.verb)
      ? this.#related(node, attributes)
      : { refused: "can only get/update/patch this type" };
  }

  #createToken(node: string, attributes: AccessAttributes): Opinion {
    if (attributes.verb !== "create" || attributes.name === "")
      return {
        refused: "can only create tokens for individual service accounts",
      };
    if (attributes.subresource !== "token")
      return { refused: "can only create token subresource of serviceaccount" };
    return this.#related(node, attributes);
  }

  #resourceSlice(node: string, attributes: AccessAttributes): Opinion {
    const { verb, subresource } = attributes;
    if (subresource !== "")
      return { refused: "cannot authorize ResourceSlice subresources" };
    switch (verb) {
      case "create":
        // NodeRestriction sees whose it is.
        return "allow";
      case "get":
      case "update":
      case "patch":
      case "delete":
        return this.#related(node, attributes);
      case "watch":
      case "list":
      case "deletecollection":
        return !this.bySelectors || selects(attributes, "nodeName", node)
          ? "allow"
          : {
              refused:
                "can only list/watch/deletecollection resourceslices with nodeName field selector",
            };
      default:
        return {
          refused:
            "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection",
        };
    }
  }

  /** Of which pods, NodeRestriction says for writes. */
  #pod(node: string, attributes: AccessAttributes): Opinion {
    const { subresource, verb, name } = attributes;
    switch (`${subresource} ${verb}`) {
      case " get":
        return this.#related(node, attributes);
      case " list":
      case " watch":
        if (selects(attributes, "spec.nodeName", node)) return "allow";
        return name === ""
          ? {
              refused:
                "can only list/watch pods with spec.nodeName field selector",
            }
          : this.#related(node, attributes);
      case " create":
      case " delete":
      case "status update":
      case "status patch":
      case "eviction create":
        return "allow";
      default:
        return silently;
    }
  }

  #related(node: string, attributes: AccessAttributes): Opinion {
    const { group, resource, namespace, name } = attributes;
    if (name === "") return { refused: "No Object name found" };
    const qualified = qualifiedResource({ group, resource });
    return this.#relations.related(node, qualified, namespace, name)
      ? "allow"
      : {
          refused: `no relationship found between node '${node}' and this object`,
        };
  }
}

function leaseOpinion(
  node: string,
  { verb, namespace, name }: AccessAttributes,
): Opinion {
  if (!ownVerbs.includes(verb))
    return {
      refused: "can only get, create, update, patch, or delete a node lease",
    };
  if (namespace !== LEASE_NAMESPACE)
    return {
      refused: `can only access leases in the ${JSON.stringify(LEASE_NAMESPACE)} system namespace`,
    };
  // A create does not say the name yet; NodeRestriction sees it.
  return verb === "create" || name === node
    ? "allow"
    : {
        refused:
          "can only access node lease with the same name as the requesting node",
      };
}

function csiNodeOpinion(
  node: string,
  { verb, subresource, name }: AccessAttributes,
): Opinion {
  if (!ownVerbs.includes(verb))
    return {
      refused: "can only get, create, update, patch, or delete a CSINode",
    };
  if (subresource !== "")
    return { refused: "cannot authorize CSINode subresources" };
  return verb === "create" || name === node
    ? "allow"
    : {
        refused:
          "can only access CSINode with the same name as the requesting node",
      };
}

/** Its own by name: it asks for it before there is one. Writes are checked by NodeRestriction. */
function nodeOpinion(
  node: string,
  { verb, subresource, name }: AccessAttributes,
): Opinion {
  switch (`${subresource} ${verb}`) {
    case " create":
    case " update":
    case " patch":
    case "status update":
    case "status patch":
      return "allow";
    case " get":
    case " list":
    case " watch":
      if (name === node) return "allow";
      return {
        refused:
          name === ""
            ? `node '${node}' cannot read all nodes, only its own Node object`
            : `node '${node}' cannot read '${name}', only its own Node object`,
      };
    default:
      return silently;
  }
}

/** An agent's selectors are short; a longer one is no reason to read it twice. */
const maxSelectorLength = 4096;

/** Does the request ask for objects with this value in the field alone? */
function selects(
  { fieldSelector = "" }: AccessAttributes,
  field: string,
  value: string,
): boolean {
  if (fieldSelector.length > maxSelectorLength) return false;
  try {
    return parseFieldSelector(fieldSelector).requirements.some(
      (one) => one.field === field && one.op === "=" && one.value === value,
    );
  } catch {
    return false;
  }
}

function noOpinion(reason: string): AccessDecision {
  return { decision: "no-opinion", reason };
}
