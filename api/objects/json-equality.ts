// Equality of plain JSON trees, where a field that is undefined counts as absent.

export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (
    typeof a !== "object" ||
    typeof b !== "object" ||
    a === null ||
    b === null ||
    Array.isArray(a) !== Array.isArray(b)
  )
    return false;
  if (Array.isArray(a) && Array.isArray(b))
    return (
      a.length === b.length &&
      a.every((item, index) => sameJson(item, (b as unknown[])[index]))
    );
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const key in left) if (!sameJson(left[key], right[key])) return false;
  for (const key in right)
    if (right[key] !== undefined && left[key] === undefined) return false;
  return true;
}
