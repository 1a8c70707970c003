// Writes protobuf's primitives into one growing buffer, in one pass: a message's length is written when the message is
// complete, which is moved by a byte or two where the length needs more than the one kept free for it.
//
// Example: uint32(10).fork().string("ab").ldelim() → 0a 03 02 61 62.

const firstBytes = 2048;
/** Longer text is encoded by Node; below it a loop over the characters is faster than the call. */
const shortText = 40;
const twoTo32 = 2 ** 32;

export class WireWriter {
  #bytes: Buffer;
  #at = 0;
  /** Where the lengths of the messages begin that are not complete. */
  readonly #open: number[] = [];

  /** @param expectedBytes what it has room for at first */
  constructor(expectedBytes = firstBytes) {
    this.#bytes = Buffer.allocUnsafe(expectedBytes);
  }

  static create(expectedBytes?: number): WireWriter {
    return new WireWriter(expectedBytes);
  }

  /** The low 32 bits. */
  uint32(value: number): this {
    this.#room(5);
    this.#varint(value >>> 0);
    return this;
  }

  /** Negative ones are written as 64 bits. */
  int32(value: number): this {
    const whole = value | 0;
    return whole >= 0 ? this.uint32(whole) : this.int64(whole);
  }

  /** To the precision of a double. */
  int64(value: number): this {
    let whole = Math.trunc(Number(value));
    if (!Number.isFinite(whole)) whole = 0;
    this.#room(10);
    if (whole >= 0) this.#varint(whole);
    else this.#negative(whole);
    return this;
  }

  bool(value: boolean): this {
    this.#room(1);
    this.#bytes[this.#at++] = value ? 1 : 0;
    return this;
  }

  double(value: number): this {
    this.#room(8);
    this.#at = this.#bytes.writeDoubleLE(Number(value), this.#at);
    return this;
  }

  bytes(value: Uint8Array): this {
    this.#room(5 + value.length);
    this.#varint(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
    return this;
  }

  string(value: string): this {
    const { length } = value;
    this.#room(5 + 3 * length);
    const start = this.#at;
    const bytes = this.#bytes;
    if (length < shortText) {
      let at = start + 1;
      for (let index = 0; index < length; index++) {
        const code = value.charCodeAt(index);
        if (code >= 0x80) return this.#encode(value);
        bytes[at++] = code;
      }
      bytes[start] = length;
      this.#at = at;
      return this;
    }
    return this.#encode(value);
  }

  /** The bytes of `source` from `start` to `end`, with their length. */
  slice(source: Buffer, start: number, end: number): this {
    const length = end - start;
    this.#room(5 + length);
    this.#varint(length);
    const bytes = this.#bytes;
    let at = this.#at;
    this.#at += length;
    if (length > shortText) source.copy(bytes, at, start, end);
    else for (let from = start; from < end; from++) bytes[at++] = source[from]!;
    return this;
  }

  /** Begins a message, which `ldelim` completes. */
  fork(): this {
    this.#room(1);
    this.#open.push(this.#at++);
    return this;
  }

  ldelim(): this {
    this.#close(this.#open.pop()!);
    return this;
  }

  /** Writes the bytes unchanged: without tag, length or conversion. */
  raw(bytes: Uint8Array): this {
    const { length } = bytes;
    this.#room(length);
    if (length > shortText) this.#bytes.set(bytes, this.#at);
    else
      for (let from = 0; from < length; from++)
        this.#bytes[this.#at + from] = bytes[from]!;
    this.#at += length;
    return this;
  }

  /** Returns a copy of the bytes written so far. The writer starts over with the same room. */
  finish(): Buffer {
    const written = Buffer.from(this.#bytes.subarray(0, this.#at));
    this.#at = 0;
    this.#open.length = 0;
    return written;
  }

  /** Returns the bytes written so far, valid until the next write. The writer starts over. */
  view(): Buffer {
    const written = this.#bytes.subarray(0, this.#at);
    this.#at = 0;
    return written;
  }

  /** Starts over after a message that could not be completed. */
  reset(): void {
    this.#at = 0;
    this.#open.length = 0;
  }

  /** What it has room for. */
  get capacity(): number {
    return this.#bytes.length;
  }

  #encode(value: string): this {
    const start = this.#at++;
    this.#at += this.#bytes.write(value, this.#at, "utf8");
    this.#close(start);
    return this;
  }

  /** Writes the length of the bytes behind `start`, where one byte is free for it. */
  #close(start: number): void {
    const length = this.#at - start - 1;
    if (length < 0x80) {
      this.#bytes[start] = length;
      return;
    }
    const more =
      length < 0x4000 ? 1 : length < 0x200000 ? 2 : 3 + +(length >= 0x10000000);
    this.#room(more);
    this.#bytes.copyWithin(start + 1 + more, start + 1, this.#at);
    const end = this.#at + more;
    this.#at = start;
    this.#varint(length);
    this.#at = end;
  }

  #varint(value: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    while (value >= twoTo32) {
      bytes[at++] = (value % 0x80) | 0x80;
      value = Math.floor(value / 0x80);
    }
    while (value >= 0x80) {
      bytes[at++] = (value & 0x7f) | 0x80;
      value >>>= 7;
    }
    bytes[at++] = value;
    this.#at = at;
  }

  #negative(value: number): void {
    let rest = BigInt.asUintN(64, BigInt(value));
    while (rest >= 0x80n) {
      this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#at++] = Number(rest);
  }

  #room(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}
