// A policy with its expressions compiled, made once a version of the policy. An expression that can't be compiled (the
// policy was stored by another version) fails when it is evaluated.
import {
  wantsBool,
  wantsText,
  wantsTextOrNull,
} from "../../../api/admission-expressions/expression.ts";
import type { ValidatingAdmissionPolicySpec } from "../../../api/types/admissionregistration-v1.ts";
import type { PolicyExpression } from "../expressions/expression-list.ts";
import type { CompiledCondition } from "../expressions/match-conditions.ts";
import { compileConditions, compileVariables } from "./compiled-variables.ts";

export interface CompiledPolicy {
  readonly variables: ReadonlyMap<string, PolicyExpression>;
  readonly conditions: readonly CompiledCondition[];
  readonly validations: readonly (PolicyExpression & {
    readonly message: string;
    readonly reason: string;
  })[];
  /** Of each validation; undefined where it has none. */
  readonly messages: readonly (PolicyExpression | undefined)[];
  readonly annotations: readonly (PolicyExpression & {
    readonly key: string;
  })[];
  readonly failurePolicy: string;
}

export function compilePolicy(
  spec: Readonly<ValidatingAdmissionPolicySpec>,
): CompiledPolicy {
  const { validations = [], auditAnnotations = [] } = spec;
  const compiled = compileVariables(
    spec.variables ?? [],
    spec.paramKind !== undefined,
  );
  const { compile, variables } = compiled;
  return {
    variables,
    conditions: compileConditions(spec.matchConditions ?? [], compiled),
    validations: validations.map(({ expression, message, reason }) => ({
      ...compile(expression, wantsBool),
      message: message?.trim() ?? "",
      reason: reason ?? "Invalid",
    })),
    messages: validations.map(({ messageExpression }) =>
      messageExpression
        ? compile(messageExpression, wantsText, { authorizer: false })
        : undefined,
    ),
    annotations: auditAnnotations.map(({ key, valueExpression }) => ({
      key,
      ...compile(valueExpression, wantsTextOrNull),
    })),
    failurePolicy: spec.failurePolicy ?? "Fail",
  };
}
