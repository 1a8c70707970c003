// Validates values against a schema, as the reference's validator does: the same problems, in the same order within a
// value, one for each text. Compiled once, a node when a value of it is first met. Validation pauses within objects and
// lists and in long texts; a scalar that is short is validated at once, without steps of its own.
//
// Of alternatives (`anyOf`, `oneOf`) that all fail, the problems of the one with most matches are reported, so every check
// counts what matched. Alternatives are first tried without noting problems; only the one that is reported is run again.
// Invariants: a run visits at most `maxVisits` nodes and notes at most `maxProblems` problems; nothing is changed.
import type { FieldError } from "../../errors.ts";
import { isJsonObject, type JsonObject } from "../../patch/json-value.ts";
import { finish, type Steps } from "../../queueing/steps.ts";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import {
  checkAllOf,
  checkAnyOf,
  checkOneOf,
  type Tried,
} from "./alternatives.ts";
import { forgive, olderField, olderItems, type Older } from "./correlation.ts";
import { formatCheck } from "./formats.ts";
import { isInt64 } from "../shown-value.ts";
import { isNearlyInteger, numberProblems } from "./number-checks.ts";
import { hasDuplicates, valueKey } from "./equal-values.ts";
import { maxTextAtOnce } from "./patterns.ts";
import {
  textChecks,
  type TextChecks,
  type TextProblem,
} from "./text-checks.ts";
import { then, visitAll, type Rest } from "./walking.ts";
import { maxVisits, Run, TooCostly } from "./run.ts";
import { fieldErrorOf, problemText } from "./value-problems.ts";

