// The bytes made from cache entries for readers (protobuf, partial objects, rows of tables …), all in slabs outside of the
// heap and bounded together. Bytes that were thrown away are made again on demand.
//
// Example, budget of three slabs: keep() fills A, B, C; the next keep() throws one of them away, chosen by chance, so that
// reading more than fits again and again still finds part of it. get() of what was in there gives undefined.
// Invariants: slabs are written once at each place and never reused, so a view stays true as long as it is referenced;
// their bytes together are at most `maxBytes`, one slab aside.

import { SlabMemory, slabBytes } from "./slab-memory.ts";

interface Slab {
  bytes: Buffer | undefined;
  used: number;
  /** The slab was read or written since the last `age`. */
  touched: boolean;
}

/** Where the bytes of one representation of one entry are; a list, as an entry may have several. */
export interface Derived {
  readonly id: string;
  readonly slab: Slab;
  readonly start: number;
  readonly length: number;
  readonly next: Derived | undefined;
}

const defaultMaxBytes = 64 * 1024 * 1024;

export class DerivedBytes {
  #slabs: Slab[] = [];
  #bytes = 0;
  #current: Slab | undefined;
  readonly #memory = new SlabMemory();

  constructor(
    private readonly maxBytes = defaultMaxBytes,
    private readonly random: () => number = Math.random,
  ) {}

  /** Of all slabs. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Copies `bytes`. @param next what else the entry has */
  keep(id: string, bytes: Uint8Array, next: Derived | undefined): Derived {
    const slab = this.#room(bytes.length);
    const start = slab.used;
    slab.bytes!.set(bytes, start);
    slab.used += bytes.length;
    return { id, slab, start, length: bytes.length, next };
  }

  /** A view; undefined when it has been thrown away. */
  get({ slab, start, length }: Derived): Buffer | undefined {
    slab.touched = true;
    return slab.bytes?.subarray(start, start + length);
  }

  /** Throws away the slabs that were not used since the last call. */
  age(): void {
    const unused = this.#slabs.filter(({ touched }) => !touched);
    for (const slab of unused) this.#drop(slab);
    for (const slab of this.#slabs) slab.touched = false;
    this.#memory.age();
  }

  #room(length: number): Slab {
    const current = this.#current;
    if (current?.bytes && current.used + length <= current.bytes.length) {
      current.touched = true;
      return current;
    }
    const size = Math.max(slabBytes, length);
    while (this.#slabs.length > 0 && this.#bytes + size > this.maxBytes)
      this.#drop(this.#slabs[Math.floor(this.random() * this.#slabs.length)]!);
    const slab: Slab = {
      bytes:
        size > slabBytes ? Buffer.allocUnsafeSlow(size) : this.#memory.take(),
      used: 0,
      touched: true,
    };
    this.#slabs.push(slab);
    this.#bytes += size;
    if (length < slabBytes) this.#current = slab;
    return slab;
  }

  #drop(slab: Slab): void {
    this.#bytes -= slab.bytes!.length;
    slab.bytes = undefined;
    const at = this.#slabs.indexOf(slab);
    this.#slabs[at] = this.#slabs.at(-1)!;
    this.#slabs.pop();
    if (this.#current === slab) this.#current = undefined;
  }
}
