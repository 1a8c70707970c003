// Decoders from the wire to the JSON shape, made per message from the type table on first use. The result has the form
// that decoding JSON gives (conform.ts): empty `omitEmpty` values are left out, what is always written is there, nulls
// are not. Input is hostile: lengths are checked before anything is made, depth and the number of messages are bounded.
import { formatDuration } from "../duration.ts";
import {
  messageNamed,
  messageNameOfKind,
  type Message,
  type MessageField,
  type WireScalar,
} from "../type-table.ts";
import { normaliseQuantity, unknownKind } from "./conform.ts";
import { scanText, setOwn } from "./json-text.ts";
import { WireError, WireReader } from "./wire-reader.ts";

type Json = Record<string, unknown>;
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

/** Reads a message up to the reader's end. */
type Read = (reader: WireReader) => unknown;
const decoders = new Map<string, Read>();

/** The decoder of a message. The name must be in the table. */
export function decoderOf(messageName: string): Read {
  let decoder = decoders.get(messageName);
  if (!decoder) {
    const message = messageNamed(messageName);
    if (!message) throw new Error(`protobuf: no message ${messageName}`);
    decoder = specialDecoder(message) ?? messageDecoder(message);
    decoders.set(messageName, decoder);
  }
  return decoder;
}

const SCALARS: Record<
  WireScalar,
  { wire: number; read: (reader: WireReader) => unknown; zero: unknown }
> = {
  string: { wire: 2, read: (reader) => reader.string(), zero: "" },
  bool: { wire: 0, read: (reader) => reader.varint() !== 0, zero: false },
  int32: { wire: 0, read: (reader) => reader.int32(), zero: 0 },
  int64: { wire: 0, read: (reader) => reader.varint(), zero: 0 },
  double: { wire: 1, read: (reader) => reader.double(), zero: 0 },
  bytes: {
    wire: 2,
    read: (reader) => reader.bytes().toString("base64"),
    zero: undefined,
  },
};

/** As the reference's structs call it. */
function fieldName({ fields }: Message, number: number): string {
  const { name, message = "" } = fields.find((one) => one.number === number)!;
  if (message === `${META}.ObjectMeta`) return "ObjectMeta";
  return name.charAt(0).toUpperCase() + name.slice(1);
}

interface FieldDecoder {
  readonly wire: number;
  readonly read: (reader: WireReader, object: Json) => void;
}

function messageDecoder(message: Message): Read {
  const fields: (FieldDecoder | undefined)[] = [];
  const fills: ((object: Json) => void)[] = [];
  for (const field of message.fields) {
    if (field.number === 0) continue;
    fields[field.number] = fieldDecoder(field);
    const fill = fillOf(field);
    if (fill) fills.push(fill);
  }
  return (reader) => {
    const object: Json = {};
    while (!reader.done) {
      const tag = reader.tag(message.name);
      const wire = tag % 8;
      const number = (tag - wire) / 8;
      const field = fields[number];
      if (!field) reader.skip(wire);
      else if (field.wire !== wire)
        throw new WireError(
          `proto: wrong wireType = ${wire} for field ${fieldName(message, number)}`,
        );
      else field.read(reader, object);
    }
    for (const fill of fills) fill(object);
    return object;
  };
}

function fieldDecoder(field: MessageField): FieldDecoder {
  const name = field.jsonName;
  const { wire, read } = valueReader(field);
  switch (field.label) {
    case "list":
      return {
        wire,
        read: (reader, object) => {
          const list = object[name] as unknown[] | undefined;
          const value = read(reader) ?? null;
          if (list) list.push(value);
          else object[name] = [value];
        },
      };
    case "map": {
      const zero = field.scalar
        ? (SCALARS[field.scalar].zero ?? "")
        : undefined;
      return {
        wire: 2,
        read: (reader, object) =>
          readMapEntry(reader, object, name, wire, read, zero, field.message),
      };
    }
    default:
      if (field.inlined)
        return {
          wire,
          read: (reader, object) =>
            void Object.assign(object, read(reader) as Json),
        };
      if (field.nullable || !field.omitEmpty || !field.scalar)
        return {
          wire,
          read: (reader, object) => {
            const value = read(reader);
            if (value !== undefined) object[name] = value;
          },
        };
      return {
        wire,
        read: (reader, object) => {
          const value = read(reader);
          if (value !== "" && value !== 0 && value !== false)
            object[name] = value;
        },
      };
  }
}

