// Makes FieldErrors with the reference's texts: `Invalid value: "x": must …`, `Required value`, `Forbidden: …`.
// Field paths are plain strings, put together by the callers: `spec.containers[0].name`.
import type { FieldError } from "./errors.ts";
import { GoValue, goSyntax } from "./go-syntax.ts";

/** Go's %q for the characters that matter, %v for numbers and booleans, %#v for what is named by `asGo`. */
export function shownValue(value: unknown): string {
  if (value instanceof GoValue) return value.toString();
  if (value === undefined || value === null) return '"null"';
  if (typeof value === "string") return goQuoted(value);
  if (typeof value === "number" || typeof value === "boolean")
    return String(value);
  const allStrings = (values: unknown[]): boolean =>
    values.every((each) => typeof each === "string");
  if (Array.isArray(value) && allStrings(value))
    return goSyntax("[]string", value);
  if (typeof value === "object" && allStrings(Object.values(value)))
    return goSyntax("map[string]string", value);
  return JSON.stringify(value);
}

const shortEscapes: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\v": "\\v",
};

/** As %q prints text: JSON's notation, but what can't be printed is \x7f, \u00a0 or \U000e0001. */
export function goQuoted(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return JSON.stringify(text);
  return JSON.stringify(text)
    .replace(/\\u00(07|0b|[01][0-9a-f])/g, (_, code: string) => {
      const character = String.fromCharCode(parseInt(code, 16));
      return shortEscapes[character] ?? `\\x${code}`;
    })
    .replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (character) => {
      const code = character.codePointAt(0)!;
      const digits = code.toString(16);
      if (code < 0x80) return `\\x${digits.padStart(2, "0")}`;
      return code > 0xffff
        ? `\\U${digits.padStart(8, "0")}`
        : `\\u${digits.padStart(4, "0")}`;
    });
}

const withDetail = (text: string, detail: string): string =>
  detail === "" ? text : `${text}: ${detail}`;

export const fieldErrors = {
  required: (field: string, detail = ""): FieldError => ({
    type: "FieldValueRequired",
    field,
    detail: withDetail("Required value", detail),
  }),
  invalid: (field: string, value: unknown, detail: string): FieldError => ({
    type: "FieldValueInvalid",
    field,
    detail: withDetail(`Invalid value: ${shownValue(value)}`, detail),
  }),
  /** The value is shown as it is given here: names of resources have no quotes, for one. */
  invalidShown: (field: string, shown: string, detail: string): FieldError => ({
    type: "FieldValueInvalid",
    field,
    detail: withDetail(`Invalid value: ${shown}`, detail),
  }),
  /** What is wrong is not one value. */
  invalidWithoutValue: (field: string, detail: string): FieldError => ({
    type: "FieldValueInvalid",
    field,
    detail: withDetail("Invalid value", detail),
  }),
  typeInvalid: (field: string, detail: string): FieldError => ({
    type: "FieldValueTypeInvalid",
    field,
    detail: withDetail("Invalid value", detail),
  }),
  notSupported: (
    field: string,
    value: unknown,
    supported: readonly string[],
  ): FieldError => ({
    type: "FieldValueNotSupported",
    field,
    detail: withDetail(
      `Unsupported value: ${shownValue(value)}`,
      supported.length === 0
        ? ""
        : `supported values: ${supported.map((one) => JSON.stringify(one)).join(", ")}`,
    ),
  }),
  /** `shown`: the value as the reference prints it, without quotes. */
  notSupportedShown: (
    field: string,
    shown: string,
    supported: readonly string[],
  ): FieldError => ({
    type: "FieldValueNotSupported",
    field,
    detail: withDetail(
      `Unsupported value: ${shown}`,
      `supported values: ${supported.map((one) => JSON.stringify(one)).join(", ")}`,
    ),
  }),
  forbidden: (field: string, detail: string): FieldError => ({
    type: "FieldValueForbidden",
    field,
    detail: withDetail("Forbidden", detail),
  }),
  duplicate: (field: string, value: unknown): FieldError =>
    fieldErrors.duplicateShown(field, shownValue(value)),
  duplicateShown: (field: string, shown: string): FieldError => ({
    type: "FieldValueDuplicate",
    field,
    detail: `Duplicate value: ${shown}`,
  }),
  notFound: (field: string, value: unknown, detail = ""): FieldError => ({
    type: "FieldValueNotFound",
    field,
    detail: withDetail(`Not found: ${shownValue(value)}`, detail),
  }),
  tooLong: (field: string, maxBytes: number): FieldError => ({
    type: "FieldValueTooLong",
    field,
    detail: `Too long: may not be more than ${maxBytes} bytes`,
  }),
  tooMany: (field: string, actual: number, max: number): FieldError => ({
    type: "FieldValueTooMany",
    field,
    detail: `Too many: ${actual}: must have at most ${max} items`,
  }),
  internal: (field: string, detail: string): FieldError => ({
    type: "InternalError",
    field,
    detail: withDetail("Internal error", detail),
  }),
};

/** One FieldError a text: what the functions of api/names.ts return. */
export function invalidEach(
  field: string,
  value: unknown,
  problems: readonly string[],
): FieldError[] {
  if (problems.length === 0) return [];
  return problems.map((problem) => fieldErrors.invalid(field, value, problem));
}
