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
import type { AnyObject } from "../../api/object.ts";
import { withoutIndex } from "./indexed-json.ts";
import { builtinTypes } from "./kinds/builtin-types.ts";
import type { Types } from "./kinds/kind-definition.ts";

export interface ValueCodec {
  /** Other programs write such values too. */
  readonly foreign: boolean;
  /** Throws on a value that is no object. @param types brings YAML and JSON of others into the normal form */
  decode(value: Uint8Array, types: Types): AnyObject;
  /** For stores shared with others; local engines get indexed JSON. @param protobuf the object's kind has a wire form */
  encode(object: AnyObject, protobuf: boolean): Uint8Array;
}

const BRACE = 0x7b;
const lenient: DecodeOptions = { fieldValidation: "Ignore" };

/** Values of the local engines: the codec accepts this program's own bytes as they are. */
export const jsonValueCodec: ValueCodec = {
  foreign: false,
  decode(value, types) {
    if (value[0] !== BRACE) return decodeValue(value, types);
    try {
      return checked(JSON.parse(withoutIndex(value).toString("utf8")));
    } catch {
      // For the text that says what is wrong.
      return decodeValue(value, types);
    }
  },
  encode: (object) => encodeObject(object),
};

/** Values shared with the reference's servers. */
export function createValueCodec(encoding: StoredEncoding): ValueCodec {
  return {
    foreign: true,
    decode: decodeValue,
    encode: (object, protobuf) =>
      encodeStored(
        object,
        encoding === "protobuf" && !protobuf ? "json" : encoding,
      ),
  };
}

/** A stored value in the form for stores shared with the reference's servers; what can't be read stays as it is. */
export function inSharedForm(
  value: Uint8Array,
  encoding: StoredEncoding = "protobuf",
): Uint8Array {
  try {
    return encodeStored(jsonValueCodec.decode(value, builtinTypes), encoding);
  } catch {
    return value;
  }
}

function decodeValue(value: Uint8Array, types: Types): AnyObject {
  if (isStoredProtobuf(value)) return checked(decodeProtobuf(value));
  // The self-described tag of CBOR.
  if (value[0] === 0xd9 && value[1] === 0xd9 && value[2] === 0xf7)
    return conformed(value, decodeCbor, types);
  return conformed(value, value[0] === BRACE ? decodeJson : decodeYaml, types);
}

/** Into the normal form that every other body gets. */
function conformed(
  value: Uint8Array,
  decode: typeof decodeJson,
  types: Types,
): AnyObject {
  const plain = checked(decode(value, undefined, lenient).object);
  const schema = types.schemaOf(plain.apiVersion ?? "", plain.kind ?? "");
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
