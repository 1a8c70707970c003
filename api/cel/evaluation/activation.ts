// One evaluation: the values of variables, the slots of loops, and the cost so far. Costs only grow; the moment they
// exceed the limit, evaluation is left by an exception that no operator catches.
import type { Result } from "../values/value.ts";

/** The limit of one evaluation: its cost reached it. */
export class CostExceeded extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}

/** Something has to be waited for before evaluation can go on. */
export class Pending extends Error {
  constructor(
    readonly key: string,
    readonly promise: Promise<unknown>,
  ) {
    super("the evaluation waits for a decision");
  }
}

export type Settled =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

/** What expressions may use of the world outside: nothing but what the program hands over. */
export interface Activation {
  readonly slots: Result[];
  /** Values of the environment's variables by their index, read when first needed. */
  variable(index: number): Result;
  charge(cost: number): void;
  /** The outcome of an action, waited for once. Throws Pending while it is not there. */
  settle(key: string, action: () => unknown): Settled;
}

export class Evaluation implements Activation {
  readonly slots: Result[] = [];
  cost = 0;
  readonly #limit: number;
  readonly #read: (index: number) => Result;
  readonly #variables: Result[] = [];

  constructor(
    limit: number,
    read: (index: number) => Result,
    /** What earlier attempts waited for. */
    readonly settled: ReadonlyMap<string, Settled> = new Map(),
  ) {
    this.#limit = limit;
    this.#read = read;
  }

  settle(key: string, action: () => unknown): Settled {
    const known = this.settled.get(key);
    if (known) return known;
    try {
      const value = action();
      if (value instanceof Promise) throw new Pending(key, value);
      return { ok: true, value };
    } catch (error) {
      if (error instanceof Pending) throw error;
      return { ok: false, error };
    }
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
