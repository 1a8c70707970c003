// The operators over values, whatever their static types: the reference decides by the values too. Integers are 64
// bits wide and fail when they overflow.
import { compare, comparing, equal, including } from "../values/equality.ts";
import type { JoinsInSteps } from "../values/json.ts";
import { isLarge } from "../values/weight.ts";
import { finish, Pace, type Steps } from "../../queueing/steps.ts";
import { inRange } from "../values/time.ts";
import {
  Duration,
  Failure,
  ListValue,
  MapValue,
  noSuchOverload,
  Optional,
  Timestamp,
  typeOf,
  Uint,
  type Result,
  type Value,
} from "../values/value.ts";

type Binary = (left: Value, right: Value) => Result;

const intOverflow = new Failure("integer overflow");
const uintOverflow = new Failure("unsigned integer overflow");
const timestampOverflow = new Failure("timestamp overflow");

export const checkedInt = (value: bigint): Result =>
  BigInt.asIntN(64, value) === value ? value : intOverflow;

export const checkedUint = (value: bigint): Result =>
  BigInt.asUintN(64, value) === value ? new Uint(value) : uintOverflow;

const checkedDuration = (nanos: bigint): Result =>
  BigInt.asIntN(64, nanos) === nanos ? new Duration(nanos) : intOverflow;

export function checkedTimestamp(nanos: bigint): Result {
  const value = new Timestamp(nanos);
  return inRange(value) ? value : timestampOverflow;
}

/** Sums of everything that has some. */
export function add(left: Value, right: Value): Result {
  if (typeof left === "bigint")
    return typeof right === "bigint"
      ? checkedInt(left + right)
      : noSuchOverload;
  if (typeof left === "string")
    return typeof right === "string" ? left + right : noSuchOverload;
  if (typeof left === "number")
    return typeof right === "number" ? left + right : noSuchOverload;
  if (left instanceof ListValue)
    return right instanceof ListValue ? left.concat(right) : noSuchOverload;
  if (left instanceof Duration) {
    if (right instanceof Duration)
      return checkedDuration(left.nanos + right.nanos);
    if (right instanceof Timestamp)
      return checkedTimestamp(left.nanos + right.nanos);
  }
  if (left instanceof Timestamp && right instanceof Duration)
    return checkedTimestamp(left.nanos + right.nanos);
  if (left instanceof Uint && right instanceof Uint)
    return checkedUint(left.value + right.value);
  if (left instanceof Uint8Array && right instanceof Uint8Array)
    return Buffer.concat([left, right]);
  return noSuchOverload;
}

function subtract(left: Value, right: Value): Result {
  if (typeof left === "bigint" && typeof right === "bigint")
    return checkedInt(left - right);
  if (typeof left === "number" && typeof right === "number")
    return left - right;
  if (left instanceof Duration && right instanceof Duration)
    return checkedDuration(left.nanos - right.nanos);
  if (left instanceof Timestamp) {
    if (right instanceof Duration)
      return checkedTimestamp(left.nanos - right.nanos);
    if (right instanceof Timestamp)
      return checkedDuration(left.nanos - right.nanos);
  }
  if (left instanceof Uint && right instanceof Uint)
    return checkedUint(left.value - right.value);
  return noSuchOverload;
}

/** An operator of numbers of one type. */
function arithmetic(
  ints: (left: bigint, right: bigint) => bigint | Failure,
  doubles?: (left: number, right: number) => number,
): Binary {
  return (left, right) => {
    if (typeof left === "bigint" && typeof right === "bigint") {
      const value = ints(left, right);
      return typeof value === "bigint" ? checkedInt(value) : value;
    }
    if (doubles && typeof left === "number" && typeof right === "number")
      return doubles(left, right);
    if (left instanceof Uint && right instanceof Uint) {
      const value = ints(left.value, right.value);
      return typeof value === "bigint" ? checkedUint(value) : value;
    }
    return noSuchOverload;
  };
}

/** An operator of what has an order. */
function ordered(test: (order: number) => boolean): Binary {
  return (left, right) => {
    if (typeof left === "bigint" && typeof right === "bigint")
      return test(left < right ? -1 : left > right ? 1 : 0);
    const order = compare(left, right);
    return typeof order === "number" ? test(order) : order;
  };
}

const divisionByZero = new Failure("division by zero");
const modulusByZero = new Failure("modulus by zero");

