// Functions of strings (the reference's extension, version 2). Positions count code points.
import type { Library, OverloadText } from "../checking/declarations.ts";
import { formatCall } from "./strings/format.ts";
import { joinCall, replaceCall, splitCall } from "./strings/parts.ts";
import {
  codePoints,
  Failure,
  type Result,
  type Value,
} from "../values/value.ts";

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
    {
      id: "string_replace_string_string",
      member: true,
      args: "string, string, string",
      result: text,
      ...replaceCall,
    },
    {
      id: "string_replace_string_string_int",
      member: true,
      args: "string, string, string, int",
      result: text,
      ...replaceCall,
    },
  ],
  split: [
    {
      id: "string_split_string",
      member: true,
      args: "string, string",
      result: "list(string)",
      ...splitCall,
    },
    {
      id: "string_split_string_int",
      member: true,
      args: "string, string, int",
      result: "list(string)",
      ...splitCall,
    },
  ],
  substring: [
    member("string_substring_int", "string, int", text, substring),
    member("string_substring_int_int", "string, int, int", text, substring),
  ],
  trim: [member("string_trim", "string", text, trim)],
  join: [
    {
      id: "list_join",
      member: true,
      args: "list(string)",
      result: text,
      ...joinCall,
    },
    {
      id: "list_join_string",
      member: true,
      args: "list(string), string",
      result: text,
      ...joinCall,
    },
  ],
  format: [
    {
      id: "string_format",
      member: true,
      args: "string, list(dyn)",
      result: text,
      ...formatCall,
    },
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
