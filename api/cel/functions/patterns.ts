// Regular expressions of RE2's syntax in linear time, whatever the pattern. Compiled
// patterns are kept, a bounded number of them.
import { RE2JS } from "re2js";
import { LRUCache } from "lru-cache";
import { matching } from "../../patterns/linear-match.ts";
import type { Activation } from "../evaluation/activation.ts";
import { Failure, type Result } from "../values/value.ts";

interface Pattern {
  /** Whether it matches anywhere in the text. */
  test(text: string, activation: Activation): Result;
  readonly engine: RE2JS;
}

/** Compiling longer ones would hold the event loop; also an expression's own text is shorter as a rule. */
const maxPatternLength = 10_000;
/** Longer texts are matched in steps. */
const maxTextAtOnce = 16_384;

const compiled = new LRUCache<string, Pattern | Failure>({
  max: 512,
  // Long patterns take more room.
  maxSize: 1 << 20,
  sizeCalculation: (_pattern, text) => text.length + 1,
});

/** A failure with the reference's text for what is no pattern. */
export function compilePattern(text: string): Pattern | Failure {
  const known = compiled.get(text);
  if (known) return known;
  const made = make(text);
  compiled.set(text, made);
  return made;
}

function make(text: string): Pattern | Failure {
  if (text.length > maxPatternLength)
    return new Failure("error parsing regexp: expression too large");
  try {
    const engine = RE2JS.compile(text);
    return {
      engine,
      test: (input, activation) =>
        input.length <= maxTextAtOnce
          ? engine.test(input)
          : activation.inSteps(`matches ${text}`, input, () =>
              matching(engine, input),
            ),
    };
  } catch (error) {
    const { message } = error as Error;
    // The reference shows what is left of the pattern there: nothing.
    const atEnd = message.endsWith("at end of expression");
    return new Failure(atEnd ? `${message}: \`\`` : message);
  }
}
