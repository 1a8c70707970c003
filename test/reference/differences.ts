// Where two recordings differ, as lines a reader can act on: `label: path: reference → ours`.
import type { Json, Shown } from "./normalise.ts";
import type { Recording } from "./scenario.ts";

/** A scenario may keep the list under any name. */
const isManagedFields = (value: Json): boolean =>
  Array.isArray(value) && value.some((entry) => entry?.fieldsType);

/** Entries of one second stand in the order of their names, those of two in that of time: the order is the clock's. */
function inFixedOrder(value: Json): Json {
  if (!isManagedFields(value)) return value;
  const name = ({
    manager,
    operation,
    subresource,
    apiVersion,
  }: Json): string => [manager, operation, subresource, apiVersion].join(" ");
  return [...value].sort((a, b) => (name(a) < name(b) ? -1 : 1));
}

function walk(
  path: string,
  expected: Json,
  found: Json,
  lines: string[],
): void {
  if (Object.is(expected, found)) return;
  const structured = (value: Json): boolean =>
    value !== null && typeof value === "object";
  if (
    structured(expected) &&
    structured(found) &&
    Array.isArray(expected) === Array.isArray(found)
  ) {
    const one = inFixedOrder(expected);
    const other = inFixedOrder(found);
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)]))
      walk(`${path}.${key}`, one[key], other[key], lines);
    return;
  }
  const shown = (value: Json): string =>
    value === undefined ? "nothing" : JSON.stringify(value);
  lines.push(`${path}: ${shown(expected)} → ${shown(found)}`);
}

/**
 * What is wrong with a request is the asker's: where the reference answers it with 500, a 4xx with the same words is
 * meant.
 */
function isRefusedElsewhere(expected?: Shown, found?: Shown): boolean {
  const words = ({ body }: Shown): unknown =>
    typeof body === "string"
      ? body
      : (body?.message ?? body?.status?.replace(/^\d+ \w* ?: /, ""));
  return (
    expected?.status === 500 &&
    found !== undefined &&
    Math.floor(found.status / 100) === 4 &&
    words(expected) === words(found)
  );
}

/** Empty when the recordings are alike. */
export function differences(expected: Recording, found: Recording): string[] {
  const lines: string[] = [];
  for (const label of new Set([
    ...Object.keys(expected),
    ...Object.keys(found),
  ]))
    if (!isRefusedElsewhere(expected[label], found[label]))
      walk(label, expected[label], found[label], lines);
  return lines;
}
