// A number of a JSON text whose notation holds more than its value: 3.0 is no integer, 1e3 a quantity of its own, and
// digits beyond 2^53 are lost in a double. Readers make one only for such numbers, all others stay plain; decoding into
// a type turns every one into what the type holds, so that stored objects have none.
import { ApiError } from "./errors.ts";

export class ExactNumber {
  constructor(
    /** As JSON writes it. */
    readonly text: string,
  ) {}

  /** The nearest double. Throws NumberOverflow beyond all of them. */
  valueOf(): number {
    const value = Number(this.text);
    if (!Number.isFinite(value)) throw new NumberOverflow(this.text);
    return value;
  }

  toJSON(): number {
    return this.valueOf();
  }
}

/** A number that no double holds; the message is the reference's. */
export class NumberOverflow extends ApiError {
  constructor(text: string) {
    super({
      code: 400,
      reason: "BadRequest",
      message: `json: cannot unmarshal number ${text} into Go value of type float64`,
    });
  }
}

/** Integers of 64 bits are kept as doubles: never one that a reader of 64 bits could not hold. */
const maxInt64 = 2 ** 63 - 1024;

/** The integer that a JSON number is, undefined for fractions, exponents and what does not fit into that many bits. */
export function integerOf(value: unknown, bits: 32 | 64): number | undefined {
  if (value instanceof ExactNumber) {
    if (!/^-?[0-9]+$/.test(value.text)) return undefined;
    const exact = BigInt(value.text);
    if (BigInt.asIntN(bits, exact) !== exact) return undefined;
    return Math.min(Number(exact), maxInt64);
  }
  if (typeof value !== "number") return undefined;
  if (bits === 32) return (value | 0) === value ? value : undefined;
  return Number.isSafeInteger(value)
    ? value
    : Number.isInteger(value) && Math.abs(value) <= 2 ** 63
      ? Math.min(value, maxInt64)
      : undefined;
}

export function hasExactNumbers(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (value instanceof ExactNumber) return true;
  return Object.values(value).some(hasExactNumbers);
}

/** The tree with doubles for exact numbers, changed in place where it has any (shared trees have none). */
export function plainNumbers(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof ExactNumber) return value.valueOf();
  const tree = value as Record<string, unknown>;
  for (const key in tree) {
    const inner = tree[key];
    if (typeof inner !== "object" || inner === null) continue;
    const plain = plainNumbers(inner);
    if (plain !== inner) tree[key] = plain;
  }
  return tree;
}
