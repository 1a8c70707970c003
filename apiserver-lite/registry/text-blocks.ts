// The bytes of small texts that live long, in blocks that they share. Node's own pool holds whatever is made at the time, so
// that bytes of answers lie for good between those of values, and is so small that a fifth of a block stays empty.
//
// Example: values of 1.4 KB: eleven to a block, which is let go of with the last of them.
// Invariant: a byte is written once.

const blockBytes = 16 * 1024;
/** Longer ones have memory of their own, as a replaced one would leave a large hole. */
const largestBytes = 4 * 1024;
/** In UTF-8, of one unit of a text. */
const maxUnitBytes = 3;

export class TextBlocks {
  #block = Buffer.alloc(0);
  #used = 0;

  bytesOf(text: string): Buffer {
    let bytes = text.length * maxUnitBytes;
    if (bytes > largestBytes) bytes = Buffer.byteLength(text);
    if (bytes > largestBytes) return Buffer.from(text);
    if (this.#used + bytes > this.#block.length) {
      this.#block = Buffer.allocUnsafeSlow(blockBytes);
      this.#used = 0;
    }
    const from = this.#used;
    this.#used += this.#block.write(text, from);
    return this.#block.subarray(from, this.#used);
  }
}
