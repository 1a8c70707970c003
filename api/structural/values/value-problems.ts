// What can be wrong with a value, in the reference's texts. A problem keeps the path and the numbers; its text is made when
// it is read, since most problems are those of an alternative that is then not needed.
import type { FieldError } from "../../errors.ts";
import { goDouble, goNumber, isInt64, shownJson } from "../shown-value.ts";

export interface ValueProblem {
  /** From the object's root, or from the value that is validated by itself: `spec.ports[0].name`, "" for itself. */
  readonly path: string;
  readonly is: ProblemKind;
  /** The value that is shown. */
  readonly value?: unknown;
  /** What was wanted: a type, a number, a pattern. */
  readonly wanted?: unknown;
}

type ProblemKind =
  /** `wanted`: types; `value`: the type that was found, or the text that has not the format. */
  | "type"
  | "required"
  | "too-long"
  | "too-short"
  | "pattern"
  | "enum"
  | "multiple-of"
  | "factor"
  | "maximum"
  | "exclusive-maximum"
  | "minimum"
  | "exclusive-minimum"
  | "unique"
  | "max-items"
  | "min-items"
  | "max-properties"
  | "min-properties"
  | "forbidden-property"
  | "any-of"
  | "one-of"
  | "all-of"
  | "not";

/** The limits of a double are doubles themselves. */
function shownLimit(
  value: ValueProblem["value"],
  wanted: ValueProblem["wanted"],
): string {
  if (typeof wanted !== "number") return String(wanted);
  return typeof value === "number" && !isInt64(value)
    ? goDouble(wanted)
    : goNumber(wanted);
}

/** The text that the reference distinguishes problems by: equal ones are reported once. */
export function problemText({ path, is, value, wanted }: ValueProblem): string {
  const where = `${path} in body`;
  const shown = shownLimit(value, wanted);
  switch (is) {
    case "type":
      return `${where} must be of type ${shown}: ${shownJson(value)}`;
    case "required":
      return `${where} is required`;
    case "too-long":
      return `${where} should be at most ${shown} chars long`;
    case "too-short":
      return `${where} should be at least ${shown} chars long`;
    case "pattern":
      return `${where} should match '${shown}'`;
    case "enum":
      return `${where} should be one of the values`;
    case "multiple-of":
      return `${where} should be a multiple of ${shown}`;
    case "factor":
      return `factor MultipleOf declared for ${path} must be positive: ${shown}`;
    case "maximum":
      return `${where} should be less than or equal to ${shown}`;
    case "exclusive-maximum":
      return `${where} should be less than ${shown}`;
    case "minimum":
      return `${where} should be greater than or equal to ${shown}`;
    case "exclusive-minimum":
      return `${where} should be greater than ${shown}`;
    case "unique":
      return `${where} shouldn't contain duplicates`;
    case "max-items":
      return `${where} should have at most ${shown} items`;
    case "min-items":
      return `${where} should have at least ${shown} items`;
    case "max-properties":
      return `${where} should have at most ${shown} properties`;
    case "min-properties":
      return `${where} should have at least ${shown} properties`;
    case "forbidden-property":
      return `${path}.${String(value)} in body is a forbidden property`;
    case "any-of":
      return `${shownJson(path)} must validate at least one schema (anyOf)`;
    case "one-of":
      return `${shownJson(path)} must validate one and only one schema (oneOf). ${shown}`;
    case "all-of":
      return `${shownJson(path)} must validate all the schemas (allOf)${shown}`;
    case "not":
      return `${shownJson(path)} must not validate the schema (not)`;
  }
}

/** @param base the field of the value that was validated; undefined: a whole object */
export function fieldErrorOf(
  problem: ValueProblem,
  base: string | undefined,
): FieldError {
  const { path, is, value, wanted } = problem;
  const field = fieldOf(path, base);
  switch (is) {
    case "required":
      return { type: "FieldValueRequired", field, detail: "Required value" };
    case "enum":
      return {
        type: "FieldValueNotSupported",
        field,
        detail: `Unsupported value: ${shownJson(value)}: supported values: ${shownValues(wanted as unknown[])}`,
      };
    case "too-long":
      return {
        type: "FieldValueTooLong",
        field,
        detail: `Too long: may not be more than ${String(wanted)} bytes`,
      };
    case "max-items":
    case "max-properties":
      return {
        type: "FieldValueTooMany",
        field,
        detail: `Too many: ${String(value)}: must have at most ${String(wanted)} items`,
      };
    case "any-of":
    case "one-of":
    case "all-of":
    case "not":
      // These carry no field of their own: the reference prints its missing path.
      return invalid(base ?? "<nil>", "", problem);
    case "type":
      return {
        ...invalid(field, value, problem),
        type: "FieldValueTypeInvalid",
      };
    default:
      return invalid(field, value ?? "", problem);
  }
}

function invalid(
  field: string,
  value: unknown,
  problem: ValueProblem,
): FieldError {
  return {
    type: "FieldValueInvalid",
    field,
    detail: `Invalid value: ${shownJson(value)}: ${problemText(problem)}`,
  };
}

function fieldOf(path: string, base: string | undefined): string {
  const below = path.startsWith(".") ? path.slice(1) : path;
  if (base === undefined) return below === "" ? "<nil>" : below;
  return below === "" ? base : `${base}.${below}`;
}

/** Texts as they are, others as JSON. */
function shownValues(values: readonly unknown[]): string {
  return values
    .map((each) =>
      shownJson(typeof each === "string" ? each : JSON.stringify(each)),
    )
    .join(", ");
}
