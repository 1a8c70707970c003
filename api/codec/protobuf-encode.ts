// Encoders from the JSON shape to the wire, made per message from the type table on first use. Byte for byte what the
// reference writes: fields in ascending order, non-nullable values always, map keys sorted by their bytes.
import type { WireWriter as Writer } from "./wire-writer.ts";
import { parseDurationMs } from "../duration.ts";
import { stringified } from "../escaped-json.ts";
import {
  messageNamed,
  type Message,
  type MessageField,
  type WireScalar,
} from "../type-table.ts";

type Json = Record<string, unknown>;
/** Writes a value without its tag. */
type Write = (writer: Writer, value: unknown) => void;

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const encoders = new Map<string, Write>();

/** The encoder of a message (without tag and length). The name must be in the table. */
export function encoderOf(messageName: string): Write {
  let encoder = encoders.get(messageName);
  if (!encoder) {
    const message = messageNamed(messageName);
    if (!message) throw new Error(`protobuf: no message ${messageName}`);
    // Inner messages are looked up when first written, so recursive types need no care here.
    encoder = specialEncoder(message) ?? messageEncoder(message);
    encoders.set(messageName, encoder);
  }
  return encoder;
}

const SCALAR_WIRE: Record<WireScalar, number> = {
  string: 2,
  bytes: 2,
  bool: 0,
  int32: 0,
  int64: 0,
  double: 1,
};

const SCALARS: Record<WireScalar, Write> = {
  string: (writer, value) =>
    void writer.string(
      value === undefined || value === null ? "" : String(value),
    ),
  bool: (writer, value) => void writer.bool(value === true),
  int32: (writer, value) =>
    void writer.int32((value as number | undefined) ?? 0),
  int64: (writer, value) =>
    void writer.int64((value as number | undefined) ?? 0),
  double: (writer, value) =>
    void writer.double((value as number | undefined) ?? 0),
  bytes: (writer, value) =>
    void writer.bytes(
      Buffer.from((value as string | undefined) ?? "", "base64"),
    ),
};

function messageEncoder(message: Message): Write {
  const fields = message.fields
    .filter(({ number }) => number > 0)
    .map(fieldEncoder);
  return (writer, value) => {
    const object = (value ?? {}) as Json;
    for (const field of fields) field(writer, object);
  };
}

function fieldEncoder(
  field: MessageField,
): (writer: Writer, object: Json) => void {
  const name = field.jsonName;
  const wire = field.scalar ? SCALAR_WIRE[field.scalar] : 2;
  const tag = ((field.number << 3) | wire) >>> 0;
  const write = valueWriter(field);
  if (field.inlined)
    return (writer, object) => write(writer.uint32(tag), object);
  switch (field.label) {
    case "list":
      return (writer, object) => {
        const list = object[name];
        if (Array.isArray(list))
          for (const item of list) write(writer.uint32(tag), item);
      };
    case "map":
      return (writer, object) => {
        const map = object[name];
        if (typeof map !== "object" || map === null) return;
        for (const key of sortedKeys(map)) {
          writer
            .uint32(tag)
            .fork()
            .uint32(10)
            .string(key)
            .uint32(0x10 | wire);
          write(writer, (map as Json)[key]);
          writer.ldelim();
        }
      };
    default:
      if (field.nullable || field.scalar === "bytes")
        return (writer, object) => {
          const value = object[name];
          if (value !== undefined && value !== null)
            write(writer.uint32(tag), value);
        };
      return (writer, object) => write(writer.uint32(tag), object[name]);
  }
}

/** Writes a value with its length where it has one. */
function valueWriter(field: MessageField): Write {
  if (field.scalar) return SCALARS[field.scalar];
  const name = field.message!;
  let encode: Write | undefined;
  return (writer, value) => {
    encode ??= encoderOf(name);
    writer.fork();
    encode(writer, value);
    writer.ldelim();
  };
}

