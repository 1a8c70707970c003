// SPDY/3.1 frames: a push parser over chunks of any size, and builders. Data frames are handed on piece by piece as they
// arrive, so a 16 MiB frame needs no buffer; control frames are bounded, longer ones are a protocol error.
//   control: 1|version:15|type:16|flags:8|length:24|payload      data: 0|stream:31|flags:8|length:24|payload

export const frameTypes = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

export const resetStatus = {
  protocolError: 1,
  invalidStream: 2,
  refusedStream: 3,
  cancel: 5,
} as const;

export const flagFin = 1;
const version = 3;
const headerBytes = 8;
/** Far above what header blocks of stream headers need. */
const maxControlBytes = 64 * 1024;

export type Frame =
  | { kind: "control"; type: number; flags: number; payload: Buffer }
  /** A piece of a data frame; `fin` only on the last piece. */
  | { kind: "data"; streamId: number; data: Buffer; fin: boolean };

export class SpdyProtocolError extends Error {
  override readonly name = "SpdyProtocolError";
}

/** Feed it chunks, then take frames until there is none. */
export class FrameParser {
  #chunks: Buffer[] = [];
  #length = 0;
  /** What is left of the data frame being read. */
  #data: { streamId: number; left: number; fin: boolean } | undefined;
  #control: { type: number; flags: number; length: number } | undefined;

  /** Bytes that were added and not taken yet. */
  get length(): number {
    return this.#length;
  }

  add(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  #take(length: number): Buffer {
    this.#length -= length;
    const first = this.#chunks[0]!;
    if (first.length >= length) {
      if (first.length === length) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(length);
      return first.subarray(0, length);
    }
    const parts: Buffer[] = [];
    for (let missing = length; missing > 0;) {
      const chunk = this.#chunks.shift()!;
      if (chunk.length > missing) this.#chunks.unshift(chunk.subarray(missing));
      parts.push(chunk.subarray(0, missing));
      missing -= Math.min(chunk.length, missing);
    }
    return Buffer.concat(parts);
  }

  /** The next frame, or undefined when more bytes are needed. Throws SpdyProtocolError. */
  next(): Frame | undefined {
    if (this.#data !== undefined) return this.#nextData(this.#data);
    if (this.#control === undefined) {
      if (this.#length < headerBytes) return undefined;
      const header = this.#take(headerBytes);
      const flags = header[4]!;
      const length = header.readUIntBE(5, 3);
      const word = header.readUInt32BE(0);
      if (word >>> 31 === 0) {
        this.#data = {
          streamId: word,
          left: length,
          fin: (flags & flagFin) !== 0,
        };
        return this.#nextData(this.#data);
      }
      if (((word >>> 16) & 0x7fff) !== version)
        throw new SpdyProtocolError("this is not SPDY version 3");
      if (length > maxControlBytes)
        throw new SpdyProtocolError(
          `a control frame of ${length} bytes is too long`,
        );
      this.#control = { type: word & 0xffff, flags, length };
    }
    const { type, flags, length } = this.#control;
    if (this.#length < length) return undefined;
    this.#control = undefined;
    return {
      kind: "control",
      type,
      flags,
      payload: length === 0 ? Buffer.alloc(0) : this.#take(length),
    };
  }

  #nextData(state: {
    streamId: number;
    left: number;
    fin: boolean;
  }): Frame | undefined {
    if (state.left > 0 && this.#length === 0) return undefined;
    const size = Math.min(state.left, this.#chunks[0]?.length ?? 0);
    const data = size === 0 ? Buffer.alloc(0) : this.#take(size);
    state.left -= size;
    const last = state.left === 0;
    if (last) this.#data = undefined;
    return {
      kind: "data",
      streamId: state.streamId,
      data,
      fin: last && state.fin,
    };
  }
}

export function controlFrame(
  type: number,
  flags: number,
  payload: Buffer,
): Buffer {
  const header = Buffer.allocUnsafe(headerBytes);
  header.writeUInt32BE((((0x8000 | version) << 16) | type) >>> 0, 0);
  header.writeUInt32BE(((flags << 24) | payload.length) >>> 0, 4);
  return Buffer.concat([header, payload]);
}

/** The eight bytes before `length` (at most 2^24 - 1) bytes of data. */
export function dataHeader(
  streamId: number,
  length: number,
  fin: boolean,
): Buffer {
  const header = Buffer.allocUnsafe(headerBytes);
  header.writeUInt32BE(streamId, 0);
  header.writeUInt32BE((((fin ? flagFin : 0) << 24) | length) >>> 0, 4);
  return header;
}

/** A payload of 32-bit words. */
export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32BE(value >>> 0, index * 4));
  return bytes;
}
