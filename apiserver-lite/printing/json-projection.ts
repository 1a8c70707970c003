// The few members of an object that a reader asks for, taken from its JSON without parsing the rest: a row of a table reads
// a dozen of a pod's two hundred values.
//
// Relies on JSON as JSON.stringify writes it: no white space between tokens, well-formed. A text of another form is refused
// (`read` returns undefined) or, where the malformed part is not asked for, passes unnoticed.
//
// Example: {"a":{"b":1,"c":2},"d":[{"e":3,"f":4}]} with {a: {b: whole}, d: {f: whole}} gives {a: {b: 1}, d: [{f: 4}]}.
import { KnownDocuments } from "../../api/codec/object-end.ts";

/** The members of an object, or of each object of an array, by name; an empty one asks how many there are. */
export interface Wanted {
  readonly [name: string]: Wanted | typeof whole;
}

/** The value with all that is in it. */
export const whole = "whole";

type Values = Record<string, unknown>;

interface Member {
  readonly name: string;
  readonly bytes: Buffer;
  /** Undefined: the whole value. */
  readonly inner: Members | undefined;
}

type Members = readonly Member[];

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const newline = 0x0a;

/** The text is of another form. */
const refusal = new Error("not read");
const documents = new KnownDocuments();

export class JsonProjection {
  readonly #members: Members;
  #json: Buffer = Buffer.alloc(0);
  #at = 0;
  /** Where the value of the first member that was read last begins and ends in the text. */
  firstStart = 0;
  firstEnd = 0;

  constructor(wanted: Wanted) {
    this.#members = membersOf(wanted);
  }

  /** Undefined when the JSON is no object, or of another form. */
  read(json: Buffer): Values | undefined {
    this.#json = json;
    this.#at = 0;
    this.firstEnd = 0;
    try {
      if (json[0] !== openBrace) return undefined;
      const object = this.#object(this.#members);
      if (json[this.#at] === newline) this.#at++;
      return this.#at === json.length ? object : undefined;
    } catch (error) {
      if (error === refusal || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  #value(wanted: Members | undefined): unknown {
    const json = this.#json;
    const start = this.#at;
    const first = json[start];
    if (wanted && first === openBrace) return this.#object(wanted);
    if (wanted && first === openBracket) return this.#list(wanted);
    const end = (this.#at = behindValue(json, start));
    if (first === quote && plain(json, start + 1, end - 1))
      return json.toString("latin1", start + 1, end - 1);
    return JSON.parse(json.toString("utf8", start, end)) as unknown;
  }

  #list(wanted: Members): unknown[] {
    const json = this.#json;
    const list: unknown[] = [];
    if (json[++this.#at] === closeBracket) {
      this.#at++;
      return list;
    }
    for (;;) {
      list.push(this.#value(wanted));
      const next = json[this.#at++];
      if (next === closeBracket) return list;
      if (next !== comma) throw refusal;
    }
  }

  #object(wanted: Members): Values {
    const json = this.#json;
    const object: Values = {};
    let at = this.#at + 1;
    if (json[at] === closeBrace) {
      this.#at = at + 1;
      return object;
    }
    for (;;) {
      if (json[at] !== quote) throw refusal;
      const member = memberAt(json, at + 1, wanted);
      // The bytes of a name hold its closing quote.
      if (member) at += 1 + member.bytes.length;
      else at = behindString(json, at);
      if (json[at] !== colon) throw refusal;
      if (member) {
        this.#at = at + 1;
        const value = this.#value(member.inner);
        if (this.firstEnd === 0) {
          this.firstStart = at + 1;
          this.firstEnd = this.#at;
        }
        object[member.name] = value;
        at = this.#at;
      } else at = behindValue(json, at + 1);
      const next = json[at++];
      if (next === closeBrace) break;
      if (next !== comma) throw refusal;
    }
    this.#at = at;
    return object;
  }
}

/** @param at behind the quote of a name */
function memberAt(
  json: Buffer,
  at: number,
  wanted: Members,
): Member | undefined {
  for (const member of wanted) {
    const { bytes } = member;
    let same = 0;
    while (same < bytes.length && json[at + same] === bytes[same]) same++;
    if (same === bytes.length) return member;
  }
  return undefined;
}

/** @param at of the quote */
function behindString(json: Buffer, at: number): number {
  const { length } = json;
  for (at++; at < length; at++) {
    const byte = json[at];
    if (byte === quote) return at + 1;
    if (byte === backslash) at++;
  }
  throw refusal;
}

function behindValue(json: Buffer, at: number): number {
  const { length } = json;
  let depth = 0;
  while (at < length) {
    const byte = json[at];
    if (byte === quote) {
      const document = documents.behindKey(json, at, length);
      at = document > 0 ? document : behindString(json, at);
      if (depth === 0) return at;
      continue;
    }
    if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (byte === comma && depth === 0) return at;
    at++;
  }
  throw refusal;
}

/** Are these bytes of a string its characters? */
function plain(json: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = json[at]!;
    if (byte >= 0x80 || byte === backslash) return false;
  }
  return true;
}

/** The names with their closing quotes, so that none is taken for the beginning of another. */
function membersOf(wanted: Wanted): Members {
  return Object.entries(wanted).map(([name, inner]) => ({
    name,
    bytes: Buffer.from(JSON.stringify(name).slice(1)),
    inner: inner === whole ? undefined : membersOf(inner),
  }));
}
