// Sets of indexes as jobs write them: "0,2-4,7". Ascending, without gaps or overlaps inside, each below the completions.

type Interval = readonly [first: number, last: number];

export class IndexError extends Error {}

/** Throws IndexError with the reference's text. The empty text is the empty set. */
export function parseIndexes(text: string, completions: number): Interval[] {
  if (text === "") return [];
  let previous = -1;
  return text.split(",").map((part) => {
    const ends = part.split("-");
    if (ends.length > 2)
      throw new IndexError(
        `the fragment ${JSON.stringify(part)} violates the requirement that an index interval can have at most two parts separated by '-'`,
      );
    const [first, last] = ends.map((end) => {
      if (!/^[-+]?[0-9]+$/.test(end))
        throw new IndexError(
          `cannot convert string to integer for index: ${JSON.stringify(end)}`,
        );
      if (Number(end) >= completions)
        throw new IndexError(`too large index: ${JSON.stringify(end)}`);
      return Number(end);
    }) as [number, number | undefined];
    if (previous >= first)
      throw new IndexError(
        `non-increasing order, previous: ${previous}, current: ${first}`,
      );
    previous = last ?? first;
    if (last !== undefined && first >= last)
      throw new IndexError(
        `non-increasing order, previous: ${first}, current: ${last}`,
      );
    return [first, previous] as const;
  });
}

export const countIndexes = (intervals: readonly Interval[]): number =>
  intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0);

/** The lowest index that is in both. */
export function sharedIndex(
  left: readonly Interval[],
  right: readonly Interval[],
): number | undefined {
  for (const [first, last] of left)
    for (const [from, to] of right)
      if (first <= to && from <= last) return Math.max(first, from);
  return undefined;
}

/** What is wrong with the text, or undefined. */
export function indexesProblem(
  text: string,
  completions: number,
): string | undefined {
  try {
    parseIndexes(text, completions);
    return undefined;
  } catch (error) {
    if (error instanceof IndexError) return error.message;
    throw error;
  }
}
