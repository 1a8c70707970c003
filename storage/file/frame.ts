// The bytes of the log, format 2. A file begins with a header, then frames follow one after the other; a frame is one
// commit, whole or nothing. Big endian.
//
//   file:   "orbitlog" | u32 format (2) | u32 seed | u32 crc32 of these 16 bytes
//   frame:  u32 magic | u32 payload length | u64 first revision | u32 crc of the payload | u32 crc of these 20 bytes
//   payload: records: u8 kind | u64 revision | u64 expiry (epoch ms, 0: never) | u32 key length | u32 value length | key
//            | value
//
// Record kinds: 1 put, 2 delete, 3 the store's revision (no key, no value): before and behind the state with which every
// file begins, and at the end of a closed one. The state was synced before the file got its name: no crash tears it.
// The crcs of frames start from the seed, which is random for each store: bytes of a value that look like a frame are
// none. No byte of a file is outside of a checksum.
//
// Example: a store closed after one write: header, revision 0, revision 0 (there was no state), put /a at revision 2,
// revision 2.
import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { StoreError } from "../store.ts";

export const FILE_HEADER_BYTES = 20;
export const FRAME_HEADER_BYTES = 24;
const RECORD_HEADER_BYTES = 25;
const FILE_MAGIC = Buffer.from("orbitlog");
const FORMAT = 2;
/** No byte of it occurs in UTF-8 text. */
export const FRAME_MAGIC = Buffer.from([0xfe, 0xf5, 0xff, 0xfa]);
const PUT = 1;
const DELETE = 2;
const REVISION = 3;

const encoder = new TextEncoder();

/** One record of a frame. */
interface LogRecord {
  /** "" in the record of the store's revision. */
  readonly key: string;
  readonly revision: number;
  /** Epoch milliseconds; 0: never. */
  readonly expiresAtMs: number;
  /** Undefined: the key goes. */
  readonly value: Uint8Array | undefined;
}

/** Bytes a live entry takes in the file, without its share of a frame's header. */
export function recordBytes(key: string, valueBytes: number): number {
  return RECORD_HEADER_BYTES + Buffer.byteLength(key) + valueBytes;
}

export function newSeed(): number {
  return randomBytes(4).readUInt32BE(0);
}

export function encodeFileHeader(seed: number): Buffer {
  const header = Buffer.alloc(FILE_HEADER_BYTES);
  FILE_MAGIC.copy(header);
  header.writeUInt32BE(FORMAT, 8);
  header.writeUInt32BE(seed, 12);
  header.writeUInt32BE(crc32(header.subarray(0, 16)), 16);
  return header;
}

/** The seed; undefined when these bytes are no file header. */
export function decodeFileHeader(bytes: Buffer): number | undefined {
  if (
    bytes.length < FILE_HEADER_BYTES ||
    !bytes.subarray(0, 8).equals(FILE_MAGIC) ||
    crc32(bytes.subarray(0, 16)) !== bytes.readUInt32BE(16)
  )
    return undefined;
  const format = bytes.readUInt32BE(8);
  if (format !== FORMAT)
    throw new StoreError(
      "corrupt",
      `the log has format ${format}; this program reads formats 1 and 2`,
    );
  return bytes.readUInt32BE(12);
}

/** @param firstRevision of the header; by default that of the first record */
export function encodeFrame(
  seed: number,
  records: readonly LogRecord[],
  firstRevision = records[0]!.revision,
): Buffer {
  let size = FRAME_HEADER_BYTES;
  for (const { key, value } of records)
    size += recordBytes(key, value?.length ?? 0);
  const frame = Buffer.allocUnsafe(size);
  let at = FRAME_HEADER_BYTES;
  for (const { key, revision, expiresAtMs, value } of records) {
    const keyAt = at + RECORD_HEADER_BYTES;
    const keyBytes = encoder.encodeInto(key, frame.subarray(keyAt)).written;
    frame[at] = value ? PUT : DELETE;
    writeU64(frame, revision, at + 1);
    writeU64(frame, Math.ceil(expiresAtMs), at + 9);
    frame.writeUInt32BE(keyBytes, at + 17);
    frame.writeUInt32BE(value?.length ?? 0, at + 21);
    at = keyAt + keyBytes;
    if (value) {
      frame.set(value, at);
      at += value.length;
    }
  }
  return sealed(seed, frame, firstRevision);
}

