// Equality of plain JSON trees. Keys come in any order, a field that is undefined counts as absent, and only own keys
// count: `constructor` and `__proto__` are legal keys of a ConfigMap's data.
import { ExactNumber } from "../exact-number.ts";

type Fields = Readonly<Record<string, unknown>>;

export function sameJson(left: unknown, right: unknown): boolean {
  return isSame(left, right, false);
}

/** As sameJson, but absent and empty are the same, as for the reference, which compares decoded objects. */
export function sameValue(left: unknown, right: unknown): boolean {
  return isSame(left, right, true);
}

function isSame(left: unknown, right: unknown, orEmpty: boolean): boolean {
  if (left === right) return true;
  if (
    typeof left !== "object" ||
    typeof right !== "object" ||
    left === null ||
    right === null ||
    Array.isArray(left) !== Array.isArray(right)
  )
    return orEmpty && isEmpty(left) && isEmpty(right);
  if (Array.isArray(left)) {
    const other = right as unknown[];
    if (left.length !== other.length) return false;
    for (let at = 0; at < left.length; at++)
      if (!isSame(left[at], other[at], orEmpty)) return false;
    return true;
  }
  if (left instanceof ExactNumber || right instanceof ExactNumber)
    return (
      left instanceof ExactNumber &&
      right instanceof ExactNumber &&
      left.text === right.text
    );
  for (const key in left) {
    const other = Object.hasOwn(right, key)
      ? (right as Fields)[key]
      : undefined;
    if (!isSame((left as Fields)[key], other, orEmpty)) return false;
  }
  for (const key in right) {
    if (Object.hasOwn(left, key)) continue;
    const added = (right as Fields)[key];
    if (added !== undefined && !(orEmpty && isEmpty(added))) return false;
  }
  return true;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (typeof value !== "object" || value instanceof ExactNumber) return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}
