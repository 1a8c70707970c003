// How a long evaluation pauses and goes on. Expressions have no effects, so that an evaluation which paused starts over
// from its root, charging nothing, until it is where it was: loops that were finished are not run again but give the
// value they had, loops that were open go on with the element they were at.
//
// Operations that take long by themselves, as comparing large lists, are like loops: their values are kept, too.
//
// Worked example, `a.all(x, …) && b.all(y, c.all(z, …))` paused within the last loop: at the root level `a.all` is
// finished, `b.all` is open at y = 7; at the level of that element, `c.all` is open at z = 3. Going on takes the value
// of `a.all`, re-enters `b.all` at 7 and `c.all` at 3, and charges again from there on.
import type { Steps } from "../../queueing/steps.ts";
import type { Result } from "../values/value.ts";

/** The evaluation has run long enough for now. */
export class Suspended extends Error {}

/**
 * A value that the expression reads takes further steps. The evaluation pauses where it reads the value and goes on there:
 * what computes the value calls `arrived` when it is read again, once `steps` have ended.
 */
export class Computing extends Suspended {
  /** Set by the evaluation that waits. */
  arrived: () => void = () => undefined;

  constructor(readonly steps: Steps<void>) {
    super("the evaluation waits for a value");
  }
}

/** Where a loop's variables are. */
export interface LoopSlots {
  readonly first: number;
  readonly second: number | undefined;
}

/** What a loop goes through. */
export interface Elements {
  readonly size: number;
  /** Gives the loop's variables their values. */
  take(index: number, slots: Result[], loop: LoopSlots): void;
}

/** The loops and long operations that one element of the loop around them, or the root, has run so far. */
export interface Level {
  /** Values of those that are finished, in the order of evaluation. */
  readonly finished: Result[];
  /** How many of them this attempt has passed. */
  passed: number;
  open: OpenLoop | undefined;
  /** The long operation that the evaluation waits for; its value is there when the evaluation goes on. */
  waiting: { readonly computing: Computing; value: Result } | undefined;
}

interface OpenLoop {
  readonly elements: Elements;
  /** The element that is being worked on. */
  index: number;
  /** The accumulator before that element. */
  accumulator: Result;
  level: Level;
}

export const newLevel = (): Level => ({
  finished: [],
  passed: 0,
  open: undefined,
  waiting: undefined,
});

/** Starts another attempt at a level and all open ones within. */
export function rewind(root: Level): void {
  for (let level: Level | undefined = root; level; level = level.open?.level)
    level.passed = 0;
}
