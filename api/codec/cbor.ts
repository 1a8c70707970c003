// CBOR bodies (feature gate CBORServingAndStorage): one self-described item a body, a sequence of items for watches.
// Encoded as by the reference: every string is a byte string, keys included (which is why no library is used here),
// fields of bytes are byte strings marked for base64, numbers take their shortest form, lengths are definite. The
// reference gives the keys of a map in any order; here kind and apiVersion come first, so that lists can leave them out of
// their items, then the others in CBOR's bytewise order. Read: text and byte strings alike, byte strings marked for base64
// become base64 text, indefinite lengths are taken. Lengths are checked before anything is made; tags that could build
// cycles or host objects are refused.
import { isUtf8 } from "node:buffer";
import { errors, type ApiError } from "../errors.ts";
import { parseApiVersion } from "../object.ts";
import { schemaFor, type ObjectSchema, type TypeSchema } from "../schema.ts";
import {
  conformObject,
  unrecognised,
  type DecodeOptions,
  type Decoded,
} from "./json.ts";
import { joinPath, setOwn } from "./json-text.ts";

const SELF_DESCRIBED = Buffer.from([0xd9, 0xd9, 0xf7]);
const MAX_DEPTH = 200;
const MAX_KEPT = 256 * 1024;
const TWO_TO_32 = 2 ** 32;

/** `value` as JSON would carry it; undefined fields are left out. */
export function encodeCbor(value: unknown): Buffer {
  // Used again for the next object, unless this one fails.
  const out = scratch ?? new Output();
  scratch = undefined;
  out.raw(SELF_DESCRIBED);
  writeItem(out, value, schemaOf(value));
  scratch = out;
  return out.take();
}
let scratch: Output | undefined;

/** Says which fields are bytes; undefined for what has no schema. */
function schemaOf(value: unknown): TypeSchema | undefined {
  const { apiVersion, kind } = (value ?? {}) as Record<string, unknown>;
  if (typeof apiVersion !== "string" || typeof kind !== "string")
    return undefined;
  const { group, version } = parseApiVersion(apiVersion);
  return schemaFor(group, version, kind);
}

/** A watch event of a sequence; `object` was made by encodeCbor. */
export function encodeCborEvent(type: string, object: Uint8Array): Buffer {
  const out = new Output();
  out.raw(SELF_DESCRIBED);
  out.head(5, 2);
  writeItem(out, "type");
  writeItem(out, type);
  writeItem(out, "object");
  out.raw(object);
  return out.take();
}

/**
 * A list around `count` items that encodeCbor made, in parts, without copying the items. Items leave out what they are;
 * an `undefined` among them is handed through.
 */
export function* cborListParts(
  apiVersion: string,
  listKind: string,
  metadata: object,
  count: number,
  items: Iterable<Uint8Array | undefined>,
): Generator<Uint8Array | undefined, void> {
  const out = new Output();
  out.raw(SELF_DESCRIBED);
  out.head(5, 4);
  for (const text of ["kind", listKind, "apiVersion", apiVersion, "metadata"])
    writeItem(out, text);
  writeItem(out, metadata);
  writeItem(out, "items");
  out.head(4, count);
  yield out.take();
  for (const text of [
    "kind",
    listKind.replace(/List$/, ""),
    "apiVersion",
    apiVersion,
  ])
    writeItem(out, text);
  const typeMeta = out.take();
  for (const item of items) {
    if (item) yield* listItem(item, typeMeta);
    else yield undefined;
  }
}

/** The item without its tag, and without `typeMeta` where it begins with that. */
function listItem(item: Uint8Array, typeMeta: Buffer): Uint8Array[] {
  const body = cborBody(item);
  const fields = body[0]! - 0xa0;
  const rest = body.subarray(1);
  if (
    fields < 2 ||
    fields >= 24 ||
    typeMeta.compare(rest, 0, Math.min(typeMeta.length, rest.length)) !== 0
  )
    return [body];
  return [Buffer.from([0xa0 + fields - 2]), rest.subarray(typeMeta.length)];
}

/** An item without the self-described tag. */
function cborBody(item: Uint8Array): Uint8Array {
  return item[0] === 0xd9 && item[1] === 0xd9 && item[2] === 0xf7
    ? item.subarray(3)
    : item;
}

class Output {
  #buffer = Buffer.allocUnsafe(1024);
  #used = 0;

