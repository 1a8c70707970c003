// Parses a large JSON text part by part, so that no part holds the event loop for long: JSON.parse does the work, of some
// members of a large object or array at a time, and what it returns is put together.
//
// Example, parts of 10 bytes: {"a":1,"b":[10,20,30,40],"c":2} → {"a":1}, then [10,20,30] and [40], then {"c":2}.
// Relies on the text being valid UTF-8. Only brackets, strings and commas are looked at here: JSON.parse refuses what is
// wrong within a part, and a text with anything unexpected between the parts is not parsed here at all.
import type { Steps } from "../queueing/steps.ts";
import { parseJsonSlowly, scanText, setOwn } from "./json-text.ts";

const defaultPartBytes = 32 * 1024;
/** Levels of objects and arrays that are taken apart; what is deeper is parsed as a whole. */
const maxLevels = 8;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The text is of another form than expected. */
const refusal = new Error("not parsed in parts");

/**
 * The value of a text, a step for each part; undefined for a text that is not valid JSON, which says nothing about where.
 * @param special see `scanText`: its parts are parsed slowly where JSON.parse would lose something
 */
export function* parsingParts(
  bytes: Uint8Array,
  special: boolean,
  partBytes = defaultPartBytes,
): Steps<{ value: unknown } | undefined> {
  const reader = new PartReader(bytes, special, partBytes);
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
  ) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  *document(): Steps<unknown> {
    this.#space();
    const first = this.#bytes[this.#at];
    if (first !== openBrace && first !== openBracket) throw refusal;
    const value = yield* this.#container(1);
    this.#space();
    if (this.#at !== this.#bytes.length) throw refusal;
    return value;
  }

  /** The object or array that begins here. */
  *#container(level: number): Steps<unknown> {
    const bytes = this.#bytes;
    const isObject = bytes[this.#at++] === openBrace;
    const close = isObject ? closeBrace : closeBracket;
    const made: Growing = isObject ? new GrowingObject() : new GrowingArray();
    this.#space();
    if (bytes[this.#at] === close) {
      this.#at++;
      return made.value;
    }
    // The members from here to `runEnd` are complete.
    let runStart = this.#at;
    let runEnd = runStart;
    for (;;) {
      const keyStart = this.#at;
      const keyEnd = isObject ? this.#key() : keyStart;
      const valueStart = this.#at;
      if (this.#skip(level < maxLevels)) runEnd = this.#at;
      else {
        if (runEnd > runStart) {
          made.add(this.#parse(runStart, runEnd, isObject));
          yield;
        }
        this.#at = valueStart;
        const inner = yield* this.#container(level + 1);
        const key = isObject
          ? (JSON.parse(bytes.toString("utf8", keyStart, keyEnd)) as string)
          : "";
        made.addOne(key, inner);
        runEnd = runStart = this.#at;
      }
      this.#space();
      const next = bytes[this.#at++];
      if (next === close) {
        if (runEnd > runStart)
          made.add(this.#parse(runStart, runEnd, isObject));
        return made.value;
      }
      if (next !== comma) throw refusal;
      this.#space();
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
    this.#string();
    const end = this.#at;
    this.#space();
    if (this.#bytes[this.#at++] !== colon) throw refusal;
    this.#space();
    return end;
  }

  /** Goes behind the value that begins here; false for an object or array that is larger than a part, if it may be. */
  #skip(mayStop: boolean): boolean {
    const bytes = this.#bytes;
    const start = this.#at;
    const first = bytes[start];
    if (first === quote) this.#string();
    else if (first === openBrace || first === openBracket) {
      const limit = mayStop ? start + this.partBytes : bytes.length;
      for (let depth = 0; ;) {
        if (this.#at >= bytes.length) throw refusal;
        if (this.#at > limit) return false;
        const byte = bytes[this.#at];
        if (byte === quote) {
          this.#string();
          continue;
        }
        this.#at++;
        if (byte === openBrace || byte === openBracket) depth++;
        else if (
          (byte === closeBrace || byte === closeBracket) &&
          --depth === 0
        )
          break;
      }
    } else {
      while (this.#at < bytes.length && !endsScalar(bytes[this.#at]!))
        this.#at++;
      if (this.#at === start) throw refusal;
    }
    return true;
  }

  /** Goes behind the string that begins here. */
  #string(): void {
    const bytes = this.#bytes;
    let at = this.#at + 1;
    while (bytes[at] !== quote) {
      if (at >= bytes.length) throw refusal;
      at += bytes[at] === backslash ? 2 : 1;
    }
    this.#at = at + 1;
  }

  #space(): void {
    const bytes = this.#bytes;
    while (isSpace(bytes[this.#at])) this.#at++;
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
