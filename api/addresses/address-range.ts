// Ranges of IP addresses as numbers: what of a range can be given out, and which range holds an address.
import { isIP } from "node:net";

export type AddressFamily = "IPv4" | "IPv6";

export interface AddressRange {
  readonly family: AddressFamily;
  readonly first: bigint;
  readonly last: bigint;
}

export function familyOf(address: string): AddressFamily | undefined {
  const family = isIP(address);
  if (family === 0 || address.includes("%")) return undefined;
  return family === 4 ? "IPv4" : "IPv6";
}

/** Of an address or range: IPv4 numbers without leading zeros, which the reference reads as decimal in some fields, and others (nft, the C library) as octal. */
export function withoutLeadingZeros(text: string): string {
  return text.replace(/(^|\.)0+(?=[0-9])/g, "$1");
}

/** The one form of an address that is compared and handed to other programs; undefined: it is none. */
export function canonicalAddress(text: string): string | undefined {
  const plain = withoutLeadingZeros(text);
  const family = familyOf(plain);
  if (family !== "IPv6") return family && plain;
  return new URL(`http://[${plain}]`).hostname.slice(1, -1);
}

/** Without those that are none. */
export function canonicalAddresses(texts: readonly string[]): string[] {
  return texts.map(canonicalAddress).filter((text) => text !== undefined);
}

/** Of an address, in any form. */
export function addressNumber(address: string): bigint {
  const joined = (parts: readonly number[], bits: bigint): bigint =>
    parts.reduce((sum, part) => (sum << bits) | BigInt(part), 0n);
  if (familyOf(address) === "IPv4")
    return joined(address.split(".").map(Number), 8n);
  // The URL parser writes the shortest form, without an IPv4 part.
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = "", tail] = text.split("::");
  const groups = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((group) => parseInt(group, 16));
  const front = groups(head);
  const back = groups(tail ?? "");
  const gap = Array<number>(8 - front.length - back.length).fill(0);
  return joined([...front, ...gap, ...back], 16n);
}

/** The shortest form. */
export function addressText(number: bigint, family: AddressFamily): string {
  const parts = (count: number, bits: bigint): bigint[] =>
    Array.from(
      { length: count },
      (_, n) =>
        (number >> (bits * BigInt(count - 1 - n))) & ((1n << bits) - 1n),
    );
  if (family === "IPv4") return parts(4, 8n).join(".");
  const text = parts(8, 16n)
    .map((part) => part.toString(16))
    .join(":");
  return new URL(`http://[${text}]`).hostname.slice(1, -1);
}

/** All addresses of a text in CIDR notation; undefined: it is none. */
export function cidrRange(text: string): AddressRange | undefined {
  const [base = "", bits = "", ...rest] = text.split("/");
  const family = familyOf(base);
  if (!family || rest.length > 0 || !/^\d{1,3}$/.test(bits)) return undefined;
  const width = family === "IPv4" ? 32 : 128;
  if (Number(bits) > width) return undefined;
  const host = BigInt(width - Number(bits));
  const first = (addressNumber(base) >> host) << host;
  return { family, first, last: first | ((1n << host) - 1n) };
}

/**
 * From CIDR notation; undefined: it is none. Network and broadcast address of an IPv4 range, and the first address of an
 * IPv6 one (the routers' of RFC 4291), are left out, where there are others.
 */
export function parseRange(text: string): AddressRange | undefined {
  const whole = cidrRange(text);
  if (!whole || whole.last - whole.first < 2n) return whole;
  const { family, first, last } = whole;
  return {
    family,
    first: first + 1n,
    last: family === "IPv4" ? last - 1n : last,
  };
}

export function overlap(a: AddressRange, b: AddressRange): boolean {
  return a.family === b.family && a.first <= b.last && b.first <= a.last;
}
