// What validation of custom resources needs and no other request, the engines of patterns and of rules, is loaded
// before the first definition is written or served, not at the start of the program.
import type { ruleValidatorOf } from "./rules/rule-validator.ts";
import { loadPatterns } from "./values/patterns.ts";

let rules: { readonly ruleValidatorOf: typeof ruleValidatorOf } | undefined;

/** Must be awaited before a schema is checked or an object is validated. */
export async function prepareSchemas(): Promise<void> {
  rules ??= await import("./rules/rule-validator.ts");
  await loadPatterns();
}

/** Undefined: the schema has no rules. */
export const rulesOf: typeof ruleValidatorOf = (schema, isRoot) => {
  if (!schema.hasRuleBelow) return undefined;
  if (!rules) throw new Error("the engine of rules is not loaded");
  return rules.ruleValidatorOf(schema, isRoot);
};
