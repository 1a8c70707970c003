// Subject names and subject alternative names, between plain objects and DER.
import { isIP } from "node:net";
import {
  DerReader,
  oid,
  readOid,
  readText,
  sequence,
  setOf,
  Tag,
  tlv,
  utf8String,
} from "./der.ts";

/** As Kubernetes reads it: the common name is the user, the organizations are its groups. */
export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

export interface AlternativeNames {
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly emailAddresses?: readonly string[];
  readonly uris?: readonly string[];
}

const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";

const attribute = (type: string, text: string): Buffer =>
  sequence(oid(type), utf8String(text));

export function encodeSubject({
  commonName,
  organizations = [],
}: Subject): Buffer {
  const parts: Buffer[] = [];
  if (organizations.length > 0)
    parts.push(
      setOf(...organizations.map((name) => attribute(ORGANIZATION, name))),
    );
  if (commonName !== "") parts.push(setOf(attribute(COMMON_NAME, commonName)));
  return sequence(...parts);
}

export function decodeSubject(der: Buffer): Required<Subject> {
  let commonName = "";
  const organizations: string[] = [];
  const name = new DerReader(der).enter(Tag.sequence);
  while (!name.done) {
    const group = name.enter(Tag.set);
    while (!group.done) {
      const pair = group.enter(Tag.sequence);
      const type = readOid(pair.expect(Tag.oid).content);
      const text = readText(pair.read());
      if (type === COMMON_NAME) commonName = text;
      else if (type === ORGANIZATION) organizations.push(text);
    }
  }
  return { commonName, organizations };
}

const EMAIL = 0x81;
const DNS = 0x82;
const URI = 0x86;
const ADDRESS = 0x87;

/** The content of the extension; undefined when there are no names. */
export function encodeAlternativeNames(
  names: AlternativeNames,
): Buffer | undefined {
  const {
    dnsNames = [],
    ipAddresses = [],
    emailAddresses = [],
    uris = [],
  } = names;
  const parts = [
    ...dnsNames.map((name) => tlv(DNS, Buffer.from(name))),
    ...ipAddresses.map((address) => tlv(ADDRESS, addressBytes(address))),
    ...emailAddresses.map((address) => tlv(EMAIL, Buffer.from(address))),
    ...uris.map((uri) => tlv(URI, Buffer.from(uri))),
  ];
  return parts.length > 0 ? sequence(...parts) : undefined;
}

export function decodeAlternativeNames(
  der: Buffer,
): Required<AlternativeNames> {
  const names = {
    dnsNames: [] as string[],
    ipAddresses: [] as string[],
    emailAddresses: [] as string[],
    uris: [] as string[],
  };
  const list = new DerReader(der).enter(Tag.sequence);
  while (!list.done) {
    const { tag, content } = list.read();
    if (tag === DNS) names.dnsNames.push(content.toString("latin1"));
    else if (tag === EMAIL)
      names.emailAddresses.push(content.toString("latin1"));
    else if (tag === URI) names.uris.push(content.toString("latin1"));
    else if (tag === ADDRESS) names.ipAddresses.push(addressText(content));
  }
  return names;
}

export function addressBytes(address: string): Buffer {
  const family = isIP(address);
  if (family === 4) return Buffer.from(address.split(".").map(Number));
  if (family !== 6) throw new RangeError(`${address} is not an IP address`);
  let text = address.split("%", 1)[0]!;
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  if (dotted) {
    const [, head, a, b, c, d] = dotted;
    const group = (high?: string, low?: string) =>
      ((Number(high) << 8) | Number(low)).toString(16);
    text = `${head}${group(a, b)}:${group(c, d)}`;
  }
  const [left = "", right] = text.split("::");
  const groups = (part: string): string[] =>
    part === "" ? [] : part.split(":");
  const head = groups(left);
  const tail = right === undefined ? [] : groups(right);
  const zeros = Array.from(
    { length: 8 - head.length - tail.length },
    () => "0",
  );
  const bytes = Buffer.alloc(16);
  [...head, ...zeros, ...tail].forEach((group, index) =>
    bytes.writeUInt16BE(parseInt(group, 16), 2 * index),
  );
  return bytes;
}

function addressText(bytes: Buffer): string {
  if (bytes.length === 4) return [...bytes].join(".");
  if (bytes.length !== 16)
    throw new RangeError("an IP address has 4 or 16 bytes");
  const groups = Array.from({ length: 8 }, (_, index) =>
    bytes.readUInt16BE(2 * index).toString(16),
  );
  // The URL parser shortens as RFC 5952 says.
  return new URL(`http://[${groups.join(":")}]/`).hostname.slice(1, -1);
}
