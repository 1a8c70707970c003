// How documents are written in protobuf: messages that follow the layout of their JSON. A layout is JSON key → [field
// number, how]; what is no key of a layout and starts with "x-" goes into the message's vendor extensions as JSON text,
// which the readers' YAML parsers take. `gnostic-v2.ts` and `gnostic-v3.ts` hold the layouts.
import type { WireWriter as Writer } from "../codec/wire-writer.ts";
import type { JsonObject } from "./definitions.ts";

export type Encode = (writer: Writer, value: never) => void;
type Fields = Readonly<
  Record<
    string,
    readonly [
      number,
      (
        | "string"
        | "strings"
        | "bool"
        | "double"
        | "integer"
        | "any"
        | "anys"
        | Each
        | Encode
      ),
    ]
  >
>;

/** A field that is written once for each value of a list. */
class Each {
  constructor(readonly encode: (writer: Writer, value: JsonObject) => void) {}
}

export const each = (
  encode: (writer: Writer, value: JsonObject) => void,
): Each => new Each(encode);

interface Layout {
  readonly fields: Fields;
  /** Field number of the vendor extensions. */
  readonly extensions?: number;
}

export function message(
  layout: Layout,
): (writer: Writer, value: JsonObject) => void {
  return (writer, value) => {
    for (const [key, inner] of Object.entries(objectIn(value))) {
      const field = Object.hasOwn(layout.fields, key)
        ? layout.fields[key]
        : undefined;
      if (field) write(writer, field[0], field[1], inner);
      else if (layout.extensions !== undefined && key.startsWith("x-"))
        named(writer, layout.extensions, key, anyOf, inner);
    }
  };
}

// Documents of other servers come here as they are: what has another shape than the layout's is left out.

/** The value, or one without entries. */
export function objectIn(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : {};
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function write(
  writer: Writer,
  number: number,
  how: Fields[string][1],
  value: unknown,
): void {
  switch (how) {
    case "string":
      writer.uint32((number << 3) | 2).string(String(value));
      return;
    case "strings":
      for (const text of listIn(value))
        writer.uint32((number << 3) | 2).string(String(text));
      return;
    case "bool":
      writer.uint32(number << 3).bool(Boolean(value));
      return;
    case "double":
      writer.uint32((number << 3) | 1).double(Number(value));
      return;
    case "integer":
      writer.uint32(number << 3).int64(Number(value));
      return;
    case "any":
      return nested(writer, number, anyOf, value);
    case "anys":
      for (const one of listIn(value)) nested(writer, number, anyOf, one);
      return;
    default:
      if (how instanceof Each) {
        for (const one of listIn(value))
          nested(writer, number, how.encode, objectIn(one));
        return;
      }
      return nested(
        writer,
        number,
        how as (writer: Writer, value: unknown) => void,
        value,
      );
  }
}

export function nested<T>(
  writer: Writer,
  number: number,
  encode: (writer: Writer, value: T) => void,
  value: T,
): void {
  writer.uint32((number << 3) | 2).fork();
  encode(writer, value);
  writer.ldelim();
}

/** A (name, value) pair, of which the layout's maps are made. */
export function named<T>(
  writer: Writer,
  number: number,
  name: string,
  encode: (writer: Writer, value: T) => void,
  value: T,
): void {
  nested(
    writer,
    number,
    (pair) => {
      pair.uint32(10).string(name);
      nested(pair, 2, encode, value);
    },
    undefined,
  );
}

export function entries<T>(
  number: number,
  encode: (writer: Writer, value: T) => void,
): Encode {
  return ((writer: Writer, map: Record<string, T>) => {
    for (const [name, value] of Object.entries(objectIn(map)) as [string, T][])
      named(writer, number, name, encode, value);
  }) as Encode;
}

/** A message with one alternative set. */
export function alternative<T>(
  number: number,
  encode: (writer: Writer, value: T) => void,
): (writer: Writer, value: T) => void {
  return (writer, value) => nested(writer, number, encode, value);
}

function anyOf(writer: Writer, value: unknown): void {
  writer.uint32(18).string(JSON.stringify(value));
}
