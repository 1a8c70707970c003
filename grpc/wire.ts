// Protobuf by table: encodes and decodes messages from rows `[field, number, type, shape]`, shape 0 single, 1 repeated,
// 2 map with string keys and `type` values. No code generation, so the first call of a process costs nothing to set up.
// Decoding gives every field: scalars their proto3 default, lists [], maps {}; absent messages are left undefined.
// The scalar types are in wire-scalars.ts.
// Example: table {"M": [["name",1,"string",0]]}: encode("M", {name: "a"}) is 0a 01 61.
import { Reader, Writer } from "protobufjs/minimal.js";
import { type Scalar, scalars } from "./wire-scalars.ts";

type FieldRow = readonly [
  field: string,
  number: number,
  type: string,
  shape: number,
];
export type WireTable = Readonly<Record<string, readonly FieldRow[]>>;
type WireObject = Record<string, unknown>;

export interface WireCodec {
  encode(message: string, value: object): Buffer;
  /** Throws MalformedMessage. */
  decode(message: string, bytes: Uint8Array): WireObject;
}

/** What a peer has sent is no such message: truncated, malformed or too large. A fault of the peer, not of this program. */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
}

/** A message nested deeper than this is an attack, not an answer of a peer of ours. */
const maxDepth = 32;

/** A codec over the given tables; a later table may refer to messages of an earlier one. */
export function createWireCodec(...tables: readonly WireTable[]): WireCodec {
  return codecOf(tables, Infinity);
}

/**
 * As createWireCodec, for peers that are not trusted. A message of 4 MiB can have two million empty fields, which take
 * seconds to decode: one of more than maxFields (with those of its nested messages, and unknown ones) is refused.
 */
export function createBoundedWireCodec(
  maxFields: number,
  ...tables: readonly WireTable[]
): WireCodec {
  return codecOf(tables, maxFields);
}

function codecOf(tables: readonly WireTable[], maxFields: number): WireCodec {
  const messages = new Map<string, Message>();
  for (const table of tables)
    for (const [name, rows] of Object.entries(table))
      messages.set(name, { rows, byNumber: undefined });
  return new TableCodec(messages, maxFields);
}

interface Message {
  rows: readonly FieldRow[];
  /** Made when the message is first decoded. */
  byNumber: Map<number, FieldRow> | undefined;
}

const lengthDelimited = 2;

/** A field's tag: its number and its wire type. */
function tagOf(number: number, wireType: number): number {
  return ((number << 3) | wireType) >>> 0;
}

class TableCodec implements WireCodec {
  readonly #messages: ReadonlyMap<string, Message>;
  readonly #maxFields: number;
  /** Of the message that is being decoded: how many more fields it may have. */
  #fieldsLeft = 0;

  constructor(messages: ReadonlyMap<string, Message>, maxFields: number) {
    this.#messages = messages;
    this.#maxFields = maxFields;
  }

  encode(message: string, value: object): Buffer {
    const writer = Writer.create();
    this.#writeMessage(writer, message, value as WireObject);
    return Buffer.from(writer.finish());
  }

  decode(message: string, bytes: Uint8Array): WireObject {
    this.#fieldsLeft = this.#maxFields;
    const reader = Reader.create(bytes);
    try {
      return this.#readMessage(reader, message, reader.len, 0);
    } catch (error) {
      throw new MalformedMessage((error as Error).message);
    }
  }

