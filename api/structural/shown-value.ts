// JSON values as the reference prints them inside field errors: text in quotes, numbers and booleans as they are, objects
// and lists in the notation of its language, `map[string]interface {}{"a":1}`, keys in order.
import { GoValue } from "../go-syntax.ts";
import { shownValue } from "../field-errors.ts";
import { isJsonObject } from "../patch/json-value.ts";

/** Of a value that is wrong itself. */
export function shownJson(value: unknown): string {
  if (value instanceof GoValue) return value.toString();
  if (typeof value === "number") return goNumber(value);
  return typeof value === "object" && value !== null
    ? literal(value)
    : shownValue(value);
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return "interface {}(nil)";
  if (Array.isArray(value))
    return `[]interface {}{${value.map(literal).join(", ")}}`;
  if (isJsonObject(value)) {
    const fields = Object.keys(value)
      .sort()
      .map((name) => `${shownValue(name)}:${literal(value[name])}`);
    return `map[string]interface {}{${fields.join(", ")}}`;
  }
  return typeof value === "number" ? goNumber(value) : shownValue(value);
}

export const isInt64 = (value: number): boolean =>
  Number.isInteger(value) && Math.abs(value) <= 2 ** 63;

/** A number as the reference prints it: integers of 64 bits in full, others with an exponent from 1e+06 and below 1e-04. */
export function goNumber(value: number): string {
  return isInt64(value) ? value.toFixed(0) : goDouble(value);
}

/** The same of a double, whatever its value. */
export function goDouble(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e-4 && size < 1e6) return String(value);
  const [digits, exponent = "+0"] = value.toExponential().split("e");
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}
