// Validates values against a schema, as the reference's validator does: the same problems, in the same order within a
// value, one for each text. Compiled once, a node when a value of it is first met.
//
// Of alternatives (`anyOf`, `oneOf`) that all fail, the problems of the one with most matches are reported, so every check
// counts what matched. Alternatives are first tried without noting problems; only the one that is reported is run again.
// Invariants: a run visits at most `maxVisits` nodes and notes at most `maxProblems` problems; nothing is changed.
import type { FieldError } from "../../errors.ts";
import {
  isJsonObject,
  sortedKeys,
  type JsonObject,
} from "../../patch/json-value.ts";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import {
  checkAllOf,
  checkAnyOf,
  checkOneOf,
  type Tried,
} from "./alternatives.ts";
import {
  isUnchanged,
  olderField,
  olderItems,
  type Older,
} from "./correlation.ts";
import { formatCheck } from "./formats.ts";
import { isInt64, isNearlyInteger, numberProblems } from "./number-checks.ts";
import { compilePattern, type Pattern } from "./patterns.ts";
import { maxVisits, Run, TooCostly } from "./run.ts";
import {
  fieldErrorOf,
  problemText,
  type ValueProblem,
} from "./value-problems.ts";

export class ValueValidator {
  readonly #schema: JSONSchemaProps;
  readonly #types: readonly string[];
  readonly #format: string | undefined;
  readonly #formatCheck: ((text: string) => boolean) | undefined;
  readonly #nullable: boolean;
  readonly #checksNumbers: boolean;
  readonly #checksText: boolean;
  readonly #checksFields: boolean;
  readonly #enum: ReadonlySet<unknown> | undefined;
  #pattern: Pattern | undefined;
  #properties: Map<string, ValueValidator> | undefined;
  #values: ValueValidator | undefined;
  #items: ValueValidator | undefined;
  #anyOf: readonly ValueValidator[] | undefined;
  #oneOf: readonly ValueValidator[] | undefined;
  #allOf: readonly ValueValidator[] | undefined;
  #not: ValueValidator | undefined;
  readonly #combines: boolean;

  constructor(schema: JSONSchemaProps) {
    this.#schema = schema;
    this.#types = schema["x-kubernetes-int-or-string"]
      ? ["integer", "string"]
      : schema.type
        ? [schema.type]
        : [];
    this.#formatCheck = schema.format ? formatCheck(schema.format) : undefined;
    if (this.#formatCheck) this.#format = schema.format;
    this.#nullable = schema.nullable ?? false;
    this.#checksNumbers =
      schema.multipleOf !== undefined ||
      schema.minimum !== undefined ||
      schema.maximum !== undefined;
    this.#checksText =
      schema.maxLength !== undefined ||
      schema.minLength !== undefined ||
      Boolean(schema.pattern);
    this.#checksFields =
      schema.properties !== undefined ||
      schema.additionalProperties !== undefined;
    this.#enum = schema.enum?.length
      ? new Set(schema.enum.map(enumKey))
      : undefined;
    const { anyOf = [], oneOf = [], allOf = [], not } = schema;
    this.#combines =
      anyOf.length + oneOf.length + allOf.length > 0 || not !== undefined;
  }

  /**
   * All problems of a value. @param base its field; undefined: a whole object. @param older the version before, of an
   * update: what was invalid and is unchanged is accepted
   */
  validate(value: unknown, base?: string, older?: Older): FieldError[] {
    const run = new Run();
    try {
      this.#checkRatcheting(value, run, older);
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error;
      return [
        {
          type: "InternalError",
          field: base ?? "<nil>",
          detail: "Internal error: the value takes too long to validate",
        },
      ];
    }
    if (run.problems.length === 0) return [];
    const seen = new Set<string>();
    return run.problems
      .filter((problem) => {
        const text = problemText(problem);
        return !seen.has(text) && seen.add(text);
      })
      .map((problem) => fieldErrorOf(problem, base));
  }

  #checkRatcheting(value: unknown, run: Run, older: Older | undefined): void {
    const [failures, problems] = [run.failures, run.problems.length];
    this.#check(value, run, older);
    if (run.failures === failures || !older || !isUnchanged(value, older))
      return;
    run.failures = failures;
    run.problems.length = Math.min(problems, run.problems.length);
  }

