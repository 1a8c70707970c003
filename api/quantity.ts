// Resource quantities ("500m", "1Gi", "1e3"): parsed exactly, printed in the reference's canonical form.
// A quantity is held in nano units as a bigint together with the format it was written in, so no precision is lost;
// values finer than a nano are rounded away from zero and values above 2^63-1 are capped, as the reference does.
// Canonical: no fractional digits, the largest suffix that keeps the number whole, no sign unless negative; binary
// quantities under 1024 or with a fraction are printed in decimal.

type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

interface Quantity {
  /** The value times 10^9. */
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

/** What every function here takes: a parsed quantity, its text, or a bare JSON number. */
type QuantityLike = Quantity | string | number;

export class QuantityError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "QuantityError";
  }
}

const wrongFormat =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const wrongSuffix = "unable to parse quantity's suffix";

const giga = 1_000_000_000n;
const maxNano = (2n ** 63n - 1n) * giga;
const maxTextLength = 256;

/** Powers of ten of the decimal suffixes. */
const decimalExponents: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const decimalSuffixes = new Map(
  Object.entries(decimalExponents).map(([suffix, exponent]) => [
    exponent,
    suffix,
  ]),
);
/** Powers of 1024. */
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] as const;

/** No digits at all are 0, as in the reference: sign, whole, fraction, then letters and an exponent's digits, or digits behind a sign alone. */
const grammar =
  /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:([eEinumkKMGTP]+)([-+]?[0-9]*)|([-+][0-9]*))?$/;

/** The last texts that were parsed: a cluster's objects name the same few amounts again and again. */
const recent = new Map<string, Quantity>();
const maxRecent = 256;

/** Throws QuantityError with the reference's text. */
export function parseQuantity(text: string | number): Quantity {
  const source = typeof text === "number" ? String(text) : text;
  const known = recent.get(source);
  if (known) return known;
  const quantity = parsed(source);
  if (recent.size >= maxRecent) recent.clear();
  recent.set(source, quantity);
  return quantity;
}

function parsed(source: string): Quantity {
  if (source.length === 0 || source.length > maxTextLength)
    throw new QuantityError(wrongFormat);
  const match = grammar.exec(source);
  if (!match) throw new QuantityError(wrongFormat);
  const [, sign = "", whole = "", fraction = "", letters = ""] = match;
  const tail = match[5] ?? match[6] ?? "";
  const { base, exponent, format } = suffixOf(letters, tail);

  const numerator = whole.replace(/^0+/, "") || "0";
  let magnitude: bigint;
  let capped = true;
  if (base === 2) {
    const scaled =
      BigInt(numerator + fraction) * giga * (1n << BigInt(exponent));
    magnitude = divideUp(scaled, 10n ** BigInt(fraction.length));
  } else {
    const digits = BigInt(numerator + fraction);
    const scale = exponent - fraction.length + 9;
    // Short numbers keep their value even above the cap; the rest is capped like the reference's slow path.
    capped =
      numerator.length + fraction.length > 18 || scale < 0 || exponent > 60;
    if (digits === 0n) magnitude = 0n;
    else if (scale > 300) magnitude = maxNano + 1n;
    else if (scale >= 0) magnitude = digits * 10n ** BigInt(scale);
    else if (scale < -400) magnitude = 1n;
    else magnitude = divideUp(digits, 10n ** BigInt(-scale));
  }
  if (capped && magnitude > maxNano) magnitude = maxNano;
  const decimal = format === "BinarySI" && magnitude !== 0n && magnitude < giga;
  return {
    nano: sign === "-" ? -magnitude : magnitude,
    format: decimal ? "DecimalSI" : format,
  };
}

function suffixOf(
  letters: string,
  tail: string,
): { base: 2 | 10; exponent: number; format: QuantityFormat } {
  if (tail === "") {
    const decimal = decimalExponents[letters];
    if (decimal !== undefined)
      return { base: 10, exponent: decimal, format: "DecimalSI" };
    const binary = (binarySuffixes as readonly string[]).indexOf(letters);
    if (binary > 0)
      return { base: 2, exponent: binary * 10, format: "BinarySI" };
  } else if (
    (letters === "e" || letters === "E") &&
    /[0-9]/.test(tail) &&
    tail.length < 12
  ) {
    return { base: 10, exponent: Number(tail), format: "DecimalExponent" };
  }
  throw new QuantityError(wrongSuffix);
}

/** Of non-negative numbers, rounded up. */
function divideUp(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return quotient * divisor === value ? quotient : quotient + 1n;
}

function toQuantity(value: QuantityLike): Quantity {
  return typeof value === "object" ? value : parseQuantity(value);
}

/** The canonical text. */
function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return "0";
  const sign = nano < 0n ? "-" : "";
  const magnitude = nano < 0n ? -nano : nano;
  if (
    format === "BinarySI" &&
    magnitude >= 1024n * giga &&
    magnitude % giga === 0n
  ) {
    let value = magnitude / giga;
    let power = 0;
    while (power < binarySuffixes.length - 1 && value % 1024n === 0n) {
      value /= 1024n;
      power++;
    }
    return `${sign}${value}${binarySuffixes[power]}`;
  }
  let value = magnitude;
  let exponent = -9;
  const largest = format === "DecimalExponent" ? Number.POSITIVE_INFINITY : 18;
  while (exponent < largest && value % 1000n === 0n) {
    value /= 1000n;
    exponent += 3;
  }
  if (format === "DecimalExponent")
    return `${sign}${value}${exponent === 0 ? "" : `e${exponent}`}`;
  return `${sign}${value}${decimalSuffixes.get(exponent) ?? ""}`;
}

/** Parse and print; throws QuantityError. */
export function canonicalQuantity(text: string | number): string {
  return formatQuantity(parseQuantity(text));
}

function roundedAwayFromZero(nano: bigint, unit: bigint): number {
  const quotient = divideUp(nano < 0n ? -nano : nano, unit);
  return Number(nano < 0n ? -quotient : quotient);
}

/** Whole units, rounded away from zero. */
export function quantityValue(quantity: QuantityLike): number {
  return roundedAwayFromZero(toQuantity(quantity).nano, giga);
}

/** Thousandths, rounded away from zero: millicores of a CPU quantity. */
export function quantityMilliValue(quantity: QuantityLike): number {
  return roundedAwayFromZero(toQuantity(quantity).nano, 1_000_000n);
}

/** A sum keeps the format of the first operand that is not zero. */
export function addQuantities(left: QuantityLike, right: QuantityLike): string {
  const [a, b] = [toQuantity(left), toQuantity(right)];
  return formatQuantity({
    nano: a.nano + b.nano,
    format: a.nano === 0n ? b.format : a.format,
  });
}

/** In the format of the first operand that is not zero, as the sum. */
export function subtractQuantities(
  left: QuantityLike,
  right: QuantityLike,
): string {
  const [a, b] = [toQuantity(left), toQuantity(right)];
  return formatQuantity({
    nano: a.nano - b.nano,
    format: a.nano === 0n ? b.format : a.format,
  });
}

export function compareQuantities(
  left: QuantityLike,
  right: QuantityLike,
): -1 | 0 | 1 {
  const [a, b] = [toQuantity(left).nano, toQuantity(right).nano];
  return a < b ? -1 : a > b ? 1 : 0;
}
