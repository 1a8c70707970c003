// Validation of what admission policies and their bindings of both kinds share: which requests they are for, and their
// parameters.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  dns1035Problems,
  dnsSubdomainProblems,
  pathSegmentProblems,
} from "../../../api/names.ts";
import type {
  MatchResources,
  NamedRuleWithOperations,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicySpec,
} from "../../../api/types/admissionregistration-v1.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";
import { exactlyOneOf, labelSelector } from "../field-checks.ts";
import { ruleProblems } from "./webhook-validation.ts";

export const failurePolicies = ["Fail", "Ignore"];

/** At least one rule is needed: it says which types expressions see. */
export function matchConstraintProblems(
  constraints: MatchResources | undefined,
): FieldError[] {
  const field = "spec.matchConstraints";
  if (!constraints) return [fieldErrors.required(field)];
  return [
    ...matchResourceProblems(field, constraints),
    ...((constraints.resourceRules ?? []).length === 0
      ? [fieldErrors.required(`${field}.resourceRules`)]
      : []),
  ];
}

export function matchResourceProblems(
  field: string,
  resources: MatchResources | undefined,
): FieldError[] {
  if (!resources) return [];
  const { matchPolicy, namespaceSelector, objectSelector } = resources;
  const rules = (
    part: string,
    list: readonly NamedRuleWithOperations[] = [],
  ): FieldError[] =>
    list.flatMap((rule, index) =>
      namedRuleProblems(`${field}.${part}[${index}]`, rule),
    );
  return [
    ...(matchPolicy === undefined
      ? [fieldErrors.required(`${field}.matchPolicy`)]
      : exactlyOneOf(`${field}.matchPolicy`, matchPolicy, [
          "Equivalent",
          "Exact",
        ])),
    ...(namespaceSelector
      ? labelSelector(`${field}.namespaceSelector`, namespaceSelector)
      : [fieldErrors.required(`${field}.namespaceSelector`)]),
    ...(objectSelector
      ? labelSelector(`${field}.objectSelector`, objectSelector)
      : [fieldErrors.required(`${field}.objectSelector`)]),
    ...rules("resourceRules", resources.resourceRules),
    ...rules("excludeResourceRules", resources.excludeResourceRules),
  ];
}

function namedRuleProblems(
  field: string,
  rule: NamedRuleWithOperations,
): FieldError[] {
  const names = rule.resourceNames ?? [];
  return [
    ...names.flatMap((name, index) => [
      ...invalidEach(
        `${field}.resourceNames[${index}]`,
        name,
        pathSegmentProblems(name),
      ),
      ...(names.indexOf(name) < index
        ? [fieldErrors.duplicate(`${field}.resourceNames[${index}]`, name)]
        : []),
    ]),
    ...ruleProblems(field, rule),
  ];
}

export function paramKindProblems(kind: ParamKind | undefined): FieldError[] {
  if (!kind) return [];
  const field = "spec.paramKind";
  const { apiVersion = "", kind: name = "" } = kind;
  return [
    ...apiVersionProblems(`${field}.apiVersion`, apiVersion),
    ...(name === ""
      ? [fieldErrors.required(`${field}.kind`)]
      : joinedInvalid(
          `${field}.kind`,
          name,
          dns1035Problems(name.toLowerCase()),
          "may have mixed case, but should otherwise match: ",
        )),
  ];
}

function apiVersionProblems(field: string, apiVersion: string): FieldError[] {
  if (apiVersion === "") return [fieldErrors.required(field)];
  const parts = apiVersion === "/" ? ["", ""] : apiVersion.split("/");
  if (parts.length > 2)
    return [
      fieldErrors.invalid(
        field,
        apiVersion,
        `unexpected GroupVersion string: ${apiVersion}`,
      ),
    ];
  const [group, version] =
    parts.length === 1 ? ["", parts[0]!] : (parts as [string, string]);
  return [
    ...(group === ""
      ? []
      : joinedInvalid(field, group, dnsSubdomainProblems(group))),
    ...(version === ""
      ? [fieldErrors.invalid(field, apiVersion, "version must be specified")]
      : joinedInvalid(field, version, dns1035Problems(version))),
  ];
}

const joinedInvalid = (
  field: string,
  value: string,
  problems: readonly string[],
  before = "",
): FieldError[] =>
  problems.length === 0
    ? []
    : [fieldErrors.invalid(field, value, before + problems.join(","))];

export function policyNameProblems(name: string | undefined): FieldError[] {
  const field = "spec.policyName";
  return name
    ? invalidEach(field, name, dnsSubdomainProblems(name))
    : [fieldErrors.required(field)];
}

export function paramRefProblems(
  reference: ParamRef | undefined,
): FieldError[] {
  if (!reference) return [];
  const field = "spec.paramRef";
  const { name, selector, parameterNotFoundAction } = reference;
  const both = "name and selector are mutually exclusive";
  return [
    ...(name
      ? [
          ...invalidEach(`${field}.name`, name, pathSegmentProblems(name)),
          ...(selector ? [fieldErrors.forbidden(`${field}.name`, both)] : []),
        ]
      : []),
    ...(selector
      ? [
          ...labelSelector(`${field}.selector`, selector),
          ...(name ? [fieldErrors.forbidden(`${field}.selector`, both)] : []),
        ]
      : []),
    ...(!name && !selector
      ? [
          fieldErrors.required(
            field,
            "one of name or selector must be specified",
          ),
        ]
      : []),
    ...(parameterNotFoundAction
      ? exactlyOneOf(
          `${field}.parameterNotFoundAction`,
          parameterNotFoundAction,
          ["Deny", "Allow"],
        )
      : [fieldErrors.required(`${field}.parameterNotFoundAction`)]),
  ];
}

type Conditions = Pick<
  ValidatingAdmissionPolicySpec,
  "matchConditions" | "paramKind"
>;

/** Conditions that were accepted before stay so, as long as the kind of their parameters does. */
export const hasSameConditions = (
  now: Conditions,
  before: Conditions = {},
): boolean =>
  sameValue(now.paramKind, before.paramKind) &&
  sameValue(now.matchConditions, before.matchConditions);