/** By UTF-8 bytes; UTF-16 order is the same as long as there are no surrogates. */
function sortedKeys(map: object): string[] {
  const keys = Object.keys(map);
  if (keys.length < 2) return keys;
  keys.sort();
  if (keys.some((key) => /[\ud800-\udfff]/.test(key)))
    keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return keys;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/** Is its JSON form something else than an object of its fields? */
export function hasOwnForm(message: Message): boolean {
  return specialEncoder(message) !== undefined;
}

/** Types whose JSON form is not an object of their fields. */
function specialEncoder({ fullName, name }: Message): Write | undefined {
  switch (fullName) {
    case `${META}.Time`:
      return (writer, value) => {
        if (isSet(value))
          writer
            .uint32(8)
            .int64(Math.floor(Date.parse(value as string) / 1000))
            .uint32(16)
            .int32(0);
      };
    case `${META}.MicroTime`:
      return (writer, value) => {
        if (!isSet(value)) return;
        const text = value as string;
        const micros = Number(
          (/\.(\d+)/.exec(text)?.[1] ?? "").slice(0, 6).padEnd(6, "0"),
        );
        const seconds = Math.floor(
          Date.parse(text.replace(/\.\d+/, "")) / 1000,
        );
        writer
          .uint32(8)
          .int64(seconds)
          .uint32(16)
          .int32(micros * 1000);
      };
    case `${META}.Duration`:
      return (writer, value) =>
        void writer
          .uint32(8)
          .int64(
            isSet(value)
              ? Math.round(parseDurationMs(value as string) * 1e6)
              : 0,
          );
    case "io.k8s.apimachinery.pkg.api.resource.Quantity":
    case "io.k8s.apimachinery.pkg.api.resource.QuantityValue":
      return (writer, value) =>
        void writer.uint32(10).string(isSet(value) ? String(value) : "0");
    case "io.k8s.apimachinery.pkg.util.intstr.IntOrString":
      return (writer, value) => {
        const isText = typeof value === "string";
        writer.uint32(8).int64(isText ? 1 : 0);
        writer
          .uint32(16)
          .int32(isText ? 0 : ((value as number | undefined) ?? 0));
        writer.uint32(26).string(isText ? value : "");
      };
    case "io.k8s.apimachinery.pkg.runtime.RawExtension":
    case `${META}.FieldsV1`:
      return rawJson;
  }
  if (name === "ExtraValue" || fullName === `${META}.Verbs`)
    return (writer, value) => {
      for (const text of (value as string[] | undefined) ?? [])
        writer.uint32(10).string(text);
    };
  if (!fullName.includes(".apiextensions.v1")) return undefined;
  const props = `${fullName.slice(0, fullName.lastIndexOf("."))}.JSONSchemaProps`;
  switch (name) {
    case "JSON":
      return (writer, value) => {
        if (value !== undefined)
          writer.uint32(10).bytes(Buffer.from(stringified(value)));
      };
    case "JSONSchemaPropsOrBool":
      return (writer, value) => {
        writer.uint32(8).bool(value !== false);
        if (typeof value === "object" && value !== null)
          nested(writer, 18, props, value);
      };
    case "JSONSchemaPropsOrArray":
      return (writer, value) => {
        if (Array.isArray(value))
          for (const one of value) nested(writer, 18, props, one);
        else if (value) nested(writer, 10, props, value);
      };
    case "JSONSchemaPropsOrStringArray":
      return (writer, value) => {
        if (Array.isArray(value))
          for (const one of value) writer.uint32(18).string(one as string);
        else if (value) nested(writer, 10, props, value);
      };
  }
  return undefined;
}

function rawJson(writer: Writer, value: unknown): void {
  if (value === undefined || value === null) return;
  writer.uint32(10).bytes(Buffer.from(stringified(value)));
}

function nested(
  writer: Writer,
  tag: number,
  messageName: string,
  value: unknown,
): void {
  writer.uint32(tag).fork();
  encoderOf(messageName)(writer, value);
  writer.ldelim();
}
