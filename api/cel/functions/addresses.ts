// IP addresses and networks: parsed as strictly as the reference does (no zones, no IPv4 within IPv6), compared by
// their bytes.
import type { Library } from "../checking/declarations.ts";
import { method, ofText, quote } from "./opaque.ts";
import { addressKind, type AddressKind } from "../../address-kind.ts";
import { opaqueType } from "../checking/types.ts";
import {
  Failure,
  noSuchOverload,
  OpaqueValue,
  type Result,
} from "../values/value.ts";

export const ipType = opaqueType("net.IP");
export const cidrType = opaqueType("net.CIDR");

/** Thrown inside; the message is the reference's. */
class AddressError extends Error {
  constructor(message: string, at?: string) {
    super(at === undefined ? message : `${message} (at ${quote(at)})`);
  }
}

/** Bytes of an address without a zone, four or sixteen. Throws AddressError. */
function addressBytes(text: string): number[] {
  const first = /[.:%]/.exec(text)?.[0];
  if (first === ".") return fourBytes(text);
  if (first === ":") return sixteenBytes(text);
  throw new AddressError(
    first === "%" ? "missing IPv6 address" : "unable to parse IP",
  );
}

function fourBytes(text: string): number[] {
  const bad = text.search(/[^0-9.]/);
  if (bad >= 0) throw new AddressError("unexpected character", text.slice(bad));
  const parts = text.split(".");
  let from = 0;
  for (const part of parts) {
    if (part === "")
      throw new AddressError(
        "IPv4 field must have at least one digit",
        text.slice(Math.max(0, from - (from === text.length ? 1 : 0))),
      );
    if (part.length > 1 && part.startsWith("0"))
      throw new AddressError("IPv4 field has octet with leading zero");
    if (Number(part) > 255) throw new AddressError("IPv4 field has value >255");
    from += part.length + 1;
  }
  if (parts.length < 4) throw new AddressError("IPv4 address too short");
  if (parts.length > 4) throw new AddressError("IPv4 address too long");
  return parts.map(Number);
}

function sixteenBytes(text: string): number[] {
  const bytes: number[] = [];
  let zeros = text.startsWith("::") ? 0 : -1;
  let rest = zeros === 0 ? text.slice(2) : text;
  while (rest !== "" && bytes.length < 16) {
    const digits = /^[0-9a-fA-F]*/.exec(rest)?.[0] ?? "";
    if (digits.length > 4)
      throw new AddressError("each group must have 4 or less digits", rest);
    if (digits === "")
      throw new AddressError(
        "each colon-separated field must have at least one digit",
        rest,
      );
    if (rest[digits.length] === ".") {
      bytes.push(...embedded(rest, bytes.length, zeros));
      rest = "";
      break;
    }
    const group = parseInt(digits, 16);
    bytes.push(group >> 8, group & 255);
    rest = rest.slice(digits.length);
    if (rest === "") break;
    if (!rest.startsWith(":"))
      throw new AddressError("unexpected character, want colon", rest);
    if (rest.length === 1)
      throw new AddressError("colon must be followed by more characters", rest);
    rest = rest.slice(1);
    if (!rest.startsWith(":")) continue;
    if (zeros >= 0) throw new AddressError("multiple :: in address", rest);
    zeros = bytes.length;
    rest = rest.slice(1);
  }
  if (rest !== "")
    throw new AddressError("trailing garbage after address", rest);
  if (zeros < 0) {
    if (bytes.length < 16) throw new AddressError("address string too short");
    return bytes;
  }
  if (bytes.length === 16)
    throw new AddressError("the :: must expand to at least one field of zeros");
  const missing = Array<number>(16 - bytes.length).fill(0);
  return [...bytes.slice(0, zeros), ...missing, ...bytes.slice(zeros)];
}

/** An IPv4 address at the end of an IPv6 one. */
function embedded(text: string, before: number, zeros: number): number[] {
  if (zeros < 0 && before !== 12)
    throw new AddressError(
      "embedded IPv4 address must replace the final 2 fields of the address",
      text,
    );
  if (before > 12)
    throw new AddressError(
      "too many hex fields to fit an embedded IPv4 at the end of the address",
      text,
    );
  return fourBytes(text);
}

