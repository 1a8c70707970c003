// `"…%s…".format([…])`: clauses %s %d %f %e %b %x %X %o with a precision for %f and %e, and %%. Failures have the
// reference's texts; a constant format is checked against its arguments when an expression is compiled.
import type { OverloadText } from "../../checking/declarations.ts";
import { CostExceeded } from "../../evaluation/cost-exceeded.ts";
import { finish, Pace, type Steps } from "../../../queueing/steps.ts";
import { sorting } from "../../../queueing/sorting.ts";
import { isLarge } from "../../values/weight.ts";
import { Joined, maxResultLength } from "./joined.ts";
import { formatDouble } from "../../values/text.ts";
import { formatSeconds, formatTimestamp } from "../../values/time.ts";
import {
  Duration,
  Failure,
  ListValue,
  MapValue,
  Timestamp,
  TypeValue,
  typeOf,
  Uint,
  type Result,
  type Value,
} from "../../values/value.ts";

/** The message is the failure's. */
export class FormatError extends Error {}

type Clause = "s" | "d" | "f" | "e" | "b" | "x" | "X" | "o";

/** What each clause takes, and how it says so. */
export const clauseTypes: Readonly<
  Record<Clause, { kinds: readonly string[]; problem: string }>
> = {
  s: {
    kinds: [
      ...["list", "map", "int", "uint", "double", "bool", "string"],
      ...["timestamp", "bytes", "duration", "type", "null"],
    ],
    problem:
      "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given",
  },
  d: {
    kinds: ["int", "uint"],
    problem: "decimal clause can only be used on integers, was given",
  },
  f: {
    kinds: ["double", "string"],
    problem: "fixed-point clause can only be used on doubles, was given",
  },
  e: {
    kinds: ["double", "string"],
    problem: "scientific clause can only be used on doubles, was given",
  },
  b: {
    kinds: ["int", "uint", "bool"],
    problem: "only integers and bools can be formatted as binary, was given",
  },
  x: {
    kinds: ["int", "uint", "string", "bytes"],
    problem:
      "only integers, byte buffers, and strings can be formatted as hex, was given",
  },
  X: {
    kinds: ["int", "uint", "string", "bytes"],
    problem:
      "only integers, byte buffers, and strings can be formatted as hex, was given",
  },
  o: {
    kinds: ["int", "uint"],
    problem: "octal clause can only be used on integers, was given",
  },
};

interface Show {
  show(clause: Clause, precision: number, index: number): Steps<string>;
}

/**
 * Goes through the clauses of a format; returns the text and how many arguments it took. Throws FormatError for what
 * is no clause, and what `show` throws.
 */
function* eachClause(
  format: string,
  argumentCount: number,
  shown: Show,
): Steps<{ text: string; used: number }> {
  let text = "";
  let used = 0;
  let from = 0;
  for (;;) {
    const at = format.indexOf("%", from);
    text += format.slice(from, at < 0 ? undefined : at);
    if (at < 0) return { text, used };
    if (format[at + 1] === "%") {
      text += "%";
      from = at + 2;
      continue;
    }
    if (used >= argumentCount)
      throw new FormatError(`index ${used} out of range`);
    if (at + 1 >= format.length)
      throw new FormatError("unexpected end of string");
    const { clause, precision, end } = readClause(format, at + 1);
    text += yield* shown.show(clause, precision, used);
    if (text.length > maxResultLength) throw new CostExceeded();
    used++;
    from = end;
  }
}

function readClause(
  format: string,
  start: number,
): { clause: Clause; precision: number; end: number } {
  let end = start;
  let precision = 6;
  if (format[end] === ".") {
    end++;
    const from = end;
    while (/[0-9]/.test(format[end] ?? "")) end++;
    const parsing =
      "could not parse formatting clause: error while parsing precision: ";
    if (end >= format.length)
      throw new FormatError(
        `${parsing}could not find end of precision specifier`,
      );
    const digits = format.slice(from, end);
    if (digits === "" || digits.length > 18)
      throw new FormatError(
        `${parsing}error while converting precision to integer: strconv.Atoi: parsing ${JSON.stringify(digits)}: ${digits === "" ? "invalid syntax" : "value out of range"}`,
      );
    precision = Number(digits);
  }
  const clause = format[end] as string;
  if (!Object.hasOwn(clauseTypes, clause))
    throw new FormatError(
      `could not parse formatting clause: unrecognized formatting clause "${clause}"`,
    );
  return { clause: clause as Clause, precision, end: end + 1 };
}

class CheckedArguments implements Show {
  constructor(
    private readonly check: (clause: Clause, index: number) => void,
  ) {}

  // oxlint-disable-next-line require-yield
  *show(clause: Clause, _precision: number, index: number): Steps<string> {
    this.check(clause, index);
    return "";
  }
}

/** Of a constant format: how many arguments it takes. Throws FormatError, and what `check` throws. */
export function checkClauses(
  format: string,
  argumentCount: number,
  check: (clause: Clause, index: number) => void,
): number {
  const checked = new CheckedArguments(check);
  return finish(eachClause(format, argumentCount, checked)).used;
}

class ShownArguments implements Show {
  readonly #pace = new Pace();

  constructor(private readonly args: ListValue) {}