/** `element in container`. */
function contains(element: Value, container: Value): Result {
  if (container instanceof MapValue) {
    const found = container.get(element);
    return found instanceof Failure ? found : found !== undefined;
  }
  if (!(container instanceof ListValue)) return noSuchOverload;
  return finish(including(container, element, new Pace()));
}

/** What takes long, in steps; undefined for values that it does not take long for. */
type LongBinary = (left: Value, right: Value) => Steps<Result> | undefined;

const comparingLong: LongBinary = (left, right) =>
  isLarge(left) && isLarge(right)
    ? comparing(left, right, new Pace())
    : undefined;

function* negated(steps: Steps<Result>): Steps<Result> {
  const same = yield* steps;
  return typeof same === "boolean" ? !same : same;
}

export const longOperators: Readonly<Record<string, LongBinary | undefined>> = {
  "_==_": comparingLong,
  "_!=_"(left, right) {
    const steps = comparingLong(left, right);
    return steps && negated(steps);
  },
  "_+_": (left, right) =>
    joins(left) &&
    right instanceof ListValue &&
    left.size + right.size > maxJoinedAtOnce
      ? left.joining(right, new Pace())
      : undefined,
  "@in": (element, container) =>
    container instanceof ListValue && isLarge(container)
      ? including(container, element, new Pace())
      : undefined,
};

const maxJoinedAtOnce = 1000;

const joins = (value: Value): value is ListValue & JoinsInSteps =>
  value instanceof ListValue && "joining" in value;

/** `container[key]`; of an optional container, an optional element. */
export function index(container: Value, key: Value): Result {
  if (container instanceof Optional) {
    if (container.value === undefined) return Optional.none;
    const found = index(container.value, key);
    return found instanceof Failure ? found : new Optional(found);
  }
  const found = find(container, key);
  if (found !== undefined) return found;
  return container instanceof ListValue
    ? new Failure(`index out of bounds: ${showKey(key)}`)
    : new Failure(`no such key: ${showKey(key)}`);
}

/** `container[?key]`: none where there is no such element. */
function optionalIndex(container: Value, key: Value): Result {
  const inner = container instanceof Optional ? container.value : container;
  if (inner === undefined) return Optional.none;
  const found = find(inner, key);
  if (found === undefined) return Optional.none;
  return found instanceof Failure ? found : new Optional(found);
}

function find(container: Value, key: Value): Result | undefined {
  if (container instanceof MapValue) return container.get(key);
  if (!(container instanceof ListValue)) return undefined;
  const number = key instanceof Uint ? key.value : key;
  if (typeof number !== "bigint" && typeof number !== "number")
    return new Failure(`unsupported index type '${typeOf(key).name}' in list`);
  const place = Number(number);
  if (!Number.isInteger(place))
    return new Failure(`unsupported index value ${showKey(key)} in list`);
  return place >= 0 && place < container.size ? container.at(place) : undefined;
}

/** A key in messages. */
function showKey(key: Value): string {
  return key instanceof Uint ? String(key.value) : String(key);
}

/** Operators of two values; `&&`, `||` and `?:` are not among them, as they look at failures. */
export const binaryOperators: Readonly<Record<string, Binary>> = {
  "_==_": equal,
  "_!=_"(left, right) {
    const same = equal(left, right);
    return typeof same === "boolean" ? !same : same;
  },
  "_<_": ordered((order) => order < 0),
  "_<=_": ordered((order) => order <= 0),
  "_>_": ordered((order) => order > 0),
  "_>=_": ordered((order) => order >= 0),
  "_+_": add,
  "_-_": subtract,
  "_*_": arithmetic(
    (left, right) => left * right,
    (left, right) => left * right,
  ),
  "_/_": arithmetic(
    (left, right) => (right === 0n ? divisionByZero : left / right),
    (left, right) => left / right,
  ),
  "_%_": arithmetic((left, right) =>
    right === 0n ? modulusByZero : left % right,
  ),
  "@in": contains,
  "_[_]": index,
  "_[?_]": optionalIndex,
};

export const unaryOperators: Readonly<
  Record<string, (operand: Value) => Result>
> = {
  "!_": (operand) => (typeof operand === "boolean" ? !operand : noSuchOverload),
  "-_"(operand) {
    if (typeof operand === "bigint") return checkedInt(-operand);
    if (typeof operand === "number") return -operand;
    return operand instanceof Duration
      ? checkedDuration(-operand.nanos)
      : noSuchOverload;
  },
};
