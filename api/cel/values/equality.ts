// Equality and order of values. Numbers compare by what they are worth, whatever their types; values of different
// other types are unequal; comparing them by order fails. Lists and maps are compared in steps, which small ones take at
// once.
import { finish, Pace, type Steps } from "../../queueing/steps.ts";
import {
  Duration,
  Failure,
  ListValue,
  MapValue,
  noSuchOverload,
  OpaqueValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Result,
  type Value,
} from "./value.ts";

/** What an int, uint or double is worth; undefined for other values. */
function numeric(value: Value): bigint | number | undefined {
  if (typeof value === "bigint" || typeof value === "number") return value;
  return value instanceof Uint ? value.value : undefined;
}

/** A failure where an element cannot be read. */
export function equal(left: Value, right: Value): boolean | Failure {
  if (left === right) return true;
  if (typeof left === "string" || left === null || typeof left === "boolean")
    return false;
  const number = numeric(left);
  if (number !== undefined) {
    const other = numeric(right);
    // An int and a double compare exactly this way, never by conversion.
    return other !== undefined && number == other;
  }
  if (left instanceof ListValue || left instanceof MapValue)
    return finish(comparing(left, right, new Pace()));
  return equalScalars(left, right);
}

/** The same in steps. */
export function comparing(
  left: Result,
  right: Result,
  pace: Pace,
): Steps<boolean | Failure> {
  if (left instanceof ListValue && right instanceof ListValue)
    return comparingLists(left, right, pace);
  if (left instanceof MapValue && right instanceof MapValue)
    return "comparingTo" in left
      ? (left as ComparesAsMap & MapValue).comparingTo(right, pace)
      : comparingMaps(left, right, pace);
  return compared(left, right);
}

// oxlint-disable-next-line require-yield
function* compared(left: Result, right: Result): Steps<boolean | Failure> {
  if (left instanceof Failure) return left;
  if (right instanceof Failure) return right;
  // One of the two has no parts.
  const isPart = left instanceof ListValue || left instanceof MapValue;
  return !isPart && equal(left, right);
}

function equalScalars(left: Value, right: Value): boolean | Failure {
  if (left instanceof Uint8Array)
    return right instanceof Uint8Array && Buffer.compare(left, right) === 0;
  if (left instanceof Timestamp)
    return right instanceof Timestamp && left.nanos === right.nanos;
  if (left instanceof Duration)
    return right instanceof Duration && left.nanos === right.nanos;
  if (left instanceof TypeValue)
    return right instanceof TypeValue && left.type.name === right.type.name;
  if (left instanceof Optional) {
    if (!(right instanceof Optional)) return false;
    if (left.value === undefined || right.value === undefined)
      return left.value === right.value;
    return equal(left.value, right.value);
  }
  if (!(left instanceof OpaqueValue)) return false;
  return right instanceof OpaqueValue && left.type.name === right.type.name
    ? left.equals(right)
    : noSuchOverload;
}

/** Lists of JSON that are sets or maps of their keys, and objects of a schema, compare as such. */
export interface ComparesAsList {
  comparingTo(other: ListValue, pace: Pace): Steps<boolean | Failure>;
}

interface ComparesAsMap {
  comparingTo(other: MapValue, pace: Pace): Steps<boolean | Failure>;
}

/** What has no parts needs no steps of its own. */
export const isPlain = (value: Result): value is Value =>
  typeof value !== "object" || value === null;

function* comparingLists(
  left: ListValue,
  right: ListValue,
  pace: Pace,
): Steps<boolean | Failure> {
  if (left.size !== right.size) return false;
  if (pace.isOver()) yield;
  if ("comparingTo" in left)
    return yield* (left as ComparesAsList & ListValue).comparingTo(right, pace);
  for (let index = 0; index < left.size; index++) {
    const mine = left.at(index);
    const theirs = right.at(index);
    if (isPlain(mine) && isPlain(theirs)) {
      if (equal(mine, theirs) !== true) return false;
      if (pace.isOver()) yield;
      continue;
    }
    const same = yield* comparing(mine, theirs, pace);
    if (same !== true) return same;
  }
  return true;
}

function* comparingMaps(
  left: MapValue,
  right: MapValue,
  pace: Pace,
): Steps<boolean | Failure> {
  if (left.size !== right.size) return false;
  if (pace.isOver()) yield;
  for (const key of left.keys()) {
    const theirs = right.get(key);
    if (theirs === undefined) return false;
    const mine = left.get(key) as Result;
    if (isPlain(mine) && isPlain(theirs)) {
      if (equal(mine, theirs) !== true) return false;
      if (pace.isOver()) yield;
      continue;
    }
    const same = yield* comparing(mine, theirs, pace);
    if (same !== true) return same;
  }
  return true;
}

/** Whether an element is in a list; the first failure where none is. */
export function* including(
  list: ListValue,
  wanted: Value,
  pace: Pace,
): Steps<boolean | Failure> {
  let failure: Failure | undefined;
  for (let index = 0; index < list.size; index++) {
    const element = list.at(index);
    let same: boolean | Failure;
    if (isPlain(element) && isPlain(wanted)) {
      same = equal(element, wanted);
      if (pace.isOver()) yield;
    } else same = yield* comparing(element, wanted, pace);
    if (same === true) return true;
    if (same instanceof Failure) failure ??= same;
  }
  return failure ?? false;
}

/** Below, equal or above zero; a failure where the two have no order. */
export function compare(left: Value, right: Value): number | Failure {
  const number = numeric(left);
  if (number !== undefined) {
    const other = numeric(right);
    if (other === undefined) return new Failure("no such overload");
    if (Number.isNaN(number) || Number.isNaN(other))
      return new Failure("NaN values cannot be ordered");
    return number < other ? -1 : number > other ? 1 : 0;
  }
  if (typeof left === "string" && typeof right === "string")
    return compareText(left, right);
  if (typeof left === "boolean" && typeof right === "boolean")
    return Number(left) - Number(right);
  if (left instanceof Uint8Array && right instanceof Uint8Array)
    return Buffer.compare(left, right);
  if (
    (left instanceof Timestamp && right instanceof Timestamp) ||
    (left instanceof Duration && right instanceof Duration)
  )
    return left.nanos < right.nanos ? -1 : left.nanos > right.nanos ? 1 : 0;
  return new Failure("no such overload");
}

/** By code points, which is the order of UTF-8 bytes; UTF-16 units order surrogates elsewhere. */
function compareText(left: string, right: string): number {
  if (left === right) return 0;
  const end = Math.min(left.length, right.length);
  for (let at = 0; at < end; at++) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a === b) continue;
    const surrogate = (unit: number): boolean =>
      unit >= 0xd800 && unit <= 0xdfff;
    if (surrogate(a) !== surrogate(b)) return surrogate(a) ? 1 : -1;
    return a - b;
  }
  return left.length - right.length;
}
