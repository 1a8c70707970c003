// Ranges of costs and sizes, as unsigned 64-bit integers that stay at their greatest instead of overflowing.

export interface Range {
  readonly min: number;
  readonly max: number;
}

export const largest = 2 ** 64;
export const one: Range = { min: 1, max: 1 };

const bounded = (value: number): number => Math.min(value, largest);

export function add(left: Range, right: Range): Range {
  return {
    min: bounded(left.min + right.min),
    max: bounded(left.max + right.max),
  };
}

/** The products of the bounds. */
export function scale(left: Range, right: Range): Range {
  return {
    min: product(left.min, right.min),
    max: product(left.max, right.max),
  };
}

const product = (left: number, right: number): number =>
  left === 0 || right === 0 ? 0 : bounded(left * right);

/** Bounds times a factor, rounded up. */
export function times(range: Range, factor: number): Range {
  return {
    min: bounded(Math.ceil(range.min * factor)),
    max: bounded(Math.ceil(range.max * factor)),
  };
}

export function union(left: Range, right: Range): Range {
  return {
    min: Math.min(left.min, right.min),
    max: Math.max(left.max, right.max),
  };
}