function readMapEntry(
  reader: WireReader,
  object: Json,
  name: string,
  wire: number,
  read: (reader: WireReader) => unknown,
  zero: unknown,
  message: string | undefined,
): void {
  reader.within((entry) => {
    let key = "";
    let value: unknown;
    while (!entry.done) {
      const tag = entry.tag();
      if (tag === 10) key = entry.string();
      else if (tag === (16 | wire)) value = read(entry);
      else entry.skip(tag % 8);
    }
    if (value === undefined)
      value = (message ? emptyMessage(message) : zero) ?? null;
    setOwn((object[name] ??= {}) as Json, key, value);
  });
}

function valueReader(field: MessageField): {
  wire: number;
  read: (reader: WireReader) => unknown;
} {
  if (field.scalar) return SCALARS[field.scalar];
  const name = field.message!;
  let decode: Read | undefined;
  return {
    wire: 2,
    read: (reader) => reader.within((decode ??= decoderOf(name))),
  };
}

/** Sets what the wire may leave out although JSON always shows it. */
function fillOf(field: MessageField): ((object: Json) => void) | undefined {
  if (field.nullable || field.label !== "one" || field.inlined)
    return undefined;
  const name = field.jsonName;
  if (field.scalar) {
    const { zero } = SCALARS[field.scalar];
    if (field.omitEmpty || zero === undefined) return undefined;
    return (object) => {
      if (object[name] === undefined) object[name] = zero;
    };
  }
  const message = field.message!;
  let empty: (() => unknown) | undefined;
  return (object) => {
    if (object[name] !== undefined) return;
    const value = (empty ??= makerOf(emptyMessage(message)))();
    if (value !== undefined) object[name] = value;
  };
}

/** What a message without any bytes decodes to. */
function emptyMessage(messageName: string): unknown {
  return decoderOf(messageName)(new WireReader(Buffer.alloc(0)));
}

/** Makes copies of an empty message faster than decoding it again. */
function makerOf(template: unknown): () => unknown {
  if (typeof template !== "object" || template === null) return () => template;
  const inner = Object.entries(template).filter(
    ([, value]) => typeof value === "object",
  );
  if (inner.length === 0) return () => ({ ...template });
  const makers = inner.map(([name, value]) => [name, makerOf(value)] as const);
  return () => {
    const copy: Json = { ...template };
    for (const [name, make] of makers) copy[name] = make();
    return copy;
  };
}

/** Reads fields of a message with a handler a field number; unknown ones are skipped. */
function readFields(
  reader: WireReader,
  handlers: Readonly<Record<number, () => void>>,
): void {
  while (!reader.done) {
    const tag = reader.tag();
    const handler = handlers[tag];
    if (handler) handler();
    else reader.skip(tag % 8);
  }
}

function readTime(
  reader: WireReader,
): { seconds: number; nanos: number } | undefined {
  let seconds = 0;
  let nanos = 0;
  let met = false;
  while (!reader.done) {
    const tag = reader.tag();
    if (tag === 8) seconds = reader.varint();
    else if (tag === 16) nanos = reader.int32();
    else reader.skip(tag % 8);
    met ||= tag === 8 || tag === 16;
  }
  // Years 1 to 9999.
  if (met && !(seconds >= -62_135_596_800 && seconds < 253_402_300_800))
    throw new WireError("time: year outside of range [0,9999]");
  return met ? { seconds, nanos } : undefined;
}

const wholeSeconds = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().slice(0, 19);

function specialDecoder({ fullName, name }: Message): Read | undefined {
  switch (fullName) {
    case `${META}.Time`:
      return (reader) => {
        const time = readTime(reader);
        return time && `${wholeSeconds(time.seconds)}Z`;
      };
    case `${META}.MicroTime`:
      return (reader) => {
        const time = readTime(reader);
        if (!time) return undefined;
        const micros = Math.floor(time.nanos / 1000) % 1_000_000;
        return `${wholeSeconds(time.seconds)}.${String(Math.max(micros, 0)).padStart(6, "0")}Z`;
      };
    case `${META}.Duration`:
      return (reader) => {
        let nanos = 0;
        readFields(reader, { 8: () => void (nanos = reader.varint()) });
        return formatDuration(nanos / 1e6);
      };
    case "io.k8s.apimachinery.pkg.api.resource.Quantity":
    case "io.k8s.apimachinery.pkg.api.resource.QuantityValue":
      return (reader) => {
        let text = "";
        while (!reader.done) {
          const tag = reader.tag();
          if (tag === 10) text = reader.string();
          else reader.skip(tag % 8);
        }
        try {
          return text === "" ? "0" : normaliseQuantity(text);
        } catch (error) {
          throw new WireError((error as Error).message);
        }
      };
    case "io.k8s.apimachinery.pkg.util.intstr.IntOrString":
      return (reader) => {
        let type = 0;
        let number = 0;
        let text = "";
        while (!reader.done) {
          const tag = reader.tag();
          if (tag === 8) type = reader.varint();
          else if (tag === 16) number = reader.int32();
          else if (tag === 26) text = reader.string();
          else reader.skip(tag % 8);
        }
        return type === 1 ? text : number;
      };
    case "io.k8s.apimachinery.pkg.runtime.RawExtension":
    case `${META}.FieldsV1`:
      return (reader) => rawValue(reader, true);
  }
  if (name === "ExtraValue" || fullName === `${META}.Verbs`)
    return (reader) => {
      const list: string[] = [];
      readFields(reader, { 10: () => void list.push(reader.string()) });
      return list;
    };
  if (!fullName.includes(".apiextensions.v1")) return undefined;
  return unionDecoder(
    name,
    `${fullName.slice(0, fullName.lastIndexOf("."))}.JSONSchemaProps`,
  );
}

