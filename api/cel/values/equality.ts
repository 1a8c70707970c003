// Equality and order of values. Numbers compare by what they are worth, whatever their types; values of different
// other types are unequal; comparing them by order fails.
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
  if (left instanceof ListValue)
    return right instanceof ListValue && equalLists(left, right);
  if (left instanceof MapValue)
    return right instanceof MapValue && equalMaps(left, right);
  return equalScalars(left, right);
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
  equalTo(other: ListValue): boolean | Failure;
}

interface ComparesAsMap {
  equalTo(other: MapValue): boolean | Failure;
}

function equalLists(left: ListValue, right: ListValue): boolean | Failure {
  if (left.size !== right.size) return false;
  if ("equalTo" in left)
    return (left as ComparesAsList & ListValue).equalTo(right);
  for (let index = 0; index < left.size; index++) {
    const same = equalResults(left.at(index), right.at(index));
    if (same !== true) return same;
  }
  return true;
}

function equalMaps(left: MapValue, right: MapValue): boolean | Failure {
  if ("equalTo" in left)
    return (left as ComparesAsMap & MapValue).equalTo(right);
  if (left.size !== right.size) return false;
  for (const key of left.keys()) {
    const other = right.get(key);
    if (other === undefined) return false;
    const same = equalResults(left.get(key) as Result, other);
    if (same !== true) return same;
  }
  return true;
}

function equalResults(left: Result, right: Result): boolean | Failure {
  if (left instanceof Failure) return left;
  if (right instanceof Failure) return right;
  return equal(left, right);
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
