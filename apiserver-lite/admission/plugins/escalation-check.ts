// Users give only permissions they have: a user who writes a role must hold all its rules (or may "escalate"), a user who
// writes a binding must hold the rules of its role (or may "bind" it). The check is part of the reference's registry of
// roles and bindings; here it is a validating step after all others, so that every verb and transport that writes passes
// it. Every update is checked, because labels, too, give rules away (aggregation); only one that touches nothing but
// finalizers and owner references passes, so that the garbage collector can work.
import type { Authorizer, UserInfo } from "../../../api/contracts.ts";
import { errors } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { PolicyRule, RoleRef } from "../../../api/types/rbac-v1.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../plugin.ts";
import {
  compactRules,
  describeRule,
  TooManyRules,
  uncoveredRules,
} from "../../authorization/policy-rule.ts";
import { changesOnlyOwnership } from "./requests.ts";
import type { RbacAuthorizer } from "../../authorization/rbac-authorizer.ts";
import { SUPERUSER_GROUP } from "../../authorization/union-authorizer.ts";

const GROUP = "rbac.authorization.k8s.io";
const everything: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

export function createEscalationCheck(
  rbac: RbacAuthorizer,
  authorizer: Authorizer,
): AdmissionPlugin {
  return {
    name: "RBACEscalationCheck",
    async validate(attributes) {
      const { operation, object, oldObject, user, namespace } = attributes;
      const { group, resource } = attributes.resource;
      if (
        group !== GROUP ||
        !object ||
        (operation !== "CREATE" && operation !== "UPDATE") ||
        user.groups.includes(SUPERUSER_GROUP) ||
        (oldObject && changesOnlyOwnership(object, oldObject))
      )
        return;
      switch (resource) {
        case "roles":
        case "clusterroles": {
          // The name of an object that is yet to be created is not part of the request.
          const name = operation === "CREATE" ? "" : attributes.name;
          const asked = { resource, name };
          if (await mayDo("escalate", asked, attributes, authorizer)) return;
          refuseUncovered(rbac, attributes, rulesOf(object));
          if (object["aggregationRule"] || oldObject?.["aggregationRule"])
            refuseAggregation(rbac, attributes);
          return;
        }
        case "rolebindings":
        case "clusterrolebindings": {
          const roleRef = object["roleRef"] as RoleRef;
          const asked = {
            resource: roleRef.kind === "ClusterRole" ? "clusterroles" : "roles",
            name: roleRef.name,
          };
          if (await mayDo("bind", asked, attributes, authorizer)) return;
          const rules = rbac.roleRules(roleRef, namespace);
          if (!rules)
            throw errors.notFound(
              { group: GROUP, resource: asked.resource },
              roleRef.name,
            );
          refuseUncovered(rbac, attributes, rules);
        }
      }
    },
  };
}

function rulesOf(role: Readonly<AnyObject>): readonly PolicyRule[] {
  return (role["rules"] as PolicyRule[] | null | undefined) ?? [];
}

async function mayDo(
  verb: "escalate" | "bind",
  { resource, name }: { resource: string; name: string },
  { user, namespace, resource: { version } }: AdmissionAttributes,
  authorizer: Authorizer,
): Promise<boolean> {
  const { decision } = await authorizer.authorize({
    user,
    verb,
    path: "",
    resourceRequest: true,
    group: GROUP,
    version,
    resource,
    subresource: "",
    namespace,
    name,
  });
  return decision === "allow";
}

function refuse(
  { name, object, resource }: AdmissionAttributes,
  why: string,
): never {
  throw errors.forbidden(resource, name || (object?.metadata.name ?? ""), why);
}

function refuseUncovered(
  rbac: RbacAuthorizer,
  attributes: AdmissionAttributes,
  wanted: readonly PolicyRule[],
): void {
  const missing = missingRules(rbac, attributes, wanted);
  if (missing.length > 0)
    refuse(attributes, escalationText(attributes.user, missing));
}

/** A role that aggregates may gather any rule: only who holds all may write one. */
function refuseAggregation(
  rbac: RbacAuthorizer,
  attributes: AdmissionAttributes,
): void {
  if (missingRules(rbac, attributes, everything).length > 0)
    refuse(
      attributes,
      "must have cluster-admin privileges to use the aggregationRule",
    );
}

function missingRules(
  rbac: RbacAuthorizer,
  attributes: AdmissionAttributes,
  wanted: readonly PolicyRule[],
): PolicyRule[] {
  const { user, namespace } = attributes;
  try {
    return uncoveredRules(rbac.rulesFor(user, namespace), wanted);
  } catch (error) {
    if (error instanceof TooManyRules) refuse(attributes, error.message);
    throw error;
  }
}

function escalationText(
  { name, groups }: UserInfo,
  missing: readonly PolicyRule[],
): string {
  const groupList = groups.map((group) => JSON.stringify(group)).join(" ");
  const rules = [...new Set(compactRules(missing).map(describeRule))]
    .sort()
    .join("\n");
  return `user ${JSON.stringify(name)} (groups=[${groupList}]) is attempting to grant RBAC permissions not currently held:\n${rules}`;
}
