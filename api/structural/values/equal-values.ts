// Which JSON values are equal: for `enum` and `uniqueItems`.
import { sortedKeys } from "../../patch/json-value.ts";

/** Scalars are their own keys; a text that begins like the key of an object is made one too. */
export function valueKey(value: unknown): unknown {
  if (typeof value === "object" && value !== null)
    return `\0${JSON.stringify(sortedKeys(value))}`;
  return typeof value === "string" && value.startsWith("\0")
    ? `\0\0${value}`
    : value;
}

export function hasDuplicates(list: readonly unknown[]): boolean {
  const seen = new Set<unknown>();
  for (const item of list) {
    const key = valueKey(item);
    if (seen.has(key)) return true;
    seen.add(key);
  }
  return false;
}
