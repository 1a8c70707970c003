// Regular expressions of schemas (`pattern`): the reference's syntax, RE2, matched in time linear in the text whatever the
// expression is. The engine is loaded when the first definition is, not at the start of the program.
import type { RE2JS } from "re2js";
import { matching, PatternTooCostly } from "../../patterns/linear-match.ts";
import type { Steps } from "../../queueing/steps.ts";
import { TooCostly } from "./run.ts";

export interface Pattern {
  /** Of texts that are not longer than `maxTextAtOnce`. */
  test(text: string): boolean;
  /** In steps. Throws TooCostly. */
  testing(text: string): Steps<boolean>;
}

/** Longer texts are matched in steps. */
export const maxTextAtOnce = 16_384;

/** The expression can't be read; the message is the reference's: `error parsing regexp: missing closing ): …`. */
export class PatternError extends Error {}

/** Steps of a compiled expression, about, and its characters: more take long to compile. */
const maxSteps = 200_000;
const maxLength = 20_000;

let engine: typeof RE2JS | undefined;

/** Must be awaited before a pattern is compiled. */
export async function loadPatterns(): Promise<void> {
  engine ??= (await import("re2js")).RE2JS;
}

/** Throws PatternError. */
export function compilePattern(source: string): Pattern {
  if (!engine) throw new Error("the engine of patterns is not loaded");
  if (source.length > maxLength || stepsOf(source) > maxSteps)
    throw new PatternError("error parsing regexp: expression too large");
  try {
    const pattern = engine.compile(source);
    return {
      test: (text) => pattern.test(text),
      testing: (text) => testing(pattern, text),
    };
  } catch (error) {
    throw new PatternError((error as Error).message);
  }
}

function* testing(pattern: RE2JS, text: string): Steps<boolean> {
  try {
    return yield* matching(pattern, text);
  } catch (error) {
    if (error instanceof PatternTooCostly) throw new TooCostly();
    throw error;
  }
}

/** An upper bound, about: every repetition is counted as one of the longest thing that can be repeated there. */
function stepsOf(source: string): number {
  let steps = source.length;
  for (const [, low, high] of source.matchAll(
    /\{([0-9]{1,6})(?:,([0-9]{0,6}))?\}/g,
  ))
    steps += 16 * Math.max(Number(low), Number(high ?? 0));
  return steps;
}
