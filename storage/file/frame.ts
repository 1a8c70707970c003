// The bytes of the log. A file is frames one after the other; a frame is one commit, whole or nothing:
//
//   u32 payload length | u32 crc32 of the payload | payload: records
//   record: u8 kind | u64 revision | u64 expiry (epoch ms, 0: never) | u32 key length | u32 value length | key | value
//
// Kinds: 1 put, 2 delete, 3 the store's revision (no key, no value; opens a compacted file). Big endian.
import { crc32 } from "node:zlib";
import { StoreError } from "../store.ts";
import type { MediumWrite } from "../local/local-store.ts";

export const FRAME_HEADER_BYTES = 8;
const RECORD_HEADER_BYTES = 25;
const PUT = 1;
const DELETE = 2;
const REVISION = 3;

const encoder = new TextEncoder();

/** Bytes a live entry takes in the file, without its share of a frame's header. */
export function recordBytes(key: string, valueBytes: number): number {
  return RECORD_HEADER_BYTES + Buffer.byteLength(key) + valueBytes;
}

export function encodeFrame(writes: readonly MediumWrite[]): Buffer {
  let size = FRAME_HEADER_BYTES;
  for (const { key, value } of writes)
    size += recordBytes(key, value?.length ?? 0);
  const frame = Buffer.allocUnsafe(size);
  let at = FRAME_HEADER_BYTES;
  for (const { key, revision, expiresAtMs, value } of writes) {
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
  return sealed(frame);
}

/** The frame that opens a compacted file: revisions of deletes would be forgotten otherwise. */
export function encodeRevisionFrame(revision: number): Buffer {
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + RECORD_HEADER_BYTES);
  frame[FRAME_HEADER_BYTES] = REVISION;
  writeU64(frame, revision, FRAME_HEADER_BYTES + 1);
  return sealed(frame);
}

function sealed(frame: Buffer): Buffer {
  const payload = frame.subarray(FRAME_HEADER_BYTES);
  frame.writeUInt32BE(payload.length, 0);
  frame.writeUInt32BE(crc32(payload), 4);
  return frame;
}

/** Numbers up to 2^53 without BigInt. */
function writeU64(buffer: Buffer, value: number, at: number): void {
  buffer.writeUInt32BE(Math.floor(value / 0x1_0000_0000), at);
  buffer.writeUInt32BE(value % 0x1_0000_0000, at + 4);
}

function readU64(buffer: Buffer, at: number): number {
  return buffer.readUInt32BE(at) * 0x1_0000_0000 + buffer.readUInt32BE(at + 4);
}

/** The payload at an offset, or undefined when there is no whole and sound frame there. */
export function payloadAt(file: Buffer, offset: number): Buffer | undefined {
  if (offset + FRAME_HEADER_BYTES > file.length) return undefined;
  const length = file.readUInt32BE(offset);
  const start = offset + FRAME_HEADER_BYTES;
  if (length === 0 || start + length > file.length) return undefined;
  const payload = file.subarray(start, start + length);
  return crc32(payload) === file.readUInt32BE(offset + 4) ? payload : undefined;
}

/** Values are views of the payload: copy what is kept. */
export function* decodePayload(payload: Buffer): Generator<MediumWrite> {
  let at = 0;
  while (at < payload.length) {
    if (at + RECORD_HEADER_BYTES > payload.length)
      throw new StoreError("corrupt", "a record of the log is cut");
    const kind = payload[at];
    const revision = readU64(payload, at + 1);
    const expiresAtMs = readU64(payload, at + 9);
    const keyAt = at + RECORD_HEADER_BYTES;
    const valueAt = keyAt + payload.readUInt32BE(at + 17);
    const end = valueAt + payload.readUInt32BE(at + 21);
    if (end > payload.length)
      throw new StoreError("corrupt", "a record of the log is cut");
    if (kind !== PUT && kind !== DELETE && kind !== REVISION) {
      throw new StoreError(
        "corrupt",
        `the log has a record of the unknown kind ${kind}`,
      );
    }
    const key = payload.toString("utf8", keyAt, valueAt);
    yield {
      key,
      revision,
      expiresAtMs,
      value: kind === PUT ? payload.subarray(valueAt, end) : undefined,
    };
    at = end;
  }
}
