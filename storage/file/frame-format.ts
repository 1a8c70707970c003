// What a reader must know of a log's format: how a frame's header and checksum are read, and where a sound frame may begin
// behind damage. Format 2 is frame.ts. Format 1, which earlier versions wrote, is only read:
//
//   frame: u32 payload length | u32 crc32 of the payload | payload (records as in format 2); no file header
import { crc32 } from "node:zlib";
import {
  decodeFrameHeader,
  decodeFileHeader,
  FILE_HEADER_BYTES,
  FRAME_HEADER_BYTES,
  FRAME_MAGIC,
  isSound,
  recordEnd,
  type FrameHeader,
} from "./frame.ts";

export interface FrameFormat {
  readonly version: 1 | 2;
  /** Of format 2; 0 of format 1. */
  readonly seed: number;
  /** Where the first frame begins. */
  readonly firstFrameAt: number;
  readonly headerBytes: number;
  decodeHeader(bytes: Buffer, at: number): FrameHeader | undefined;
  isSound(header: FrameHeader, payload: Buffer): boolean;
  /** The first place at or after `from` at which a frame may begin; -1 when there is none. */
  nextCandidate(bytes: Buffer, from: number): number;
  /** Does it show in the bytes that a frame was cut or written in part by a crash? Format 1 can't know. */
  readonly showsTears: boolean;
}

/** The format of a file by its first bytes; undefined when they are of none. An empty file has format 2. */
export function formatOf(
  first: Buffer,
  fileBytes: number,
): FrameFormat | undefined {
  const seed = decodeFileHeader(first);
  if (seed !== undefined) return format2(seed);
  const header = format1.decodeHeader(first, 0);
  return header && header.payloadBytes + 8 <= fileBytes && first[8]! in kinds
    ? format1
    : undefined;
}

const kinds = { 1: "put", 2: "delete", 3: "revision" };

export function format2(seed: number): FrameFormat {
  return {
    version: 2,
    seed,
    firstFrameAt: FILE_HEADER_BYTES,
    headerBytes: FRAME_HEADER_BYTES,
    decodeHeader: (bytes, at) => decodeFrameHeader(seed, bytes, at),
    isSound: (header, payload) => isSound(seed, header, payload),
    nextCandidate: (bytes, from) => bytes.indexOf(FRAME_MAGIC, from),
    showsTears: true,
  };
}

export const format1: FrameFormat = {
  version: 1,
  seed: 0,
  firstFrameAt: 0,
  headerBytes: 8,
  decodeHeader(bytes, at) {
    if (at + 8 > bytes.length) return undefined;
    const payloadBytes = bytes.readUInt32BE(at);
    return payloadBytes === 0
      ? undefined
      : {
          payloadBytes,
          firstRevision: 0,
          payloadCrc: bytes.readUInt32BE(at + 4),
        };
  },
  isSound(header, payload) {
    // The records first: cheaper than the checksum, and this is asked of every byte behind damage.
    if (payload.length !== header.payloadBytes) return false;
    let at: number | undefined = 0;
    while (at !== undefined && at < payload.length) at = recordEnd(payload, at);
    return at !== undefined && crc32(payload) === header.payloadCrc;
  },
  nextCandidate(bytes, from) {
    for (let at = from; at + 8 < bytes.length; at++) {
      const kind = bytes[at + 8]!;
      // Kind, and the first byte of a revision below 2^53.
      if (kind >= 1 && kind <= 3 && !bytes[at + 9] && bytes[at]! < 0x80)
        return at;
    }
    return -1;
  },
  showsTears: false,
};