export class ValueValidator {
  readonly #schema: JSONSchemaProps;
  readonly #types: readonly string[];
  readonly #format: string | undefined;
  readonly #formatCheck: ((text: string) => boolean) | undefined;
  readonly #nullable: boolean;
  readonly #checksNumbers: boolean;
  readonly #text: TextChecks | undefined;
  readonly #checksFields: boolean;
  readonly #enum: ReadonlySet<unknown> | undefined;
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
    this.#text = textChecks(schema);
    this.#checksFields =
      schema.properties !== undefined ||
      schema.additionalProperties !== undefined;
    this.#enum = schema.enum?.length
      ? new Set(schema.enum.map(valueKey))
      : undefined;
    const { anyOf = [], oneOf = [], allOf = [], not } = schema;
    this.#combines =
      anyOf.length + oneOf.length + allOf.length > 0 || not !== undefined;
  }

  /**
   * All problems of a value. @param base its field; undefined: a whole object. @param older the version before, of an
   * update: what was invalid and is unchanged is accepted
   */
  *validate(value: unknown, base?: string, older?: Older): Steps<FieldError[]> {
    const run = new Run();
    try {
      const steps = this.#checkRatcheting(value, run, older);
      if (steps) yield* steps;
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

  #checkRatcheting(value: unknown, run: Run, older: Older | undefined): Rest {
    const before = run.mark();
    const rest = this.#check(value, run, older);
    return older ? then(rest, () => forgive(value, run, older, before)) : rest;
  }

  #check(value: unknown, run: Run, older: Older | undefined): Rest {
    if (++run.visits > maxVisits) throw new TooCostly();
    if (value === null || value === undefined) {
      this.#checkNull(run);
      return undefined;
    }
    if (this.#combines || isLong(value)) {
      const steps = this.#checkInSteps(value, run, older);
      // What is small has no steps, so that those around it need none.
      if (typeof value === "object" || isLong(value)) return steps;
      finish(steps);
      return undefined;
    }
    this.#begin(value, run);
    return this.#checkContent(value, run, older);
  }

  *#checkInSteps(
    value: NonNullable<unknown>,
    run: Run,
    older: Older | undefined,
  ): Steps<void> {
    if (run.endsStep()) yield;
    this.#begin(value, run);
    if (this.#combines) yield* this.#checkCombined(value, run);
    if (isLong(value)) {
      const problem = this.#text && (yield* this.#text.longTextProblem(value));
      this.#checkText(value, run, problem);
      return this.#checkEnum(value, run);
    }
    const rest = this.#checkContent(value, run, older);
    if (rest) yield* rest;
  }

  #checkContent(
    value: NonNullable<unknown>,
    run: Run,
    older: Older | undefined,
  ): Rest {
    if (typeof value === "string")
      this.#checkText(value, run, this.#text?.problem(value, run));
    else if (typeof value === "number") this.#checkNumber(value, run);
    else if (Array.isArray(value)) {
      run.matches += 2;
      const rest = this.#checkItems(value as unknown[], run, older);
      return then(rest, () => this.#checkEnum(value, run));
    }
    this.#checkEnum(value, run);
    if (!isJsonObject(value)) return undefined;
    run.matches++;
    return this.#checkFields(value, run, older);
  }

  #begin(value: unknown, run: Run): void {
    if (this.#types.length > 0 || this.#format !== undefined) {
      run.matches++;
      this.#checkType(value, run);
    }
    run.matches += 2;
  }

  #checkNumber(value: number, run: Run): void {
    run.matches += 2;
    if (!this.#checksNumbers) return;
    for (const problem of numberProblems(value, this.#schema))
      run.fail(problem);
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

  #checkText(text: string, run: Run, problem: TextProblem | undefined): void {
    run.matches++;
    if (problem) run.fail(problem);
    if (!this.#formatCheck) return;
    run.matches++;
    if (!this.#formatCheck(text))
      run.fail({ is: "type", value: text, wanted: this.#format });
  }

  #checkEnum(value: unknown, run: Run): undefined {
    run.matches += 2;
    if (!this.#enum || this.#enum.has(valueKey(value))) return;
    // A fraction equals the whole number it is cut to.
    if (typeof value === "number" && this.#enum.has(Math.trunc(value))) return;
    run.fail({ is: "enum", value, wanted: this.#schema.enum });
  }

  #checkItems(
    list: readonly unknown[],
    run: Run,
    older: Older | undefined,
  ): Rest {
    const { items } = this.#schema;
    if (!isJsonObject(items)) return this.#checkSize(list, run);
    const validator = (this.#items ??= new ValueValidator(items));
    const olderOf = older && olderItems(older);
    const rest = visitAll(run, list.length, (at) => {
      run.path.push(at);
      return validator.#checkRatcheting(list[at], run, olderOf?.(list[at]));
    });
    return then(rest, () => this.#checkSize(list, run));
  }

  #checkSize(list: readonly unknown[], run: Run): undefined {
    const { minItems, maxItems, uniqueItems } = this.#schema;
    const size = list.length;
    if (minItems !== undefined && size < minItems)
      run.fail({ is: "min-items", value: size, wanted: minItems });
    if (maxItems !== undefined && size > maxItems)
      run.fail({ is: "max-items", value: size, wanted: maxItems });
    if (uniqueItems && hasDuplicates(list)) run.fail({ is: "unique" });
  }

  #checkFields(object: JsonObject, run: Run, older: Older | undefined): Rest {
    const { minProperties, maxProperties } = this.#schema;
    const names = Object.keys(object);
    const size = names.length;
    if (minProperties !== undefined && size < minProperties)
      run.fail({ is: "min-properties", value: size, wanted: minProperties });
    if (maxProperties !== undefined && size > maxProperties)
      run.fail({ is: "max-properties", value: size, wanted: maxProperties });
    const rest = this.#checksFields
      ? visitAll(run, size, (at) =>
          this.#checkField(object, names[at]!, run, older),
        )
      : undefined;
    return then(rest, () => this.#checkRequired(object, run));
  }

  #checkRequired(object: JsonObject, run: Run): undefined {
    for (const name of this.#schema.required ?? [])
      if (!Object.hasOwn(object, name)) run.fail({ is: "required" }, name);
  }

  /** Leaves its name in the path. */
  #checkField(
    object: JsonObject,
    name: string,
    run: Run,
    older: Older | undefined,
  ): Rest {
    const validator = this.#fieldValidator(name);
    if (validator === undefined) return undefined;
    if (validator === false) {
      run.fail({ is: "forbidden-property", value: name });
      return undefined;
    }
    // The envelope of the whole object never counts as unchanged.
    const isEnvelope =
      run.path.length === 0 && (name === "kind" || name === "apiVersion");
    const was = older && !isEnvelope ? olderField(older, name) : undefined;
    // The reference puts a dot before a free key of the root too.
    const isFree = !Object.hasOwn(this.#schema.properties ?? {}, name);
    run.path.push(isFree && run.path.length === 0 ? `.${name}` : name);
    return validator.#checkRatcheting(object[name], run, was);
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

  /** Each alternative is asked about the value as it is: what did not change is checked in them too. */
  *#checkCombined(value: unknown, run: Run): Steps<void> {
    const { anyOf, oneOf, allOf, not } = this.#schema;
    if (anyOf?.length)
      yield* checkAnyOf((this.#anyOf ??= all(anyOf)), value, run);
    if (oneOf?.length)
      yield* checkOneOf((this.#oneOf ??= all(oneOf)), value, run);
    if (allOf?.length)
      yield* checkAllOf((this.#allOf ??= all(allOf)), value, run);
    if (not) {
      this.#not ??= new ValueValidator(not);
      const { failed } = yield* this.#not.try(value, run);
      if (!failed) run.fail({ is: "not" });
    }
  }

  /** Without noting anything. */
  *try(value: unknown, run: Run): Steps<Tried> {
    const { quiet, failures, matches } = run;
    run.quiet = true;
    const steps = this.#check(value, run, undefined);
    if (steps) yield* steps;
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
  *report(value: unknown, run: Run): Steps<void> {
    if (run.quiet) run.failures++;
    else yield* this.check(value, run);
  }

  *check(value: unknown, run: Run): Steps<boolean> {
    const { failures } = run;
    const steps = this.#check(value, run, undefined);
    if (steps) yield* steps;
    return run.failures === failures;
  }
}

const isLong = (value: unknown): value is string =>
  typeof value === "string" && value.length > maxTextAtOnce;

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
