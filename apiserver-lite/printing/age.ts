// The cells that are not plain fields: ages, lists and label maps as tables show them.
import { humanDuration } from "../../api/duration.ts";

/**
 * "5s", "3m20s", "4d2h"; "<unknown>" without a time. `now` in milliseconds since the epoch; NaN asks for a place that an
 * age is written into later (see row-template.ts).
 */
export function formatAge(
  timestamp: string | null | undefined,
  now: number,
): string {
  if (!timestamp) return "<unknown>";
  const sinceMs = Date.parse(timestamp);
  return Number.isNaN(now) && !Number.isNaN(sinceMs)
    ? `\0\x01${sinceMs}\0`
    : humanDuration(now - sinceMs);
}

/** The places in the JSON of cells. */
export const agePlaces = /\\u0000\\u0001(-?)(\d{1,16})\\u0000/g;

/** "a=b,c=d" by key, or "<none>". */
export function formatLabels(
  labels: Readonly<Record<string, string>> | null | undefined,
): string {
  const keys = Object.keys(labels ?? {}).sort();
  return keys.length === 0
    ? "<none>"
    : keys.map((key) => `${key}=${labels![key]}`).join(",");
}

export function orNone(text: string | null | undefined): string {
  return text ? text : "<none>";
}

/** Three items, then " + 2 more...". `none` is the text of an empty list. */
export function formatFew(
  items: readonly string[],
  none = "<none>",
  max = 3,
): string {
  if (items.length === 0) return none;
  const shown = items.slice(0, max).join(",");
  return items.length > max
    ? `${shown} + ${items.length - max} more...`
    : shown;
}
