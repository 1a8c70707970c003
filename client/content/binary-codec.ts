// Protobuf and CBOR bodies of requests, as a typed client of the reference sends them. Protobuf is for the kinds of the
// table of types, in requests for resources of its groups: extension servers and custom resources may know JSON alone.
// Both accept JSON as well, so that every kind can be answered.
import { encodeCbor, parseCbor } from "../../api/codec/cbor.ts";
import {
  decodeProtobuf,
  encodeProtobuf,
  hasProtobuf,
} from "../../api/codec/protobuf.ts";
import { decoderOf } from "../../api/codec/protobuf-decode.ts";
import { WireReader } from "../../api/codec/wire-reader.ts";
import { apiVersionOf } from "../../api/object.ts";
import { packageOfVersion } from "../../api/type-table.ts";
import { type BodyCodec, type DecodedEvent, jsonCodec } from "./body-codec.ts";
import { cborItems, lengthFrames } from "./watch-frames.ts";

const protobufType = "application/vnd.kubernetes.protobuf";
const cborType = "application/cbor";

/** Items of a list are left out where there are none. */
function decodeMessage(bytes: Buffer): Record<string, unknown> {
  const object = decodeProtobuf(bytes);
  const { kind } = object as { kind: string };
  if (kind.endsWith("List")) object["items"] ??= [];
  return object;
}

async function* protobufEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncIterable<DecodedEvent> {
  const decode = decoderOf("io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent");
  for await (const frame of lengthFrames(chunks))
    yield decode(new WireReader(frame)) as DecodedEvent;
}

export const protobufCodec: BodyCodec = {
  accept: `${protobufType},application/json`,
  encode(body, resource) {
    const { apiVersion, kind } = body as { apiVersion?: string; kind?: string };
    return apiVersion &&
      kind &&
      hasProtobuf(apiVersion, kind) &&
      packageOfVersion(apiVersionOf(resource)) !== undefined
      ? { bytes: encodeProtobuf(body), contentType: protobufType }
      : jsonCodec.encode(body, resource);
  },
  decode: (bytes, contentType) =>
    contentType.startsWith(protobufType)
      ? decodeMessage(bytes)
      : jsonCodec.decode(bytes, contentType),
  events: (chunks, contentType) =>
    contentType.startsWith(protobufType)
      ? protobufEvents(chunks)
      : jsonCodec.events(chunks, contentType),
};

async function* cborEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncIterable<DecodedEvent> {
  for await (const item of cborItems(chunks))
    yield parseCbor(item).value as DecodedEvent;
}

export const cborCodec: BodyCodec = {
  accept: `${cborType},application/json`,
  encode: (body) => ({ bytes: encodeCbor(body), contentType: cborType }),
  decode: (bytes, contentType) =>
    contentType.startsWith(cborType)
      ? parseCbor(bytes).value
      : jsonCodec.decode(bytes, contentType),
  events: (chunks, contentType) =>
    contentType.startsWith(cborType)
      ? cborEvents(chunks)
      : jsonCodec.events(chunks, contentType),
};
