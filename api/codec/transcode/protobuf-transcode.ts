// From the bytes of an object's JSON to its protobuf message by the type table, in one pass over the bytes and without
// making an object of them. Byte for byte what protobuf-encode.ts writes of the parsed object, which does it where this
// can't: `transcode` then returns false.
//
// Relies on JSON as JSON.stringify writes it (json-tape.ts). A message is written by its plan (message-plans.ts): by noting
// which token each field has, then writing field by field.
import {
  arrayToken,
  escapedToken,
  falseToken,
  JsonTape,
  nullToken,
  numberToken,
  objectToken,
  opaqueToken,
  stringToken,
  trueToken,
} from "./json-tape.ts";
import {
  asBool,
  asBytes,
  asDouble,
  asInteger,
  asIntOrString,
  asMessage,
  asParsed,
  asQuantity,
  asRaw,
  asString,
  asTime,
  maxFields,
  planOf,
  type FieldPlan,
  type MessagePlan,
} from "./message-plans.ts";
import { encoderOf } from "../protobuf-encode.ts";
import { WireWriter } from "../wire-writer.ts";

/** The bytes can't be transcoded. */
const refusal = new Error("not transcoded");

/** Integers of up to nine digits have the same form as int32 and int64. */
const maxDigits = 9;

export class ProtobufTranscoder {
  readonly #tape = new JsonTape();
  #json: Buffer = Buffer.alloc(0);
  #writer = WireWriter.create();
  /** For the messages under way: the fields their objects have, in ascending order, each with its token. */
  #found = new Int32Array(256);
  #top = 0;

  /**
   * Writes the message of the object whose JSON this is; false when only the parsed object can be written, and `writer`
   * then holds a part of the message.
   */
  transcode(writer: WireWriter, messageName: string, json: Buffer): boolean {
    const plan = planOf(messageName);
    if (!plan || !this.#tape.read(json)) return false;
    this.#json = json;
    this.#writer = writer;
    this.#top = 0;
    try {
      this.#message(plan, 0);
      return true;
    } catch (error) {
      if (error === refusal) return false;
      throw error;
    }
  }

  /** @param token of the object */
  #message(plan: MessagePlan, token: number): void {
    const { fields, places, always } = plan;
    const { tokens } = this.#tape;
    if ((tokens[token]! & 15) !== objectToken) throw refusal;
    const base = this.#top;
    const end = tokens[token + 2]!;
    for (let key = token + 3; key < end; key = tokens[key + 5]!) {
      const field = this.#fieldOf(fields, places, key);
      if (field >= 0) this.#note(base, field, key + 3);
    }
    const top = this.#top;
    let next = base;
    let at = 0;
    for (;;) {
      const wanted = at < always.length ? always[at]! : maxFields;
      const index = next < top ? this.#found[next]! : maxFields;
      if (index > wanted) {
        at++;
        const field = fields[wanted]!;
        if (field.inlined) this.#value(field, token);
        else this.#writer.raw(field.unset!);
        continue;
      }
      if (index === maxFields) break;
      if (index === wanted) at++;
      const field = fields[index]!;
      const value = this.#found[next + 1]!;
      next += 2;
      if ((tokens[value]! & 15) !== nullToken) this.#field(field, value);
      else if (field.unset) {
        // The type itself decides the meaning of a null.
        if (field.as === asParsed) this.#value(field, value);
        else this.#writer.raw(field.unset);
      }
    }
    this.#top = base;
  }

  /** Notes which token a field has, in the order of the fields behind `base`; the last of a name counts. */
  #note(base: number, field: number, token: number): void {
    if (this.#top + 2 > this.#found.length) {
      const larger = new Int32Array(2 * this.#found.length);
      larger.set(this.#found);
      this.#found = larger;
    }
    const found = this.#found;
    let at = this.#top;
    while (at > base && found[at - 2]! > field) at -= 2;
    if (at > base && found[at - 2] === field) {
      found[at - 1] = token;
      return;
    }
    for (let from = this.#top - 1; from >= at; from--)
      found[from + 2] = found[from]!;
    found[at] = field;
    found[at + 1] = token;
    this.#top += 2;
  }

  /** The index of the field a key names, or -1. */
  #fieldOf(
    fields: readonly FieldPlan[],
    places: Uint8Array,
    key: number,
  ): number {
    const { tokens } = this.#tape;
    const json = this.#json;
    const start = tokens[key]! >> 4;
    const length = tokens[key + 1]! - start;
    // A name with escapes is that of no field.
    for (
      let place = tokens[key + 2]! & 255;
      places[place] !== 0;
      place = (place + 1) & 255
    ) {
      const index = places[place]! - 1;
      const { name } = fields[index]!;
      if (name.length !== length) continue;
      let at = 0;
      while (at < length && name[at] === json[start + at]) at++;
      if (at === length) return index;
    }
    return -1;
  }

  #field(field: FieldPlan, token: number): void {
    if (field.label === "one") return this.#value(field, token);
    const { tokens } = this.#tape;
    const type = tokens[token]! & 15;
    if (field.label === "map") return this.#map(field, token);
    if (type !== arrayToken) throw refusal;
    const end = tokens[token + 2]!;
    for (let item = token + 3; item < end; item = tokens[item + 2]!)
      this.#value(field, item);
  }

