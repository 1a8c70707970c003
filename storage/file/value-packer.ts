// Packs small values into shared blocks: a Buffer of its own costs a few hundred bytes more. A block lives as long as one
// of its values, so blocks are small: the bytes of replaced values that stay unused are a small part.

const BLOCK_BYTES = 64 * 1024;
const LARGE_BYTES = 8 * 1024;

export class ValuePacker {
  #block: Buffer = Buffer.alloc(0);
  #used = 0;

  /** A copy that shares its memory with nothing but its neighbours. */
  pack(value: Uint8Array): Buffer {
    const { length } = value;
    if (length > LARGE_BYTES) {
      const own = Buffer.allocUnsafeSlow(length);
      own.set(value);
      return own;
    }
    if (this.#used + length > this.#block.length) {
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#used = 0;
    }
    const copy = this.#block.subarray(this.#used, this.#used + length);
    copy.set(value);
    this.#used += length;
    return copy;
  }
}
