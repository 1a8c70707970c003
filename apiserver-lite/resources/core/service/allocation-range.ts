// What the API servers on one store have given out of a range of numbers: a RangeAllocation under a key of its own, with
// one bit a number (big-endian, bit 0 is the range's first number). Every server changes it by compare and swap, so that
// no number is given out twice, even to requests in the same moment; the reference's servers do the same.
//
// Example, range "30000-32767" with 30000 and 30009 taken: data is 0x02 0x01.
import type { Store } from "../../../../storage/store.ts";
import {
  decodeStored,
  encodeStored,
  type StoredEncoding,
} from "../../../../api/codec/stored-form.ts";
import { StoreError } from "../../../../storage/store.ts";

interface AllocationRangeOptions {
  readonly store: Pick<Store, "get" | "write">;
  /** /registry/ranges/serviceips */
  readonly key: string;
  /** 10.96.0.0/12, 30000-32767 */
  readonly range: string;
  readonly encoding: StoredEncoding;
}

/** How often in a row other servers may be faster. */
const maxAttempts = 64;
/** An unused number is given back after this many repairs found it unused: its service may just be made. */
const repairsBeforeRelease = 3;

export class AllocationRange {
  #bits: Uint8Array = new Uint8Array();
  #revision = 0;
  /** Numbers that are taken and belong to no service, with the repairs they are still left alone. */
  readonly #leaks = new Map<number, number>();
  /** Changes of this process wait for each other instead of failing each other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: AllocationRangeOptions) {}

  /** As it was last seen. */
  has(number: number): boolean {
    const byte = this.#bits[this.#bits.length - 1 - (number >> 3)];
    return byte !== undefined && (byte & (1 << (number & 7))) !== 0;
  }

  /** Throws an Error when the stored value is none, or of another range. */
  async refresh(): Promise<void> {
    const { store, key } = this.options;
    if (!this.#take(await store.get(key)))
      throw new Error("the provided range does not match the current range");
  }

  /** False: others have one of the numbers to take, and nothing was changed. Rejects with a StoreError. */
  change(
    take: readonly number[],
    release: readonly number[],
  ): Promise<boolean> {
    if (take.length + release.length === 0) return Promise.resolve(true);
    return this.#alone(() => this.#change(take, release));
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #change(
    take: readonly number[],
    release: readonly number[],
  ): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      if (take.some((number) => this.has(number))) return false;
      const next = this.#numbers();
      for (const number of take) next.add(number);
      for (const number of release) next.delete(number);
      if (await this.#write(next)) return true;
      if (attempt >= maxAttempts)
        throw new StoreError("unavailable", `${this.options.key} is contended`);
    }
  }

  /**
   * Brings the range in line with the numbers services have: missing ones are added, unused ones are given back
   * after some rounds. Entries of another range are dropped. Returns the numbers given back; undefined when another
   * server wrote in between.
   */
  repair(used: () => ReadonlySet<number>): Promise<number[] | undefined> {
    return this.#alone(() => this.#repair(used));
  }

  async #repair(
    usedNow: () => ReadonlySet<number>,
  ): Promise<number[] | undefined> {
    const { store, key } = this.options;
    const sameRange = this.#take(await store.get(key));
    const used = usedNow();
    const next = new Set(used);
    const released: number[] = [];
    for (const number of this.#numbers()) {
      if (used.has(number)) {
        this.#leaks.delete(number);
        continue;
      }
      const left = this.#leaks.get(number) ?? repairsBeforeRelease;
      if (left > 0) {
        this.#leaks.set(number, left - 1);
        next.add(number);
      } else {
        this.#leaks.delete(number);
        released.push(number);
      }
    }
    const present = this.#numbers();
    const same =
      sameRange &&
      this.#revision > 0 &&
      present.size === next.size &&
      [...next].every((number) => present.has(number));
    if (!same && !(await this.#write(next))) return undefined;
    return released;
  }

  /** False: another server wrote in between; its value is taken over. */
  async #write(numbers: ReadonlySet<number>): Promise<boolean> {
    const { store, key, range, encoding } = this.options;
    const bits = bitsOf(numbers);
    const value = encodeStored(
      {
        kind: "RangeAllocation",
        apiVersion: "v1",
        metadata: { creationTimestamp: null } as never,
        range,
        data: Buffer.from(bits).toString("base64"),
      },
      encoding,
    );
    const result = await store.write({
      key,
      expectedRevision: this.#revision,
      encode: () => value,
    });
    if (result.ok) {
      // A later change of this process may have been seen already.
      if (result.revision > this.#revision) {
        this.#bits = bits;
        this.#revision = result.revision;
      }
      return true;
    }
    if (!this.#take(result.current))
      throw new Error("the provided range does not match the current range");
    return false;
  }

  /** False: it is of another range, of which nothing is kept. */
  #take(stored: { value: Uint8Array; revision: number } | undefined): boolean {
    if (stored && stored.revision < this.#revision) return true;
    this.#revision = stored?.revision ?? 0;
    this.#bits = new Uint8Array();
    if (!stored) return true;
    const object = decodeStored(stored.value) as {
      range?: string;
      data?: string;
    };
    if (object.range && object.range !== this.options.range) return false;
    this.#bits = Buffer.from(object.data ?? "", "base64");
    return true;
  }

  #numbers(): Set<number> {
    const numbers = new Set<number>();
    for (const [index, byte] of [...this.#bits].reverse().entries())
      for (let bit = 0; byte >> bit; bit++)
        if (byte & (1 << bit)) numbers.add(index * 8 + bit);
    return numbers;
  }
}

function bitsOf(numbers: ReadonlySet<number>): Uint8Array {
  let highest = -1;
  for (const number of numbers) highest = Math.max(highest, number);
  const bits = new Uint8Array((highest + 8) >> 3);
  for (const number of numbers)
    bits[bits.length - 1 - (number >> 3)]! |= 1 << (number & 7);
  return bits;
}
