// Where the parts of a JSON text lie in its bytes, found in one pass without making an object of them: for encoders that
// turn stored bytes into other bytes.
//
// Relies on the text being what JSON.stringify writes: no white space between tokens, well-formed. A text of another form
// is refused (`read` returns false) or, where only a string or a number is malformed, passes unnoticed.
//
// Example, {"a":[1]} → key a (then) array (then) number; the array's `next` points behind the number.
//
// A token is three numbers: start × 16 + type, end, and the index of the token behind it (behind all inner tokens of an
// object or array); a key has a hash of its bytes as the third. Strings and keys lie between start and end without their
// quotes, all else with its brackets. An object's members are key, value, key, value …
import { KnownDocuments } from "../object-end.ts";

export const nullToken = 0;
export const falseToken = 1;
export const trueToken = 2;
export const numberToken = 3;
export const stringToken = 4;
/** A string with escapes. */
export const escapedToken = 5;
export const objectToken = 6;
export const arrayToken = 7;
/** An object without inner tokens: a `fieldsV1`, whose documents are many and are taken as they are. */
export const opaqueToken = 8;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const newline = 0x0a;
const letterT = 0x74;
const letterF = 0x66;
const letterN = 0x6e;

/** Longer strings are searched by Node; below it a loop over the bytes is faster than the call. */
const shortString = 48;
const maxDepth = 512;
const opaqueKey = Buffer.from("fieldsV1");
const opaqueHash = hashOf(opaqueKey, 0, opaqueKey.length);

/** Of the bytes of a key. */
export function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at++)
    hash = (Math.imul(hash, 31) + bytes[at]!) | 0;
  return hash;
}

export class JsonTape {
  /** See above; valid until the next `read`. The first token is the whole text, the others may be stale behind its `next`. */
  tokens = new Int32Array(3 * 1024);
  #count = 0;
  readonly #open = new Int32Array(maxDepth);
  /** The first backslash behind where strings have been searched for one; the text's length: there is none. */
  #backslash = 0;
  readonly #documents = new KnownDocuments();

  /** False: the text is of another form. */
  read(json: Buffer): boolean {
    const end =
      json[json.length - 1] === newline ? json.length - 1 : json.length;
    // Positions are kept times 16.
    if (end >= 0x7ffffff) return false;
    this.#count = 0;
    this.#backslash = 0;
    const open = this.#open;
    let depth = 0;
    let at = 0;
    let inObject = false;
    for (;;) {
      if (inObject) {
        at = this.#key(json, at, end);
        if (at < 0) return false;
      }
      const index = this.#count;
      const byte = json[at];
      if (byte === quote) at = this.#string(json, at + 1, end);
      else if (byte === openBrace || byte === openBracket) {
        const isObject = byte === openBrace;
        if (isObject && inObject && this.#isOpaque(json, index))
          at = this.#opaque(json, at, end);
        else {
          this.#push(at, isObject ? objectToken : arrayToken, 0, 0);
          const first = json[at + 1];
          if (first !== (isObject ? closeBrace : closeBracket)) {
            if (depth === maxDepth) return false;
            open[depth++] = index;
            inObject = isObject;
            at++;
            continue;
          }
          at += 2;
          this.#close(index, at);
        }
      } else if (byte === letterT) at = this.#literal(at, trueToken, 4);
      else if (byte === letterF) at = this.#literal(at, falseToken, 5);
      else if (byte === letterN) at = this.#literal(at, nullToken, 4);
      else at = this.#number(json, at, end);
      if (at < 0) return false;
      // What ends here, and what follows.
      for (;;) {
        if (depth === 0) return at === end;
        const container = open[depth - 1]!;
        inObject = (this.tokens[container]! & 15) === objectToken;
        const next = json[at++];
        if (next === comma) break;
        if (next !== (inObject ? closeBrace : closeBracket)) return false;
        this.#close(container, at);
        depth--;
      }
    }
  }

  #push(start: number, type: number, end: number, next: number): void {
    const index = this.#count;
    this.#count = index + 3;
    if (this.#count > this.tokens.length) {
      const larger = new Int32Array(2 * this.tokens.length);
      larger.set(this.tokens);
      this.tokens = larger;
    }
    const { tokens } = this;
    tokens[index] = (start << 4) | type;
    tokens[index + 1] = end;
    tokens[index + 2] = next;
  }

  #close(index: number, end: number): void {
    this.tokens[index + 1] = end;
    this.tokens[index + 2] = this.#count;
  }

  /** The key at a position; where its value begins, or -1. */
  #key(json: Buffer, start: number, end: number): number {
    if (json[start] !== quote) return -1;
    let at = start + 1;
    let hash = 0;
    let type = stringToken;
    for (; at < end; at++) {
      const byte = json[at]!;
      if (byte === quote) break;
      if (byte === backslash) {
        type = escapedToken;
        at++;
      }
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
    if (json[at + 1] !== colon) return -1;
    this.#push(start + 1, type, at, hash);
    return at + 2;
  }

  /** @param start behind the quote */
  #string(json: Buffer, start: number, end: number): number {
    const soon = Math.min(end, start + shortString);
    let at = start;
    while (at < soon && json[at] !== quote && json[at] !== backslash) at++;
    if (at === soon) at = this.#quoteOrBackslash(json, at, end);
    let type = stringToken;
    if (json[at] === backslash) {
      type = escapedToken;
      while (at < end && json[at] !== quote)
        at += json[at] === backslash ? 2 : 1;
    }
    if (at >= end) return -1;
    this.#push(start, type, at, this.#count + 3);
    return at + 1;
  }

  /** The first of them at or behind `from`; `end` when there is none. */
  #quoteOrBackslash(json: Buffer, from: number, end: number): number {
    // Looked for once for many strings, so that a text is searched once.
    if (this.#backslash < from) {
      const found = json.indexOf(backslash, from);
      this.#backslash = found < 0 ? json.length : found;
    }
    const found = json.indexOf(quote, from);
    return Math.min(found < 0 ? end : found, this.#backslash, end);
  }

  #literal(start: number, type: number, length: number): number {
    const end = start + length;
    this.#push(start, type, end, this.#count + 3);
    return end;
  }

  #number(json: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end) {
      const byte = json[at]!;
      // Digits, signs, points and exponents.
      if (
        (byte < 0x30 || byte > 0x39) &&
        byte !== 0x2d &&
        byte !== 0x2e &&
        byte !== 0x2b &&
        byte !== 0x65 &&
        byte !== 0x45
      )
        break;
      at++;
    }
    if (at === start) return -1;
    this.#push(start, numberToken, at, this.#count + 3);
    return at;
  }

  /** Is the key before `index` that of a document that is not looked into? */
  #isOpaque(json: Buffer, index: number): boolean {
    const { tokens } = this;
    if (tokens[index - 1] !== opaqueHash) return false;
    const start = tokens[index - 3]! >> 4;
    const length = tokens[index - 2]! - start;
    return (
      length === opaqueKey.length &&
      opaqueKey.compare(json, start, start + length) === 0
    );
  }

  #opaque(json: Buffer, start: number, end: number): number {
    const behind = this.#documents.endOf(json, start, end);
    if (behind < 0) return -1;
    this.#push(start, opaqueToken, behind, this.#count + 3);
    return behind;
  }
}
