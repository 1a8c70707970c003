// The standard functions: conversions, sizes, tests of strings. Functions of time are in times.ts.
import type { Library, OverloadText } from "../checking/declarations.ts";
import type { Activation } from "../evaluation/activation.ts";
import { compilePattern } from "./patterns.ts";
import { checkedInt, checkedTimestamp, checkedUint } from "./operators.ts";
import { formatDouble } from "../values/text.ts";
import {
  floorDivide,
  formatSeconds,
  formatTimestamp,
  inRange,
  nanosPerSecond,
  parseGoDuration,
  parseTimestamp,
} from "../values/time.ts";
import {
  Duration,
  Failure,
  sizeOf,
  TypeValue,
  typeOf,
  Uint,
  type Result,
  type Timestamp,
  type Value,
} from "../values/value.ts";

type Convert<T extends Value> = (value: T) => Result;

/** An overload of one argument. */
function from<T extends Value>(
  id: string,
  args: string,
  result: string,
  convert: Convert<T>,
): OverloadText {
  return { id, args, result, call: ([value]) => convert(value as T) };
}

const same = (value: Value): Value => value;

/** The text could not be read as the type. */
const notA = (type: string): Failure =>
  new Failure(`type conversion error from 'string' to '${type}'`);

function doubleToInt(value: number): Result {
  if (!Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 63)
    return new Failure("integer overflow");
  return BigInt(Math.trunc(value));
}

function doubleToUint(value: number): Result {
  if (!Number.isFinite(value) || value < 0 || value >= 2 ** 64)
    return new Failure("unsigned integer overflow");
  return new Uint(BigInt(Math.trunc(value)));
}

function stringToInt(text: string): Result {
  if (!/^[+-]?\d{1,400}$/.test(text)) return notA("int");
  const value = checkedInt(BigInt(text.replace(/^\+/, "")));
  return value instanceof Failure ? notA("int") : value;
}

function stringToUint(text: string): Result {
  if (!/^\d{1,400}$/.test(text)) return notA("uint");
  const value = checkedUint(BigInt(text));
  return value instanceof Failure ? notA("uint") : value;
}

function stringToDouble(text: string): Result {
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special)
    return special[2]?.toLowerCase() === "nan"
      ? NaN
      : special[1] === "-"
        ? -Infinity
        : Infinity;
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text))
    return notA("double");
  const value = Number(text);
  return Number.isFinite(value) ? value : notA("double");
}

function stringToBool(text: string): Result {
  if (/^(?:1|t|T|true|TRUE|True)$/.test(text)) return true;
  if (/^(?:0|f|F|false|FALSE|False)$/.test(text)) return false;
  return notA("bool");
}

function stringToTimestamp(text: string): Result {
  const value = parseTimestamp(text);
  if (!value) return notA("google.protobuf.Timestamp");
  return inRange(value) ? value : new Failure("timestamp overflow");
}

function bytesToString(bytes: Uint8Array): Result {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      bytes,
    );
  } catch {
    return new Failure("invalid UTF-8 in bytes, cannot convert to string");
  }
}

const size = (value: Value): bigint => BigInt(sizeOf(value));

function sizes(): OverloadText[] {
  const types: [string, string][] = [
    ["bytes", "bytes"],
    ["list", "list(A)"],
    ["map", "map(A, B)"],
    ["string", "string"],
  ];
  return types.flatMap(([name, type]): OverloadText[] => [
    from(`size_${name}`, type, "int", size),
    { ...from(`${name}_size`, type, "int", size), member: true },
  ]);
}

/** An overload called on a string with another one. */
function textTest(
  id: string,
  test: (text: string, other: string, activation: Activation) => Result,
): OverloadText {
  return {
    id,
    member: true,
    args: "string, string",
    result: "bool",
    call: ([text, other], activation) =>
      test(text as string, other as string, activation),
  };
}

function matches(
  text: string,
  pattern: string,
  activation: Activation,
): Result {
  const compiled = compilePattern(pattern);
  return compiled instanceof Failure
    ? compiled
    : compiled.test(text, activation);
}

export const standardLibrary: Library = {
  size: sizes(),
  type: [from("type", "A", "type(A)", (value) => new TypeValue(typeOf(value)))],
  bool: [
    from("bool_to_bool", "bool", "bool", same),
    from("string_to_bool", "string", "bool", stringToBool),
  ],
  bytes: [
    from("bytes_to_bytes", "bytes", "bytes", same),
    from("string_to_bytes", "string", "bytes", (text: string) =>
      Buffer.from(text),
    ),
  ],
  double: [
    from("double_to_double", "double", "double", same),
    from("int64_to_double", "int", "double", (value: bigint) => Number(value)),
    from("string_to_double", "string", "double", stringToDouble),
    from("uint64_to_double", "uint", "double", (value: Uint) =>
      Number(value.value),
    ),
  ],
  duration: [
    from("duration_to_duration", "duration", "duration", same),
    from(
      "int64_to_duration",
      "int",
      "duration",
      (n: bigint) => new Duration(n),
    ),
    from(
      "string_to_duration",
      "string",
      "duration",
      (text: string) =>
        parseGoDuration(text) ?? notA("google.protobuf.Duration"),
    ),
  ],
  dyn: [from("to_dyn", "A", "dyn", same)],
  int: [
    from("int64_to_int64", "int", "int", same),
    from("double_to_int64", "double", "int", doubleToInt),
    from("duration_to_int64", "duration", "int", (d: Duration) => d.nanos),
    from("string_to_int64", "string", "int", stringToInt),
    from("timestamp_to_int64", "timestamp", "int", (time: Timestamp) =>
      floorDivide(time.nanos, nanosPerSecond),
    ),
    from("uint64_to_int64", "uint", "int", (u: Uint) => checkedInt(u.value)),
  ],
  string: [
    from("string_to_string", "string", "string", same),
    from("bool_to_string", "bool", "string", String),
    from("bytes_to_string", "bytes", "string", bytesToString),
    from("double_to_string", "double", "string", formatDouble),
    from("duration_to_string", "duration", "string", formatSeconds),
    from("int64_to_string", "int", "string", String),
    from("timestamp_to_string", "timestamp", "string", formatTimestamp),
    from("uint64_to_string", "uint", "string", (u: Uint) => String(u.value)),
  ],
  timestamp: [
    from("timestamp_to_timestamp", "timestamp", "timestamp", same),
    from("int64_to_timestamp", "int", "timestamp", (seconds: bigint) =>
      checkedTimestamp(seconds * nanosPerSecond),
    ),
    from("string_to_timestamp", "string", "timestamp", stringToTimestamp),
  ],
  uint: [
    from("uint64_to_uint64", "uint", "uint", same),
    from("double_to_uint64", "double", "uint", doubleToUint),
    from("int64_to_uint64", "int", "uint", checkedUint),
    from("string_to_uint64", "string", "uint", stringToUint),
  ],
  contains: [textTest("contains_string", (text, part) => text.includes(part))],
  endsWith: [textTest("ends_with_string", (text, end) => text.endsWith(end))],
  startsWith: [
    textTest("starts_with_string", (text, start) => text.startsWith(start)),
  ],
  matches: [
    {
      id: "matches",
      args: "string, string",
      result: "bool",
      call: ([text, pattern], activation) =>
        matches(text as string, pattern as string, activation),
    },
    textTest("matches_string", matches),
  ],
};