  #room(bytes: number): void {
    if (this.#used + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(
      Math.max(this.#buffer.length * 2, this.#used + bytes),
    );
    this.#buffer.copy(larger, 0, 0, this.#used);
    this.#buffer = larger;
  }

  head(major: number, argument: number): void {
    this.#room(9);
    const type = major << 5;
    if (argument < 24) this.#buffer[this.#used++] = type | argument;
    else if (argument < 0x100) {
      this.#buffer[this.#used++] = type | 24;
      this.#buffer[this.#used++] = argument;
    } else if (argument < 0x10000) {
      this.#buffer[this.#used++] = type | 25;
      this.#used = this.#buffer.writeUInt16BE(argument, this.#used);
    } else if (argument < TWO_TO_32) {
      this.#buffer[this.#used++] = type | 26;
      this.#used = this.#buffer.writeUInt32BE(argument, this.#used);
    } else {
      this.#buffer[this.#used++] = type | 27;
      this.#used = this.#buffer.writeBigUInt64BE(BigInt(argument), this.#used);
    }
  }

  byte(value: number): void {
    this.#room(1);
    this.#buffer[this.#used++] = value;
  }

  /** Whole numbers beyond 2^53, where -1 - value is not exact. */
  big(value: number): void {
    this.#room(9);
    this.#buffer[this.#used++] = value >= 0 ? 0x1b : 0x3b;
    const exact = BigInt(value);
    this.#used = this.#buffer.writeBigUInt64BE(
      value >= 0 ? exact : -1n - exact,
      this.#used,
    );
  }

  /** In the shortest form that is exact. */
  double(value: number): void {
    this.#room(9);
    const bits = halfBits(value);
    if (bits !== undefined) {
      this.#buffer[this.#used++] = 0xf9;
      this.#used = this.#buffer.writeUInt16BE(bits, this.#used);
    } else if (Math.fround(value) === value) {
      this.#buffer[this.#used++] = 0xfa;
      this.#used = this.#buffer.writeFloatBE(value, this.#used);
    } else {
      this.#buffer[this.#used++] = 0xfb;
      this.#used = this.#buffer.writeDoubleBE(value, this.#used);
    }
  }

  text(value: string): void {
    const length = Buffer.byteLength(value);
    this.head(2, length);
    this.#room(length);
    this.#used += this.#buffer.write(value, this.#used);
  }

  /** Bytes that JSON shows as base64. */
  base64(value: string): void {
    const bytes = Buffer.from(value, "base64");
    this.byte(0xd6);
    this.head(2, bytes.length);
    this.raw(bytes);
  }

  raw(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#buffer.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  take(): Buffer {
    const taken = Buffer.from(this.#buffer.subarray(0, this.#used));
    this.#used = 0;
    if (this.#buffer.length > MAX_KEPT) this.#buffer = Buffer.allocUnsafe(1024);
    return taken;
  }
}

function writeItem(out: Output, value: unknown, schema?: TypeSchema): void {
  switch (typeof value) {
    case "string":
      return schema?.type === "bytes" ? out.base64(value) : out.text(value);
    case "boolean":
      return out.byte(value ? 0xf5 : 0xf4);
    case "number":
      if (!Number.isInteger(value) || value < -(2 ** 63) || value >= 2 ** 63)
        return out.double(value);
      if (!Number.isSafeInteger(value)) return out.big(value);
      return value >= 0 ? out.head(0, value) : out.head(1, -1 - value);
    case "object":
      break;
    default:
      return out.byte(0xf6);
  }
  if (value === null) return out.byte(0xf6);
  if (Array.isArray(value)) {
    out.head(4, value.length);
    const items = schema?.type === "list" ? schema.items : undefined;
    for (const item of value) writeItem(out, item, items);
    return;
  }
  const map = value as Record<string, unknown>;
  const keys = Object.keys(map).filter((key) => map[key] !== undefined);
  // Shorter keys first, then by their characters: the bytewise order of the encoded keys.
  keys.sort(
    (a, b) =>
      rank(a) - rank(b) ||
      Buffer.byteLength(a) - Buffer.byteLength(b) ||
      (a < b ? -1 : 1),
  );
  out.head(5, keys.length);
  for (const key of keys) {
    out.text(key);
    writeItem(out, map[key], fieldSchema(schema, key));
  }
}

function rank(key: string): number {
  return key === "kind" ? 0 : key === "apiVersion" ? 1 : 2;
}

function fieldSchema(
  schema: TypeSchema | undefined,
  key: string,
): TypeSchema | undefined {
  if (schema?.type === "object") return schema.fields.get(key)?.schema;
  return schema?.type === "map" ? schema.values : undefined;
}

/** The bits of a half-precision number that is exactly this one. */
function halfBits(value: number): number | undefined {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size === 0) return sign;
  const exponent = Math.max(Math.floor(Math.log2(size)), -14);
  if (exponent > 15) return undefined;
  const fraction = (size / 2 ** exponent) * 1024;
  if (!Number.isInteger(fraction)) return undefined;
  const normal = fraction >= 1024;
  return (
    sign | (normal ? ((exponent + 15) << 10) | (fraction - 1024) : fraction)
  );
}

