// The room's interface: an expression compiled in an environment, then evaluated any number of times. Compilation
// never throws for a bad expression, evaluation never for bad values: both say what is wrong in the reference's words.
import { check } from "./checking/checker.ts";
import type { CelType } from "./checking/types.ts";
import { estimateCost, type CostEstimate } from "./cost/estimate.ts";
import type { Environment } from "./environment.ts";
import { CostExceeded, Evaluation } from "./evaluation/activation.ts";
import { Planner } from "./evaluation/plan.ts";
import type { Step } from "./evaluation/step.ts";
import { Issues } from "./syntax/issues.ts";
import { parse } from "./syntax/parser.ts";
import type { Node } from "./syntax/tree.ts";
import { validate } from "./checking/validators.ts";
import { isValue } from "./values/json.ts";
import { Failure, type Result, type Value } from "./values/value.ts";

/** The reference's limit of one evaluation. */
export const perCallLimit = 1_000_000;

export type Compiled =
  | { readonly ok: true; readonly program: Program }
  | { readonly ok: false; readonly issues: Issues };

export type Outcome =
  | { readonly kind: "value"; readonly value: Value; readonly cost: number }
  /** The expression failed; the text is what the reference says. */
  | { readonly kind: "error"; readonly message: string; readonly cost: number }
  /** The cost reached the limit. */
  | {
      readonly kind: "exceeded";
      readonly message: string;
      readonly cost: number;
    };

/** JSON or values by the names of variables; a getter is only called for a variable that is used. */
export type Variables = Readonly<Record<string, unknown>>;

/** Parses and checks an expression. */
export function compile(
  expression: string,
  environment: Environment,
): Compiled {
  const issues = new Issues(expression);
  const root = parse(expression, environment.macros, issues);
  if (!root) return { ok: false, issues };
  check(root, environment, issues);
  if (issues.empty) validate(root, issues);
  if (!issues.empty) return { ok: false, issues };
  return { ok: true, program: new Program(expression, root, environment) };
}

export class Program {
  readonly expression: string;
  readonly resultType: CelType;
  readonly #root: Node;
  readonly #environment: Environment;
  #step: Step | undefined;

  constructor(expression: string, root: Node, environment: Environment) {
    this.expression = expression;
    this.resultType = root.type as CelType;
    this.#root = root;
    this.#environment = environment;
  }

  /** What evaluations can cost at least and at most, by the sizes that the schemas of the variables allow. */
  estimateCost(): CostEstimate {
    return estimateCost(this.#root, this.#environment);
  }

  /** Never throws. The cost is what was spent, also where the limit ended it. */
  evaluate(variables: Variables, limit = perCallLimit): Outcome {
    const step = (this.#step ??= new Planner(
      (name) => this.#environment.resolve(name),
      (type, fields) => this.#environment.construct(type, fields),
    ).plan(this.#root));
    const evaluation = new Evaluation(limit, (index) =>
      this.#read(index, variables),
    );
    try {
      const result = step(evaluation);
      const { cost } = evaluation;
      return result instanceof Failure
        ? { kind: "error", message: result.message, cost }
        : { kind: "value", value: result, cost };
    } catch (error) {
      if (!(error instanceof CostExceeded)) throw error;
      return {
        kind: "exceeded",
        message: error.message,
        cost: evaluation.cost,
      };
    }
  }

  #read(index: number, variables: Variables): Result {
    const [name, type] = this.#environment.variables[index] ?? [];
    if (name === undefined || !type || !(name in variables))
      return new Failure(`no such attribute(s): ${name}`);
    const raw = variables[name];
    return typeof raw === "object" && raw !== null && isValue(raw)
      ? raw
      : type.read(raw);
  }
}
