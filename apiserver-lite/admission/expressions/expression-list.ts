// The expressions of one place of a policy (validations, messages …), evaluated in their order within a budget that they
// share. The policy's variables are computed when an expression first uses them, once a place, and their cost counts.
// Evaluations are made of steps, so that what spends its budget lets other requests have the event loop.
import type { CelType } from "../../../api/cel/checking/types.ts";
import { objectType } from "../../../api/cel/checking/types.ts";
import {
  Failure,
  MapValue,
  type Result,
  type Value,
} from "../../../api/cel/values/value.ts";
import { Computing } from "../../../api/cel/evaluation/journal.ts";
import type { Outcome } from "../../../api/cel/program.ts";
import type { Steps } from "../../../api/queueing/steps.ts";
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

interface EvaluatedList {
  readonly results: (Evaluated | undefined)[];
  readonly remaining: number;
}

/** Throws OutOfBudget. An expression that is undefined gives undefined. */
export function* evaluateList(
  expressions: readonly (PolicyExpression | undefined)[],
  request: RequestVariables,
  variables: ReadonlyMap<string, PolicyExpression>,
  budget: number,
): Steps<EvaluatedList> {
  const lazy =
    variables.size > 0 ? new LazyVariables(variables, request) : null;
  const before = request.variables;
  request.variables = lazy;
  let remaining = budget;
  try {
    const results: (Evaluated | undefined)[] = [];
    for (const expression of expressions) {
      const program = expression?.compiled.ok
        ? expression.compiled.program
        : undefined;
      if (!expression || !program) {
        results.push(expression && failedCompilation(expression));
        continue;
      }
      const outcome = yield* program.evaluateInSteps(request as never);
      remaining -= lazy?.takeCost() ?? 0;
      if (remaining < 0) throw new OutOfBudget();
      remaining -= outcome.cost;
      if (remaining < 0) throw new OutOfBudget();
      results.push(evaluated(expression.text, outcome));
      // Many cheap expressions take their time too.
      yield;
    }
    return { results, remaining };
  } finally {
    request.variables = before;
  }
}

const failedCompilation = ({
  compiled,
}: PolicyExpression): Evaluated | undefined =>
  compiled.ok ? undefined : { error: `compilation error: ${compiled.problem}` };

const evaluated = (text: string, outcome: Outcome): Evaluated =>
  outcome.kind === "value"
    ? { value: outcome.value }
    : { error: `expression '${text}' resulted in error: ${outcome.message}` };

const variablesType = objectType("kubernetes.variables");

class LazyVariables extends MapValue {
  readonly #variables: ReadonlyMap<string, PolicyExpression>;
  readonly #request: RequestVariables;
  readonly #known = new Map<string, Result>();
  /** What an evaluation waited for; it has not read the value since. */
  readonly #computing = new Map<string, Computing>();
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
    if (known !== undefined) {
      this.#computing.get(name)?.arrived();
      this.#computing.delete(name);
      return known;
    }
    const variable = this.#variables.get(name);
    if (!variable) return undefined;
    const steps = this.#compute(name, variable);
    if (steps.next().done) return this.#known.get(name);
    const computing = new Computing(steps);
    this.#computing.set(name, computing);
    throw computing;
  }

  *#compute(name: string, { compiled }: PolicyExpression): Steps<void> {
    const shown = `composited variable ${JSON.stringify(name)}`;
    if (!compiled.ok) {
      const message = `${shown} fails to compile: ${compiled.problem}`;
      this.#known.set(name, new Failure(message));
      return;
    }
    const outcome = yield* compiled.program.evaluateInSteps(
      this.#request as never,
    );
    this.#cost += outcome.cost;
    this.#known.set(
      name,
      outcome.kind === "value"
        ? outcome.value
        : new Failure(`${shown} fails to evaluate: ${outcome.message}`),
    );
  }
}
