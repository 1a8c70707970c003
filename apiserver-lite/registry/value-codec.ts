// The form of values in the store. Local engines keep the JSON that readers get (indexed-json.ts). On etcd the bytes are
// the reference's: an envelope (or JSON, or YAML) of the storage version without resourceVersion and selfLink, so that a
// stock API server on the same etcd reads and writes the same objects. Kinds without a wire form (custom resources) are
// JSON there too.
// Reading goes by content, whatever this process writes: stores are moved, and servers on one etcd may differ.
import { decodeCbor } from "../../api/codec/cbor.ts";
import { decodeJson, type DecodeOptions } from "../../api/codec/json.ts";
import {
  decodeProtobuf,
  encodeProtobuf,
  hasProtobuf,
} from "../../api/codec/protobuf.ts";
import { decodeYaml, encodeYaml } from "../../api/codec/yaml.ts";
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import { schemaFor } from "../../api/schema.ts";
import { encodeObject } from "../cache/watch-cache.ts";
import { withoutIndex } from "./indexed-json.ts";

export interface ValueCodec {
  /** Other programs write such values too. */
  readonly foreign: boolean;
  /** Throws on a value that is no object. */
  decode(value: Uint8Array): AnyObject;
  /** For stores shared with others; local engines get indexed JSON. */
  encode(object: AnyObject): Uint8Array;
}

export type StoredEncoding = "protobuf" | "json" | "yaml";

const BRACE = 0x7b;
const lenient: DecodeOptions = { fieldValidation: "Ignore" };

/** Values of the local engines: what this program wrote is taken as it is. */
export const jsonValueCodec: ValueCodec = {
  foreign: false,
  decode(value) {
    if (value[0] !== BRACE) return decodeValue(value);
    try {
      return checked(JSON.parse(withoutIndex(value).toString("utf8")));
    } catch {
      // For the words that say what is wrong.
      return decodeValue(value);
    }
  },
  encode: (object) => encodeObject(object),
};

/** Values shared with the reference's servers. */
export function createValueCodec(encoding: StoredEncoding): ValueCodec {
  return {
    foreign: true,
    decode: decodeValue,
    encode: (object) => encodeStored(object, encoding),
  };
}

export function encodeStored(
  object: AnyObject,
  encoding: StoredEncoding,
): Uint8Array {
  const { resourceVersion: _, selfLink: __, ...metadata } = object.metadata;
  const { kind, apiVersion, metadata: ___, ...rest } = object;
  const stored = { kind, apiVersion, metadata, ...rest };
  if (encoding === "protobuf" && hasProtobuf(apiVersion!, kind!))
    return encodeProtobuf(stored);
  if (encoding === "yaml") return encodeYaml(stored);
  return Buffer.from(`${JSON.stringify(stored)}\n`);
}

/** Also of what has no name: ranges. Throws on a value that can't be read. */
export function decodeStored(value: Uint8Array): object {
  if (isProtobuf(value)) return decodeProtobuf(value);
  const decode = value[0] === BRACE ? decodeJson : decodeYaml;
  return decode(value, undefined, lenient).object;
}

/** A stored value in the form for stores shared with the reference's servers; what can't be read stays as it is. */
export function inSharedForm(
  value: Uint8Array,
  encoding: StoredEncoding = "protobuf",
): Uint8Array {
  try {
    const object = jsonValueCodec.decode(value);
    return createValueCodec(encoding).encode(object);
  } catch {
    return value;
  }
}

/** `application/json` and `json` mean the same; the specification's protobuf type is the reference's bytes. */
export function storedEncodingOf(mediaType: string): StoredEncoding {
  if (mediaType.endsWith("json")) return "json";
  return mediaType.endsWith("yaml") ? "yaml" : "protobuf";
}

function decodeValue(value: Uint8Array): AnyObject {
  if (isProtobuf(value)) return checked(decodeProtobuf(value));
  // The self-described tag of CBOR.
  if (value[0] === 0xd9 && value[1] === 0xd9 && value[2] === 0xf7)
    return conformed(value, decodeCbor);
  return conformed(value, value[0] === BRACE ? decodeJson : decodeYaml);
}

/** "k8s\0" */
function isProtobuf(value: Uint8Array): boolean {
  return value[0] === 0x6b && value[1] === 0x38 && value[3] === 0;
}

/** Into the normal form that every other body gets. */
function conformed(value: Uint8Array, decode: typeof decodeJson): AnyObject {
  const plain = checked(decode(value, undefined, lenient).object);
  const { group, version } = parseApiVersion(plain.apiVersion ?? "");
  const schema = schemaFor(group, version, plain.kind ?? "");
  return schema ? checked(decode(value, schema, lenient).object) : plain;
}

function checked(value: unknown): AnyObject {
  const object = value as AnyObject | null;
  if (
    typeof object !== "object" ||
    object === null ||
    typeof object.metadata !== "object" ||
    object.metadata === null ||
    !object.metadata.name
  )
    throw new TypeError("the value is not an object with a name");
  return object;
}
