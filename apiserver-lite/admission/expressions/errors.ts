// How several failures are shown as one.

/** `a`, or `[a, b]` without doubles. */
export function errorList(problems: readonly string[]): string {
  const distinct = [...new Set(problems)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(", ")}]`;
}
