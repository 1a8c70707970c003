// Reading JSON text: JSON.parse does the work, and what it can't say is added here: depth limits, the reference's words
// for syntax errors, and keys that appear twice. Duplicates cost nothing when there are none: a scan counts the keys of
// the text (colons outside strings); only when the parsed tree has fewer does the slow parser below look for which.
import { ExactNumber } from "../exact-number.ts";
import type { Steps } from "../queueing/steps.ts";

/** Deeper nesting is refused; the reference's limit is 10,000, no API type needs more than a few dozens. */
export const MAX_DEPTH = 1000;

export class JsonSyntaxError extends Error {}

/** Numbers of so many digits are surely below 2^53. */
const SAFE_DIGITS = 15;
/** Of a step. */
const scannedBytes = 256 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

interface TextScan {
  readonly keys: number;
  /** What JSON.parse would lose: numbers with fractions, exponents or many digits, and half surrogates. */
  readonly special: boolean;
}

/** Looks through a JSON text. It need not be valid: then JSON.parse will say so. Throws on deep nesting. */
export function scanText(bytes: Uint8Array): TextScan {
  const scanner = new TextScanner(bytes);
  scanner.scan(bytes.length);
  return scanner;
}

/** The same in steps of half a millisecond. */
export function* scanningText(bytes: Uint8Array): Steps<TextScan> {
  const scanner = new TextScanner(bytes);
  for (let end = 0; end < bytes.length;) {
    end = Math.min(end + scannedBytes, bytes.length);
    scanner.scan(end);
    yield;
  }
  return scanner;
}

class TextScanner implements TextScan {
  keys = 0;
  special = false;
  #at = 0;
  #depth = 0;
  #inString = false;

  constructor(private readonly bytes: Uint8Array) {}

  /** Goes on to `end`, and at most the digits behind it that make a number special. Throws on deep nesting. */
  scan(end: number): void {
    const { bytes } = this;
    let { keys } = this;
    let depth = this.#depth;
    let at = this.#inString ? this.#string(this.#at, end) : this.#at;
    for (; at < end; at++) {
      switch (bytes[at]) {
        case QUOTE:
          at = this.#string(at + 1, end) - 1;
          break;
        case 0x3a:
          keys++;
          break;
        case 0x2e:
          this.special = true;
          break;
        case 0x7b:
        case 0x5b:
          if (++depth > MAX_DEPTH)
            throw new JsonSyntaxError("exceeded max depth");
          break;
        case 0x7d:
        case 0x5d:
          depth--;
          break;
        default: {
          if (!isDigit(bytes[at]!)) break;
          const enough = at + SAFE_DIGITS;
          const start = at;
          while (
            (at < end || at < enough) &&
            bytes[at + 1]! >= 0x30 &&
            bytes[at + 1]! <= 0x39
          )
            at++;
          // `e` or `E` after a digit
          if (at - start >= SAFE_DIGITS || (bytes[at + 1]! | 0x20) === 0x65)
            this.special = true;
        }
      }
    }
    this.keys = keys;
    this.#depth = depth;
    this.#at = at;
  }

  /** Behind the string that `at` is in, or `end`. */
  #string(at: number, end: number): number {
    const { bytes } = this;
    for (; at < end && bytes[at] !== QUOTE; at++)
      // `\\ud…` may be half of a pair.
      if (
        bytes[at] === BACKSLASH &&
        bytes[++at] === 0x75 &&
        (bytes[at + 1]! | 0x20) === 0x64
      )
        this.special = true;
    this.#inString = at >= end;
    return this.#inString ? at : at + 1;
  }
}

/** The number of keys in a parsed tree. */
export function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) keys += countKeys(item);
    return keys;
  }
  if (value instanceof ExactNumber) return 0;
  for (const key in value)
    keys += 1 + countKeys((value as Record<string, unknown>)[key]);
  return keys;
}

/** Sets a key of parsed data; `__proto__` becomes an ordinary own property. */
export function setOwn(
  object: Record<string, unknown>,
  key: string,
  value: unknown,
): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  else object[key] = value;
}

/** `a.b[0].c`, as the reference writes paths of strict decoding. */
export function joinPath(path: string, step: string | number): string {
  if (typeof step === "number") return `${path}[${step}]`;
  return path === "" ? step : `${path}.${step}`;
}

interface SlowParse {
  value: unknown;
  /** Paths of keys that appear again, in order, each once. */
  duplicates: string[];
  /** Where each path was first met, to put problems into the text's order. */
  order: Map<string, number>;
}

/**
 * Parses with duplicates noted, numbers kept exact, and syntax errors in the reference's words. Of a key given twice the
 * last value wins; with `merges` objects are put together.
 */
export function parseJsonSlowly(text: string, merges = false): SlowParse {
  return new SlowParser(text, merges).parse();
}

function merged(old: unknown, value: unknown): unknown {
  const both = [old, value];
  if (
    both.some(
      (each) =>
        typeof each !== "object" ||
        each === null ||
        Array.isArray(each) ||
        each instanceof ExactNumber,
    )
  )
    return value;
  const result = { ...(old as Record<string, unknown>) };
  for (const key of Object.keys(value as object))
    setOwn(
      result,
      key,
      merged(
        Object.hasOwn(result, key) ? result[key] : undefined,
        (value as Record<string, unknown>)[key],
      ),
    );
  return result;
}

