// Values as the reference prints maps inside texts: `map[spec:map[replicas:3]]`, `[a b]`, keys sorted.
import { isJsonObject } from "./json-value.ts";
import { NativeValue } from "./native-value.ts";

export function mapNotation(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(mapNotation).join(" ")}]`;
  if (value instanceof NativeValue) return value.text;
  if (!isJsonObject(value)) return String(value);
  const fields = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => `${key}:${mapNotation(inner)}`);
  return `map[${fields.join(" ")}]`;
}

/** The name of a value's type where it is a JSON value: `map[string]interface {}`, `int64`. */
export function valueType(value: unknown): string {
  if (isJsonObject(value)) return "map[string]interface {}";
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "number")
    return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : "string";
}

/** As a text that wants a string shows another value: `%!s(int64=1)`. */
export const asText = (value: unknown): string =>
  typeof value === "string"
    ? value
    : value === null || value === undefined
      ? "%!s(<nil>)"
      : `%!s(${valueType(value)}=${mapNotation(value)})`;