  #check(value: unknown, run: Run, older: Older | undefined): void {
    if (++run.visits > maxVisits) throw new TooCostly();
    if (value === null || value === undefined) return this.#checkNull(run);
    if (this.#types.length > 0 || this.#format !== undefined) {
      run.matches++;
      this.#checkType(value, run);
    }
    run.matches += 2;
    if (this.#combines) this.#checkCombined(value, run, older);
    if (typeof value === "string") this.#checkText(value, run);
    else if (typeof value === "number") {
      run.matches += 2;
      if (this.#checksNumbers)
        for (const problem of numberProblems(value, this.#schema))
          run.fail(problem);
    } else if (Array.isArray(value)) {
      run.matches += 2;
      this.#checkItems(value as unknown[], run, older);
    }
    run.matches += 2;
    if (this.#enum) this.#checkEnum(value, run);
    if (isJsonObject(value)) {
      run.matches++;
      this.#checkFields(value, run, older);
    }
  }

  #checkNull(run: Run): void {
    const types = this.#types;
    if (types.length > 0 && !this.#nullable)
      run.fail({ is: "type", value: "null", wanted: types.join(",") });
    else run.matches++;
    if (this.#enum)
      run.fail({ is: "enum", value: null, wanted: this.#schema.enum });
  }

  #checkType(value: unknown, run: Run): void {
    const types = this.#types;
    const isText = typeof value === "string";
    const found = typeName(value);
    const fits =
      types.includes(found) ||
      (typeof value === "number" && fitsNumber(value, types));
    if (this.#format !== undefined) {
      const isLong = isText || Array.isArray(value);
      if (!isLong && !fits) {
        run.fail({
          is: "type",
          value:
            typeof value !== "number"
              ? ""
              : isInt64(value)
                ? "int64"
                : "float64",
          wanted: this.#format,
        });
        return;
      }
      if (isLong && !types.includes("number") && !types.includes("integer")) {
        run.matches++;
        return;
      }
    }
    if (fits) run.matches++;
    else run.fail({ is: "type", value: found, wanted: types.join(",") });
  }

  #checkText(text: string, run: Run): void {
    run.matches++;
    if (this.#checksText) {
      const problem = this.#textProblem(text);
      if (problem) run.fail(problem);
    }
    if (!this.#formatCheck) return;
    run.matches++;
    if (!this.#formatCheck(text))
      run.fail({ is: "type", value: text, wanted: this.#format });
  }

  /** Only the first one is reported. */
  #textProblem(text: string): Omit<ValueProblem, "path"> | undefined {
    const { maxLength, minLength, pattern } = this.#schema;
    if (
      maxLength !== undefined &&
      text.length > maxLength &&
      codePoints(text) > maxLength
    )
      return { is: "too-long", value: text, wanted: maxLength };
    if (
      minLength !== undefined &&
      text.length < 2 * minLength &&
      codePoints(text) < minLength
    )
      return { is: "too-short", value: text, wanted: minLength };
    if (!pattern) return undefined;
    this.#pattern ??= compilePattern(pattern);
    return this.#pattern.test(text)
      ? undefined
      : { is: "pattern", value: text, wanted: pattern };
  }

  #checkEnum(value: unknown, run: Run): void {
    if (this.#enum!.has(enumKey(value))) return;
    // A fraction equals the whole number it is cut to.
    if (typeof value === "number" && this.#enum!.has(Math.trunc(value))) return;
    run.fail({ is: "enum", value, wanted: this.#schema.enum });
  }

  #checkItems(
    list: readonly unknown[],
    run: Run,
    older: Older | undefined,
  ): void {
    const { items, minItems, maxItems, uniqueItems } = this.#schema;
    if (isJsonObject(items)) {
      const validator = (this.#items ??= new ValueValidator(items));
      const olderOf = older && olderItems(older);
      for (let at = 0; at < list.length; at++) {
        run.path.push(at);
        if (olderOf)
          validator.#checkRatcheting(list[at], run, olderOf(list[at]));
        else validator.#check(list[at], run, undefined);
        run.path.pop();
      }
    }
    const size = list.length;
    if (minItems !== undefined && size < minItems)
      run.fail({ is: "min-items", value: size, wanted: minItems });
    if (maxItems !== undefined && size > maxItems)
      run.fail({ is: "max-items", value: size, wanted: maxItems });
    if (uniqueItems && hasDuplicates(list)) run.fail({ is: "unique" });
  }

  #checkFields(object: JsonObject, run: Run, older: Older | undefined): void {
    const { minProperties, maxProperties, required } = this.#schema;
    if (minProperties !== undefined || maxProperties !== undefined) {
      const size = Object.keys(object).length;
      if (minProperties !== undefined && size < minProperties)
        run.fail({ is: "min-properties", value: size, wanted: minProperties });
      if (maxProperties !== undefined && size > maxProperties)
        run.fail({ is: "max-properties", value: size, wanted: maxProperties });
    }
    if (this.#checksFields)
      for (const name in object) this.#checkField(object, name, run, older);
    if (required)
      for (const name of required)
        if (!Object.hasOwn(object, name)) run.fail({ is: "required" }, name);
  }

  #checkField(
    object: JsonObject,
    name: string,
    run: Run,
    older: Older | undefined,
  ): void {
    const validator = this.#fieldValidator(name);
    if (validator === undefined) return;
    if (validator === false)
      return run.fail({ is: "forbidden-property", value: name });
    // The envelope of the whole object never counts as unchanged.
    const isEnvelope =
      run.path.length === 0 && (name === "kind" || name === "apiVersion");
    const was = older && !isEnvelope ? olderField(older, name) : undefined;
    // The reference puts a dot before a free key of the root too.
    const isFree = !Object.hasOwn(this.#schema.properties ?? {}, name);
    run.path.push(isFree && run.path.length === 0 ? `.${name}` : name);
    if (was) validator.#checkRatcheting(object[name], run, was);
    else validator.#check(object[name], run, undefined);
    run.path.pop();
  }

  /** Undefined: anything goes; false: there may be no such field. */
  #fieldValidator(name: string): ValueValidator | false | undefined {
    const { properties, additionalProperties } = this.#schema;
    this.#properties ??= new Map();
    const known = this.#properties.get(name);
    if (known) return known;
    if (properties && Object.hasOwn(properties, name)) {
      const made = new ValueValidator(properties[name]!);
      this.#properties.set(name, made);
      return made;
    }
    if (additionalProperties === false) return false;
    return isJsonObject(additionalProperties)
      ? (this.#values ??= new ValueValidator(additionalProperties))
      : undefined;
  }

  #checkCombined(value: unknown, run: Run, older: Older | undefined): void {
    const { anyOf, oneOf, allOf, not } = this.#schema;
    if (anyOf?.length)
      checkAnyOf((this.#anyOf ??= all(anyOf)), value, run, older);
    if (oneOf?.length)
      checkOneOf((this.#oneOf ??= all(oneOf)), value, run, older);
    if (allOf?.length)
      checkAllOf((this.#allOf ??= all(allOf)), value, run, older);
    if (not) {
      const { failed } = (this.#not ??= new ValueValidator(not)).try(
        value,
        run,
        older,
      );
      if (!failed) run.fail({ is: "not" });
    }
  }

  /** Without noting anything. */
  try(value: unknown, run: Run, older: Older | undefined): Tried {
    const { quiet, failures, matches } = run;
    run.quiet = true;
    this.#check(value, run, older);
    const tried = {
      failed: run.failures > failures,
      matches: run.matches - matches,
    };
    run.quiet = quiet;
    run.failures = failures;
    run.matches = matches;
    return tried;
  }

  /** Notes the problems of an alternative that was tried. */
  report(value: unknown, run: Run, older: Older | undefined): void {
    if (run.quiet) run.failures++;
    else this.#check(value, run, older);
  }

  check(value: unknown, run: Run, older: Older | undefined): boolean {
    const { failures } = run;
    this.#check(value, run, older);
    return run.failures === failures;
  }
}

const all = (schemas: readonly JSONSchemaProps[]): ValueValidator[] =>
  schemas.map((schema) => new ValueValidator(schema));

function typeName(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return isInt64(value) ? "integer" : "number";
  return typeof value;
}

/** Of a number that is not of the type by its name. */
const fitsNumber = (value: number, types: readonly string[]): boolean =>
  isInt64(value)
    ? types.includes("number")
    : types.includes("integer") && isNearlyInteger(value);

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Scalars are their own keys; a text that begins like the key of an object is made one too. */
function enumKey(value: unknown): unknown {
  if (typeof value === "object" && value !== null)
    return `\0${JSON.stringify(sortedKeys(value))}`;
  return typeof value === "string" && value.startsWith("\0")
    ? `\0\0${value}`
    : value;
}

function hasDuplicates(list: readonly unknown[]): boolean {
  const seen = new Set<unknown>();
  for (const item of list) {
    const key = enumKey(item);
    if (seen.has(key)) return true;
    seen.add(key);
  }
  return false;
}
