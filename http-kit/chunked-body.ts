// A body in the chunked transfer coding (RFC 9112 7.1), read strictly: what Node's parser does not read because the request
// offers an upgrade. Extensions of chunks and trailers are dropped.
//
//   "5;name=value\r\n" "hello" "\r\n"  "0\r\n" "Trailer: x\r\n" "\r\n"  -> "hello", the rest is not the body's
import { Transform, type TransformCallback } from "node:stream";

/** Of the line before a chunk, and of all trailers. */
const maxLineBytes = 4096;
const maxTrailerBytes = 16 * 1024;
const CR = 13;
const LF = 10;
const sizeLine = /^([\da-f]{1,12})[\t ]*(;[\t\x20-\x7e\x80-\xff]*)?$/i;

type Expects = "size" | "data" | "end of data" | "trailer" | "nothing";

export class ChunkedBody extends Transform {
  #expects: Expects = "size";
  /** Of the chunk that is being read. */
  #left = 0;
  #line: Buffer[] = [];
  #lineBytes = 0;
  #trailerBytes = 0;

  /** @param onComplete the last byte of the body was read */
  constructor(private readonly onComplete: () => void) {
    super();
  }

  override _transform(
    bytes: Buffer,
    _encoding: BufferEncoding,
    done: TransformCallback,
  ): void {
    try {
      for (let at = 0; at < bytes.length && this.#expects !== "nothing";)
        at = this.#take(bytes, at);
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  override _flush(done: TransformCallback): void {
    done(
      this.#expects === "nothing"
        ? null
        : new Error("the body ends before its last chunk"),
    );
  }

  /** Where to go on. */
  #take(bytes: Buffer, at: number): number {
    if (this.#expects === "data") {
      const part = bytes.subarray(at, at + this.#left);
      this.#left -= part.length;
      if (this.#left === 0) this.#expects = "end of data";
      this.push(part);
      return at + part.length;
    }
    const end = bytes.indexOf(LF, at);
    const part = bytes.subarray(at, end < 0 ? bytes.length : end + 1);
    this.#lineBytes += part.length;
    if (this.#lineBytes > maxLineBytes)
      throw new Error("a line of the chunked body is too long");
    this.#line.push(part);
    if (end >= 0) this.#endOfLine();
    return at + part.length;
  }

  #endOfLine(): void {
    const line = Buffer.concat(this.#line);
    this.#line = [];
    this.#lineBytes = 0;
    if (line.at(-2) !== CR)
      throw new Error("a line of the chunked body does not end with CRLF");
    const text = line.toString("latin1", 0, line.length - 2);
    if (this.#expects === "size") this.#beginChunk(text);
    else if (this.#expects === "end of data") {
      if (text !== "") throw new Error("a chunk is longer than it says");
      this.#expects = "size";
    } else {
      this.#trailerBytes += line.length;
      if (this.#trailerBytes > maxTrailerBytes)
        throw new Error("the trailers of the body are too long");
      if (text !== "") return;
      this.#expects = "nothing";
      this.push(null);
      this.onComplete();
    }
  }

  #beginChunk(text: string): void {
    const size = sizeLine.exec(text)?.[1];
    if (size === undefined) throw new Error("a chunk has no size");
    this.#left = parseInt(size, 16);
    this.#expects = this.#left === 0 ? "trailer" : "data";
  }
}
