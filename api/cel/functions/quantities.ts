// Quantities of resources ("500m", "1Gi"), exact to the nano.
import type { Library } from "../checking/declarations.ts";
import { method, ofText } from "./opaque.ts";
import { parseQuantity, QuantityError } from "../../quantity.ts";
import { objectType } from "../checking/types.ts";
import { Failure, OpaqueValue, type Result } from "../values/value.ts";

const nanosPerUnit = 1_000_000_000n;
export const quantityType = objectType("kubernetes.Quantity");

class QuantityValue extends OpaqueValue {
  readonly type = quantityType;
  constructor(
    readonly nano: bigint,
    /** Whether it is written in whole units: 1000m is not, though it is one. */
    readonly isWhole: boolean,
  ) {
    super();
  }
  override equals(other: OpaqueValue): boolean {
    return other instanceof QuantityValue && other.nano === this.nano;
  }
}

export function parseQuantityValue(text: string): QuantityValue | Failure {
  try {
    const { nano } = parseQuantity(text);
    return new QuantityValue(nano, isWrittenWhole(text, nano));
  } catch (error) {
    if (error instanceof QuantityError) return new Failure(error.message);
    throw error;
  }
}

/** The reference only looks at the scale in which it holds the number. */
function isWrittenWhole(text: string, nano: bigint): boolean {
  if (nano % nanosPerUnit !== 0n) return false;
  const match =
    /^[+-]?(\d*)(?:\.(\d*))?(?:([numkKMGTPE]i?)|[eE]([+-]?\d+))?$/.exec(text);
  if (!match) return false;
  const [, whole = "", fraction = "", suffix = "", exponent = "0"] = match;
  if (suffix.endsWith("i")) return fraction === "";
  const scale = suffix === "" ? Number(exponent) : scales[suffix];
  if (whole.length + fraction.length > 18) return false;
  return (scale ?? 0) >= fraction.length;
}

const scales: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

const fitsInt = (value: bigint): boolean => BigInt.asIntN(64, value) === value;

const isInteger = ({ nano, isWhole }: QuantityValue): boolean =>
  isWhole && fitsInt(nano / nanosPerUnit);

const plus = (left: QuantityValue, right: QuantityValue, sign = 1n): Result =>
  new QuantityValue(
    left.nano + sign * right.nano,
    left.isWhole && right.isWhole,
  );

const ofInt = (value: bigint): QuantityValue =>
  new QuantityValue(value * nanosPerUnit, true);

const compare = (left: QuantityValue, right: QuantityValue): bigint =>
  left.nano < right.nano ? -1n : left.nano > right.nano ? 1n : 0n;

const name = "kubernetes.Quantity";
const pair = `${name}, ${name}`;

export const quantityLibrary: Library = {
  quantity: [ofText("string_to_quantity", name, parseQuantityValue)],
  isQuantity: [
    ofText(
      "is_quantity_string",
      "bool",
      (text) => !(parseQuantityValue(text) instanceof Failure),
    ),
  ],
  sign: [
    {
      id: "quantity_sign",
      args: name,
      result: "int",
      call: ([quantity]) => compare(quantity as QuantityValue, ofInt(0n)),
    },
  ],
  isGreaterThan: [
    method<QuantityValue>(
      "quantity_is_greater_than",
      pair,
      "bool",
      (left, right: QuantityValue) => left.nano > right.nano,
    ),
  ],
  isLessThan: [
    method<QuantityValue>(
      "quantity_is_less_than",
      pair,
      "bool",
      (left, right: QuantityValue) => left.nano < right.nano,
    ),
  ],
  compareTo: [
    method<QuantityValue>("quantity_compare_to", pair, "int", compare),
  ],
  asApproximateFloat: [
    method<QuantityValue>(
      "quantity_get_float",
      name,
      "double",
      ({ nano }) => Number(nano) / 1e9,
    ),
  ],
  asInteger: [
    method<QuantityValue>("quantity_get_int", name, "int", (quantity) =>
      isInteger(quantity)
        ? quantity.nano / nanosPerUnit
        : new Failure("cannot convert value to integer"),
    ),
  ],
  isInteger: [
    method<QuantityValue>("quantity_is_integer", name, "bool", isInteger),
  ],
  add: [
    method<QuantityValue>(
      "quantity_add",
      pair,
      name,
      (left, right: QuantityValue) => plus(left, right),
    ),
    method<QuantityValue>(
      "quantity_add_int",
      `${name}, int`,
      name,
      (left, right: bigint) => plus(left, ofInt(right)),
    ),
  ],
  sub: [
    method<QuantityValue>(
      "quantity_sub",
      pair,
      name,
      (left, right: QuantityValue) => plus(left, right, -1n),
    ),
    method<QuantityValue>(
      "quantity_sub_int",
      `${name}, int`,
      name,
      (left, right: bigint) => plus(left, ofInt(right), -1n),
    ),
  ],
};