/** Opens a compacted file (revisions of deletes would be forgotten otherwise) and ends one that was closed. */
export function encodeRevisionFrame(seed: number, revision: number): Buffer {
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + RECORD_HEADER_BYTES);
  frame[FRAME_HEADER_BYTES] = REVISION;
  writeU64(frame, revision, FRAME_HEADER_BYTES + 1);
  return sealed(seed, frame, revision);
}

function sealed(seed: number, frame: Buffer, revision: number): Buffer {
  const payload = frame.subarray(FRAME_HEADER_BYTES);
  FRAME_MAGIC.copy(frame);
  frame.writeUInt32BE(payload.length, 4);
  writeU64(frame, revision, 8);
  frame.writeUInt32BE(crc32(payload, seed), 16);
  frame.writeUInt32BE(crc32(frame.subarray(0, 20), seed), 20);
  return frame;
}

export interface FrameHeader {
  readonly payloadBytes: number;
  readonly firstRevision: number;
  readonly payloadCrc: number;
}

/** The header of a frame at an offset; undefined when there is none whose checksum holds. */
export function decodeFrameHeader(
  seed: number,
  bytes: Buffer,
  at: number,
): FrameHeader | undefined {
  if (at + FRAME_HEADER_BYTES > bytes.length) return undefined;
  const header = bytes.subarray(at, at + FRAME_HEADER_BYTES);
  if (
    !header.subarray(0, 4).equals(FRAME_MAGIC) ||
    crc32(header.subarray(0, 20), seed) !== header.readUInt32BE(20)
  )
    return undefined;
  return {
    payloadBytes: header.readUInt32BE(4),
    firstRevision: readU64(header, 8),
    payloadCrc: header.readUInt32BE(16),
  };
}

export function isSound(
  seed: number,
  header: FrameHeader,
  payload: Buffer,
): boolean {
  return (
    payload.length === header.payloadBytes &&
    crc32(payload, seed) === header.payloadCrc
  );
}

/** A record as it lies in a payload: the value's place instead of its bytes. */
export interface PlacedRecord {
  /** "" in the record of the store's revision. */
  readonly key: string;
  readonly revision: number;
  readonly expiresAtMs: number;
  /** Offset within the payload; undefined for a delete and for the store's revision. */
  readonly valueAt: number | undefined;
  readonly valueBytes: number;
}

/** The records of a payload whose checksum held. Throws StoreError "corrupt" when they don't fill it exactly. */
export function* decodePayload(payload: Buffer): Generator<PlacedRecord> {
  let at = 0;
  while (at < payload.length) {
    const end = recordEnd(payload, at);
    if (end === undefined)
      throw new StoreError("corrupt", "a record of the log can't be read");
    const keyAt = at + RECORD_HEADER_BYTES;
    const valueAt = keyAt + payload.readUInt32BE(at + 17);
    yield {
      key: payload.toString("utf8", keyAt, valueAt),
      revision: readU64(payload, at + 1),
      expiresAtMs: readU64(payload, at + 9),
      valueAt: payload[at] === PUT ? valueAt : undefined,
      valueBytes: end - valueAt,
    };
    at = end;
  }
}

/** Where the record at an offset ends; undefined when it has no known kind or reaches over the end. */
export function recordEnd(payload: Buffer, at: number): number | undefined {
  if (at + RECORD_HEADER_BYTES > payload.length) return undefined;
  const kind = payload[at]!;
  if (kind < PUT || kind > REVISION) return undefined;
  const end =
    at +
    RECORD_HEADER_BYTES +
    payload.readUInt32BE(at + 17) +
    payload.readUInt32BE(at + 21);
  return end <= payload.length ? end : undefined;
}

/** Numbers up to 2^53 without BigInt. */
function writeU64(buffer: Buffer, value: number, at: number): void {
  buffer.writeUInt32BE(Math.floor(value / 0x1_0000_0000), at);
  buffer.writeUInt32BE(value % 0x1_0000_0000, at + 4);
}

function readU64(buffer: Buffer, at: number): number {
  return buffer.readUInt32BE(at) * 0x1_0000_0000 + buffer.readUInt32BE(at + 4);
}
