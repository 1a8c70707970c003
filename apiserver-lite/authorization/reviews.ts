// The access reviews: virtual resources that put a question to the authorizer.
import type {
  AccessAttributes,
  Authorizer,
  UserInfo,
} from "../../api/contracts.ts";
import { errors, type FieldError } from "../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../api/field-errors.ts";
import { goSyntax } from "../../api/go-syntax.ts";
import { labelKeyProblems } from "../../api/names.ts";
import { escapeFieldValue } from "../../api/selectors.ts";
import type { AnyObject } from "../../api/object.ts";
import type { PolicyRule } from "../../api/types/rbac-v1.ts";
import type { VirtualResource } from "../resources/strategy.ts";
import type { RbacAuthorizer } from "./rbac-authorizer.ts";
import { SUPERUSER_GROUP } from "./union-authorizer.ts";

const GROUP = "authorization.k8s.io";

interface SelectorAttributes {
  rawSelector?: string;
  requirements?: { key: string; operator: string; values?: string[] }[];
}

interface ReviewSpec {
  resourceAttributes?: {
    namespace?: string;
    verb?: string;
    group?: string;
    version?: string;
    resource?: string;
    subresource?: string;
    name?: string;
    fieldSelector?: SelectorAttributes;
    labelSelector?: SelectorAttributes;
  };
  nonResourceAttributes?: { path?: string; verb?: string };
  user?: string;
  groups?: string[];
  uid?: string;
  extra?: Record<string, string[]>;
}

type ReviewKind =
  | "SubjectAccessReview"
  | "SelfSubjectAccessReview"
  | "LocalSubjectAccessReview";

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

function refuseBadReview(
  kind: ReviewKind,
  spec: ReviewSpec,
  object: Readonly<AnyObject>,
): void {
  const problems: FieldError[] = [];
  const invalid = (field: string, value: string, text: string): void => {
    problems.push({
      type: "FieldValueInvalid",
      field,
      detail: `Invalid value: ${value}: ${text}`,
    });
  };
  const { resourceAttributes, nonResourceAttributes } = spec;
  const nonResource = goSyntax(
    "authorization.NonResourceAttributes",
    nonResourceAttributes,
  );
  if (resourceAttributes && nonResourceAttributes) {
    invalid(
      "spec.nonResourceAttributes",
      nonResource,
      "cannot be specified in combination with resourceAttributes",
    );
  }
  if (!resourceAttributes && !nonResourceAttributes) {
    invalid(
      "spec.resourceAttributes",
      '"null"',
      "exactly one of nonResourceAttributes or resourceAttributes must be specified",
    );
  }
  if (
    kind !== "SelfSubjectAccessReview" &&
    !spec.user &&
    (spec.groups ?? []).length === 0
  ) {
    invalid(
      "spec.user",
      '""',
      "at least one of user or group must be specified",
    );
  }
  problems.push(...selectorProblems(resourceAttributes ?? {}));
  if (kind === "LocalSubjectAccessReview" && resourceAttributes) {
    const { namespace } = object.metadata;
    if (resourceAttributes.namespace !== namespace) {
      invalid(
        "spec.resourceAttributes.namespace",
        JSON.stringify(resourceAttributes.namespace ?? ""),
        "must match metadata.namespace",
      );
    }
  }
  if (kind === "LocalSubjectAccessReview" && nonResourceAttributes)
    invalid(
      "spec.nonResourceAttributes",
      nonResource,
      "disallowed on this kind of request",
    );
  if (problems.length > 0)
    throw errors.invalid({ group: GROUP, kind: "" }, "", problems);
}

/** Selectors are given as text or in parts, not both. */
function selectorProblems(
  attributes: NonNullable<ReviewSpec["resourceAttributes"]>,
): FieldError[] {
  return (["fieldSelector", "labelSelector"] as const).flatMap((name) => {
    const selector = attributes[name];
    if (!selector) return [];
    const field = `spec.resourceAttributes.${name}`;
    const { rawSelector, requirements = [] } = selector;
    return [
      ...(rawSelector && requirements.length > 0
        ? [
            fieldErrors.invalid(
              `${field}.rawSelector`,
              rawSelector,
              "may not specified at the same time as requirements",
            ),
          ]
        : []),
      ...(name === "labelSelector" ? requirements : []).flatMap(
        ({ key }, index) =>
          invalidEach(
            `${field}.requirements[${index}].key`,
            key,
            labelKeyProblems(key),
          ),
      ),
    ];
  });
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
