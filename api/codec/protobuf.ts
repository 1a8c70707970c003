// The protobuf media type: an object travels as the magic "k8s\0" and an Unknown message that names its type and holds
// the object's own message. Watch streams are frames of a big-endian length and a WatchEvent, whose object is again
// such an envelope. Only kinds of the type table have a wire form; custom resources do not.
import { WireWriter as Writer } from "./wire-writer.ts";
import { errors } from "../errors.ts";
import { parseApiVersion } from "../object.ts";
import { cannotBeHandled } from "./conform.ts";
import { unrecognised } from "./json.ts";
import { messageNameOfKind } from "../type-table.ts";
import { decodeEnvelope, MAGIC } from "./protobuf-decode.ts";
import { encoderOf } from "./protobuf-encode.ts";
import { ProtobufTranscoder } from "./transcode/protobuf-transcode.ts";
import { WireError } from "./wire-reader.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

type Json = Record<string, unknown>;

/** Has the kind a wire form? */
export function hasProtobuf(apiVersion: string, kind: string): boolean {
  return messageNameOfKind(apiVersion, kind) !== undefined;
}

function messageOf(apiVersion: unknown, kind: unknown): string {
  // Discovery leaves out the version of some of its kinds.
  const name =
    typeof kind === "string"
      ? messageNameOfKind((apiVersion as string | undefined) || "v1", kind)
      : undefined;
  if (name === undefined)
    throw errors.notAcceptable(
      `object ${String(apiVersion)}, Kind=${String(kind)} has no protobuf encoding`,
    );
  return name;
}

/** The envelope with the object in it; `object` has apiVersion and kind. Throws ApiError 406. */
export function encodeProtobuf(object: object): Buffer {
  const { apiVersion = "", kind } = object as Json;
  const encode = encoderOf(messageOf(apiVersion, kind));
  beginEnvelope(apiVersion as string, kind as string);
  encode(scratch, object);
  const envelope = scratch.ldelim().raw(envelopeEnd).finish();
  forgetLargeScratch();
  return envelope;
}

/**
 * The same from the object's JSON, as JSON.stringify writes it, which has this apiVersion and kind. A view that is valid
 * until the next encoding. Throws ApiError 406.
 */
export function transcodeProtobuf(
  json: Buffer,
  apiVersion: string,
  kind: string,
): Buffer {
  const messageName = messageOf(apiVersion, kind);
  forgetLargeScratch();
  beginEnvelope(apiVersion, kind);
  if (transcoder.transcode(scratch, messageName, json))
    return scratch.ldelim().raw(envelopeEnd).view();
  return encodeProtobuf(JSON.parse(json.toString("utf8")) as object);
}

const transcoder = new ProtobufTranscoder();

/** Up to where the object's message begins. */
function beginEnvelope(apiVersion: string, kind: string): void {
  // Removes the bytes that a failed encoding left.
  scratch.reset();
  scratch
    .raw(MAGIC)
    .uint32(10)
    .fork()
    .uint32(10)
    .string(apiVersion)
    .uint32(18)
    .string(kind)
    .ldelim();
  scratch.uint32(18).fork();
}

function forgetLargeScratch(): void {
  if (scratch.capacity > maxScratchBytes) scratch = Writer.create();
}

/** Used again for each object: encoding never waits and never begins another. */
let scratch = Writer.create();
const maxScratchBytes = 256 * 1024;

/** Of an envelope: what its writer has room for at first. */
const headBytes = 128;

/** The bytes before a message of `size` bytes in its envelope. */
function envelopeHead(
  apiVersion: string,
  kind: string,
  size: number,
): Uint8Array[] {
  const head = Writer.create(headBytes);
  head
    .uint32(10)
    .fork()
    .uint32(10)
    .string(apiVersion)
    .uint32(18)
    .string(kind)
    .ldelim();
  head.uint32(18).uint32(size);
  return [MAGIC, head.finish()];
}

/** contentEncoding and contentType, both empty. */
const envelopeEnd = Buffer.from([0x1a, 0, 0x22, 0]);

/**
 * A list from items that are encoded already (`listItem` of their envelopes): the parts of one envelope, in order, without
 * copying the items. `metadata` is the list's; `itemBytes` the sum of the items' bytes. An `undefined` among the items is
 * handed through.
 */
export function* protobufListParts(
  apiVersion: string,
  listKind: string,
  metadata: object,
  itemBytes: number,
  items: Iterable<Uint8Array | undefined>,
): Generator<Uint8Array | undefined, void> {
  const head = Writer.create().uint32(10).fork();
  encoderOf(`${META}.ListMeta`)(head, metadata);
  const listHead = head.ldelim().finish();
  yield* envelopeHead(apiVersion, listKind, listHead.length + itemBytes);
  yield listHead;
  yield* items;
  yield envelopeEnd;
}

/**
 * An object's message with its length and tag, in an envelope that encodeProtobuf made: a view. Items of a list have the
 * tag that objects have in their envelopes.
 */
export function listItem(envelope: Buffer): Buffer {
  // Before it: the magic, and the type's field with its length.
  let at = MAGIC.length + 1;
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = envelope[at++]!;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return envelope.subarray(at + length, envelope.length - envelopeEnd.length);
}

function badRequest(error: unknown, bytes: Uint8Array, wanted = ""): unknown {
  if (error instanceof WireError && error.inside) {
    const { apiVersion, kind } = error.inside;
    const { version } = parseApiVersion(apiVersion);
    return cannotBeHandled(kind, version, wanted || kind, error.message);
  }
  if (error instanceof WireError || error instanceof RangeError)
    return unrecognised(wanted, error.message, bytes);
  return error;
}

/**
 * Decodes an envelope into the JSON shape, apiVersion and kind first. `fallback` names the type when the envelope does
 * not. Throws ApiError 400 for anything that is not a well-formed object of a known kind.
 */
export function decodeProtobuf(
  bytes: Uint8Array,
  fallback?: { apiVersion: string; kind: string },
): Json {
  try {
    return decodeEnvelope(bytes, fallback);
  } catch (error) {
    throw badRequest(error, bytes, fallback?.kind);
  }
}

/** One frame of a watch: `object` is an envelope made by encodeProtobuf. */
export function encodeWatchFrame(type: string, object: Uint8Array): Buffer {
  const event = Writer.create().uint32(10).string(type);
  event.uint32(18).fork().uint32(10).bytes(object).ldelim();
  const body = event.finish();
  const frame = Buffer.allocUnsafe(4 + body.length);
  frame.writeUInt32BE(body.length, 0);
  frame.set(body, 4);
  return frame;
}
