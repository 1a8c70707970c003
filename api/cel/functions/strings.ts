// Functions of strings (the reference's extension, version 2). Positions count code points.
import type { Library, OverloadText } from "../checking/declarations.ts";
import { formatText } from "./string-format.ts";
import { CostExceeded } from "../evaluation/activation.ts";
import {
  ArrayList,
  codePoints,
  Failure,
  type ListValue,
  type Result,
  type Value,
} from "../values/value.ts";

/** Nothing an expression makes may be longer: it would cost far more than any limit to look at it. */
const maxResultLength = 1 << 26;

const outOfRange = (index: bigint): Failure =>
  new Failure(`index out of range: ${index}`);

/** Without surrogates, code points are UTF-16 units and nothing has to be taken apart. */
const isSimple = (text: string): boolean => codePoints(text) === text.length;

function slice(text: string, start: number, end?: number): string {
  return isSimple(text)
    ? text.slice(start, end)
    : [...text].slice(start, end).join("");
}

function charAt(text: string, index: bigint): Result {
  const size = codePoints(text);
  if (index < 0n || index > size) return outOfRange(index);
  return slice(text, Number(index), Number(index) + 1);
}

function substring(text: string, start: bigint, end?: bigint): Result {
  const size = BigInt(codePoints(text));
  if (end !== undefined && start > end)
    return new Failure(`invalid substring range. start: ${start}, end: ${end}`);
  if (start < 0n || start > size) return outOfRange(start);
  if (end !== undefined && end > size) return outOfRange(end);
  return slice(
    text,
    Number(start),
    end === undefined ? undefined : Number(end),
  );
}

/** The position in code points of a UTF-16 index. */
const pointsBefore = (text: string, at: number): bigint =>
  at < 0 ? -1n : BigInt(isSimple(text) ? at : codePoints(text.slice(0, at)));

function indexOf(text: string, part: string, offset = 0n): Result {
  if (part === "") return offset;
  if (offset < 0n) return outOfRange(offset);
  if (offset >= codePoints(text)) return -1n;
  const from = slice(text, 0, Number(offset)).length;
  return pointsBefore(text, text.indexOf(part, from));
}

function lastIndexOf(text: string, part: string, offset?: bigint): Result {
  const size = BigInt(codePoints(text));
  if (part === "") return offset ?? size;
  const last = offset ?? size - 1n;
  if (last < 0n) return outOfRange(last);
  if (last >= size) return -1n;
  const from = slice(text, 0, Number(last)).length;
  return pointsBefore(text, text.lastIndexOf(part, from));
}

function replace(text: string, old: string, by: string, most = -1n): Result {
  if (most === 0n) return text;
  const limit = most < 0n ? Infinity : Number(most);
  if (old === "") return between(text, by, limit);
  const parts: string[] = [];
  let from = 0;
  while (parts.length < limit) {
    const at = text.indexOf(old, from);
    if (at < 0) break;
    parts.push(text.slice(from, at));
    from = at + old.length;
  }
  if (parts.length * by.length + text.length > maxResultLength)
    throw new CostExceeded();
  return [...parts, text.slice(from)].join(by);
}

/** The text with `by` before each character and at the end, as often as allowed. */
function between(text: string, by: string, limit: number): string {
  const points = [...text];
  if (Math.min(limit, points.length + 1) * by.length > maxResultLength)
    throw new CostExceeded();
  let result = "";
  for (const [index, point] of points.entries())
    result += index < limit ? by + point : point;
  return points.length < limit ? result + by : result;
}

function split(text: string, separator: string, most = -1n): Result {
  if (most === 0n) return new ArrayList([]);
  const parts = separator === "" ? [...text] : text.split(separator);
  if (most < 0n || BigInt(parts.length) <= most) return new ArrayList(parts);
  const kept = Number(most) - 1;
  const rest = parts.slice(kept).join(separator);
  return new ArrayList([...parts.slice(0, kept), rest]);
}

/** White space of Unicode; unlike in JavaScript, U+0085 is some and U+FEFF is none. */
function trim(value: string): string {
  const isBlank = (at: number): boolean =>
    value[at] === "\u0085" ||
    (value[at] !== "\ufeff" && value.charAt(at).trim() === "");
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(start)) start++;
  while (end > start && isBlank(end - 1)) end--;
  return value.slice(start, end);
}

function join(list: ListValue, separator = ""): Result {
  const parts: string[] = [];
  for (let index = 0; index < list.size; index++) {
    const element = list.at(index);
    if (element instanceof Failure) return element;
    if (typeof element !== "string")
      return new Failure(`join: invalid input: ${String(element)}`);
    parts.push(element);
  }
  if (parts.length * separator.length > maxResultLength)
    throw new CostExceeded();
  return parts.join(separator);
}

const quotes: Record<string, string> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};
const quoted = /["\\\p{Cc}]/gu;

function member(
  id: string,
  args: string,
  result: string,
  call: (...args: never[]) => Result,
): OverloadText {
  return {
    id,
    member: true,
    args,
    result,
    call: (values) => call(...(values as never[])),
  };
}

const lower = (text: string): string =>
  text.replace(/[A-Z]+/g, (part) => part.toLowerCase());
const upper = (text: string): string =>
  text.replace(/[a-z]+/g, (part) => part.toUpperCase());
const text = "string";

export const stringLibrary: Library = {
  charAt: [member("string_char_at_int", "string, int", text, charAt)],
  indexOf: [
    member("string_index_of_string", "string, string", "int", indexOf),
    member("string_index_of_string_int", "string, string, int", "int", indexOf),
  ],
  lastIndexOf: [
    member("string_last_index_of_string", "string, string", "int", lastIndexOf),
    member(
      "string_last_index_of_string_int",
      "string, string, int",
      "int",
      lastIndexOf,
    ),
  ],
  lowerAscii: [member("string_lower_ascii", "string", text, lower)],
  upperAscii: [member("string_upper_ascii", "string", text, upper)],
  replace: [
    member(
      "string_replace_string_string",
      "string, string, string",
      text,
      replace,
    ),
    member(
      "string_replace_string_string_int",
      "string, string, string, int",
      text,
      replace,
    ),
  ],
  split: [
    member("string_split_string", "string, string", "list(string)", split),
    member(
      "string_split_string_int",
      "string, string, int",
      "list(string)",
      split,
    ),
  ],
  substring: [
    member("string_substring_int", "string, int", text, substring),
    member("string_substring_int_int", "string, int, int", text, substring),
  ],
  trim: [member("string_trim", "string", text, trim)],
  join: [
    member("list_join", "list(string)", text, join),
    member("list_join_string", "list(string), string", text, join),
  ],
  format: [
    member(
      "string_format",
      "string, list(dyn)",
      text,
      (format: string, args: ListValue) => formatText(format, args),
    ),
  ],
  "strings.quote": [
    {
      id: "strings_quote",
      args: "string",
      result: "string",
      call: ([value]: readonly Value[]) =>
        `"${Buffer.from(value as string)
          .toString()
          .replace(quoted, (part) => quotes[part] ?? part)}"`,
    },
  ],
};
