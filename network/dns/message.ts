// Answers as bytes: header and question as they were asked, then records whose data dns-packet encodes. A record's name
// that is the question's is a pointer to it, so that some thirty addresses fit into the 512 bytes of a plain datagram.
// Source: RFC 1035 section 4, RFC 2181 section 9 (truncation), RFC 6891.
import * as packet from "dns-packet";
import { rcodes, type Query } from "./query.ts";

/** A record; `data` is what dns-packet encodes for the type. */
export interface DnsRecord {
  /** Without a dot at the end. */
  readonly name: string;
  readonly type: "A" | "AAAA" | "CNAME" | "SRV" | "PTR" | "TXT" | "NS" | "SOA";
  /** Seconds. */
  readonly ttl: number;
  readonly data: unknown;
}

export interface Answer {
  readonly rcode: number;
  readonly authoritative: boolean;
  readonly answers: readonly DnsRecord[];
  readonly authority: readonly DnsRecord[];
  /** Left out when they do not fit. */
  readonly additional: readonly DnsRecord[];
}

const types: Readonly<Record<DnsRecord["type"], number>> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
};

const responseFlag = 0x8000;
const authoritativeFlag = 0x0400;
const truncatedFlag = 0x0200;
const recursionAvailable = 0x0080;
/** RD and CD, which an answer gives back. */
const keptFlags = 0x0110;
const optBytes = 11;
/** What this server takes in one datagram: small enough never to be cut into fragments. */
export const ednsSize = 1232;
const plainSize = 512;

/** The largest answer the client takes over UDP, in bytes. */
export function datagramLimit({ edns }: Query): number {
  return edns ? Math.min(Math.max(edns.size, plainSize), ednsSize) : plainSize;
}

function encodeRecord(record: DnsRecord, question: string): Buffer {
  const codec = packet.record(record.type);
  const data = codec.encode(record.data);
  const own =
    record.name === question
      ? Buffer.from([0xc0, 12])
      : packet.name.encode(record.name);
  // dns-packet's encoders begin with the data's length.
  const fixed = Buffer.allocUnsafe(8);
  fixed.writeUInt16BE(types[record.type], 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(record.ttl, 4);
  return Buffer.concat([own, fixed, data]);
}

function optRecord(rcode: number): Buffer {
  const opt = Buffer.alloc(optBytes);
  opt.writeUInt16BE(41, 1);
  opt.writeUInt16BE(ednsSize, 3);
  opt[5] = rcode >> 4;
  return opt;
}

/** Header, question and counts. */
function head(
  query: Query,
  flags: number,
  counts: readonly [number, number, number],
): Buffer {
  const bytes = Buffer.from(query.bytes.subarray(0, query.questionEnd));
  bytes.writeUInt16BE(
    responseFlag | recursionAvailable | (query.flags & keptFlags) | flags,
    2,
  );
  for (const [n, count] of counts.entries())
    bytes.writeUInt16BE(count, 6 + 2 * n);
  return bytes;
}

/** @param limit bytes; answers that do not fit are left out, and the client asks again over TCP. */
export function encodeAnswer(
  query: Query,
  answer: Answer,
  limit: number,
): Buffer {
  const question = query.labels.join(".");
  const opt = query.edns ? optRecord(answer.rcode) : undefined;
  let room = limit - query.questionEnd - (opt ? optBytes : 0);
  const parts: Buffer[] = [];
  const take = (records: readonly DnsRecord[]): number => {
    let taken = 0;
    for (const record of records) {
      const bytes = encodeRecord(record, question);
      if (bytes.length > room) return taken;
      room -= bytes.length;
      parts.push(bytes);
      taken++;
    }
    return taken;
  };
  const answers = take(answer.answers);
  const truncated = answers < answer.answers.length;
  const authority = truncated ? 0 : take(answer.authority);
  const additional = truncated ? 0 : take(answer.additional);
  if (opt) parts.push(opt);
  const flags =
    (answer.rcode & 15) |
    (answer.authoritative ? authoritativeFlag : 0) |
    (truncated ? truncatedFlag : 0);
  return Buffer.concat([
    head(query, flags, [answers, authority, additional + (opt ? 1 : 0)]),
    ...parts,
  ]);
}

/** An answer without records. */
export function encodeCode(query: Query, rcode: number): Buffer {
  return encodeAnswer(
    query,
    { rcode, authoritative: false, answers: [], authority: [], additional: [] },
    ednsSize,
  );
}

/** The answer to what is no sound query: a header alone. */
export function encodeRefusal(bytes: Buffer, rcode: number): Buffer {
  const answer = Buffer.alloc(12);
  bytes.copy(answer, 0, 0, 2);
  const flags = bytes.readUInt16BE(2);
  answer.writeUInt16BE(
    responseFlag | recursionAvailable | (flags & 0x7910) | (rcode & 15),
    2,
  );
  return answer;
}

/** The same answer for another query of the same key: its ID, its question as it was written, its flags. */
export function readdress(answer: Buffer, query: Query): Buffer {
  const bytes = Buffer.allocUnsafe(answer.length);
  answer.copy(bytes);
  query.bytes.copy(bytes, 0, 0, 2);
  query.bytes.copy(bytes, 12, 12, query.questionEnd);
  bytes.writeUInt16BE(
    (answer.readUInt16BE(2) & ~keptFlags) | (query.flags & keptFlags),
    2,
  );
  return bytes;
}

/** Header and question alone with the mark that the rest did not fit. */
export function encodeTruncated(query: Query): Buffer {
  const opt = query.edns ? optRecord(rcodes.noError) : undefined;
  const header = head(query, truncatedFlag, [0, 0, opt ? 1 : 0]);
  return opt ? Buffer.concat([header, opt]) : header;
}
