// A policy with its expressions compiled, made once a version of the policy. An expression that can't be compiled (the
// policy was stored by another version) fails when it is evaluated.
import { dynType, type CelType } from "../../../api/cel/checking/types.ts";
import { dynDeclared } from "../../../api/cel/schemas/declared-type.ts";
import {
  compileExpression,
  environmentOf,
  variableType,
  wantsBool,
  wantsText,
  wantsTextOrNull,
  type Wanted,
} from "../../../api/admission-expressions/expression.ts";
import type {
  MatchCondition,
  ValidatingAdmissionPolicySpec,
  Variable,
} from "../../../api/types/admissionregistration-v1.ts";
import type { PolicyExpression } from "../expressions/expression-list.ts";
import type { CompiledCondition } from "../expressions/match-conditions.ts";

interface CompiledVariables {
  /** In the policy's order. */
  readonly variables: ReadonlyMap<string, PolicyExpression>;
  readonly compile: (
    text: string,
    wanted: Wanted,
    authorizer?: boolean,
  ) => PolicyExpression;
}

/** Compiles the variables, each seeing those before it, and what compiles expressions that see all. */
function compileVariables(
  given: readonly Variable[],
  hasParams: boolean,
): CompiledVariables {
  const types = new Map<string, CelType>();
  const params = hasParams ? dynDeclared : undefined;
  const variables = new Map<string, PolicyExpression>();
  for (const { name, expression } of given) {
    const environment = environmentOf({
      params,
      authorizer: true,
      variables: types,
    });
    const compiled = compileExpression(expression, environment, undefined);
    variables.set(name, { text: expression, compiled });
    types.set(
      name,
      compiled.ok ? variableType(compiled.program.resultType) : dynType,
    );
  }
  const make = (authorizer: boolean): ReturnType<typeof environmentOf> =>
    environmentOf({ params, authorizer, variables: types });
  let environments: ReturnType<typeof make>[] | undefined;
  return {
    variables,
    compile(text, wanted, authorizer = true) {
      environments ??= [make(true), make(false)];
      const environment = environments[authorizer ? 0 : 1]!;
      return { text, compiled: compileExpression(text, environment, wanted) };
    },
  };
}

const compileConditions = (
  conditions: readonly MatchCondition[],
  { compile }: CompiledVariables,
): CompiledCondition[] =>
  conditions.map(({ name, expression }) => ({
    name,
    ...compile(expression, wantsBool),
  }));

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
        ? compile(messageExpression, wantsText, false)
        : undefined,
    ),
    annotations: auditAnnotations.map(({ key, valueExpression }) => ({
      key,
      ...compile(valueExpression, wantsTextOrNull),
    })),
    failurePolicy: spec.failurePolicy ?? "Fail",
  };
}