/** The canonical text: small letters, the longest run of zeros left out. */
function formatAddress(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from(
    { length: 8 },
    (_, index) =>
      ((bytes[2 * index] as number) << 8) | (bytes[2 * index + 1] as number),
  );
  let start = -1;
  let length = 1;
  for (let from = 0; from < 8; from++) {
    let to = from;
    while (groups[to] === 0) to++;
    if (to - from > length) [start, length] = [from, to - from];
  }
  const hex = (part: readonly number[]): string =>
    part.map((group) => group.toString(16)).join(":");
  return start < 0
    ? hex(groups)
    : `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

const isMapped = (bytes: readonly number[]): boolean =>
  bytes.length === 16 &&
  bytes.slice(0, 10).every((byte) => byte === 0) &&
  bytes[10] === 255 &&
  bytes[11] === 255;

class IpValue extends OpaqueValue {
  readonly type = ipType;
  constructor(readonly bytes: readonly number[]) {
    super();
  }
  get size(): number {
    return this.bytes.length;
  }
  get text(): string {
    return formatAddress(this.bytes);
  }
  override equals(other: OpaqueValue): boolean {
    return other instanceof IpValue && other.text === this.text;
  }
}

class CidrValue extends OpaqueValue {
  readonly type = cidrType;
  constructor(
    readonly bytes: readonly number[],
    readonly bits: number,
  ) {
    super();
  }
  /** Bytes of the prefix. */
  get size(): number {
    return Math.ceil(this.bits / 8);
  }
  get text(): string {
    return `${formatAddress(this.bytes)}/${this.bits}`;
  }
  override equals(other: OpaqueValue): boolean {
    return other instanceof CidrValue && other.text === this.text;
  }
  /** With the bits behind the prefix cleared. */
  masked(): CidrValue {
    const bytes = this.bytes.map((byte, index) => {
      const kept = Math.min(8, Math.max(0, this.bits - 8 * index));
      return byte & (0xff << (8 - kept)) & 0xff;
    });
    return new CidrValue(bytes, this.bits);
  }
  contains(bytes: readonly number[]): boolean {
    if (bytes.length !== this.bytes.length) return false;
    const other = new CidrValue(bytes, this.bits).masked();
    return other.text === this.masked().text;
  }
}

function parseIp(text: string): IpValue | Failure {
  const percent = text.indexOf("%");
  const fail = (problem: string): Failure =>
    new Failure(
      `IP Address ${quote(text)} parse error during conversion from string: ParseAddr(${quote(text)}): ${problem}`,
    );
  let bytes: number[];
  try {
    bytes = addressBytes(percent > 0 ? text.slice(0, percent) : text);
  } catch (error) {
    if (error instanceof AddressError) return fail(error.message);
    throw error;
  }
  if (percent > 0 && bytes.length === 4) return fail("unexpected character");
  if (percent === text.length - 1 && percent > 0)
    return fail("zone must be a non-empty string");
  if (percent > 0)
    return new Failure(
      `IP address ${quote(text)} with zone value is not allowed`,
    );
  if (isMapped(bytes))
    return new Failure(
      `IPv4-mapped IPv6 address ${quote(text)} is not allowed`,
    );
  return new IpValue(bytes);
}

const conversion =
  "network address parse error during conversion from string: ";

function parseCidr(text: string): CidrValue | Failure {
  const fail = (problem: string): Failure =>
    new Failure(
      `${conversion}${conversion}netip.ParsePrefix(${quote(text)}): ${problem}`,
    );
  const slash = text.lastIndexOf("/");
  if (slash < 0) return fail("no '/'");
  const address = text.slice(0, slash);
  const bits = text.slice(slash + 1);
  if (address.includes("%"))
    return fail("IPv6 zones cannot be present in a prefix");
  let bytes: number[];
  try {
    bytes = addressBytes(address);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return fail(`ParseAddr(${quote(address)}): ${error.message}`);
  }
  if (!/^(?:0|[1-9]\d{0,2})$/.test(bits))
    return fail(`bad bits after slash: ${quote(bits)}`);
  if (Number(bits) > 8 * bytes.length)
    return fail("prefix length out of range");
  if (isMapped(bytes))
    return new Failure(
      `${conversion}IPv4-mapped IPv6 address ${quote(text)} is not allowed`,
    );
  return new CidrValue(bytes, Number(bits));
}

/** Whether an address leads to one of these. */
const leadsTo =
  (...kinds: AddressKind[]) =>
  (ip: IpValue): boolean =>
    kinds.includes(addressKind(ip.text) ?? "outside");

const containsIp = (cidr: CidrValue, ip: IpValue | Failure): Result =>
  ip instanceof Failure ? noSuchOverload : cidr.contains(ip.bytes);

const containsCidr = (cidr: CidrValue, other: CidrValue | Failure): Result =>
  other instanceof Failure
    ? noSuchOverload
    : cidr.bits <= other.bits && cidr.contains(other.bytes);

const ipTest = (name: string, id: string, ...kinds: AddressKind[]) => ({
  [name]: [method<IpValue>(id, "net.IP", "bool", leadsTo(...kinds))],
});

export const addressLibrary: Library = {
  ip: [
    ofText("string_to_ip", "net.IP", parseIp),
    method<CidrValue>(
      "cidr_ip",
      "net.CIDR",
      "net.IP",
      (cidr) => new IpValue(cidr.bytes),
    ),
  ],
  isIP: [
    ofText("is_ip", "bool", (text) => !(parseIp(text) instanceof Failure)),
  ],
  "ip.isCanonical": [
    ofText("ip_is_canonical", "bool", (text) => {
      const ip = parseIp(text);
      return ip instanceof Failure ? ip : ip.text === text;
    }),
  ],
  family: [
    method<IpValue>("ip_family", "net.IP", "int", (ip) =>
      ip.size === 4 ? 4n : 6n,
    ),
  ],
  ...ipTest("isUnspecified", "ip_is_unspecified", "unspecified"),
  ...ipTest("isLoopback", "ip_is_loopback", "loopback"),
  ...ipTest(
    "isLinkLocalMulticast",
    "ip_is_link_local_multicast",
    "link-local multicast",
  ),
  ...ipTest("isLinkLocalUnicast", "ip_is_link_local_unicast", "link-local"),
  ...ipTest("isGlobalUnicast", "ip_is_global_unicast", "outside"),
  string: [
    {
      id: "ip_to_string",
      args: "net.IP",
      result: "string",
      call: ([ip]) => (ip as IpValue).text,
    },
    {
      id: "cidr_to_string",
      args: "net.CIDR",
      result: "string",
      call: ([cidr]) => (cidr as CidrValue).text,
    },
  ],
  cidr: [ofText("string_to_cidr", "net.CIDR", parseCidr)],
  isCIDR: [
    ofText("is_cidr", "bool", (text) => !(parseCidr(text) instanceof Failure)),
  ],
  containsIP: [
    method<CidrValue>(
      "cidr_contains_ip_string",
      "net.CIDR, string",
      "bool",
      (cidr, text: string) => containsIp(cidr, parseIp(text)),
    ),
    method<CidrValue>(
      "cidr_contains_ip_ip",
      "net.CIDR, net.IP",
      "bool",
      containsIp,
    ),
  ],
  containsCIDR: [
    method<CidrValue>(
      "cidr_contains_cidr_string",
      "net.CIDR, string",
      "bool",
      (cidr, text: string) => containsCidr(cidr, parseCidr(text)),
    ),
    method<CidrValue>(
      "cidr_contains_cidr",
      "net.CIDR, net.CIDR",
      "bool",
      containsCidr,
    ),
  ],
  prefixLength: [
    method<CidrValue>("cidr_prefix_length", "net.CIDR", "int", (cidr) =>
      BigInt(cidr.bits),
    ),
  ],
  masked: [
    method<CidrValue>("cidr_masked", "net.CIDR", "net.CIDR", (cidr) =>
      cidr.masked(),
    ),
  ],
};
