// The answer of another server, as bytes: it is handed on as it came, so that records of types that are unknown here stay
// whole. Walked by hand for the places of TTLs; a message that does not hold together is refused.
// Source: RFC 1035 section 4.1, RFC 2308 (negative answers).
import * as packet from "dns-packet";
import { rcodes, type Query } from "./query.ts";

const headerBytes = 12;
const optType = 41;
const soaType = 6;

export interface UpstreamAnswer {
  /** Without an OPT record of the server's. */
  readonly bytes: Buffer;
  /** Offsets of TTLs. */
  readonly ttls: readonly number[];
  readonly rcode: number;
  readonly truncated: boolean;
  /** Seconds it may be kept: the least TTL, of a negative answer also the SOA's minimum. */
  readonly lifetime: number;
  readonly negative: boolean;
}

/** Where the name at `at` ends. Throws a RangeError beyond the message. */
function skipName(bytes: Buffer, at: number): number {
  for (;;) {
    const length = bytes.readUInt8(at);
    if (length === 0) return at + 1;
    if ((length & 0xc0) === 0xc0) return at + 2;
    if (length > 63) throw new RangeError("a label of more than 63 bytes");
    at += 1 + length;
  }
}

/** The answer belongs to this question: same ID, same name (in any case), type and class. */
export function answersQuestion(
  bytes: Buffer,
  question: Buffer,
  id: number,
): boolean {
  if (bytes.length < headerBytes + question.length) return false;
  if (bytes.readUInt16BE(0) !== id || (bytes[2]! & 0x80) === 0) return false;
  if (bytes.readUInt16BE(4) !== 1) return false;
  const own = bytes.subarray(headerBytes, headerBytes + question.length);
  return (
    own.equals(question) ||
    own.toString("latin1").toLowerCase() ===
      question.toString("latin1").toLowerCase()
  );
}

/** @param longest seconds an answer is kept at most */
export function readUpstreamAnswer(
  received: Buffer,
  query: Query,
  longest: number,
): UpstreamAnswer | undefined {
  try {
    let at = headerBytes + (query.questionEnd - headerBytes);
    const counts = [6, 8, 10].map((offset) => received.readUInt16BE(offset));
    const ttls: number[] = [];
    let lifetime = longest;
    let optStart: number | undefined;
    let extended = 0;
    for (const [section, count] of counts.entries())
      for (let n = 0; n < count; n++) {
        const start = at;
        const fixed = skipName(received, at);
        const type = received.readUInt16BE(fixed);
        const next = fixed + 10 + received.readUInt16BE(fixed + 8);
        if (next > received.length) throw new RangeError("a record too long");
        if (type === optType && section === 2) {
          extended = received.readUInt8(fixed + 4) << 4;
          optStart = n === count - 1 ? start : undefined;
        } else {
          ttls.push(fixed + 4);
          lifetime = Math.min(lifetime, received.readUInt32BE(fixed + 4));
          if (type === soaType && section === 1)
            lifetime = Math.min(lifetime, received.readUInt32BE(next - 4));
        }
        at = next;
      }
    const bytes = Buffer.from(received.subarray(0, optStart ?? at));
    if (optStart !== undefined) bytes.writeUInt16BE(counts[2]! - 1, 10);
    const rcode = (received.readUInt8(3) & 15) | extended;
    const negative =
      rcode === rcodes.nameError ||
      (rcode === rcodes.noError && counts[0] === 0);
    return {
      bytes,
      ttls,
      rcode,
      truncated: (received.readUInt8(2) & 2) !== 0,
      lifetime: rcode === rcodes.noError || negative ? lifetime : 0,
      negative,
    };
  } catch {
    return undefined;
  }
}

/** The answer with TTLs that are `age` seconds less. */
export function aged(
  { bytes, ttls }: UpstreamAnswer,
  age: number,
  longest: number,
): Buffer {
  const copy = Buffer.from(bytes);
  for (const offset of ttls)
    copy.writeUInt32BE(
      Math.max(0, Math.min(longest, bytes.readUInt32BE(offset)) - age),
      offset,
    );
  return copy;
}

/** The records of the answer section, for an alias that leads out of the cluster. */
export function answerRecords(bytes: Buffer): packet.Answer[] {
  try {
    return packet.decode(bytes).answers ?? [];
  } catch {
    return [];
  }
}
