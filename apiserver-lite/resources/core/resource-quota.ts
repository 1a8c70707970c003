// ResourceQuotas: quantities that are not negative, scopes that exist and never change.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import type { ResourceQuota } from "../../../api/types/core-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";
import {
  isQuotaResource,
  validateQuotaResourceName,
  validateResourceQuantity,
} from "./container/resource-validation.ts";

const scopes = [
  "BestEffort",
  "CrossNamespacePodAffinity",
  "NotBestEffort",
  "NotTerminating",
  "PriorityClass",
  "Terminating",
];

/** "pods: 1/2, secrets: 0/5": what is used of what is allowed, requests and limits apart. */
function usage(quota: ResourceQuota): [string, string] {
  const requests: string[] = [];
  const limits: string[] = [];
  const hard = quota.status?.hard ?? {};
  for (const name of Object.keys(hard).sort()) {
    const text = `${name}: ${quota.status?.used?.[name] ?? "0"}/${hard[name]}`;
    (name.startsWith("limits.") ? limits : requests).push(text);
  }
  return [requests.join(", "), limits.join(", ")];
}

const aboutScopes = (
  list: readonly string[] | undefined,
  why: string,
  field = "spec.scopes",
): FieldError =>
  fieldErrors.invalid(field, asGo("[]core.ResourceQuotaScope", list), why);

function validateAmounts(
  field: string,
  amounts: Readonly<Record<string, string>> | undefined,
): FieldError[] {
  return Object.entries(amounts ?? {}).flatMap(([name, value]) => [
    ...validateQuotaResourceName(`${field}[${name}]`, name),
    ...validateResourceQuantity(`${field}[${name}]`, name, value),
  ]);
}

const podAmounts = /^((limits|requests)\.)?(cpu|memory|ephemeral-storage)$/;

/** Pods without requests are counted by number only; other scopes by all that pods ask for. */
function fits(scope: string, resource: string): boolean {
  if (resource === "pods" || !scopes.includes(scope)) return true;
  return scope !== "BestEffort" && podAmounts.test(resource);
}

const conflicting = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
] as const;

/** Once for each resource that the quota counts and the scope does not. */
function misapplied(
  { spec }: ResourceQuota,
  scope: string,
  problem: FieldError,
): FieldError[] {
  return Object.keys(spec?.hard ?? {})
    .filter((name) => isQuotaResource(name) && !fits(scope, name))
    .map(() => problem);
}

/** @param shown the plain scopes, which the reference shows of selectors, too */
function conflicts(
  used: readonly string[],
  shown: readonly string[] | undefined,
  field: string,
): FieldError[] {
  return conflicting
    .filter((pair) => pair.every((scope) => used.includes(scope)))
    .map(() => aboutScopes(shown, "conflicting scopes", field));
}

function validateScopes(quota: ResourceQuota): FieldError[] {
  const list = quota.spec?.scopes ?? [];
  const unfit = aboutScopes(list, "unsupported scope applied to resource");
  return [
    ...list.flatMap((scope) => [
      ...(scopes.includes(scope)
        ? []
        : [aboutScopes(list, "unsupported scope")]),
      ...misapplied(quota, scope, unfit),
    ]),
    ...conflicts(list, list, "spec.scopes"),
  ];
}

/** Scopes that a pod is in or not; only of priorities there are several. */
const plainScopes = scopes.filter((scope) => scope !== "PriorityClass");

function validateSelector(quota: ResourceQuota): FieldError[] {
  const { scopes: plain, scopeSelector } = quota.spec ?? {};
  const field = "spec.scopeSelector.matchExpressions";
  const expressions = scopeSelector?.matchExpressions ?? [];
  const unfit = fieldErrors.invalid(
    field,
    asGo("core.ScopeSelector", scopeSelector),
    "unsupported scope applied to resource",
  );
  const problemsOfEach = expressions.flatMap(
    ({ scopeName, operator, values = [] }) => {
      const problems: FieldError[] = [];
      if (!scopes.includes(scopeName))
        problems.push(
          fieldErrors.invalid(
            `${field}.scopeName`,
            scopeName,
            "unsupported scope",
          ),
        );
      problems.push(...misapplied(quota, scopeName, unfit));
      if (plainScopes.includes(scopeName) && operator !== "Exists")
        problems.push(
          fieldErrors.invalid(
            `${field}.operator`,
            operator,
            "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
          ),
        );
      if (operator === "In" || operator === "NotIn") {
        if (values.length === 0)
          problems.push(
            fieldErrors.required(
              `${field}.values`,
              "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
            ),
          );
      } else if (operator === "Exists" || operator === "DoesNotExist") {
        if (values.length > 0)
          problems.push(
            fieldErrors.invalid(
              `${field}.values`,
              values,
              "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
            ),
          );
      } else
        problems.push(
          fieldErrors.invalid(
            `${field}.operator`,
            operator,
            "not a valid selector operator",
          ),
        );
      return problems;
    },
  );
  const used = expressions.map(({ scopeName }) => scopeName);
  return [...problemsOfEach, ...conflicts(used, plain, field)];
}

const validateQuota = (quota: ResourceQuota): FieldError[] => [
  ...validateAmounts("spec.hard", quota.spec?.hard),
  ...validateScopes(quota),
  ...validateSelector(quota),
];

export const resourceQuotaStrategy = strategyOf<ResourceQuota>({
  returnsDeleted: true,
  countsGeneration: false,
  prepareForCreate(object) {
    object.status = {};
  },
  prepareForUpdate(object, old) {
    object.status = { ...old.status };
  },
  validate: (object) => validateQuota(object),
  validateUpdate: (object, old) =>
    sameValue(
      [...(object.spec?.scopes ?? [])].sort(),
      [...(old.spec?.scopes ?? [])].sort(),
    )
      ? []
      : [
          aboutScopes(
            [...(object.spec?.scopes ?? [])].sort(),
            "field is immutable",
          ),
        ],
  status: {
    prepareForUpdate(object, old) {
      object.spec = { ...old.spec };
    },
    validateUpdate(object) {
      const { status } = object;
      return (["hard", "used"] as const).flatMap((part) =>
        validateAmounts(`status.${part}`, status?.[part]),
      );
    },
  },
  printRow: (quota, now) => {
    return [
      quota.metadata.name,
      formatAge(quota.metadata.creationTimestamp, now),
      ...usage(quota),
    ];
  },
});
