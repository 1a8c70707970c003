// What the expressions of policies of both kinds share: their variables and match conditions, compiled once a version of
// the policy.
import { dynType, type CelType } from "../../../api/cel/checking/types.ts";
import type { Environment } from "../../../api/cel/environment.ts";
import { dynDeclared } from "../../../api/cel/schemas/declared-type.ts";
import {
  compileExpression,
  environmentOf,
  variableType,
  wantsBool,
  type Wanted,
} from "../../../api/admission-expressions/expression.ts";
import type {
  MatchCondition,
  Variable,
} from "../../../api/types/admissionregistration-v1.ts";
import type { PolicyExpression } from "../expressions/expression-list.ts";
import type { CompiledCondition } from "../expressions/match-conditions.ts";

/** What an expression can use beside the variables. */
interface Uses {
  /** Default: it can. */
  readonly authorizer?: boolean;
  /** Default: it makes none. */
  readonly makesPatches?: boolean;
}

interface CompiledVariables {
  /** In the policy's order. */
  readonly variables: ReadonlyMap<string, PolicyExpression>;
  readonly compile: (
    text: string,
    wanted: Wanted,
    uses?: Uses,
  ) => PolicyExpression;
}

/** Compiles the variables, each seeing those before it, and what compiles expressions that see all. */
export function compileVariables(
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
  const environments = new Map<string, Environment>();
  return {
    variables,
    compile(text, wanted, { authorizer = true, makesPatches = false } = {}) {
      const key = `${authorizer} ${makesPatches}`;
      let environment = environments.get(key);
      if (!environment) {
        const uses = { authorizer, makesPatches };
        environment = environmentOf({ params, variables: types, ...uses });
        environments.set(key, environment);
      }
      return { text, compiled: compileExpression(text, environment, wanted) };
    },
  };
}

export const compileConditions = (
  conditions: readonly MatchCondition[],
  { compile }: CompiledVariables,
): CompiledCondition[] =>
  conditions.map(({ name, expression }) => ({
    name,
    ...compile(expression, wantsBool),
  }));
