// The form of values in the store. Local engines keep the JSON that readers get (indexed-json.ts). On etcd the bytes are
// the reference's (api/codec/stored-form.ts), so that a stock API server on the same etcd reads and writes the same objects.
// Reading goes by content, whatever this process writes: stores are moved, and servers on one etcd may differ.
import { decodeCbor } from "../../api/codec/cbor.ts";
import { decodeJson, type DecodeOptions } from "../../api/codec/json.ts";
import { encodeObject } from "../../api/codec/object-text.ts";
import { decodeProtobuf } from "../../api/codec/protobuf.ts";
import {
  encodeStored,
  isStoredProtobuf,
  type StoredEncoding,
} from "../../api/codec/stored-form.ts";
import { decodeYaml } from "../../api/codec/yaml.ts";
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import { schemaFor } from "../../api/schema.ts";
import { withoutIndex } from "./indexed-json.ts";

export interface ValueCodec {
  /** Other programs write such values too. */
  readonly foreign: boolean;
  /** Throws on a value that is no object. */
  decode(value: Uint8Array): AnyObject;
  /** For stores shared with others; local engines get indexed JSON. */
  encode(object: AnyObject): Uint8Array;
}

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

function decodeValue(value: Uint8Array): AnyObject {
  if (isStoredProtobuf(value)) return checked(decodeProtobuf(value));
  // The self-described tag of CBOR.
  if (value[0] === 0xd9 && value[1] === 0xd9 && value[2] === 0xf7)
    return conformed(value, decodeCbor);
  return conformed(value, value[0] === BRACE ? decodeJson : decodeYaml);
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
