// A DNS query as it came: header, the one question, EDNS. Parsed by hand, because the question's bytes are the key of the
// answer cache and most queries are answered from it: dns-packet would make objects that are never read. What is not a
// sound query of one question is named by the code that answers it; nothing here throws.
// Source: RFC 1035 section 4, RFC 6891.
const headerBytes = 12;
const maxNameBytes = 255;
const optType = 41;

/** Response codes (RFC 1035 section 4.1.1, RFC 6891 for BADVERS, whose upper bits lie in OPT). */
export const rcodes = {
  noError: 0,
  formatError: 1,
  serverFailure: 2,
  nameError: 3,
  notImplemented: 4,
  refused: 5,
  badVersion: 16,
} as const;

export interface Query {
  /** The whole message. */
  readonly bytes: Buffer;
  readonly id: number;
  /** As in the header; only RD (0x0100) and CD (0x0010) are given back. */
  readonly flags: number;
  /** Name, type and class, lower case, latin1: the key of caches. Without EDNS. */
  readonly key: string;
  /** Lower-case labels, the top-level one last. */
  readonly labels: readonly string[];
  readonly type: number;
  readonly class: number;
  /** Where the question ends: bytes 12 to here are given back as they came. */
  readonly questionEnd: number;
  /** The client's OPT record: the size of datagrams it takes, and its version. */
  readonly edns?: { readonly size: number; readonly version: number };
}

/** A message that gets no answer from the records: `rcode` undefined means no answer at all. */
interface Refusal {
  readonly rcode: number | undefined;
}

const lowered = Buffer.from(
  Array.from({ length: 256 }, (_, n) => (n >= 65 && n <= 90 ? n + 32 : n)),
);

/** Reads the question's name. Undefined: it is not one (compressed names are not taken in a question). */
function questionName(
  bytes: Buffer,
): { labels: string[]; end: number } | undefined {
  const labels: string[] = [];
  let at = headerBytes;
  for (;;) {
    const length = bytes[at];
    if (length === undefined || length > 63) return undefined;
    if (length === 0) return { labels, end: at + 1 };
    const next = at + 1 + length;
    if (next - headerBytes >= maxNameBytes || next >= bytes.length)
      return undefined;
    let label = "";
    for (let i = at + 1; i < next; i++)
      label += String.fromCharCode(lowered[bytes[i]!]!);
    labels.push(label);
    at = next;
  }
}

/** The OPT record when it is the one record after the question, as resolvers send it. "bad": something else that is broken. */
function readEdns(
  bytes: Buffer,
  start: number,
): { size: number; version: number } | "bad" | undefined {
  if (bytes.readUInt16BE(6) !== 0 || bytes.readUInt16BE(8) !== 0) return "bad";
  const additional = bytes.readUInt16BE(10);
  let found: { size: number; version: number } | undefined;
  let at = start;
  for (let n = 0; n < additional; n++) {
    // Additional records of a query are OPT, TSIG or SIG(0), whose names are never compressed.
    while (at < bytes.length && bytes[at] !== 0) {
      if (bytes[at]! > 63) return "bad";
      at += bytes[at]! + 1;
    }
    const fixed = at + 1;
    if (fixed + 10 > bytes.length) return "bad";
    const next = fixed + 10 + bytes.readUInt16BE(fixed + 8);
    if (next > bytes.length) return "bad";
    if (bytes.readUInt16BE(fixed) === optType) {
      if (found || fixed !== at + 1) return "bad";
      found = {
        size: bytes.readUInt16BE(fixed + 2),
        version: bytes[fixed + 5]!,
      };
    }
    at = next;
  }
  return found;
}

export function parseQuery(bytes: Buffer): Query | Refusal {
  // An answer is never answered: two servers would go on for ever.
  if (bytes.length < headerBytes || (bytes[2]! & 0x80) !== 0)
    return { rcode: undefined };
  const flags = bytes.readUInt16BE(2);
  if ((flags & 0x7800) !== 0) return { rcode: rcodes.notImplemented };
  if (bytes.readUInt16BE(4) !== 1) return { rcode: rcodes.formatError };
  const name = questionName(bytes);
  if (!name || name.end + 4 > bytes.length)
    return { rcode: rcodes.formatError };
  const questionEnd = name.end + 4;
  const edns = readEdns(bytes, questionEnd);
  if (edns === "bad") return { rcode: rcodes.formatError };
  const type = bytes.readUInt16BE(name.end);
  const klass = bytes.readUInt16BE(name.end + 2);
  return {
    bytes,
    id: bytes.readUInt16BE(0),
    flags,
    key: `${name.labels.map((label) => `${label.length}:${label}`).join("")} ${type} ${klass}`,
    labels: name.labels,
    type,
    class: klass,
    questionEnd,
    ...(edns ? { edns } : {}),
  };
}