  #map(field: FieldPlan, token: number): void {
    const writer = this.#writer;
    const json = this.#json;
    const { tokens } = this.#tape;
    if ((tokens[token]! & 15) !== objectToken) throw refusal;
    const keys: number[] = [];
    const end = tokens[token + 2]!;
    let sorted = true;
    for (let key = token + 3; key < end; key = tokens[key + 5]!) {
      if ((tokens[key]! & 15) === escapedToken) throw refusal;
      if (keys.length > 0 && this.#compare(keys[keys.length - 1]!, key) >= 0)
        sorted = false;
      keys.push(key);
    }
    if (!sorted) keys.sort((a, b) => this.#compare(a, b));
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index]!;
      // Which of two is meant depends on who reads them.
      if (!sorted && index > 0 && this.#compare(keys[index - 1]!, key) === 0)
        throw refusal;
      writer
        .uint32(field.tag)
        .fork()
        .uint32(10)
        .slice(json, tokens[key]! >> 4, tokens[key + 1]!);
      this.#bare(field, 0x10 | field.wire, key + 3);
      writer.ldelim();
    }
  }

  /** Keys by their bytes. */
  #compare(one: number, other: number): number {
    const { tokens } = this.#tape;
    const json = this.#json;
    const oneStart = tokens[one]! >> 4;
    const otherStart = tokens[other]! >> 4;
    const oneBytes = tokens[one + 1]! - oneStart;
    const otherBytes = tokens[other + 1]! - otherStart;
    const both = Math.min(oneBytes, otherBytes);
    for (let at = 0; at < both; at++) {
      const difference = json[oneStart + at]! - json[otherStart + at]!;
      if (difference !== 0) return difference;
    }
    return oneBytes - otherBytes;
  }

  #value(field: FieldPlan, token: number): void {
    this.#bare(field, field.tag, token);
  }

  /** A value behind `tag`. */
  #bare(field: FieldPlan, tag: number, token: number): void {
    const writer = this.#writer;
    const { tokens } = this.#tape;
    const type = tokens[token]! & 15;
    const start = tokens[token]! >> 4;
    const end = tokens[token + 1]!;
    writer.uint32(tag);
    switch (field.as) {
      case asString:
        if (type === stringToken) writer.slice(this.#json, start, end);
        else writer.string(this.#text(type, start, end));
        return;
      case asBool:
        if (type === nullToken || type === falseToken) writer.bool(false);
        else if (type === trueToken) writer.bool(true);
        else throw refusal;
        return;
      case asInteger:
        if (type === numberToken) this.#integer(start, end);
        else if (type === nullToken) writer.uint32(0);
        else throw refusal;
        return;
      case asDouble:
        if (type === numberToken)
          writer.double(Number(this.#json.toString("latin1", start, end)));
        else if (type === nullToken) writer.double(0);
        else throw refusal;
        return;
      case asBytes:
        writer.bytes(Buffer.from(this.#text(type, start, end), "base64"));
        return;
      case asMessage:
        writer.fork();
        field.plan ??= planOf(field.messageName)!;
        if (type === nullToken) encoderOf(field.messageName)(writer, undefined);
        else this.#message(field.plan, token);
        writer.ldelim();
        return;
      case asTime:
        writer.fork();
        if (type !== nullToken && start !== end) this.#time(type, start, end);
        writer.ldelim();
        return;
      case asQuantity:
        writer.fork().uint32(10);
        if (type === stringToken && start !== end)
          writer.slice(this.#json, start, end);
        else if (type === nullToken || type === stringToken) writer.string("0");
        else throw refusal;
        writer.ldelim();
        return;
      case asIntOrString:
        this.#intOrString(type, start, end);
        return;
      case asRaw:
        writer.fork();
        if (type === opaqueToken || type === objectToken)
          writer.uint32(10).slice(this.#json, start, end);
        else if (type !== nullToken) throw refusal;
        writer.ldelim();
        return;
      default: {
        const quotes = +(type === stringToken || type === escapedToken);
        const text = this.#json.toString("utf8", start - quotes, end + quotes);
        writer.fork();
        encoderOf(field.messageName)(writer, JSON.parse(text) as unknown);
        writer.ldelim();
      }
    }
  }

  /** Of a string or null. */
  #text(type: number, start: number, end: number): string {
    if (type === stringToken) return this.#json.toString("utf8", start, end);
    if (type === escapedToken)
      return JSON.parse(
        this.#json.toString("utf8", start - 1, end + 1),
      ) as string;
    if (type === nullToken) return "";
    throw refusal;
  }

  #integer(start: number, end: number): void {
    const json = this.#json;
    const negative = json[start] === 0x2d;
    let at = negative ? start + 1 : start;
    if (end - at > maxDigits) throw refusal;
    let value = 0;
    for (; at < end; at++) {
      const digit = json[at]! - 0x30;
      if (digit < 0 || digit > 9) throw refusal;
      value = value * 10 + digit;
    }
    if (negative) this.#writer.int64(-value);
    else this.#writer.uint32(value);
  }

  #time(type: number, start: number, end: number): void {
    let seconds = type === stringToken ? this.#utcSeconds(start, end) : NaN;
    if (Number.isNaN(seconds))
      seconds = Math.floor(Date.parse(this.#text(type, start, end)) / 1000);
    this.#writer.uint32(8).int64(seconds).uint32(16).uint32(0);
  }

  /** Of 2006-01-02T15:04:05Z; NaN for a text of another form, and at the end of a month. */
  #utcSeconds(start: number, end: number): number {
    const json = this.#json;
    if (
      end - start !== 20 ||
      json[start + 4] !== 0x2d ||
      json[start + 7] !== 0x2d ||
      json[start + 10] !== 0x54 ||
      json[start + 13] !== 0x3a ||
      json[start + 16] !== 0x3a ||
      json[start + 19] !== 0x5a
    )
      return NaN;
    const two = (at: number): number => {
      const tens = json[at]! - 0x30;
      const ones = json[at + 1]! - 0x30;
      return tens < 0 || tens > 9 || ones < 0 || ones > 9
        ? NaN
        : tens * 10 + ones;
    };
    const year = two(start) * 100 + two(start + 2);
    const month = two(start + 5);
    const day = two(start + 8);
    const hour = two(start + 11);
    const minute = two(start + 14);
    const second = two(start + 17);
    if (
      !(month >= 1 && month <= 12 && day >= 1 && day <= 28) ||
      !(hour <= 23 && minute <= 59 && second <= 59) ||
      !(year >= 1970)
    )
      return NaN;
    return (
      daysSinceEpoch(year, month, day) * 86_400 +
      hour * 3600 +
      minute * 60 +
      second
    );
  }

  #intOrString(type: number, start: number, end: number): void {
    const writer = this.#writer;
    writer.fork();
    if (type === numberToken) {
      writer.raw(intHead);
      this.#integer(start, end);
      writer.raw(intEnd);
    } else if (type === stringToken) {
      writer.raw(stringHead).slice(this.#json, start, end);
    } else throw refusal;
    writer.ldelim();
  }
}

/** Of an IntOrString: its type and the tag of its number; its empty text; its type, its number 0 and the tag of its text. */
const intHead = Buffer.from([0x08, 0, 0x10]);
const intEnd = Buffer.from([0x1a, 0]);
const stringHead = Buffer.from([0x08, 1, 0x10, 0, 0x1a]);

/** In the Gregorian calendar. @param month 1 to 12 */
function daysSinceEpoch(year: number, month: number, day: number): number {
  // Years from March on, so that the leap day is the last.
  const shifted = month > 2 ? year : year - 1;
  const dayOfYear =
    Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const leapDays =
    Math.floor(shifted / 4) -
    Math.floor(shifted / 100) +
    Math.floor(shifted / 400);
  return shifted * 365 + leapDays + dayOfYear - 719_468;
}
