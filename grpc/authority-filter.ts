// Lets clients of a unix socket in whose requests name the socket's path as their :authority. Go's gRPC did so until 2023
// whenever a program dialled a bare path, as device plug-ins and monitors of devices do; nghttp2, which Node's HTTP/2 is
// made of, ends such requests with PROTOCOL_ERROR, for a slash is no character of an authority. Nothing here looks at it.
//
// The bytes of a connection pass through; in each HEADERS frame a literal :authority gets characters that are allowed in
// the places of those that are not. The value keeps its length, so the tables of both ends of HPACK (RFC 7541) stay
// alike and nothing else has to be decoded. What can't be read passes as it is: judging it is the server's.

const prefaceLength = 24;
const frameHeaderLength = 9;
const headersType = 1;
const flags = { endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;
/** As the server announces, by default. */
const maxFrameLength = 16_384;
/** Of the static table. */
const authorityIndex = 1;

/** For one connection, from its first byte. */
export class AuthorityFilter {
  #kept: Buffer = Buffer.alloc(0);
  /** Bytes that pass as they are, of the preface or of a frame. */
  #passing = prefaceLength;

  /** What is to be passed on of the next bytes; holds back at most one frame. */
  pass(chunk: Buffer): Buffer {
    let bytes =
      this.#kept.length > 0 ? Buffer.concat([this.#kept, chunk]) : chunk;
    const out: Buffer[] = [];
    for (;;) {
      if (this.#passing > 0) {
        const part = bytes.subarray(0, this.#passing);
        out.push(part);
        this.#passing -= part.length;
        bytes = bytes.subarray(part.length);
      }
      if (bytes.length < frameHeaderLength) break;
      const length = frameHeaderLength + bytes.readUIntBE(0, 3);
      if (
        bytes[3] !== headersType ||
        length > frameHeaderLength + maxFrameLength
      ) {
        this.#passing = length;
        continue;
      }
      if (bytes.length < length) break;
      out.push(withAllowedAuthority(bytes.subarray(0, length)));
      bytes = bytes.subarray(length);
    }
    this.#kept = bytes;
    return out.length === 1 ? out[0]! : Buffer.concat(out);
  }
}

/** @param frame a whole HEADERS frame */
function withAllowedAuthority(frame: Buffer): Buffer {
  const flag = frame[4]!;
  // A block that goes on in further frames is too long to be a client's of these sockets.
  if (!(flag & flags.endHeaders)) return frame;
  const padded = flag & flags.padded ? 1 : 0;
  const start = frameHeaderLength + padded + (flag & flags.priority ? 5 : 0);
  const end = frame.length - (padded ? frame[frameHeaderLength]! : 0);
  const found = start < end && findAuthority(frame.subarray(start, end));
  if (!found) return frame;
  const value = Buffer.from(found.value.replace(/[^A-Za-z0-9.:_-]/g, "-"));
  const changed = Buffer.concat([
    frame.subarray(0, start + found.from),
    lengthPrefix(value.length),
    value,
    frame.subarray(start + found.to),
  ]);
  if (changed.length > frameHeaderLength + maxFrameLength) return frame;
  changed.writeUIntBE(changed.length - frameHeaderLength, 0, 3);
  return changed;
}

interface Found {
  readonly value: string;
  /** Of the value's string in the block, with its length before it. */
  readonly from: number;
  readonly to: number;
}

/** The first literal :authority of a header block. */
function findAuthority(block: Buffer): Found | undefined {
  let at = 0;
  while (at < block.length) {
    const first = block[at]!;
    const isLiteral = !(first & 0x80) && (first & 0xe0) !== 0x20;
    const bits = first & 0x80 ? 7 : first & 0x40 ? 6 : isLiteral ? 4 : 5;
    const index = readInteger(block, at, bits);
    if (!index) return undefined;
    at = index.to;
    if (!isLiteral) continue;
    const name = index.value === 0 ? readString(block, at) : { to: at };
    const string = name && readString(block, name.to);
    if (!name || !string) return undefined;
    if (index.value === authorityIndex) {
      const value = string.huffman ? decodeHuffman(string.bytes) : undefined;
      return value === undefined && string.huffman
        ? undefined
        : {
            value: value ?? string.bytes.toString("latin1"),
            from: name.to,
            to: string.to,
          };
    }
    at = string.to;
  }
  return undefined;
}

/** An integer with a prefix of some bits (RFC 7541, 5.1); undefined: cut off, or too large for any block. */
function readInteger(
  block: Buffer,
  from: number,
  bits: number,
): { value: number; to: number } | undefined {
  const full = (1 << bits) - 1;
  let value = (block[from] ?? 0) & full;
  let to = from + 1;
  if (value < full) return from < block.length ? { value, to } : undefined;
  for (let shift = 0; shift <= 14; shift += 7) {
    const next = block[to++];
    if (next === undefined) return undefined;
    value += (next & 0x7f) << shift;
    if (!(next & 0x80)) return { value, to };
  }
  return undefined;
}

function readString(
  block: Buffer,
  from: number,
): { bytes: Buffer; huffman: boolean; to: number } | undefined {
  const length = readInteger(block, from, 7);
  if (!length) return undefined;
  const to = length.to + length.value;
  if (to > block.length) return undefined;
  return {
    bytes: block.subarray(length.to, to),
    huffman: (block[from]! & 0x80) !== 0,
    to,
  };
}

/** Of a string that is not compressed, at most as long as a frame. */
function lengthPrefix(length: number): Buffer {
  if (length < 127) return Buffer.of(length);
  const bytes = [127];
  let rest = length - 127;
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/**
 * Lengths in bits of the codes of the characters from space to ~ (RFC 7541, appendix B). The code is canonical: of one
 * length they follow each other in the characters' order. Of other characters only NUL has a code below 19 bits.
 */
const codeLengths = [
  ...[6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6],
  ...[5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10],
  ...[13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7],
  ...[7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6],
  ...[15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5],
  ...[6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13],
];
const longestCode = 15;

/** By length and code, as `length << 16 | code`. */
const characters = new Map<number, string>();
for (let length = 5, code = 0; length <= longestCode; length++, code <<= 1)
  for (const [symbol, bits] of [
    [0, 13] as const,
    ...codeLengths.map((each, index) => [index + 32, each] as const),
  ])
    if (bits === length)
      characters.set((length << 16) | code++, String.fromCharCode(symbol));

/** Undefined: it has a character that no path of a socket has. */
function decodeHuffman(bytes: Buffer): string | undefined {
  let text = "";
  let code = 0;
  let length = 0;
  for (const byte of bytes)
    for (let bit = 7; bit >= 0; bit--) {
      code = (code << 1) | ((byte >> bit) & 1);
      length++;
      const character = characters.get((length << 16) | code);
      if (character !== undefined) {
        text += character;
        code = length = 0;
      } else if (length > longestCode) return undefined;
    }
  // The rest of the last byte is filled with ones.
  return length < 8 && code === (1 << length) - 1 ? text : undefined;
}