const quoted = (char: string): string => {
  if (char === "'") return "'\\''";
  if (char === '"') return "'\"'";
  const code = char.codePointAt(0)!;
  if (char === "\n") return "'\\n'";
  if (char === "\t") return "'\\t'";
  if (char === "\r") return "'\\r'";
  if (char === "\\") return "'\\\\'";
  return code < 0x20
    ? `'\\x${code.toString(16).padStart(2, "0")}'`
    : `'${char}'`;
};

class SlowParser {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  readonly #duplicates = new Set<string>();
  readonly #order = new Map<string, number>();

  constructor(
    text: string,
    private readonly merges: boolean,
  ) {
    this.#text = text;
  }

  parse(): SlowParse {
    const value = this.#value("");
    this.#space();
    if (this.#at < this.#text.length) this.#fail("after top-level value");
    return { value, duplicates: [...this.#duplicates], order: this.#order };
  }

  #fail(where: string): never {
    if (this.#at >= this.#text.length)
      throw new JsonSyntaxError("unexpected end of JSON input");
    const char = String.fromCodePoint(this.#text.codePointAt(this.#at)!);
    throw new JsonSyntaxError(`invalid character ${quoted(char)} ${where}`);
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)
        return;
      this.#at++;
    }
  }

  #value(path: string): unknown {
    this.#space();
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object(path);
      case "[":
        return this.#array(path);
      case '"':
        return this.#string();
      case "t":
        return this.#literal("true", true);
      case "f":
        return this.#literal("false", false);
      case "n":
        return this.#literal("null", null);
      default:
        return this.#number();
    }
  }

  #deeper(): void {
    if (++this.#depth > MAX_DEPTH)
      throw new JsonSyntaxError("exceeded max depth");
  }

  #object(path: string): unknown {
    this.#deeper();
    const object: Record<string, unknown> = {};
    this.#at++;
    this.#space();
    if (this.#text[this.#at] === "}") {
      this.#at++;
      this.#depth--;
      return object;
    }
    for (;;) {
      this.#space();
      if (this.#text[this.#at] !== '"')
        this.#fail("looking for beginning of object key string");
      const key = this.#string();
      const inner = joinPath(path, key);
      const twice = Object.hasOwn(object, key);
      if (twice) this.#duplicates.add(inner);
      if (!this.#order.has(inner)) this.#order.set(inner, this.#order.size);
      this.#space();
      if (this.#text[this.#at] !== ":") this.#fail("after object key");
      this.#at++;
      const value = this.#value(inner);
      setOwn(
        object,
        key,
        twice && this.merges ? merged(object[key], value) : value,
      );
      this.#space();
      const next = this.#text[this.#at];
      if (next === "}") break;
      if (next !== ",") this.#fail("after object key:value pair");
      this.#at++;
    }
    this.#at++;
    this.#depth--;
    return object;
  }

  #array(path: string): unknown {
    this.#deeper();
    const list: unknown[] = [];
    this.#at++;
    this.#space();
    if (this.#text[this.#at] === "]") {
      this.#at++;
      this.#depth--;
      return list;
    }
    for (;;) {
      list.push(this.#value(joinPath(path, list.length)));
      this.#space();
      const next = this.#text[this.#at];
      if (next === "]") break;
      if (next !== ",") this.#fail("after array element");
      this.#at++;
    }
    this.#at++;
    this.#depth--;
    return list;
  }

  #string(): string {
    const start = this.#at++;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === QUOTE) break;
      if (Number.isNaN(code) || code < 0x20) this.#fail("in string literal");
      if (code === BACKSLASH) {
        const escape = this.#text[++this.#at] ?? "";
        if (escape === "u") {
          for (let digit = 0; digit < 4; digit++) {
            this.#at++;
            if (!/[0-9a-fA-F]/.test(this.#text[this.#at] ?? ""))
              this.#fail("in \\u hexadecimal character escape");
          }
        } else if (escape === "" || !'"\\/bfnrt'.includes(escape))
          this.#fail("in string escape code");
      }
      this.#at++;
    }
    this.#at++;
    const source = this.#text.slice(start, this.#at);
    const text = JSON.parse(source) as string;
    // Half a pair becomes the replacement character.
    return source.includes("\\u") ? Buffer.from(text).toString() : text;
  }

  #literal<T>(word: string, value: T): T {
    for (let index = 0; index < word.length; index++, this.#at++) {
      if (this.#text[this.#at] !== word[index])
        this.#fail(`in literal ${word} (expecting '${word[index]}')`);
    }
    return value;
  }

  #number(): number | ExactNumber {
    const start = this.#at;
    const digits = (where: string): void => {
      if (!isDigit(this.#text.charCodeAt(this.#at))) this.#fail(where);
      while (isDigit(this.#text.charCodeAt(this.#at))) this.#at++;
    };
    if (this.#text[this.#at] === "-") {
      this.#at++;
      if (!isDigit(this.#text.charCodeAt(this.#at)))
        this.#fail("in numeric literal");
    } else if (!isDigit(this.#text.charCodeAt(this.#at)))
      this.#fail("looking for beginning of value");
    if (this.#text[this.#at] === "0") this.#at++;
    else digits("in numeric literal");
    if (this.#text[this.#at] === ".") {
      this.#at++;
      digits("after decimal point in numeric literal");
    }
    if (this.#text[this.#at] === "e" || this.#text[this.#at] === "E") {
      this.#at++;
      if (this.#text[this.#at] === "+" || this.#text[this.#at] === "-")
        this.#at++;
      digits("in exponent of numeric literal");
    }
    const text = this.#text.slice(start, this.#at);
    const value = Number(text);
    return String(value) === text ? value : new ExactNumber(text);
  }
}

/** False for NaN, the end of a text. */
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
