// YAML, protobuf and (behind its gate) CBOR for answers and bodies, by the codecs of api/codec.
import {
  cborListParts,
  decodeCbor,
  encodeCbor,
  encodeCborEvent,
  parseCbor,
} from "../../api/codec/cbor.ts";
import {
  decodeProtobuf,
  encodeProtobuf,
  encodeWatchFrame,
  hasProtobuf,
  protobufListParts,
  rawMessage,
} from "../../api/codec/protobuf.ts";
import { decodeYaml, encodeYaml, parseYamlBody } from "../../api/codec/yaml.ts";
import type { Format, OtherFormats } from "./formats.ts";
import type { BodyDecoders } from "./bodies.ts";

const documentEnd = Buffer.from("---\n");

const yamlFormat: Format = {
  name: "yaml",
  streamType: (contentType) => contentType,
  encode: (object) => encodeYaml(object),
  list(kind, apiVersion, metadata, items) {
    // YAML is for people: the items are encoded again as one document.
    const objects = items.map((item) => {
      const {
        kind: _,
        apiVersion: __,
        ...rest
      } = parseYamlBody(item).value as Record<string, unknown>;
      return rest;
    });
    return [encodeYaml({ kind, apiVersion, metadata, items: objects })];
  },
  frame: (type, object) =>
    Buffer.concat([
      documentEnd,
      encodeYaml({ type, object: parseYamlBody(object).value }),
    ]),
};

const protobufFormat: Format = {
  name: "protobuf",
  streamType: (contentType) => `${contentType};stream=watch`,
  encode: (object) => encodeProtobuf(object),
  list: (kind, apiVersion, metadata, items) =>
    joined(
      protobufListParts(apiVersion, kind, metadata, items.map(rawMessage)),
    ),
  frame: (type, object) => encodeWatchFrame(type, object),
};

/** Small parts copied together to chunks of about 64 KiB. */
function joined(parts: readonly Uint8Array[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let pending: Uint8Array[] = [];
  let bytes = 0;
  for (const part of parts) {
    pending.push(part);
    bytes += part.byteLength;
    if (bytes < 65536) continue;
    chunks.push(Buffer.concat(pending, bytes));
    pending = [];
    bytes = 0;
  }
  if (bytes > 0) chunks.push(Buffer.concat(pending, bytes));
  return chunks;
}

export const otherFormats: OtherFormats = {
  yaml: yamlFormat,
  protobuf: protobufFormat,
};

export const bodyDecoders: BodyDecoders = {
  yaml: decodeYaml,
  yamlValue: (bytes) => parseYamlBody(bytes),
  protobuf: (bytes, fallback) => decodeProtobuf(bytes, fallback),
};

/** With the gate CBORServingAndStorage. */
export const cborFormats: OtherFormats = {
  cbor: {
    name: "cbor",
    streamType: () => "application/cbor-seq",
    encode: (object) => encodeCbor(object),
    list: (kind, apiVersion, metadata, items) =>
      joined(cborListParts(apiVersion, kind, metadata, items)),
    frame: (type, object) => encodeCborEvent(type, object),
  },
};

export const cborDecoders: BodyDecoders = {
  cbor: decodeCbor,
  cborValue: (bytes) => parseCbor(bytes).value,
};

export { hasProtobuf };
