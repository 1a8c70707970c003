// Cuts the bytes of a watch into its events: lines of JSON, protobuf frames behind a big-endian length, items of a CBOR
// sequence. An event may be at most 32 MiB: what is longer can't be an object a server stores.
import { CborScanner } from "./cbor-scanner.ts";

const maxEventBytes = 32 << 20;
const newline = 0x0a;

/** Bytes of an event that is not complete yet. */
class Pending {
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(
    private readonly what: string,
    private readonly limitBytes: number,
  ) {}

  get length(): number {
    return this.#length;
  }

  push(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#length += part.length;
    if (this.#length > this.limitBytes)
      throw new Error(
        `${this.what} of the watch is longer than ${this.limitBytes} bytes`,
      );
    this.#parts.push(part);
  }

  /** The whole event: its last part may be beyond the limit. */
  take(last: Uint8Array): Buffer {
    const bytes = Buffer.concat([...this.#parts, last]);
    this.#parts = [];
    this.#length = 0;
    return bytes;
  }
}

/**
 * Splits chunks at newlines; the text after the last newline is returned too. Throws when a line is longer than the
 * bound.
 */
export async function* lines(
  chunks: AsyncIterable<Uint8Array>,
  limitBytes = maxEventBytes,
): AsyncGenerator<string> {
  const pending = new Pending("a line", limitBytes);
  for await (const chunk of chunks) {
    let start = 0;
    for (
      let end = chunk.indexOf(newline);
      end >= 0;
      end = chunk.indexOf(newline, start)
    ) {
      yield pending.take(chunk.subarray(start, end)).toString("utf8");
      start = end + 1;
    }
    pending.push(chunk.subarray(start));
  }
  if (pending.length > 0) yield pending.take(Buffer.alloc(0)).toString("utf8");
}

const lengthBytes = 4;

/**
 * The messages of frames with a big-endian length of four bytes. A frame that the connection's end cuts off is left out.
 * Throws for one that is announced longer than the bound, before it is read.
 */
export async function* lengthFrames(
  chunks: AsyncIterable<Uint8Array>,
  limitBytes = maxEventBytes,
): AsyncGenerator<Buffer> {
  const pending = new Pending("a frame", limitBytes + lengthBytes);
  let head = Buffer.alloc(0);
  let wanted: number | undefined;
  for await (const chunk of chunks) {
    let at = 0;
    for (;;) {
      if (wanted === undefined) {
        const more = chunk.subarray(at, at + lengthBytes - head.length);
        at += more.length;
        head = Buffer.concat([head, more]);
        if (head.length < lengthBytes) break;
        wanted = head.readUInt32BE(0);
        head = Buffer.alloc(0);
        if (wanted > limitBytes)
          throw new Error(
            `a frame of the watch is longer than ${limitBytes} bytes`,
          );
      }
      const rest = chunk.subarray(at, at + wanted - pending.length);
      at += rest.length;
      if (pending.length + rest.length < wanted) {
        pending.push(rest);
        break;
      }
      yield pending.take(rest);
      wanted = undefined;
    }
  }
}

/** The items of a CBOR sequence, each whole. What the connection's end cuts off is left out. */
export async function* cborItems(
  chunks: AsyncIterable<Uint8Array>,
  limitBytes = maxEventBytes,
): AsyncGenerator<Buffer> {
  const pending = new Pending("an item", limitBytes);
  const scanner = new CborScanner();
  for await (const chunk of chunks) {
    let start = 0;
    for (
      let end = scanner.endOfItem(chunk, start);
      end !== undefined;
      end = scanner.endOfItem(chunk, start)
    ) {
      yield pending.take(chunk.subarray(start, end));
      start = end;
    }
    pending.push(chunk.subarray(start));
  }
}
