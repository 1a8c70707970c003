// Numbers 0…size-1 with owners, for addresses and ports of services: each is given back only by its owner.
import type { AllocationRange } from "./allocation-range.ts";

interface ScopeCounts {
  /** Given out. */
  taken: number;
  /** Asked for in vain. */
  refused: number;
}

export interface NumberCounts {
  /** Asked for by their number. */
  readonly static: ScopeCounts;
  readonly dynamic: ScopeCounts;
}

export class NumberPool {
  readonly #owners = new Map<number, string>();
  readonly size: number;
  readonly #reserved: number;
  readonly #random: () => number;
  readonly counts: NumberCounts = {
    static: { taken: 0, refused: 0 },
    dynamic: { taken: 0, refused: 0 },
  };
  /** What all servers together have taken. */
  shared: AllocationRange | undefined;

  constructor(size: number, reserved: number, random: () => number) {
    this.size = size;
    this.#reserved = reserved;
    this.#random = random;
  }

  take(number: number, owner: string): boolean {
    const { static: counts } = this.counts;
    if (number < 0 || number >= this.size || !this.#isFree(number)) {
      counts.refused++;
      return false;
    }
    counts.taken++;
    this.#owners.set(number, owner);
    return true;
  }

  /** What a stored service has, whatever the shared range says. */
  adopt(number: number, owner: string): boolean {
    const known = this.#owners.get(number);
    if (number < 0 || number >= this.size) return false;
    if (known === undefined) this.#owners.set(number, owner);
    return known === undefined || known === owner;
  }

  takeAny(owner: string): number | undefined {
    const { dynamic: counts } = this.counts;
    const number =
      this.#owners.size >= this.size
        ? undefined
        : (this.#freeIn(this.#reserved, this.size) ??
          this.#freeIn(0, this.#reserved));
    if (number === undefined) counts.refused++;
    else {
      counts.taken++;
      this.#owners.set(number, owner);
    }
    return number;
  }

  #freeIn(from: number, to: number): number | undefined {
    const width = to - from;
    const start = Math.floor(this.#random() * width);
    for (let step = 0; step < width; step++) {
      const number = from + ((start + step) % width);
      if (this.#isFree(number)) return number;
    }
    return undefined;
  }

  #isFree(number: number): boolean {
    return !this.#owners.has(number) && !this.shared?.has(number);
  }

  release(number: number, owner: string): void {
    if (this.#owners.get(number) === owner) this.#owners.delete(number);
  }

  get used(): number {
    return this.#owners.size;
  }
}
