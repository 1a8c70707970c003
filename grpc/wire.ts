// Protobuf by table: encodes and decodes messages from rows `[field, number, type, shape]`, shape 0 single, 1 repeated,
// 2 map with string keys and `type` values. No code generation, so the first call of a process costs nothing to set up.
// Decoding gives every field: scalars their proto3 default, lists [], maps {}; absent messages are left undefined.
// 64-bit integers become JS numbers (exact below 2^53; nanosecond timestamps lose some hundred nanoseconds); where every
// digit counts, the table says `int64-text`, which is decimal text in both directions.
// Example: table {"M": [["name",1,"string",0]]}: encode("M", {name: "a"}) is 0a 01 61.
import { Reader, Writer } from "protobufjs/minimal.js";

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
  /** Throws RangeError or Error on truncated or malformed bytes. */
  decode(message: string, bytes: Uint8Array): WireObject;
}

/** Wire type of a scalar: 0 varint, 1 fixed64, 2 length-delimited, 5 fixed32. */
const scalarWireTypes: Readonly<Record<string, number>> = {
  int32: 0,
  int64: 0,
  "int64-text": 0,
  uint32: 0,
  uint64: 0,
  bool: 0,
  double: 1,
  string: 2,
  bytes: 2,
};

/** A message nested deeper than this is an attack, not an answer of a peer of ours. */
const maxDepth = 32;

function toNumber(value: number | { toNumber(): number }): number {
  return typeof value === "number" ? value : value.toNumber();
}

function writeScalar(writer: Writer, type: string, value: unknown): void {
  switch (type) {
    case "string":
      writer.string(value as string);
      break;
    case "bytes":
      writer.bytes(value as Uint8Array);
      break;
    case "bool":
      writer.bool(value as boolean);
      break;
    case "int32":
      writer.int32(value as number);
      break;
    case "uint32":
      writer.uint32(value as number);
      break;
    case "int64":
      writer.int64(value as number);
      break;
    case "int64-text":
      writer.int64(value as string);
      break;
    case "uint64":
      writer.uint64(value as number);
      break;
    case "double":
      writer.double(value as number);
      break;
    default:
      throw new Error(`unknown scalar type ${type}`);
  }
}

function readScalar(reader: Reader, type: string): unknown {
  switch (type) {
    case "string":
      return reader.string();
    case "bytes":
      return Buffer.from(reader.bytes());
    case "bool":
      return reader.bool();
    case "int32":
      return reader.int32();
    case "uint32":
      return reader.uint32();
    case "int64":
      return toNumber(
        reader.int64() as unknown as number | { toNumber(): number },
      );
    case "int64-text":
      return String(reader.int64());
    case "uint64":
      return toNumber(
        reader.uint64() as unknown as number | { toNumber(): number },
      );
    case "double":
      return reader.double();
    default:
      throw new Error(`unknown scalar type ${type}`);
  }
}

function defaultOf(type: string): unknown {
  switch (type) {
    case "string":
      return "";
    case "int64-text":
      return "0";
    case "bytes":
      return Buffer.alloc(0);
    case "bool":
      return false;
    default:
      return 0;
  }
}

function isDefault(type: string, value: unknown): boolean {
  return (
    value === 0 ||
    value === false ||
    value === "" ||
    (type === "int64-text" && value === "0") ||
    (type === "bytes" && (value as Uint8Array).length === 0)
  );
}

