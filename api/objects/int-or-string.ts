// Numbers that may be percentages: maxSurge, maxUnavailable, minAvailable.

/** `5`, `"5"` or `"25%"` of total, rounded up or down; undefined counts as 0. Throws on anything else. */
export function scaledValue(
  value: number | string | undefined,
  total: number,
  round: "up" | "down",
): number {
  if (value === undefined) return 0;
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(value);
  if (percent) {
    const exact = (Number(percent[1]) * total) / 100;
    return round === "up" ? Math.ceil(exact) : Math.floor(exact);
  }
  if (/^\d+$/.test(value)) return Number(value);
  throw new Error(`"${value}" is neither a number nor a percentage`);
}
