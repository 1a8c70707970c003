// The parts of one cluster range that nodes have: which is free next, which are taken. Parts are given out in a circle, so
// that one that was just given back is used last, when no routes know it any more.
// Worked example: 10.42.0.0/16 for nodes of /24 has 256 parts; part 3 is 10.42.3.0/24. Taking 10.42.2.0/23 takes 2 and 3.
import {
  addressNumber,
  addressText,
  familyOf,
  type AddressFamily,
} from "../../api/addresses/address-range.ts";

export class NodeRangePool {
  readonly family: AddressFamily;
  /** Parts that were taken and given back since the start. */
  readonly counts = { allocations: 0, releases: 0 };
  readonly #base: bigint;
  /** Bits of the addresses within a part. */
  readonly #hostBits: bigint;
  readonly #nodeBits: number;
  readonly #taken: Uint8Array;
  #free: number;
  #next = 0;

  /** @param cidr of the cluster, valid; at most 2^16 parts */
  constructor(
    readonly cidr: string,
    nodeBits: number,
    /** Notified of how many parts were looked at to find a free one. */
    private readonly tried?: (parts: number) => void,
  ) {
    const [address = "", bits = ""] = cidr.split("/");
    this.family = familyOf(address)!;
    const width = this.family === "IPv4" ? 32 : 128;
    const clusterHostBits = BigInt(width - Number(bits));
    this.#base = (addressNumber(address) >> clusterHostBits) << clusterHostBits;
    this.#hostBits = BigInt(width - nodeBits);
    this.#nodeBits = nodeBits;
    this.#free = 2 ** (nodeBits - Number(bits));
    this.#taken = new Uint8Array(this.#free);
  }

  /** How many parts there are, and how many nodes and others have. */
  get size(): number {
    return this.#taken.length;
  }

  get used(): number {
    return this.size - this.#free;
  }

  /** Undefined: all are taken. */
  take(): string | undefined {
    if (this.#free === 0) return undefined;
    const size = this.#taken.length;
    let tries = 1;
    for (; this.#taken[this.#next] === 1; tries++)
      this.#next = (this.#next + 1) % size;
    this.tried?.(tries);
    const part = this.#next;
    this.#mark(part, 1);
    this.#next = (part + 1) % size;
    return `${addressText(this.#base + (BigInt(part) << this.#hostBits), this.family)}/${this.#nodeBits}`;
  }

  /** Takes all parts that a range touches. False: the range lies outside, nothing was taken. */
  occupy(cidr: string): boolean {
    return this.#each(cidr, 1);
  }

  release(cidr: string): boolean {
    return this.#each(cidr, 0);
  }

  #mark(part: number, taken: 0 | 1): void {
    if (this.#taken[part] === taken) return;
    this.#taken[part] = taken;
    this.#free += taken === 1 ? -1 : 1;
    this.counts[taken === 1 ? "allocations" : "releases"]++;
  }

  #each(cidr: string, taken: 0 | 1): boolean {
    const [address = "", bits = ""] = cidr.split("/");
    if (familyOf(address) !== this.family) return false;
    const width = this.family === "IPv4" ? 32 : 128;
    const host = BigInt(width - Number(bits));
    const first = (addressNumber(address) >> host) << host;
    const last = first | ((1n << host) - 1n);
    const lowest = (first - this.#base) >> this.#hostBits;
    const highest = (last - this.#base) >> this.#hostBits;
    const size = BigInt(this.#taken.length);
    if (highest < 0n || lowest >= size) return false;
    const from = lowest < 0n ? 0n : lowest;
    const to = highest >= size ? size - 1n : highest;
    for (let part = from; part <= to; part++) this.#mark(Number(part), taken);
    return true;
  }
}
