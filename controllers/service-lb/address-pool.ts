// Addresses for load balancers and which Service has each: none has two owners. Only in memory: what a Service has is in
// its status, from where it is claimed again after a start.
import {
  addressNumber,
  addressText,
  familyOf,
  type AddressFamily,
  type AddressRange,
} from "../../api/addresses/address-range.ts";

export class AddressPool {
  /** In the shortest form, to the owner's key. */
  readonly #owners = new Map<string, string>();
  readonly #byOwner = new Map<string, Set<string>>();

  constructor(private readonly ranges: readonly AddressRange[]) {}

  has(family: AddressFamily): boolean {
    return this.ranges.some((range) => range.family === family);
  }

  contains(address: string): boolean {
    const family = familyOf(address);
    if (!family) return false;
    const number = addressNumber(address);
    return this.ranges.some(
      (range) =>
        range.family === family &&
        range.first <= number &&
        number <= range.last,
    );
  }

  ownerOf(address: string): string | undefined {
    return this.#owners.get(shortest(address));
  }

  /** What the owner has. */
  addressesOf(owner: string): readonly string[] {
    return [...(this.#byOwner.get(owner) ?? [])];
  }

  /** False: it is not of the pool, or another has it. */
  claim(address: string, owner: string): boolean {
    if (!this.contains(address)) return false;
    const key = shortest(address);
    const current = this.#owners.get(key);
    if (current !== undefined) return current === owner;
    this.#owners.set(key, owner);
    const own = this.#byOwner.get(owner) ?? new Set();
    this.#byOwner.set(owner, own.add(key));
    return true;
  }

  /** The first free address; undefined: there is none. Looks at each address that is taken once, at most. */
  take(family: AddressFamily, owner: string): string | undefined {
    for (const range of this.ranges) {
      if (range.family !== family) continue;
      for (let number = range.first; number <= range.last; number++) {
        const address = addressText(number, family);
        if (this.#owners.has(address)) continue;
        this.claim(address, owner);
        return address;
      }
    }
    return undefined;
  }

  /** Gives back all the owner has, but for those to keep. Whether any was given back. */
  release(owner: string, keep: readonly string[] = []): boolean {
    const own = this.#byOwner.get(owner);
    if (!own) return false;
    const before = own.size;
    for (const address of own)
      if (!keep.includes(address)) {
        own.delete(address);
        this.#owners.delete(address);
      }
    const after = own.size;
    if (after === 0) this.#byOwner.delete(owner);
    return after < before;
  }
}

/** Of a valid address. */
export function shortest(address: string): string {
  return addressText(addressNumber(address), familyOf(address) ?? "IPv6");
}
