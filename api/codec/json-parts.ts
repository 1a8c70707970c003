// Parses a large JSON text part by part, so that no part holds the event loop for long: JSON.parse does the work, of some
// members of a large object or array at a time, and what it returns is put together.
//
// Example, parts of 10 bytes: {"a":1,"b":[10,20,30,40],"c":2} → {"a":1}, then [10,20,30] and [40], then {"c":2}. A string
// that is longer than a part is parsed piece by piece; a key is not.
// Relies on the text being valid UTF-8. Only brackets, strings and commas are looked at here: JSON.parse refuses what is
// wrong within a part, and a text with anything unexpected between the parts is not parsed here at all.
import type { Steps } from "../queueing/steps.ts";
import { parseJsonSlowly, scanText, setOwn } from "./json-text.ts";

const defaultPartBytes = 32 * 1024;
/** Longer keys, numbers and spaces before or behind a colon are not parsed here. */
const maxKeyBytes = 1024 * 1024;
const maxScalarBytes = 1024;
const maxSpaceBytes = 256 * 1024;

const maxCharacterBytes = 4;
/** An array grows that much more cheaply. */
const itemsForKey = 10;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The text is of another form than expected, or no JSON. */
const refusal = new Error("not parsed in parts");

/**
 * The value of a text, a step for each part; undefined for a text that is not valid JSON, which says nothing about where.
 * @param special see `scanText`: its parts are parsed slowly where JSON.parse would lose something
 * @param maxKeys of one object, and ten times as many items of an array: growing beyond would hold the event loop;
 * undefined then too
 */
export function* parsingParts(
  bytes: Uint8Array,
  special: boolean,
  partBytes = defaultPartBytes,
  maxKeys = Infinity,
): Steps<{ value: unknown } | undefined> {
  const reader = new PartReader(bytes, special, partBytes, maxKeys);
  try {
    return { value: yield* reader.document() };
  } catch {
    // A caller that reports what is wrong parses it as a whole.
    return undefined;
  }
}

class PartReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(
    bytes: Uint8Array,
    private readonly special: boolean,
    private readonly partBytes: number,
    private readonly maxKeys: number,
  ) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  *document(): Steps<unknown> {
    while (this.#space()) yield;
    const first = this.#bytes[this.#at];
    if (first !== openBrace && first !== openBracket) throw refusal;
    const value = yield* this.#container();
    while (this.#space()) yield;
    if (this.#at !== this.#bytes.length) throw refusal;
    return value;
  }

  /** The object or array that begins here. */
  *#container(): Steps<unknown> {
    const bytes = this.#bytes;
    const isObject = bytes[this.#at++] === openBrace;
    const close = isObject ? closeBrace : closeBracket;
    const made: Growing = isObject ? new GrowingObject() : new GrowingArray();
    while (this.#space()) yield;
    if (bytes[this.#at] === close) {
      this.#at++;
      return made.value;
    }
    let members = 0;
    // The members from here to `runEnd` are complete.
    let runStart = this.#at;
    let runEnd = runStart;
    for (;;) {
      const keyStart = this.#at;
      const keyEnd = isObject ? this.#key() : keyStart;
      const valueStart = this.#at;
      if (++members > (isObject ? this.maxKeys : this.maxKeys * itemsForKey))
        throw refusal;
      if (this.#skip()) runEnd = this.#at;
      else {
        if (runEnd > runStart) {
          made.add(this.#parse(runStart, runEnd, isObject));
        }
        yield;
        this.#at = valueStart;
        const inner =
          bytes[valueStart] === quote
            ? yield* this.#longString()
            : yield* this.#container();
        const key = isObject
          ? (JSON.parse(bytes.toString("utf8", keyStart, keyEnd)) as string)
          : "";
        made.addOne(key, inner);
        runEnd = runStart = this.#at;
      }
      while (this.#space()) yield;
      const next = bytes[this.#at++];
      if (next === close) {
        if (runEnd > runStart)
          made.add(this.#parse(runStart, runEnd, isObject));
        return made.value;
      }
      if (next !== comma) throw refusal;
      while (this.#space()) yield;
      if (runEnd === runStart) runEnd = runStart = this.#at;
      else if (this.#at - runStart >= this.partBytes) {
        made.add(this.#parse(runStart, runEnd, isObject));
        runEnd = runStart = this.#at;
        yield;
      }
    }
  }

  /** Goes behind the colon of the key that begins here; returns where the key ends. */
  #key(): number {
    if (this.#bytes[this.#at] !== quote) throw refusal;
    if (!this.#string(this.#at + maxKeyBytes)) throw refusal;
    const end = this.#at;
    if (this.#space()) throw refusal;
    if (this.#bytes[this.#at++] !== colon) throw refusal;
    if (this.#space()) throw refusal;
    return end;
  }

  /** Goes behind the value that begins here; false for one that is larger than a part and can be taken apart. */
  #skip(): boolean {
    const bytes = this.#bytes;
    const start = this.#at;
    const limit = start + this.partBytes;
    const first = bytes[start];
    if (first === quote) return this.#string(limit);
    if (first === openBrace || first === openBracket) {
      for (let depth = 0; ;) {
        if (this.#at >= bytes.length) throw refusal;
        if (this.#at > limit) return false;
        const byte = bytes[this.#at];
        if (byte === quote) {
          if (!this.#string(limit)) return false;
          continue;
        }
        this.#at++;
        if (byte === openBrace || byte === openBracket) depth++;
        else if (
          (byte === closeBrace || byte === closeBracket) &&
          --depth === 0
        )
          return true;
      }
    }
    while (this.#at < bytes.length && !endsScalar(bytes[this.#at]!))
      if (++this.#at > limit + maxScalarBytes) throw refusal;
    if (this.#at === start) throw refusal;
    return true;
  }

  /** Goes behind the string that begins here; false when it is longer than to `limit`. */
  #string(limit: number): boolean {
    const bytes = this.#bytes;
    let at = this.#at + 1;
    while (bytes[at] !== quote) {
      if (at >= bytes.length) throw refusal;
      if (at > limit) return false;
      at += bytes[at] === backslash ? 2 : 1;
    }
    this.#at = at + 1;
    return true;
  }

  /** The string that begins here. */
  *#longString(): Steps<string> {
    const bytes = this.#bytes;
    const pieces: string[] = [];
    for (let start = this.#at + 1; ;) {
      const end = this.#pieceEnd(start);
      const text = `"${bytes.toString("utf8", start, end)}"`;
      pieces.push(
        (this.special
          ? parseJsonSlowly(text).value
          : JSON.parse(text)) as string,
      );
      if (bytes[end] === quote) {
        this.#at = end + 1;
        return pieces.join("");
      }
      yield;
      start = end;
    }
  }

  /** Where a string can be cut after about a part, or its end: neither in a character nor between halves of a pair. */
  #pieceEnd(start: number): number {
    const bytes = this.#bytes;
    const limit = start + this.partBytes;
    let high = false;
    for (let at = start; ;) {
      if (at >= bytes.length) throw refusal;
      const byte = bytes[at]!;
      if (byte === quote) return at;
      if (
        at >= limit &&
        ((byte & 0xc0) !== 0x80 || at > limit + maxCharacterBytes) &&
        !(high && this.#half(at, 0x63, 0x66))
      )
        return at;
      high = this.#half(at, 0x38, 0x62);
      if (byte !== backslash) at++;
      else at += bytes[at + 1] === 0x75 ? 6 : 2;
    }
  }

  /** Does the escape of half a pair begin here, `\\ud` and then a digit from `first` to `last`? */
  #half(at: number, first: number, last: number): boolean {
    const bytes = this.#bytes;
    if (bytes[at] !== backslash || bytes[at + 1] !== 0x75) return false;
    const digit = bytes[at + 3]! | 0x20;
    return (bytes[at + 2]! | 0x20) === 0x64 && digit >= first && digit <= last;
  }

  /** Goes behind white space; is there more than is looked at in one step? */
  #space(): boolean {
    const bytes = this.#bytes;
    const end = this.#at + maxSpaceBytes;
    while (isSpace(bytes[this.#at])) if (++this.#at > end) return true;
    return false;
  }

  #parse(start: number, end: number, isObject: boolean): unknown {
    const members = this.#bytes.toString("utf8", start, end);
    const text = isObject ? `{${members}}` : `[${members}]`;
    return this.special && scanText(this.#bytes.subarray(start, end)).special
      ? parseJsonSlowly(text).value
      : (JSON.parse(text) as unknown);
  }
}

interface Growing {
  readonly value: unknown;
  /** The members of an object or array of the same kind, which is used up. */
  add(part: unknown): void;
  addOne(key: string, value: unknown): void;
}

class GrowingObject implements Growing {
  value: Record<string, unknown> = {};
  #begun = false;

  add(part: unknown): void {
    const members = part as Record<string, unknown>;
    if (this.#begun)
      for (const key of Object.keys(members))
        setOwn(this.value, key, members[key]);
    else this.value = members;
    this.#begun = true;
  }

  addOne(key: string, value: unknown): void {
    setOwn(this.value, key, value);
    this.#begun = true;
  }
}

class GrowingArray implements Growing {
  readonly value: unknown[] = [];

  add(part: unknown): void {
    for (const item of part as unknown[]) this.value.push(item);
  }

  addOne(_key: string, value: unknown): void {
    this.value.push(value);
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function endsScalar(byte: number): boolean {
  return (
    byte === comma ||
    byte === closeBrace ||
    byte === closeBracket ||
    isSpace(byte)
  );
}
