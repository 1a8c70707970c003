// Whether an address is in one of some ranges of either family, as options and objects write them: `10.0.0.0/8`, `fd00::1`.
import { BlockList, isIP } from "node:net";

/** An IPv4 address as a socket of both families reports it, in its own form. */
export function plainAddress(address: string): string {
  return address.startsWith("::ffff:") ? address.slice(7) : address;
}

export class AddressRanges {
  readonly #list = new BlockList();

  /** Throws for what is no range. */
  constructor(ranges: readonly string[]) {
    for (const range of ranges) {
      const [base = "", bits] = range.split("/");
      const family = isIP(base) === 6 ? "ipv6" : "ipv4";
      if (bits === undefined) this.#list.addAddress(base, family);
      else this.#list.addSubnet(base, Number(bits), family);
    }
  }

  /** False for what is no address, too. */
  contains(address: string): boolean {
    const family = isIP(address);
    return (
      family !== 0 && this.#list.check(address, family === 6 ? "ipv6" : "ipv4")
    );
  }
}
