// Nobody gives what he does not have: who writes a role must hold its rules (or may "escalate"), who binds a role must
// hold its rules (or may "bind" it). Part of the reference's registry; here a validating step after all others.
import { isDeepStrictEqual } from "node:util";
import type { Authorizer, UserInfo } from "../../api/contracts.ts";
import { errors } from "../../api/errors.ts";
import type { AnyObject } from "../../api/object.ts";
import type { PolicyRule, RoleRef } from "../../api/types/rbac-v1.ts";
import type {
  AdmissionAttributes,
  AdmissionPlugin,
} from "../admission/plugin.ts";
import { describeRule, uncoveredRules } from "./policy-rule.ts";
import type { RbacAuthorizer } from "./rbac-authorizer.ts";
import { SUPERUSER_GROUP } from "./union-authorizer.ts";

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
      const { resource, operation, object, oldObject, user } = attributes;
      if (
        resource.group !== GROUP ||
        !object ||
        (operation !== "CREATE" && operation !== "UPDATE")
      )
        return;
      if (user.groups.includes(SUPERUSER_GROUP)) return;
      if (
        resource.resource === "roles" ||
        resource.resource === "clusterroles"
      ) {
        const wanted = wantedRules(object, oldObject);
        if (
          !wanted ||
          (await mayDo("escalate", attributes, resource.resource, authorizer))
        )
          return;
        refuseUncovered(rbac, attributes, wanted);
      } else if (
        resource.resource === "rolebindings" ||
        resource.resource === "clusterrolebindings"
      ) {
        const roleRef = object["roleRef"] as RoleRef;
        const unchanged =
          oldObject &&
          isDeepStrictEqual(roleRef, oldObject["roleRef"]) &&
          isDeepStrictEqual(object["subjects"], oldObject["subjects"]);
        if (unchanged) return;
        const roleResource =
          roleRef.kind === "ClusterRole" ? "clusterroles" : "roles";
        if (
          await mayDo(
            "bind",
            attributes,
            roleResource,
            authorizer,
            roleRef.name,
          )
        )
          return;
        const rules = rbac.roleRules(roleRef, attributes.namespace);
        if (!rules)
          throw errors.notFound(
            { group: GROUP, resource: roleResource },
            roleRef.name,
          );
        refuseUncovered(rbac, attributes, rules);
      }
    },
  };
}

/** Undefined when an update leaves the rules as they were. Who aggregates may get any rule, and must hold all. */
function wantedRules(
  object: AnyObject,
  old: Readonly<AnyObject> | undefined,
): readonly PolicyRule[] | undefined {
  const rules = (object["rules"] ?? []) as PolicyRule[];
  const aggregation = object["aggregationRule"];
  if (
    old &&
    isDeepStrictEqual(rules, old["rules"] ?? []) &&
    isDeepStrictEqual(aggregation, old["aggregationRule"])
  ) {
    return undefined;
  }
  const aggregates =
    aggregation && !isDeepStrictEqual(aggregation, old?.["aggregationRule"]);
  return aggregates ? everything : rules;
}

async function mayDo(
  verb: "escalate" | "bind",
  { user, namespace, name, resource }: AdmissionAttributes,
  roleResource: string,
  authorizer: Authorizer,
  roleName = name,
): Promise<boolean> {
  const { decision } = await authorizer.authorize({
    user,
    verb,
    path: "",
    resourceRequest: true,
    group: GROUP,
    version: resource.version,
    resource: roleResource,
    subresource: "",
    namespace,
    name: roleName,
  });
  return decision === "allow";
}

function refuseUncovered(
  rbac: RbacAuthorizer,
  attributes: AdmissionAttributes,
  wanted: readonly PolicyRule[],
): void {
  const { user, namespace, name, object, resource } = attributes;
  const missing = uncoveredRules(rbac.rulesFor(user, namespace), wanted);
  if (missing.length === 0) return;
  throw errors.forbidden(
    resource,
    name || (object?.metadata.name ?? ""),
    escalationText(user, missing),
  );
}

function escalationText(
  { name, groups }: UserInfo,
  missing: readonly PolicyRule[],
): string {
  const groupList = groups.map((group) => JSON.stringify(group)).join(" ");
  const rules = [...new Set(missing.map(describeRule))].sort().join("\n");
  return `user ${JSON.stringify(name)} (groups=[${groupList}]) is attempting to grant RBAC permissions not currently held:\n${rules}`;
}
