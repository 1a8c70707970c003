// The cells that are not plain fields: ages, lists and label maps as tables show them.
import { humanDuration } from "../../api/duration.ts";

/** "5s", "3m20s", "4d2h"; "<unknown>" without a time. `now` in milliseconds since the epoch. */
export function formatAge(
  timestamp: string | null | undefined,
  now: number,
): string {
  return timestamp ? humanDuration(now - Date.parse(timestamp)) : "<unknown>";
}

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

/** Three items, then " + 2 more...". `none` stands for an empty list. */
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