  #message(name: string): Message {
    const message = this.#messages.get(name);
    if (message === undefined) throw new Error(`unknown message ${name}`);
    return message;
  }

  #writeMessage(writer: Writer, message: string, value: WireObject): void {
    for (const [field, number, type, shape] of this.#message(message).rows) {
      const member = value[field];
      if (member === undefined || member === null) continue;
      if (shape === 2)
        this.#writeMap(writer, number, type, member as WireObject);
      else if (shape === 1)
        this.#writeList(writer, number, type, member as unknown[]);
      else if (!scalars.get(type)?.isAbsent(member))
        this.#writeValue(writer, number, type, member);
    }
  }

  #writeMap(
    writer: Writer,
    number: number,
    type: string,
    entries: WireObject,
  ): void {
    for (const [key, item] of Object.entries(entries)) {
      writer.uint32(tagOf(number, lengthDelimited)).fork();
      writer.uint32(tagOf(1, lengthDelimited)).string(key);
      this.#writeValue(writer, 2, type, item);
      writer.ldelim();
    }
  }

  /** Numbers are packed. */
  #writeList(
    writer: Writer,
    number: number,
    type: string,
    items: readonly unknown[],
  ): void {
    if (items.length === 0) return;
    const scalar = scalars.get(type);
    if (scalar === undefined || scalar.wireType === lengthDelimited) {
      for (const item of items) this.#writeValue(writer, number, type, item);
      return;
    }
    writer.uint32(tagOf(number, lengthDelimited)).fork();
    for (const item of items) scalar.write(writer, item);
    writer.ldelim();
  }

  #writeValue(
    writer: Writer,
    number: number,
    type: string,
    value: unknown,
  ): void {
    const scalar = scalars.get(type);
    if (scalar !== undefined) {
      writer.uint32(tagOf(number, scalar.wireType));
      scalar.write(writer, value);
      return;
    }
    writer.uint32(tagOf(number, lengthDelimited)).fork();
    this.#writeMessage(writer, type, value as WireObject);
    writer.ldelim();
  }

  #readMessage(
    reader: Reader,
    name: string,
    end: number,
    depth: number,
  ): WireObject {
    if (depth > maxDepth) throw new Error("message nested too deeply");
    if (end > reader.len) throw new Error(`message ${name} is truncated`);
    const message = this.#message(name);
    message.byNumber ??= new Map(message.rows.map((row) => [row[1], row]));
    const value = emptyMessage(message.rows);
    while (reader.pos < end) {
      this.#countField();
      const tag = reader.uint32();
      const row = message.byNumber.get(tag >>> 3);
      if (row === undefined) reader.skipType(tag & 7);
      else this.#readField(reader, tag & 7, row, value, depth);
    }
    return value;
  }

  #readField(
    reader: Reader,
    wireType: number,
    [field, , type, shape]: FieldRow,
    value: WireObject,
    depth: number,
  ): void {
    const scalar = scalars.get(type);
    if (shape === 2) {
      const [key, item] = this.#readEntry(reader, type, depth);
      // A key may be __proto__.
      Object.defineProperty(value[field], key, {
        value: item,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    } else if (shape === 1) {
      const items = value[field] as unknown[];
      if (
        scalar &&
        scalar.wireType !== lengthDelimited &&
        wireType === lengthDelimited
      )
        this.#readPacked(reader, scalar, items);
      else items.push(this.#readValue(reader, type, depth));
    } else value[field] = this.#readValue(reader, type, depth);
  }

  #readValue(reader: Reader, type: string, depth: number): unknown {
    const scalar = scalars.get(type);
    return scalar
      ? scalar.read(reader)
      : this.#readMessage(
          reader,
          type,
          reader.uint32() + reader.pos,
          depth + 1,
        );
  }

  #readEntry(
    reader: Reader,
    type: string,
    depth: number,
  ): [key: string, value: unknown] {
    const end = reader.uint32() + reader.pos;
    let key = "";
    let value = scalars.get(type)?.absent();
    while (reader.pos < end) {
      this.#countField();
      const tag = reader.uint32();
      if (tag >>> 3 === 1) key = reader.string();
      else if (tag >>> 3 === 2) value = this.#readValue(reader, type, depth);
      else reader.skipType(tag & 7);
    }
    return [key, value];
  }

  #readPacked(reader: Reader, scalar: Scalar, items: unknown[]): void {
    const end = reader.uint32() + reader.pos;
    while (reader.pos < end) {
      this.#countField();
      items.push(scalar.read(reader));
    }
  }

  #countField(): void {
    if (--this.#fieldsLeft < 0)
      throw new Error(`message has more than ${this.#maxFields} fields`);
  }
}

function emptyMessage(rows: readonly FieldRow[]): WireObject {
  const value: WireObject = {};
  for (const [field, , type, shape] of rows) {
    const scalar = scalars.get(type);
    if (shape === 1) value[field] = [];
    else if (shape === 2) value[field] = {};
    else if (scalar) value[field] = scalar.absent();
  }
  return value;
}
