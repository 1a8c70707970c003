// Times of the stats summary: exact for /metrics/resource, whose readers divide what was used by the time between two of
// them, and in whole seconds in the summary itself, as the reference writes them.

/** The same with every time cut to seconds. */
export function inWholeSeconds(value: unknown, name = ""): unknown {
  if (typeof value === "string")
    return name === "time" || name === "startTime"
      ? value.replace(/\.\d+Z$/, "Z")
      : value;
  if (Array.isArray(value)) return value.map((item) => inWholeSeconds(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      inWholeSeconds(field, key),
    ]),
  );
}
