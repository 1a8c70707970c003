// The room's interface: an expression compiled in an environment, then evaluated any number of times. Compilation
// never throws for a bad expression, evaluation never for bad values: both say what is wrong in the reference's words.
import { check } from "./checking/checker.ts";
import type { CelType } from "./checking/types.ts";
import { estimateCost, type CostEstimate } from "./cost/estimate.ts";
import type { Environment } from "./environment.ts";
import { Evaluation, Pending, type Settled } from "./evaluation/activation.ts";
import { CostExceeded } from "./evaluation/cost-exceeded.ts";
import { Computing, Suspended } from "./evaluation/journal.ts";
import { Planner } from "./evaluation/plan.ts";
import type { Step } from "./evaluation/step.ts";
import { paced, type Pause, type Steps } from "../queueing/steps.ts";
import { Issues } from "./syntax/issues.ts";
import { parse } from "./syntax/parser.ts";
import { usedNames, type Node } from "./syntax/tree.ts";
import { validate } from "./checking/validators.ts";
import { isValue } from "./values/json.ts";
import { Failure, type Result, type Value } from "./values/value.ts";

/** The reference's limit of one evaluation. */
export const perCallLimit = 1_000_000;

type Compiled =
  | { readonly ok: true; readonly program: Program }
  | {
      readonly ok: false;
      readonly issues: Issues;
      /** Of an expression that is well typed and can't be evaluated all the same. */
      readonly resultType?: CelType;
    };

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
type Variables = Readonly<Record<string, unknown>>;

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
  const planner = new Planner(
    (name) => environment.resolve(name),
    (type, fields) => environment.construct(type, fields),
  );
  const step = planner.plan(root);
  if (planner.problem !== undefined) {
    issues.refuse(planner.problem);
    return { ok: false, issues, resultType: root.type as CelType };
  }
  return {
    ok: true,
    program: new Program(expression, root, environment, step),
  };
}

const nextTurn: Pause = () =>
  new Promise<void>((resolve) => setImmediate(resolve));

/** A decision that is not there yet cannot be had at once: the evaluation fails. */
function withoutWaiting(outcome: Outcome | Pending | Suspended): Outcome {
  if (!(outcome instanceof Error)) return outcome;
  if (outcome instanceof Pending) outcome.promise.catch(() => {});
  return { kind: "error", message: outcome.message, cost: 0 };
}

const exceeded = (
  { cost }: Evaluation,
  { message }: CostExceeded,
): Outcome => ({ kind: "exceeded", message, cost });

/** Pauses, and takes the steps of what the evaluation waits for. */
function* pausing(
  steps: Steps<void> | undefined,
  evaluation: Evaluation,
): Steps<void> {
  do {
    evaluation.pause();
    yield;
    evaluation.resume();
  } while (steps && !steps.next().done);
}

export class Program {
  readonly expression: string;
  readonly resultType: CelType;
  readonly #root: Node;
  readonly #environment: Environment;
  readonly #step: Step;

  constructor(
    expression: string,
    root: Node,
    environment: Environment,
    step: Step,
  ) {
    this.expression = expression;
    this.resultType = root.type as CelType;
    this.#root = root;
    this.#environment = environment;
    this.#step = step;
  }

  /** What evaluations can cost at least and at most, by the sizes that the schemas of the variables allow. */
  estimateCost(): CostEstimate {
    return estimateCost(this.#root, this.#environment);
  }

  /** Whether the expression reads that variable. */
  uses(variable: string): boolean {
    return usedNames(this.#root).has(variable);
  }

  /** Never throws. The cost is what was spent, also where the limit ended it. What would have to wait is an error. */
  evaluate(variables: Variables, limit = perCallLimit): Outcome {
    const read = (index: number): Result => this.#read(index, variables);
    return withoutWaiting(this.#attempt(new Evaluation(limit, read)));
  }

  /** As evaluate, in steps of about a millisecond; an expression that costs less has one. */
  *evaluateInSteps(variables: Variables, limit = perCallLimit): Steps<Outcome> {
    return withoutWaiting(yield* this.#attempts(variables, limit, new Map()));
  }

  /** As evaluateInSteps, and waits for decisions of the authorizer: expressions have no effects, they start over. */
  async evaluateAsync(
    variables: Variables,
    limit = perCallLimit,
    pause: Pause = nextTurn,
  ): Promise<Outcome> {
    const settled = new Map<string, Settled>();
    for (;;) {
      const steps = this.#attempts(variables, limit, settled);
      const outcome = await paced(steps, pause);
      if (!(outcome instanceof Pending)) return outcome;
      try {
        const value = await outcome.promise;
        settled.set(outcome.key, { ok: true, value });
      } catch (error) {
        settled.set(outcome.key, { ok: false, error });
      }
    }
  }

  *#attempts(
    variables: Variables,
    limit: number,
    settled: ReadonlyMap<string, Settled>,
  ): Steps<Outcome | Pending> {
    const read = (index: number): Result => this.#read(index, variables);
    const evaluation = new Evaluation(limit, read, settled, true);
    for (;;) {
      const outcome = this.#attempt(evaluation);
      if (!(outcome instanceof Suspended)) return outcome;
      const value = outcome instanceof Computing ? outcome : undefined;
      try {
        yield* pausing(value?.steps, evaluation);
        evaluation.goOn(value);
      } catch (error) {
        if (error instanceof CostExceeded) return exceeded(evaluation, error);
        throw error;
      }
    }
  }

  #attempt(evaluation: Evaluation): Outcome | Pending | Suspended {
    try {
      const result = this.#step(evaluation);
      const { cost } = evaluation;
      return result instanceof Failure
        ? { kind: "error", message: result.message, cost }
        : { kind: "value", value: result, cost };
    } catch (error) {
      if (error instanceof Pending || error instanceof Suspended) return error;
      if (!(error instanceof CostExceeded)) throw error;
      return exceeded(evaluation, error);
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
