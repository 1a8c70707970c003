// The buffers that large answers leave in, used again and again: an answer of 90 MB would make 90 MB of garbage outside of
// the heap. Each has room before and behind its bytes, so that HTTP's chunk framing is written in place.
//
// Rule: bytes go back to the pool when the callback of their write was called, so who keeps what was written copies it.
// Invariants: at most `maxFree` buffers wait; a buffer that never comes back (its client has gone) is collected as usual.

/** Parts of an answer are joined up to this size. */
export const chunkBytes = 64 * 1024;
/** The length in hexadecimal and a line end. */
const headRoom = 16;
const lineEnd = [0x0d, 0x0a] as const;
const maxFree = 64;

export class ChunkPool {
  readonly #free: Buffer[] = [];
  readonly #made = new WeakSet<ArrayBufferLike>();

  /** Room for at least `bytes`. */
  take(bytes = chunkBytes): Buffer {
    if (bytes > chunkBytes) return this.#make(bytes);
    return this.#free.pop() ?? this.#make(chunkBytes);
  }

  /** `part` as a chunk of the chunked transfer coding: in place where its buffer is one of the pool's. */
  framed(part: Uint8Array): Buffer {
    const { length, byteOffset, buffer } = part;
    const head = `${length.toString(16)}\r\n`;
    const own = this.#made.has(buffer);
    const all = own
      ? Buffer.from(
          buffer,
          byteOffset - head.length,
          head.length + length + lineEnd.length,
        )
      : Buffer.allocUnsafe(head.length + length + lineEnd.length);
    for (let at = 0; at < head.length; at++) all[at] = head.charCodeAt(at);
    if (!own) all.set(part, head.length);
    [all[all.length - 2], all[all.length - 1]] = lineEnd;
    return all;
  }

  /** `part` is no longer needed. */
  give({ buffer }: Uint8Array): void {
    if (
      this.#free.length < maxFree &&
      buffer.byteLength === headRoom + chunkBytes + lineEnd.length &&
      this.#made.has(buffer)
    )
      this.#free.push(Buffer.from(buffer, headRoom, chunkBytes));
  }

  #make(bytes: number): Buffer {
    const { buffer } = Buffer.allocUnsafeSlow(
      headRoom + bytes + lineEnd.length,
    );
    this.#made.add(buffer);
    return Buffer.from(buffer, headRoom, bytes);
  }
}
