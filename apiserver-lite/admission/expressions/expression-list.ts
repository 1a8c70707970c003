// The expressions of one place of a policy (validations, messages …), evaluated in their order within a budget that they
// share. The policy's variables are computed when an expression first uses them, once a place, and their cost counts.
import type { CelType } from "../../../api/cel/checking/types.ts";
import { objectType } from "../../../api/cel/checking/types.ts";
import {
  Failure,
  MapValue,
  type Result,
  type Value,
} from "../../../api/cel/values/value.ts";
import type { CompiledExpression } from "../../../api/admission-expressions/expression.ts";
import type { RequestVariables } from "./request-variables.ts";

/** Of all expressions of a place of a policy. */
export const policyBudget = 10_000_000;
/** Of the match conditions of a policy or a webhook. */
export const matchConditionBudget = policyBudget / 4;

export interface PolicyExpression {
  readonly text: string;
  readonly compiled: CompiledExpression;
}

export type Evaluated =
  | { readonly value: Value; readonly error?: undefined }
  | { readonly error: string };

/** No expression behind the one that spent the budget is evaluated. */
export class OutOfBudget extends Error {
  constructor() {
    super(
      "validation failed due to running out of cost budget, no further validation rules will be run",
    );
  }
}

/** Throws OutOfBudget. An expression that is undefined gives undefined. */
export function evaluateList(
  expressions: readonly (PolicyExpression | undefined)[],
  request: RequestVariables,
  variables: ReadonlyMap<string, PolicyExpression>,
  budget: number,
): { results: (Evaluated | undefined)[]; remaining: number } {
  const lazy =
    variables.size > 0 ? new LazyVariables(variables, request) : null;
  const before = request.variables;
  request.variables = lazy;
  let remaining = budget;
  try {
    const results = expressions.map((expression): Evaluated | undefined => {
      if (!expression) return undefined;
      const { text, compiled } = expression;
      if (!compiled.ok)
        return { error: `compilation error: ${compiled.problem}` };
      const outcome = compiled.program.evaluate(request as never);
      remaining -= lazy?.takeCost() ?? 0;
      if (remaining < 0) throw new OutOfBudget();
      remaining -= outcome.cost;
      if (remaining < 0) throw new OutOfBudget();
      return outcome.kind === "value"
        ? { value: outcome.value }
        : {
            error: `expression '${text}' resulted in error: ${outcome.message}`,
          };
    });
    return { results, remaining };
  } finally {
    request.variables = before;
  }
}

const variablesType = objectType("kubernetes.variables");

class LazyVariables extends MapValue {
  readonly #variables: ReadonlyMap<string, PolicyExpression>;
  readonly #request: RequestVariables;
  readonly #known = new Map<string, Result>();
  #cost = 0;

  constructor(
    variables: ReadonlyMap<string, PolicyExpression>,
    request: RequestVariables,
  ) {
    super();
    this.#variables = variables;
    this.#request = request;
  }

  /** What was spent since the last call. */
  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }

  override get size(): number {
    return this.#variables.size;
  }

  override get type(): CelType {
    return variablesType;
  }

  override keys(): Iterable<Value> {
    return this.#variables.keys();
  }

  override get(key: Value): Result | undefined {
    return typeof key === "string" ? this.field(key) : undefined;
  }

  override field(name: string): Result | undefined {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const variable = this.#variables.get(name);
    if (!variable) return undefined;
    const result = this.#compute(name, variable);
    this.#known.set(name, result);
    return result;
  }

  #compute(name: string, { compiled }: PolicyExpression): Result {
    const shown = `composited variable ${JSON.stringify(name)}`;
    if (!compiled.ok)
      return new Failure(`${shown} fails to compile: ${compiled.problem}`);
    const outcome = compiled.program.evaluate(this.#request as never);
    this.#cost += outcome.cost;
    return outcome.kind === "value"
      ? outcome.value
      : new Failure(`${shown} fails to evaluate: ${outcome.message}`);
  }
}
