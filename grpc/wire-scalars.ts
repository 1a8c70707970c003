// The scalar types of a wire table: how each is written, read and left out. 64-bit integers become JS numbers (exact below
// 2^53); where every digit counts, the table says `int64-text`, which is decimal text in both directions.
import type { Reader, Writer } from "protobufjs/minimal.js";

export interface Scalar {
  /** 0 varint, 1 fixed64, 2 length-delimited. */
  wireType: number;
  write: (writer: Writer, value: unknown) => void;
  read: (reader: Reader) => unknown;
  /** What an absent field is decoded as. */
  absent: () => unknown;
  /** Whether a value says no more than an absent field, which proto3 leaves out. */
  isAbsent: (value: unknown) => boolean;
}

const isFalsy = (value: unknown): boolean =>
  value === 0 || value === false || value === "";

/** protobufjs declares 64-bit integers as numbers or as its own type with toNumber, by what is installed. */
function toNumber(value: unknown): number {
  return typeof value === "number"
    ? value
    : (value as { toNumber(): number }).toNumber();
}

function scalar(
  wireType: number,
  write: Scalar["write"],
  read: Scalar["read"],
  absent: unknown = 0,
): Scalar {
  return { wireType, write, read, absent: () => absent, isAbsent: isFalsy };
}

/** By the type's name in the table; every other name is a message's. */
export const scalars: ReadonlyMap<string, Scalar> = new Map([
  [
    "int32",
    scalar(
      0,
      (writer, value) => writer.int32(value as number),
      (reader) => reader.int32(),
    ),
  ],
  [
    "uint32",
    scalar(
      0,
      (writer, value) => writer.uint32(value as number),
      (reader) => reader.uint32(),
    ),
  ],
  [
    "int64",
    scalar(
      0,
      (writer, value) => writer.int64(value as number),
      (reader) => toNumber(reader.int64()),
    ),
  ],
  [
    "int64-text",
    {
      wireType: 0,
      write: (writer, value) => writer.int64(value as string),
      read: (reader) => String(reader.int64()),
      absent: () => "0",
      isAbsent: (value) => value === "0" || isFalsy(value),
    },
  ],
  [
    "uint64",
    scalar(
      0,
      (writer, value) => writer.uint64(value as number),
      (reader) => toNumber(reader.uint64()),
    ),
  ],
  [
    "bool",
    scalar(
      0,
      (writer, value) => writer.bool(value as boolean),
      (reader) => reader.bool(),
      false,
    ),
  ],
  [
    "double",
    scalar(
      1,
      (writer, value) => writer.double(value as number),
      (reader) => reader.double(),
    ),
  ],
  [
    "fixed64",
    scalar(
      1,
      (writer, value) => writer.fixed64(value as number),
      (reader) => toNumber(reader.fixed64()),
    ),
  ],
  [
    "string",
    scalar(
      2,
      (writer, value) => writer.string(value as string),
      (reader) => reader.string(),
      "",
    ),
  ],
  [
    "bytes",
    {
      wireType: 2,
      write: (writer, value) => writer.bytes(value as Uint8Array),
      read: (reader) => Buffer.from(reader.bytes()),
      absent: () => Buffer.alloc(0),
      isAbsent: (value) => isFalsy(value) || (value as Uint8Array).length === 0,
    },
  ],
]);
