// The access reviews: virtual resources that put a question to the authorizer.
import type {
  AccessAttributes,
  Authorizer,
  UserInfo,
} from "../../api/contracts.ts";
import { errors } from "../../api/errors.ts";
import { escapeFieldValue } from "../../api/selectors.ts";
import type { AnyObject } from "../../api/object.ts";
import type { PolicyRule } from "../../api/types/rbac-v1.ts";
import type { VirtualResource } from "../resources/strategy.ts";
import {
  refuseBadReview,
  type ReviewKind,
  type ReviewSpec,
  type SelectorAttributes,
} from "./review-validation.ts";
import type { RbacAuthorizer } from "./rbac-authorizer.ts";
import { SUPERUSER_GROUP } from "./union-authorizer.ts";

export function createAccessReview(
  kind: ReviewKind,
  authorizer: Authorizer,
): VirtualResource {
  return {
    async create(object, context) {
      const spec = (object["spec"] ?? {}) as ReviewSpec;
      refuseBadReview(kind, spec, object);
      const self = kind === "SelfSubjectAccessReview";
      const user: UserInfo = self
        ? context.user
        : {
            name: spec.user ?? "",
            groups: spec.groups ?? [],
            extra: spec.extra ?? {},
            ...(spec.uid ? { uid: spec.uid } : {}),
          };
      const { decision, reason, error } = await authorizer.authorize(
        attributesOf(spec, user),
      );
      const status = {
        allowed: decision === "allow",
        ...(decision === "deny" ? { denied: true } : {}),
        ...(reason === "" ? {} : { reason }),
        ...(error === undefined ? {} : { evaluationError: error }),
      };
      return { ...object, status } as AnyObject;
    },
  };
}

function attributesOf(spec: ReviewSpec, user: UserInfo): AccessAttributes {
  const resource = spec.resourceAttributes;
  return {
    user,
    verb: resource?.verb ?? spec.nonResourceAttributes?.verb ?? "",
    path: spec.nonResourceAttributes?.path ?? "",
    resourceRequest: resource !== undefined,
    group: resource?.group ?? "",
    version: resource?.version ?? "*",
    resource: resource?.resource ?? "",
    subresource: resource?.subresource ?? "",
    namespace: resource?.namespace ?? "",
    name: resource?.name ?? "",
    ...(resource?.fieldSelector
      ? { fieldSelector: fieldSelectorText(resource.fieldSelector) }
      : {}),
    ...(resource?.labelSelector?.rawSelector
      ? { labelSelector: resource.labelSelector.rawSelector }
      : {}),
  };
}

/** As a request would have it. Requirements that no field selector can express narrow nothing down and are left out. */
function fieldSelectorText(selector: SelectorAttributes): string {
  const { rawSelector, requirements = [] } = selector;
  if (rawSelector) return rawSelector;
  return requirements
    .flatMap(({ key, operator, values = [] }) =>
      values.length === 1 && (operator === "In" || operator === "NotIn")
        ? [
            `${key}${operator === "In" ? "=" : "!="}${escapeFieldValue(values[0]!)}`,
          ]
        : [],
    )
    .join(",");
}

const everything: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/**
 * Lists what RBAC allows the asker in a namespace; system:masters has a binding of its own there.
 * @param rbac undefined when that mode is not on
 */
export function createRulesReview(
  rbac: RbacAuthorizer | undefined,
): VirtualResource {
  return {
    create(object, { user }) {
      const { namespace = "" } = (object["spec"] ?? {}) as {
        namespace?: string;
      };
      if (namespace === "") throw errors.badRequest("no namespace on request");
      const held = user.groups.includes(SUPERUSER_GROUP) ? everything : [];
      const rules = rbac?.rulesFor(user, namespace) ?? held;
      const status = {
        resourceRules: rules
          .filter(({ resources = [] }) => resources.length > 0)
          .map(({ verbs, apiGroups, resources, resourceNames }) => ({
            verbs,
            apiGroups,
            resources,
            ...(resourceNames ? { resourceNames } : {}),
          })),
        nonResourceRules: rules
          .filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0)
          .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
        incomplete: rbac === undefined,
      };
      return Promise.resolve({
        ...object,
        metadata: {} as AnyObject["metadata"],
        spec: {},
        status,
      });
    },
  };
}
