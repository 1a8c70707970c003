// The little of DER that certificates and signing requests need: writing from the inside out, and a strict reader of
// definite lengths that never looks beyond its bytes.

export const Tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
  utcTime: 0x17,
  generalizedTime: 0x18,
} as const;

export function tlv(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const length = content.length;
  if (length < 0x80)
    return Buffer.concat([Buffer.from([tag, length]), content]);
  const digits: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256))
    digits.unshift(rest % 256);
  return Buffer.concat([
    Buffer.from([tag, 0x80 | digits.length, ...digits]),
    content,
  ]);
}

export const sequence = (...items: Uint8Array[]): Buffer =>
  tlv(Tag.sequence, ...items);
export const setOf = (...items: Uint8Array[]): Buffer => tlv(Tag.set, ...items);
export const octetString = (content: Uint8Array): Buffer =>
  tlv(Tag.octetString, content);
export const bitString = (content: Uint8Array, unusedBits = 0): Buffer =>
  tlv(Tag.bitString, Buffer.from([unusedBits]), content);
export const utf8String = (text: string): Buffer =>
  tlv(Tag.utf8String, Buffer.from(text));
export const boolean = (value: boolean): Buffer =>
  tlv(Tag.boolean, Buffer.from([value ? 0xff : 0]));

/** A non-negative integer from its big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const digits = bytes.subarray(start);
  return digits[0]! & 0x80
    ? tlv(Tag.integer, Buffer.from([0]), digits)
    : tlv(Tag.integer, digits);
}

/** From dotted form: `2.5.29.17`. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const digits = [arc & 0x7f];
    for (
      let high = Math.floor(arc / 128);
      high > 0;
      high = Math.floor(high / 128)
    )
      digits.unshift(0x80 | (high & 0x7f));
    bytes.push(...digits);
  }
  return tlv(Tag.oid, Buffer.from(bytes));
}

/** UTCTime up to 2049, GeneralizedTime after, as RFC 5280 wants it. */
export function time(epochMs: number): Buffer {
  const digits = new Date(epochMs)
    .toISOString()
    .replace(/[-:T]/g, "")
    .slice(0, 14);
  return Number(digits.slice(0, 4)) < 2050
    ? tlv(Tag.utcTime, Buffer.from(`${digits.slice(2)}Z`))
    : tlv(Tag.generalizedTime, Buffer.from(`${digits}Z`));
}

interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  /** Tag, length and content. */
  readonly raw: Buffer;
}

/** Throws a RangeError on anything that is not DER. */
export class DerReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  read(): DerValue {
    const start = this.#at;
    const tag = this.#byte();
    let length = this.#byte();
    if (length === 0x80 || length > 0x84)
      throw new RangeError("unsupported length");
    if (length > 0x80) {
      const digits = length & 0x7f;
      length = 0;
      for (let i = 0; i < digits; i++) length = length * 256 + this.#byte();
    }
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError("value beyond the end");
    const content = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return { tag, content, raw: this.#bytes.subarray(start, end) };
  }

  expect(tag: number): DerValue {
    const value = this.read();
    if (value.tag !== tag)
      throw new RangeError(`tag ${value.tag} where ${tag} was expected`);
    return value;
  }

  /** A reader of the content of the next value. */
  enter(tag: number): DerReader {
    return new DerReader(this.expect(tag).content);
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new RangeError("cut off");
    return byte;
  }
}

export function readOid(content: Buffer): string {
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of content) {
    arc = arc * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    arcs.push(arc);
    arc = 0;
  }
  const [first = 0, ...rest] = arcs;
  const root = Math.min(2, Math.floor(first / 40));
  return [root, first - root * 40, ...rest].join(".");
}

export function readText(value: DerValue): string {
  // BMPString is UTF-16 in big endian; the other string types are at least ASCII.
  return value.tag === 0x1e
    ? Buffer.from(value.content).swap16().toString("utf16le")
    : value.content.toString("utf8");
}
