// Validation of MutatingAdmissionPolicies and their bindings. Expressions are compiled where they are written, so that who
// writes a policy sees what is wrong with it.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type {
  MatchResources,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  Mutation,
} from "../../../api/types/admissionregistration-v1alpha1.ts";
import { exactlyOneOf } from "../field-checks.ts";
import type { PolicyExpressions } from "./policy-expressions.ts";
import {
  hasSameConditions,
  failurePolicies,
  matchConstraintProblems,
  matchResourceProblems,
  paramKindProblems,
  paramRefProblems,
  policyNameProblems,
} from "./policy-parts.ts";

/** There is nothing to change in a deletion. */
const operations = ["*", "CONNECT", "CREATE", "UPDATE"];
const patchTypes = ["ApplyConfiguration", "JSONPatch"];
const reinvocationPolicies = ["IfNeeded", "Never"];

/** @param old of an update: match conditions that it had are not checked again */
export function validateMutatingPolicy(
  { spec }: Readonly<MutatingAdmissionPolicy>,
  old: Readonly<MutatingAdmissionPolicy> | undefined,
  newExpressions: (
    withVariables: boolean,
    hasParams: boolean,
  ) => PolicyExpressions,
): FieldError[] {
  const { failurePolicy, variables = [], mutations = [] } = spec;
  const { reinvocationPolicy } = spec;
  const expressions = newExpressions(true, spec.paramKind !== undefined);
  return [
    ...(failurePolicy === undefined
      ? [fieldErrors.required("spec.failurePolicy")]
      : exactlyOneOf("spec.failurePolicy", failurePolicy, failurePolicies)),
    ...paramKindProblems(spec.paramKind),
    ...matchConstraintProblems(spec.matchConstraints),
    ...operationProblems("spec.matchConstraints", spec.matchConstraints),
    ...(old && hasSameConditions(spec, old.spec)
      ? []
      : expressions.matchConditions(
          "spec.matchConditions",
          spec.matchConditions ?? [],
        )),
    ...variables.flatMap((variable, index) =>
      expressions.variable(`spec.variables[${index}]`, variable),
    ),
    ...(mutations.length === 0
      ? [
          fieldErrors.required(
            "spec.mutations",
            "mutations must contain at least one item",
          ),
        ]
      : mutations.flatMap((mutation, index) =>
          mutationProblems(`spec.mutations[${index}]`, mutation, expressions),
        )),
    ...(reinvocationPolicy
      ? exactlyOneOf(
          "spec.reinvocationPolicy",
          reinvocationPolicy,
          reinvocationPolicies,
        )
      : [fieldErrors.required("spec.reinvocationPolicy")]),
  ];
}

const operationProblems = (
  field: string,
  resources: MatchResources | undefined,
): FieldError[] =>
  (resources?.resourceRules ?? []).flatMap((rule) =>
    (rule.operations ?? []).flatMap((operation) =>
      exactlyOneOf(`${field}.resourceRules.operations`, operation, operations),
    ),
  );

function mutationProblems(
  field: string,
  { patchType, applyConfiguration, jsonPatch }: Mutation,
  expressions: PolicyExpressions,
): FieldError[] {
  if (!patchType) return [fieldErrors.required(`${field}.patchType`)];
  const missing = (name: string): FieldError =>
    fieldErrors.required(
      `${field}.${name}`,
      `must be specified when patchType is ${patchType}`,
    );
  const unwanted = (name: string, given: unknown): FieldError[] =>
    given === undefined
      ? []
      : [
          fieldErrors.invalid(
            `${field}.${name}`,
            `{${name}}`,
            `must not be specified when patchType is ${patchType}`,
          ),
        ];
  switch (patchType) {
    case "JSONPatch":
      return [
        ...(jsonPatch
          ? expressions.jsonPatch(
              `${field}.jsonPatch.expression`,
              jsonPatch.expression ?? "",
            )
          : [missing("jsonPatch")]),
        ...unwanted("applyConfiguration", applyConfiguration),
      ];
    case "ApplyConfiguration":
      return [
        ...(applyConfiguration
          ? expressions.object(
              `${field}.applyConfiguration.expression`,
              applyConfiguration.expression ?? "",
            )
          : [missing("applyConfiguration")]),
        ...unwanted("jsonPatch", jsonPatch),
      ];
    default:
      return exactlyOneOf(`${field}.patchType`, patchType, patchTypes);
  }
}

export function validateMutatingBinding({
  spec,
}: Readonly<MutatingAdmissionPolicyBinding>): FieldError[] {
  return [
    ...policyNameProblems(spec.policyName),
    ...paramRefProblems(spec.paramRef),
    ...matchResourceProblems("spec.matchResources", spec.matchResources),
    ...operationProblems("spec.matchResources", spec.matchResources),
  ];
}