  *show(clause: Clause, precision: number, index: number): Steps<string> {
    const value = this.args.at(index);
    if (value instanceof Failure) throw new FormatError(value.message);
    if (this.#pace.isOver()) yield;
    return clause === "s"
      ? yield* showingText(value, this.#pace)
      : showAs(clause, precision, value);
  }
}

/** A failure for arguments that do not fit the format. */
function* formatting(format: string, args: ListValue): Steps<Result> {
  try {
    const shown = new ShownArguments(args);
    return (yield* eachClause(format, args.size, shown)).text;
  } catch (error) {
    if (error instanceof FormatError) return new Failure(error.message);
    throw error;
  }
}

/** The cost is the format's alone: what long arguments take is seen by the time. */
export const formatCall: Pick<OverloadText, "call" | "inSteps"> = {
  call: ([format, args]) =>
    finish(formatting(format as string, args as ListValue)),
  inSteps: ([format, args]) =>
    isLarge(format!) || isLarge(args!)
      ? formatting(format as string, args as ListValue)
      : undefined,
};

function refuse(clause: Clause, value: Value): never {
  const { name } = typeOf(value);
  throw new FormatError(
    `error during formatting: ${clauseTypes[clause].problem} ${name}`,
  );
}

function showAs(
  clause: Exclude<Clause, "s">,
  precision: number,
  value: Value,
): string {
  if (clause === "f" || clause === "e")
    return showNumber(clause, precision, value);
  if ((clause === "x" || clause === "X") && typeof value !== "bigint") {
    const bytes = typeof value === "string" ? Buffer.from(value) : value;
    if (bytes instanceof Uint8Array) {
      const hex = Buffer.from(bytes).toString("hex");
      return clause === "X" ? hex.toUpperCase() : hex;
    }
  }
  if (clause === "b" && typeof value === "boolean") return value ? "1" : "0";
  const number = value instanceof Uint ? value.value : value;
  if (typeof number !== "bigint") refuse(clause, value);
  const base = { d: 10, b: 2, o: 8, x: 16, X: 16 }[clause];
  const digits = number.toString(base);
  return clause === "X" ? digits.toUpperCase() : digits;
}

function showNumber(
  clause: "f" | "e",
  precision: number,
  value: Value,
): string {
  const named: Record<string, number> = {
    NaN: NaN,
    Infinity: Infinity,
    "-Infinity": -Infinity,
  };
  const number =
    typeof value === "string" && Object.hasOwn(named, value)
      ? named[value]
      : value;
  if (typeof number !== "number") refuse(clause, value);
  if (Number.isNaN(number)) return "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "-∞";
  const digits = Math.min(precision, 100);
  if (clause === "f") return grouped(number.toFixed(digits), number);
  // The reference's printer for its locale takes no precision here.
  const [mantissa, exponent = ""] = number.toExponential(6).split("e");
  const sign = exponent.startsWith("-") ? "⁻" : "";
  const raised = exponent
    .replace(/^[+-]/, "")
    .padStart(2, "0")
    .replace(/[0-9]/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)] as string);
  return `${mantissa}\u202f×\u202f10${sign}${raised}`;
}

/** Thousands are separated, as the reference prints numbers for its locale. */
function grouped(text: string, number: number): string {
  if (Math.abs(number) < 1000) return text;
  const [whole = "", fraction] = text.split(".");
  const parts: string[] = [];
  const sign = whole.startsWith("-") ? "-" : "";
  let rest = whole.slice(sign.length);
  while (rest.length > 3) {
    parts.unshift(rest.slice(-3));
    rest = rest.slice(0, -3);
  }
  const joined = sign + [rest, ...parts].join(",");
  return fraction === undefined ? joined : `${joined}.${fraction}`;
}

/** A value within %s; lists and maps show their parts the same way. */
function* showingText(value: Value, pace: Pace): Steps<string> {
  if (value instanceof ListValue) {
    const parts = new Joined(", ", pace);
    for (let index = 0; index < value.size; index++)
      yield* parts.add(yield* showingPart(value.at(index), pace));
    return `[${parts.text()}]`;
  }
  return value instanceof MapValue
    ? yield* showingMap(value, pace)
    : showText(value);
}

function showText(value: Value): string {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
      return formatDouble(value);
    case "boolean":
    case "bigint":
      return String(value);
  }
  if (value === null) return "null";
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Duration) return formatSeconds(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof TypeValue) return value.type.name;
  return refuse("s", value);
}

function* showingMap(map: MapValue, pace: Pace): Steps<string> {
  // Keys that are shown alike follow each other.
  const shown = new Map<string, string>();
  for (const key of map.keys()) {
    const name = yield* showingPart(key, pace);
    const value = yield* showingPart(map.get(key) as Result, pace);
    const before = shown.get(name);
    const entry = `${name}:${value}`;
    shown.set(name, before === undefined ? entry : `${before}, ${entry}`);
    if (pace.isOver()) yield;
  }
  const parts = new Joined(", ", pace);
  for (const name of yield* sorting([...shown.keys()]))
    yield* parts.add(shown.get(name)!);
  return `{${parts.text()}}`;
}

/** A part of a list or map, as an expression would write it. */
function* showingPart(value: Result, pace: Pace): Steps<string> {
  if (value instanceof Failure) throw new FormatError(value.message);
  const text = yield* showingText(value, pace);
  if (typeof value === "string") return JSON.stringify(text);
  if (value instanceof Uint8Array) return `b${JSON.stringify(text)}`;
  if (typeof value === "number")
    return Number.isFinite(value) ? value.toFixed(6) : JSON.stringify(text);
  if (value instanceof Timestamp) return `timestamp(${JSON.stringify(text)})`;
  if (value instanceof Duration) return `duration(${JSON.stringify(text)})`;
  return value instanceof TypeValue ? `type(${text})` : text;
}
