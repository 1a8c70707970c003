// One evaluation: the values of variables, the slots of loops, and the cost so far. Costs only grow; the moment they
// exceed the limit, evaluation is left by an exception that no operator catches.
import { CostExceeded } from "./cost-exceeded.ts";
import { RunTime } from "./run-time.ts";
import { PatternTooCostly } from "../../patterns/linear-match.ts";
import { finish, type Steps } from "../../queueing/steps.ts";
import {
  Computing,
  newLevel,
  rewind,
  Suspended,
  type Level,
} from "./journal.ts";
import type { Result } from "../values/value.ts";

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
  /** What `make` computes of a text, once for the same key and text; in steps where the evaluation pauses. */
  inSteps(key: string, text: string, make: () => Steps<Result>): Result;
  /** What an operation takes long for, once; in steps where the evaluation pauses. They may charge. */
  long(steps: Steps<Result>): Result;
}

/** Of a text, while the evaluation lasts. */
interface Computed {
  value: Result | CostExceeded | undefined;
  /** The evaluation waits for it. */
  waiting: Computing | undefined;
}

/** Looking at the clock takes as long as ten charges. */
const chargesPerLook = 64;
/** Between two pauses: about a millisecond, or as long as the second says. */
const sliceCost = 15_000;
const sliceMs = 4;

export class Evaluation implements Activation {
  readonly slots: Result[] = [];
  cost = 0;
  /** The loops of the level that is being evaluated; undefined where the evaluation never pauses. */
  level: Level | undefined;
  readonly #limit: number;
  readonly #read: (index: number) => Result;
  readonly #variables: Result[] = [];
  readonly #root: Level | undefined;
  readonly #computed = new Map<string, Map<string, Computed>>();
  /** Charges nothing until it is where the evaluation paused. */
  #returning = false;
  /** It paused where it reads a value, not before an element of a loop. */
  #readsValue = false;
  #sliceEnd = Infinity;
  #sliceDeadline = Infinity;
  #untilLook = chargesPerLook;
  readonly #time = new RunTime();

  constructor(
    limit: number,
    read: (index: number) => Result,
    /** What earlier attempts waited for. */
    readonly settled: ReadonlyMap<string, Settled> = new Map(),
    pauses = false,
  ) {
    this.#limit = limit;
    this.#read = read;
    if (!pauses) return;
    this.#root = this.level = newLevel();
    this.#sliceEnd = sliceCost;
    this.#sliceDeadline = performance.now() + sliceMs;
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

  inSteps(key: string, text: string, make: () => Steps<Result>): Result {
    let known = this.#computed.get(key);
    if (!known) this.#computed.set(key, (known = new Map()));
    let computed = known.get(text);
    if (!computed) {
      computed = { value: undefined, waiting: undefined };
      known.set(text, computed);
      const steps = computing(computed, make());
      if (!this.#root) finish(steps);
      else if (!steps.next().done)
        throw (computed.waiting = new Computing(steps));
    }
    computed.waiting?.arrived();
    computed.waiting = undefined;
    if (computed.value instanceof CostExceeded) throw computed.value;
    return computed.value as Result;
  }

  long(steps: Steps<Result>): Result {
    const { level } = this;
    if (!level) {
      this.#time.check();
      return finish(steps);
    }
    if (level.passed < level.finished.length)
      return level.finished[level.passed++] as Result;
    let value: Result;
    if (level.waiting) {
      value = level.waiting.value;
      level.waiting.computing.arrived();
      level.waiting = undefined;
    } else {
      this.#time.check();
      // Several of them in a row are a long turn, too.
      const inSlice = performance.now() < this.#sliceDeadline;
      const step = inSlice ? steps.next() : undefined;
      if (!step?.done) {
        const computing = new Computing(operating(level, steps));
        level.waiting = { computing, value: null };
        throw computing;
      }
      value = step.value;
    }
    level.finished.push(value);
    level.passed++;
    return value;
  }

  variable(index: number): Result {
    const known = this.#variables[index];
    if (known !== undefined) return known;
    return (this.#variables[index] = this.#read(index));
  }

  charge(cost: number): void {
    if (this.#returning) return;
    this.cost += cost;
    if (this.cost > this.#limit) throw new CostExceeded();
    if (--this.#untilLook > 0) return;
    this.#untilLook = chargesPerLook;
    this.#time.check();
  }

  /** Others have their turn until `goOn`. Throws CostExceeded when the evaluation has run too long. */
  pause(): void {
    this.#time.check();
    this.#time.pause();
  }

  /** Before an element of a loop: throws Suspended when others should have their turn. */
  mayPause(): void {
    if (this.#returning) return;
    if (this.cost < this.#sliceEnd && performance.now() < this.#sliceDeadline)
      return;
    this.#sliceEnd = this.cost + sliceCost;
    throw new Suspended();
  }

  /** A pause is over. */
  resume(): void {
    this.#time.goOn();
  }

  /** Prepares the attempt that goes on from a pause. @param value what the evaluation waited for */
  goOn(value?: Computing): void {
    const root = this.#root as Level;
    rewind(root);
    this.level = root;
    this.#readsValue = value !== undefined;
    this.#returning = root.open !== undefined || this.#readsValue;
    if (!value) return;
    value.arrived = () => {
      this.#readsValue = false;
      this.arrived();
    };
  }

  /** The evaluation is where it was. */
  arrived(): void {
    if (this.#readsValue) return;
    this.#returning = false;
    this.#sliceDeadline = performance.now() + sliceMs;
  }
}

function* operating(level: Level, steps: Steps<Result>): Steps<void> {
  level.waiting!.value = yield* steps;
}

function* computing(computed: Computed, steps: Steps<Result>): Steps<void> {
  try {
    computed.value = yield* steps;
  } catch (error) {
    if (!(error instanceof PatternTooCostly)) throw error;
    computed.value = new CostExceeded();
  }
}
