// The bytes that servers on one etcd share, the reference's among them: an envelope (or JSON, or YAML) of the storage
// version without resourceVersion and selfLink. Kinds without a wire form (custom resources) are JSON.
import { stringified } from "../escaped-json.ts";
import type { AnyObject } from "../object.ts";
import { decodeJson, type DecodeOptions } from "./json.ts";
import { decodeProtobuf, encodeProtobuf, hasProtobuf } from "./protobuf.ts";
import { decodeYaml, encodeYaml } from "./yaml.ts";

export type StoredEncoding = "protobuf" | "json" | "yaml";

const BRACE = 0x7b;
const lenient: DecodeOptions = { fieldValidation: "Ignore" };

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
  return Buffer.from(`${stringified(stored)}\n`);
}

/** Also of values without a name: ranges. Throws on a value that can't be read. */
export function decodeStored(value: Uint8Array): object {
  if (isStoredProtobuf(value)) return decodeProtobuf(value);
  const decode = value[0] === BRACE ? decodeJson : decodeYaml;
  return decode(value, undefined, lenient).object;
}

/** "k8s\0" */
export function isStoredProtobuf(value: Uint8Array): boolean {
  return value[0] === 0x6b && value[1] === 0x38 && value[3] === 0;
}

/** `application/json` and `json` mean the same; the specification's protobuf type is the reference's bytes. */
export function storedEncodingOf(mediaType: string): StoredEncoding {
  if (mediaType.endsWith("json")) return "json";
  return mediaType.endsWith("yaml") ? "yaml" : "protobuf";
}