class CborError extends Error {}
/** The item goes on beyond the bytes that are there. */
class CborEnd extends CborError {}

/** Decodes one body. Unknown and duplicate fields are reported like JSON's. Throws ApiError 400. */
export function decodeCbor(
  bytes: Uint8Array,
  schema?: ObjectSchema,
  options: DecodeOptions = {},
): Decoded {
  const wanted = schema?.shortName ?? "unstructured object";
  const refuse = (why: string): ApiError =>
    unrecognised(
      wanted,
      `unable to determine group/version/kind: ${why}`,
      bytes,
    );
  let parsed: ReturnType<typeof parseItem>;
  try {
    parsed = parseItem(bytes);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    const { message } = error;
    throw refuse(error instanceof CborEnd ? message : `cbor: ${message}`);
  }
  const { value, duplicates } = parsed;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw refuse(
      `cbor: cannot unmarshal ${major(bytes)} into Go value of type v1.TypeMeta`,
    );
  const object = value as Record<string, unknown>;
  const problems =
    options.fieldValidation === "Ignore"
      ? []
      : duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`);
  if (!schema) return { object, problems };
  const decoded = conformObject(object, schema, options);
  return {
    object: decoded.object,
    problems: [...problems, ...decoded.problems],
  };
}

/** Any one item, as JSON would carry it. Throws ApiError 400. */
export function parseCbor(bytes: Uint8Array): {
  value: unknown;
  duplicates: string[];
} {
  try {
    return parseItem(bytes);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    throw errors.badRequest(`cbor: ${error.message}`);
  }
}

function parseItem(bytes: Uint8Array): {
  value: unknown;
  duplicates: string[];
} {
  const input = new Input(bytes);
  const value = input.item("");
  if (input.at < bytes.length)
    throw new CborError(`${bytes.length - input.at} bytes follow the item`);
  return { value, duplicates: input.duplicates };
}

/** What the reference calls the type of an item. */
function major(bytes: Uint8Array): string {
  const names = [
    "positive integer",
    "negative integer",
    "byte string",
    "UTF-8 text string",
    "array",
    "map",
    "tag",
    "primitives",
  ];
  return names[cborBody(bytes)[0]! >> 5]!;
}

const INDEFINITE = -1;
const BREAK = Symbol("break");

class Input {
  readonly #bytes: Buffer;
  at = 0;
  #depth = 0;
  readonly duplicates: string[] = [];

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  #need(bytes: number): void {
    if (bytes > this.#bytes.length - this.at)
      throw new CborEnd("unexpected EOF");
  }

  #argument(info: number): number {
    if (info < 24) return info;
    const size = 1 << (info - 24);
    if (info > 27) {
      if (info === 31) return INDEFINITE;
      throw new CborError(`invalid additional information ${info}`);
    }
    this.#need(size);
    this.at += size;
    const from = this.at - size;
    return size === 8
      ? Number(this.#bytes.readBigUInt64BE(from))
      : this.#bytes.readUIntBE(from, size);
  }

  /** A value, or BREAK where an indefinite item may end. */
  #any(path: string): unknown {
    this.#need(1);
    const initial = this.#bytes[this.at++]!;
    const major = initial >> 5;
    const info = initial & 31;
    if (major === 7) return this.#simple(info);
    const argument = this.#argument(info);
    if (argument === INDEFINITE && (major < 2 || major === 6))
      throw new CborError("indefinite length is not allowed here");
    switch (major) {
      case 0:
        return argument;
      case 1:
        return info === 27
          ? Number(-1n - this.#bytes.readBigUInt64BE(this.at - 8))
          : -1 - argument;
      case 2:
        return text(this.#chunks(argument, 2));
      case 3:
        return text(this.#chunks(argument, 3));
      case 4:
        return this.#nested(() => this.#list(argument, path));
      case 5:
        return this.#nested(() => this.#map(argument, path));
      default:
        return this.#nested(() => this.#tagged(argument, path));
    }
  }

  item(path: string): unknown {
    const value = this.#any(path);
    if (value === BREAK) throw new CborError('unexpected "break" code');
    return value;
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > MAX_DEPTH) throw new CborError("exceeded max depth");
    const value = read();
    this.#depth--;
    return value;
  }

  #simple(info: number): unknown {
    switch (info) {
      case 20:
        return false;
      case 21:
        return true;
      case 22:
      case 23:
        return null;
      case 25:
        this.#need(2);
        this.at += 2;
        return finite(half(this.#bytes.readUInt16BE(this.at - 2)));
      case 26:
        this.#need(4);
        this.at += 4;
        return finite(this.#bytes.readFloatBE(this.at - 4));
      case 27:
        this.#need(8);
        this.at += 8;
        return finite(this.#bytes.readDoubleBE(this.at - 8));
      case 31:
        return BREAK;
      default:
        throw new CborError(`unsupported simple value ${info}`);
    }
  }

  #chunks(length: number, major: number): Buffer {
    if (length !== INDEFINITE) {
      this.#need(length);
      this.at += length;
      return this.#bytes.subarray(this.at - length, this.at);
    }
    const parts: Buffer[] = [];
    for (;;) {
      this.#need(1);
      const initial = this.#bytes[this.at++]!;
      if (initial === 0xff) return Buffer.concat(parts);
      if (initial >> 5 !== major || (initial & 31) === 31)
        throw new CborError("bad chunk of a string");
      parts.push(this.#chunks(this.#argument(initial & 31), major));
    }
  }

  #list(length: number, path: string): unknown[] {
    if (length > this.#bytes.length - this.at)
      throw new CborEnd("unexpected EOF");
    const list: unknown[] = [];
    while (length === INDEFINITE || list.length < length) {
      const value = this.#any(joinPath(path, list.length));
      if (value === BREAK) {
        if (length === INDEFINITE) break;
        throw new CborError('unexpected "break" code');
      }
      list.push(value);
    }
    return list;
  }

  #map(length: number, path: string): Record<string, unknown> {
    if (length > this.#bytes.length - this.at)
      throw new CborEnd("unexpected EOF");
    const map: Record<string, unknown> = {};
    for (let count = 0; length === INDEFINITE || count < length; count++) {
      const key = this.#any(path);
      if (key === BREAK) {
        if (length === INDEFINITE) break;
        throw new CborError('unexpected "break" code');
      }
      if (typeof key !== "string")
        throw new CborError("map keys must be strings");
      const inner = joinPath(path, key);
      if (Object.hasOwn(map, key)) this.duplicates.push(inner);
      setOwn(map, key, this.item(inner));
    }
    return map;
  }

  #tagged(tag: number, path: string): unknown {
    switch (tag) {
      case 55799:
        return this.item(path);
      // These tags mark byte strings that become their base64 text.
      case 21:
      case 22:
      case 23: {
        this.#need(1);
        const initial = this.#bytes[this.at]!;
        if (initial >> 5 !== 2) return this.item(path);
        this.at++;
        const bytes = this.#chunks(this.#argument(initial & 31), 2);
        return bytes.toString(
          tag === 21 ? "base64url" : tag === 22 ? "base64" : "hex",
        );
      }
      case 0:
        return this.item(path);
      case 1: {
        const seconds = this.item(path);
        if (typeof seconds !== "number" || Math.abs(seconds) > 253_402_300_799)
          throw new CborError("invalid epoch time");
        return new Date(seconds * 1000).toISOString().replace(/\.000Z$/, "Z");
      }
      default:
        throw new CborError(`unsupported tag ${tag}`);
    }
  }
}

function text(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new CborError("invalid UTF-8 string");
  return bytes.toString("utf8");
}

function finite(value: number): number {
  if (!Number.isFinite(value))
    throw new CborError("NaN and Infinity are not allowed");
  return value;
}

function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
