// Match conditions of a webhook, compiled once a version of its configuration. One that can't be compiled (the
// configuration was stored by another version) fails when it is evaluated.
import {
  compileExpression,
  environmentOf,
  wantsBool,
} from "../../../api/admission-expressions/expression.ts";
import type { MatchCondition } from "../../../api/types/admissionregistration-v1.ts";
import type { CompiledCondition } from "../expressions/match-conditions.ts";

export function compileConditions(
  conditions: readonly MatchCondition[],
): readonly CompiledCondition[] {
  if (conditions.length === 0) return [];
  const environment = environmentOf({ authorizer: true });
  return conditions.map(({ name, expression }) => {
    const text = expression.trim();
    return {
      name,
      text,
      compiled: compileExpression(text, environment, wantsBool),
    };
  });
}