/** A codec over the given tables; a later table may refer to messages of an earlier one. */
export function createWireCodec(...tables: readonly WireTable[]): WireCodec {
  const messages = new Map<string, readonly FieldRow[]>();
  for (const table of tables)
    for (const [name, rows] of Object.entries(table)) messages.set(name, rows);
  const byNumber = new Map<string, Map<number, FieldRow>>();

  function rowsOf(message: string): readonly FieldRow[] {
    const rows = messages.get(message);
    if (rows === undefined) throw new Error(`unknown message ${message}`);
    return rows;
  }

  function rowOf(message: string, number: number): FieldRow | undefined {
    let rows = byNumber.get(message);
    if (rows === undefined) {
      rows = new Map(rowsOf(message).map((row) => [row[1], row]));
      byNumber.set(message, rows);
    }
    return rows.get(number);
  }

  function writeValue(
    writer: Writer,
    number: number,
    type: string,
    value: unknown,
  ): void {
    const wireType = scalarWireTypes[type];
    if (wireType !== undefined) {
      writer.uint32(((number << 3) | wireType) >>> 0);
      writeScalar(writer, type, value);
      return;
    }
    writer.uint32(((number << 3) | 2) >>> 0).fork();
    writeMessage(writer, type, value as WireObject);
    writer.ldelim();
  }

  function writeMessage(
    writer: Writer,
    message: string,
    value: WireObject,
  ): void {
    for (const [field, number, type, shape] of rowsOf(message)) {
      const member = value[field];
      if (member === undefined || member === null) continue;
      if (shape === 2) {
        for (const [key, item] of Object.entries(member as WireObject)) {
          writer.uint32(((number << 3) | 2) >>> 0).fork();
          writer.uint32(10).string(key);
          writeValue(writer, 2, type, item);
          writer.ldelim();
        }
      } else if (shape === 1) {
        const items = member as unknown[];
        if (items.length === 0) continue;
        if (
          scalarWireTypes[type] === 2 ||
          scalarWireTypes[type] === undefined
        ) {
          for (const item of items) writeValue(writer, number, type, item);
        } else {
          writer.uint32(((number << 3) | 2) >>> 0).fork();
          for (const item of items) writeScalar(writer, type, item);
          writer.ldelim();
        }
      } else if (
        scalarWireTypes[type] === undefined ||
        !isDefault(type, member)
      ) {
        writeValue(writer, number, type, member);
      }
    }
  }

  function readEntry(
    reader: Reader,
    type: string,
    depth: number,
  ): [string, unknown] {
    const end = reader.uint32() + reader.pos;
    let key = "";
    let value: unknown =
      scalarWireTypes[type] === undefined ? undefined : defaultOf(type);
    while (reader.pos < end) {
      const tag = reader.uint32();
      if (tag >>> 3 === 1) key = reader.string();
      else if (tag >>> 3 === 2)
        value =
          scalarWireTypes[type] === undefined
            ? readMessage(reader, type, reader.uint32() + reader.pos, depth + 1)
            : readScalar(reader, type);
      else reader.skipType(tag & 7);
    }
    return [key, value];
  }

  function readMessage(
    reader: Reader,
    message: string,
    end: number,
    depth: number,
  ): WireObject {
    if (depth > maxDepth) throw new RangeError("message nested too deeply");
    if (end > reader.len)
      throw new RangeError(`message ${message} is truncated`);
    const value: WireObject = {};
    for (const [field, , type, shape] of rowsOf(message)) {
      if (shape === 1) value[field] = [];
      else if (shape === 2) value[field] = {};
      else if (scalarWireTypes[type] !== undefined)
        value[field] = defaultOf(type);
    }
    while (reader.pos < end) {
      const tag = reader.uint32();
      const row = rowOf(message, tag >>> 3);
      if (row === undefined) {
        reader.skipType(tag & 7);
        continue;
      }
      const [field, , type, shape] = row;
      const wireType = scalarWireTypes[type];
      if (shape === 2) {
        const [key, item] = readEntry(reader, type, depth);
        Object.defineProperty(value[field], key, {
          value: item,
          enumerable: true,
          configurable: true,
          writable: true,
        });
      } else if (wireType === undefined) {
        const item = readMessage(
          reader,
          type,
          reader.uint32() + reader.pos,
          depth + 1,
        );
        if (shape === 1) (value[field] as unknown[]).push(item);
        else value[field] = item;
      } else if (shape === 1) {
        const items = value[field] as unknown[];
        if (wireType !== 2 && (tag & 7) === 2) {
          const packedEnd = reader.uint32() + reader.pos;
          while (reader.pos < packedEnd) items.push(readScalar(reader, type));
        } else items.push(readScalar(reader, type));
      } else {
        value[field] = readScalar(reader, type);
      }
    }
    return value;
  }

  return {
    encode(message, value) {
      const writer = Writer.create();
      writeMessage(writer, message, value as WireObject);
      return Buffer.from(writer.finish());
    },
    decode(message, bytes) {
      const reader = Reader.create(bytes);
      return readMessage(reader, message, reader.len, 0);
    },
  };
}
