// The lengths and the pattern that a schema asks of a text. Compiled when a text is first met.
import { countCodePoints } from "../../patterns/code-points.ts";
import type { Steps } from "../../queueing/steps.ts";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import { compilePattern, type Pattern } from "./patterns.ts";
import type { Run } from "./run.ts";
import type { ValueProblem } from "./value-problems.ts";

export type TextProblem = Omit<ValueProblem, "path">;

/** Undefined: it asks nothing. */
export const textChecks = (schema: JSONSchemaProps): TextChecks | undefined =>
  schema.maxLength !== undefined ||
  schema.minLength !== undefined ||
  Boolean(schema.pattern)
    ? new TextChecks(schema)
    : undefined;

/** Only the first problem of a text is found. */
export class TextChecks {
  #pattern: Pattern | undefined;

  constructor(private readonly schema: JSONSchemaProps) {}

  /** Of a text that is not longer than `maxTextAtOnce`. */
  problem(text: string, run: Run): TextProblem | undefined {
    const problem = this.#lengthProblem(text);
    if (problem || !this.schema.pattern) return problem;
    run.worked(text.length);
    return this.#patternProblem(text, this.#compiled.test(text));
  }

  /** Of a longer one. */
  *longTextProblem(text: string): Steps<TextProblem | undefined> {
    const problem = this.#lengthProblem(text);
    if (problem || !this.schema.pattern) return problem;
    return this.#patternProblem(text, yield* this.#compiled.testing(text));
  }

  #lengthProblem(text: string): TextProblem | undefined {
    const { maxLength, minLength } = this.schema;
    if (
      maxLength !== undefined &&
      text.length > maxLength &&
      countCodePoints(text) > maxLength
    )
      return { is: "too-long", value: text, wanted: maxLength };
    return minLength !== undefined &&
      text.length < 2 * minLength &&
      countCodePoints(text) < minLength
      ? { is: "too-short", value: text, wanted: minLength }
      : undefined;
  }

  get #compiled(): Pattern {
    return (this.#pattern ??= compilePattern(this.schema.pattern!));
  }

  #patternProblem(text: string, fits: boolean): TextProblem | undefined {
    const { pattern } = this.schema;
    return fits ? undefined : { is: "pattern", value: text, wanted: pattern };
  }
}
