// Which services have an address, themselves or by an endpoint: what PTR questions ask. Their names are made when they are asked
// for, and addresses are kept as numbers (IPv4) or 16 bytes (IPv6): of thousands of services few are ever asked in reverse.
import * as packet from "dns-packet";
import type { ServiceEntry } from "../service-entry.ts";

type AddressKey = number | string;

const width4 = 4;
const width6 = 32;

function addressKey(address: string): AddressKey {
  if (address.includes(":"))
    return packet.aaaa.encode(address).toString("latin1", 2);
  return address.split(".").reduce((sum, part) => (sum << 8) | Number(part), 0);
}

/** Undefined: it is no reverse name of an address, or not as such names are written. */
function reverseKey(labels: readonly string[]): AddressKey | undefined {
  const zone = labels.at(-2);
  const parts = labels.slice(0, -2).toReversed();
  if (zone === "in-addr" && parts.length === width4) {
    const numbers = parts.map(Number);
    const plain = numbers.every(
      (each, n) => each < 256 && String(each) === parts[n],
    );
    return plain
      ? numbers.reduce((sum, each) => (sum << 8) | each, 0)
      : undefined;
  }
  if (zone !== "ip6" || parts.length !== width6) return undefined;
  return parts.every((each) => /^[0-9a-f]$/.test(each))
    ? Buffer.from(parts.join(""), "hex").toString("latin1")
    : undefined;
}

function addressesOf(entry: ServiceEntry): Set<AddressKey> {
  return new Set(
    [...entry.addresses, ...entry.endpoints.map(({ address }) => address)].map(
      addressKey,
    ),
  );
}

export class ReverseIndex {
  readonly #entries = new Map<AddressKey, ServiceEntry | Set<ServiceEntry>>();

  add(entry: ServiceEntry): void {
    for (const key of addressesOf(entry)) {
      const known = this.#entries.get(key);
      if (known instanceof Set) known.add(entry);
      else this.#entries.set(key, known ? new Set([known, entry]) : entry);
    }
  }

  remove(entry: ServiceEntry): void {
    for (const key of addressesOf(entry)) {
      const known = this.#entries.get(key);
      if (known instanceof Set) {
        known.delete(entry);
        const [only] = known;
        if (known.size === 1) this.#entries.set(key, only!);
      } else if (known === entry) this.#entries.delete(key);
    }
  }

  /**
   * The names below the zone of what has the address; undefined: nothing has it.
   * @param labels of the question's name, which ends in `arpa`
   */
  names(labels: readonly string[]): readonly string[] | undefined {
    const key = reverseKey(labels);
    const known = key === undefined ? undefined : this.#entries.get(key);
    if (!known) return undefined;
    const names = new Set<string>();
    for (const entry of known instanceof Set ? known : [known]) {
      const base = `${entry.name}.${entry.namespace}.svc`;
      if (entry.addresses.some((each) => addressKey(each) === key))
        names.add(base);
      for (const { address, host } of entry.endpoints)
        if (addressKey(address) === key) names.add(`${host}.${base}`);
    }
    return [...names];
  }
}
