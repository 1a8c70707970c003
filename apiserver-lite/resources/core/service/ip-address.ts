// Addresses as numbers: what allocation and range checks reckon with.
import { isIPv4, isIPv6 } from "node:net";
import { addressKind, type AddressKind } from "../../../../api/address-kind.ts";

/** What an address of somewhere else may not be. */
const specialKinds: Readonly<
  Partial<Record<AddressKind, (ip: string) => string>>
> = {
  unspecified: (ip) => `may not be unspecified (${ip})`,
  loopback: () => "may not be in the loopback range (127.0.0.0/8, ::1/128)",
  "link-local": () =>
    "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
  "link-local multicast": () =>
    "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
};

/** The reference's texts for an address that leads to the host that uses it, or to its link. */
export function specialIpProblems(ip: string): string[] {
  const text = specialKinds[addressKind(ip) ?? "outside"];
  return text ? [text(ip)] : [];
}

/** Undefined when the text is no address. */
export function addressValue(text: string): bigint | undefined {
  if (isIPv4(text))
    return text
      .split(".")
      .reduce((value, part) => value * 256n + BigInt(part), 0n);
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const [head = "", tail] = text.split("::");
  const groups = (part: string): string[] => {
    if (part === "") return [];
    const list = part.split(":");
    const last = list.at(-1)!;
    if (!isIPv4(last)) return list;
    const value = addressValue(last)!;
    return [
      ...list.slice(0, -1),
      (value >> 16n).toString(16),
      (value & 0xffffn).toString(16),
    ];
  };
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const zeros = Array.from(
    { length: 8 - left.length - right.length },
    () => "0",
  );
  return [...left, ...zeros, ...right].reduce(
    (value, group) => value * 65536n + BigInt(`0x${group}`),
    0n,
  );
}

/** Canonical text (RFC 5952 for IPv6). */
export function addressText(value: bigint, family: "IPv4" | "IPv6"): string {
  if (family === "IPv4")
    return [24n, 16n, 8n, 0n]
      .map((shift) => String((value >> shift) & 255n))
      .join(".");
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  );
  return new URL(`http://[${groups.join(":")}]/`).hostname.slice(1, -1);
}

/** `base` is the network's address, `bits` 32 or 128. Throws an Error for anything that is no CIDR. */
export function parseCidr(cidr: string): {
  base: bigint;
  bits: 32 | 128;
  prefix: number;
} {
  const [address = "", length = ""] = cidr.split("/");
  const value = addressValue(address);
  const bits = isIPv4(address) ? 32 : 128;
  const prefix = Number(length);
  if (value === undefined || !/^[0-9]{1,3}$/.test(length) || prefix > bits)
    throw new Error(`invalid CIDR: ${cidr}`);
  const host = BigInt(bits - prefix);
  return { base: (value >> host) << host, bits, prefix };
}
