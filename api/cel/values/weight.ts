// Is a value so large that what looks at all of it has to be done in steps?
import { Failure, ListValue, MapValue, type Result } from "./value.ts";

/** Elements, entries and values below them: a tenth of a millisecond or two. */
const maxParts = 2000;
/** UTF-16 units of a text. */
const maxText = 16_384;

/** Looks at no more than it has to. */
export function isLarge(value: Result): boolean {
  if (typeof value === "string") return value.length > maxText;
  if (!(value instanceof ListValue || value instanceof MapValue)) return false;
  return partsWithin(value, maxParts) < 0;
}

/** How many of `left` are left over; below zero: there are more parts. */
function partsWithin(value: Result | undefined, left: number): number {
  if (typeof value !== "object" || value === null || value instanceof Failure)
    return left - 1;
  if (value instanceof ListValue) {
    left -= value.size + 1;
    for (let index = 0; left >= 0 && index < value.size; index++) {
      const element = value.at(index);
      // What has no parts was counted with the list.
      if (typeof element !== "object" || element === null) continue;
      left = partsWithin(element, left);
    }
    return left;
  }
  if (!(value instanceof MapValue)) return left - 1;
  left -= value.size + 1;
  if (left < 0) return left;
  for (const key of value.keys()) {
    left = partsWithin(value.get(key), left);
    if (left < 0) return left;
  }
  return left;
}
