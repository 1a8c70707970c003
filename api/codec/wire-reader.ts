// Reads protobuf's primitives from hostile bytes: every length is checked before it is used, nesting and the number of
// messages are bounded, strings are UTF-8. Views, not copies, are handed out.
import { isUtf8 } from "node:buffer";

export class WireError extends Error {
  constructor(
    message: string,
    /** The object in the envelope it is about, when the envelope itself is sound. */
    readonly inside?: { readonly apiVersion: string; readonly kind: string },
  ) {
    super(message);
  }
}

const MAX_DEPTH = 200;
const TWO_TO_32 = 2 ** 32;

/** Reads the wire's primitives between two positions of a buffer. */
export class WireReader {
  readonly #bytes: Buffer;
  #at: number;
  #end: number;
  #depth = 0;
  /** How many messages may still be made: real objects have several bytes for each. */
  #messages: number;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = start;
    this.#end = end;
    this.#messages = 10_000 + ((end - start) >> 2);
  }

  get done(): boolean {
    return this.#at >= this.#end;
  }

  varint(): number {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.#at >= this.#end) throw new WireError("unexpected EOF");
      const byte = this.#bytes[this.#at++]!;
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high |= bits >> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) {
        // As a signed 64-bit number, to the precision of a double.
        return (high | 0) * TWO_TO_32 + (low >>> 0);
      }
    }
    throw new WireError("proto: integer overflow");
  }

  /** Low 32 bits, signed. */
  int32(): number {
    return this.varint() | 0;
  }

  double(): number {
    if (this.#end - this.#at < 8) throw new WireError("unexpected EOF");
    this.#at += 8;
    return this.#bytes.readDoubleLE(this.#at - 8);
  }

  #length(): number {
    const length = this.varint();
    if (length < 0)
      throw new WireError("proto: negative length found during unmarshaling");
    if (length > this.#end - this.#at) throw new WireError("unexpected EOF");
    return length;
  }

  /** A view, not a copy. */
  bytes(): Buffer {
    const length = this.#length();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  string(): string {
    const length = this.#length();
    const from = this.#at;
    this.#at += length;
    const text = this.#bytes.toString("utf8", from, this.#at);
    if (
      text.includes("\ufffd") &&
      !isUtf8(this.#bytes.subarray(from, this.#at))
    )
      throw new WireError("proto: invalid UTF-8 in a string");
    return text;
  }

  /** Calls `read` with a reader that ends where the length-delimited value does. */
  within<T>(read: (reader: WireReader) => T): T {
    const length = this.#length();
    if (++this.#depth > MAX_DEPTH)
      throw new WireError("proto: message is nested too deeply");
    if (--this.#messages < 0) throw new WireError("proto: too many messages");
    const end = this.#end;
    this.#end = this.#at + length;
    const value = read(this);
    this.#at = this.#end;
    this.#end = end;
    this.#depth--;
    return value;
  }

  /** `message`: whose field it is, for the error. */
  tag(message = "Unknown"): number {
    const tag = this.varint();
    if (tag < 8 || tag >= TWO_TO_32)
      throw new WireError(
        `proto: ${message}: illegal tag ${Math.floor(tag / 8)} (wire type ${tag % 8})`,
      );
    return tag;
  }

  skip(wire: number): void {
    switch (wire) {
      case 0:
        this.varint();
        return;
      case 1:
        return this.#advance(8);
      case 2:
        return this.#advance(this.#length());
      case 5:
        return this.#advance(4);
      default:
        throw new WireError(`proto: illegal wireType ${wire}`);
    }
  }

  #advance(count: number): void {
    if (count > this.#end - this.#at) throw new WireError("unexpected EOF");
    this.#at += count;
  }
}