function unionDecoder(name: string, props: string): Read | undefined {
  const schema = (reader: WireReader): unknown =>
    reader.within(decoderOf(props));
  switch (name) {
    case "JSON":
      return (reader) => rawValue(reader, false);
    case "JSONSchemaPropsOrBool":
      return (reader) => {
        let allows = false;
        let object: unknown;
        readFields(reader, {
          8: () => void (allows = reader.varint() !== 0),
          18: () => void (object = schema(reader)),
        });
        return object ?? allows;
      };
    case "JSONSchemaPropsOrArray":
      return (reader) => {
        let object: unknown;
        const list: unknown[] = [];
        readFields(reader, {
          10: () => void (object = schema(reader)),
          18: () => void list.push(schema(reader)),
        });
        return list.length ? list : object;
      };
    case "JSONSchemaPropsOrStringArray":
      return (reader) => {
        let object: unknown;
        const list: string[] = [];
        readFields(reader, {
          10: () => void (object = schema(reader)),
          18: () => void list.push(reader.string()),
        });
        return list.length ? list : object;
      };
    default:
      return undefined;
  }
}

function rawValue(reader: WireReader, mayBeEnvelope: boolean): unknown {
  let raw: Buffer | undefined;
  readFields(reader, { 10: () => void (raw = reader.bytes()) });
  if (raw === undefined || raw.length === 0) return undefined;
  if (mayBeEnvelope && raw.subarray(0, 4).equals(MAGIC))
    return decodeEnvelope(raw);
  try {
    scanText(raw);
    return JSON.parse(raw.toString("utf8")) ?? undefined;
  } catch {
    throw new WireError("embedded object is not valid JSON");
  }
}

export const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

interface Envelope {
  apiVersion: string;
  kind: string;
  raw: Buffer;
  contentType: string;
}

/** The outermost layer of an object: what it is, and its message as a view. Throws WireError. */
function readEnvelope(bytes: Uint8Array): Envelope {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length === 0) throw new WireError("empty data");
  if (buffer.length === 4 && buffer.equals(MAGIC))
    throw new WireError("empty body");
  if (buffer.length < 4 || !buffer.subarray(0, 4).equals(MAGIC))
    throw new WireError(
      "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
    );
  const reader = new WireReader(buffer, 4);
  const envelope: Envelope = {
    apiVersion: "",
    kind: "",
    raw: Buffer.alloc(0),
    contentType: "",
  };
  readFields(reader, {
    10: () =>
      reader.within((inner) =>
        readFields(inner, {
          10: () => void (envelope.apiVersion = inner.string()),
          18: () => void (envelope.kind = inner.string()),
        }),
      ),
    18: () => void (envelope.raw = reader.bytes()),
    34: () => void (envelope.contentType = reader.string()),
  });
  return envelope;
}

/** Throws WireError. */
export function decodeEnvelope(
  bytes: Uint8Array,
  fallback?: { apiVersion: string; kind: string },
): Json {
  const envelope = readEnvelope(bytes);
  const apiVersion = envelope.apiVersion || fallback?.apiVersion || "";
  const kind = envelope.kind || fallback?.kind || "";
  const inside = (why: string): WireError =>
    new WireError(why, { apiVersion, kind });
  const name = messageNameOfKind(apiVersion, kind);
  if (name === undefined) throw inside(unknownKind(apiVersion, kind));
  if (envelope.contentType !== "" && !envelope.contentType.endsWith("protobuf"))
    throw new WireError(
      `unable to decode content type ${JSON.stringify(envelope.contentType)}`,
    );
  try {
    const decoded = decoderOf(name)(new WireReader(envelope.raw)) as Json;
    return { apiVersion, kind, ...decoded };
  } catch (error) {
    throw error instanceof WireError ? inside(error.message) : error;
  }
}
