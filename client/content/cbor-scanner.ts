// Finds where an item of a CBOR sequence ends, chunk by chunk, without making values: each byte is looked at once however
// the chunks are cut. Nesting is bounded; strings are skipped without being read.
// Worked example: a1 61 61 01 is a map of one pair. Its head opens 2 items; 61 skips a byte and closes one, 01 closes the
// other and with it the map: the item ends behind it.

const maxDepth = 200;
const unknownCount = Number.POSITIVE_INFINITY;

export class CborScanner {
  /** Items that each open container still lacks; Infinity: until a break. */
  #open: number[] = [];
  /** Bytes of the current string that are still to come. */
  #skip = 0;
  /** Head whose argument is not complete: its major type, the argument so far and its bytes to come. */
  #major = 0;
  #argument = 0;
  #argumentBytes = 0;

  /**
   * Where the current item ends in `chunk`, read from `start`: the position behind it. Undefined when the chunk ends
   * before; the next call goes on with the next chunk from its first byte. Throws for what is no CBOR.
   */
  endOfItem(chunk: Uint8Array, start: number): number | undefined {
    let at = start;
    while (at < chunk.length) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - at);
        this.#skip -= skipped;
        at += skipped;
        if (this.#skip === 0 && this.#close()) return at;
        continue;
      }
      const byte = chunk[at++]!;
      if (this.#argumentBytes > 0) {
        this.#argument = this.#argument * 256 + byte;
        if (--this.#argumentBytes > 0) continue;
        if (this.#head(this.#major, this.#argument)) return at;
      } else if (this.#initial(byte)) return at;
    }
    return undefined;
  }

  /** @returns whether the whole item ends with this byte, as of the methods below */
  #initial(byte: number): boolean {
    const major = byte >> 5;
    const info = byte & 0x1f;
    if (info < 24) return this.#head(major, info);
    if (info < 28) {
      this.#major = major;
      this.#argument = 0;
      this.#argumentBytes = 1 << (info - 24);
      return false;
    }
    if (info !== 31) throw new Error("cbor: invalid additional information");
    if (major === 7) {
      if (this.#open.at(-1) !== unknownCount)
        throw new Error('cbor: unexpected "break" code');
      this.#open.pop();
      return this.#close();
    }
    if (major < 2 || major === 6)
      throw new Error("cbor: invalid additional information");
    this.#begin(unknownCount);
    return false;
  }

  #head(major: number, argument: number): boolean {
    switch (major) {
      case 2:
      case 3:
        if (argument === 0) return this.#close();
        this.#skip = argument;
        return false;
      case 4:
      case 5:
        if (argument === 0) return this.#close();
        this.#begin(major === 4 ? argument : 2 * argument);
        return false;
      case 6:
        // The item behind a tag ends it.
        return false;
      default:
        return this.#close();
    }
  }

  #begin(count: number): void {
    if (this.#open.length === maxDepth)
      throw new Error(`cbor: exceeded max nested level ${maxDepth}`);
    this.#open.push(count);
  }

  /** An item is complete, and every container that it fills. */
  #close(): boolean {
    while (this.#open.length > 0) {
      const last = this.#open.length - 1;
      if (--this.#open[last]! > 0) return false;
      this.#open.pop();
    }
    return true;
  }
}
