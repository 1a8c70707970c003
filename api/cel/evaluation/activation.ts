// One evaluation: the values of variables, the slots of loops, and the cost so far. Costs only grow; the moment they
// exceed the limit, evaluation is left by an exception that no operator catches.
import type { Result } from "../values/value.ts";

/** The limit of one evaluation: its cost reached it. */
export class CostExceeded extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}

/** What expressions may use of the world outside: nothing but what the program hands over. */
export interface Activation {
  readonly slots: Result[];
  /** Values of the environment's variables by their index, read when first needed. */
  variable(index: number): Result;
  charge(cost: number): void;
}

export class Evaluation implements Activation {
  readonly slots: Result[] = [];
  cost = 0;
  readonly #limit: number;
  readonly #read: (index: number) => Result;
  readonly #variables: Result[] = [];

  constructor(limit: number, read: (index: number) => Result) {
    this.#limit = limit;
    this.#read = read;
  }

  variable(index: number): Result {
    const known = this.#variables[index];
    if (known !== undefined) return known;
    return (this.#variables[index] = this.#read(index));
  }

  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.#limit) throw new CostExceeded();
  }
}
