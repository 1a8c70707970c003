// Queries and answers as bytes: what is refused, what is cut, what is given back.
import * as packet from "dns-packet";
import { FakeClock } from "../../../support/fake-clock.ts";
import { randomNumbers } from "../../../support/random-numbers.ts";
import { Forwarder } from "../../../../network/dns/forwarder.ts";
import { parseQuery, rcodes } from "../../../../network/dns/query.ts";
import { Responder } from "../../../../network/dns/responder.ts";
import { serviceEntry } from "../../../../network/dns/service-entry.ts";
import { answerRecords } from "../../../../network/dns/upstream-answer.ts";
import { ClusterZone } from "../../../../network/dns/zone.ts";
import { question, recordLines, service, slice } from "./dns-questions.ts";

const name = "many.shop.svc.cluster.local";

function responder(): Responder {
  const zone = new ClusterZone("cluster.local");
  zone.setNamespace("shop", true);
  zone.setService(
    "shop",
    "many",
    serviceEntry(service("many", { clusterIP: "None" }), [
      slice(
        "many",
        Array.from({ length: 100 }, (_, n) => ({
          addresses: [`10.42.1.${n + 1}`],
        })),
      ),
    ]),
  );
  return new Responder({ zone, forwarder: new Forwarder(new FakeClock()) });
}

function answered(bytes: Buffer, transport: "udp" | "tcp" = "udp"): Buffer {
  const answer = responder().respond(bytes, transport);
  if (!Buffer.isBuffer(answer)) throw new Error("no answer at once");
  return answer;
}

const code = (answer: Buffer): number => answer[3]! & 15;

test.each([
  ["plain UDP", undefined, "udp" as const, 512, true],
  ["EDNS", 1232, "udp" as const, 1232, true],
  [
    "an EDNS size of 65535 is cut to what passes unfragmented",
    65_535,
    "udp" as const,
    1232,
    true,
  ],
  ["TCP", undefined, "tcp" as const, 65_535, false],
])("what does not fit is marked: %s", (_, edns, transport, most, truncated) => {
  const bytes = answered(
    question(name, "A", edns === undefined ? {} : { edns }),
    transport,
  );
  expect(bytes.length).toBeLessThanOrEqual(most);
  const read = packet.decode(bytes);
  expect((read as { flag_tc?: boolean }).flag_tc).toBe(truncated);
  expect(read.answers?.length).toBe(
    truncated ? Math.floor((most - 45 - (edns ? 11 : 0)) / 16) : 100,
  );
});

test("the question is given back as it was written", () => {
  const asked = question("MaNy.shop.SVC.cluster.local", "A", { id: 0x1234 });
  const bytes = answered(asked);
  expect(bytes.readUInt16BE(0)).toBe(0x1234);
  const read = packet.decode(bytes);
  expect(read.questions?.[0]?.name).toBe("MaNy.shop.SVC.cluster.local");
  expect((read as { flag_rd?: boolean }).flag_rd).toBe(true);
});

test("addresses come in turns", () => {
  const each = responder();
  const first = new Set<string>();
  for (let n = 0; n < 8; n++) {
    const bytes = each.respond(question(name, "A", { id: n }), "tcp");
    first.add(recordLines(packet.decode(bytes as Buffer).answers)[0]!);
  }
  expect(first.size).toBe(8);
});

test.each<[string, Buffer, number | undefined]>([
  ["nothing", Buffer.alloc(0), undefined],
  ["less than a header", Buffer.alloc(11), undefined],
  [
    "an answer",
    Buffer.concat([Buffer.from([0, 1, 0x80, 0, 0, 1]), Buffer.alloc(11)]),
    undefined,
  ],
  [
    "another operation",
    (() => {
      const b = question(name);
      b[2] = 0x28;
      return b;
    })(),
    rcodes.notImplemented,
  ],
  [
    "no question",
    (() => {
      const b = question(name);
      b.writeUInt16BE(0, 4);
      return b;
    })(),
    rcodes.formatError,
  ],
  [
    "two questions",
    (() => {
      const b = question(name);
      b.writeUInt16BE(2, 4);
      return b;
    })(),
    rcodes.formatError,
  ],
  ["a cut question", question(name).subarray(0, 20), rcodes.formatError],
  [
    "a name that points to itself",
    Buffer.concat([
      question(name).subarray(0, 12),
      Buffer.from([0xc0, 12, 0, 1, 0, 1]),
    ]),
    rcodes.formatError,
  ],
  [
    "a name of 256 bytes",
    Buffer.concat([
      question(name).subarray(0, 12),
      ...Array.from({ length: 4 }, () =>
        Buffer.concat([Buffer.from([63]), Buffer.alloc(63, "a")]),
      ),
      Buffer.from([0, 0, 1, 0, 1]),
    ]),
    rcodes.formatError,
  ],
  [
    "records that are not there",
    (() => {
      const b = question(name);
      b.writeUInt16BE(9, 10);
      return b;
    })(),
    rcodes.formatError,
  ],
  [
    "answers in a query",
    (() => {
      const b = question(name);
      b.writeUInt16BE(1, 6);
      return b;
    })(),
    rcodes.formatError,
  ],
  [
    "two OPT records",
    (() => {
      const b = question(name, "A", { edns: 1232 });
      b.writeUInt16BE(2, 10);
      return Buffer.concat([b, b.subarray(-11)]);
    })(),
    rcodes.formatError,
  ],
  [
    "another class",
    (() => {
      const b = question(name);
      b.writeUInt16BE(3, b.length - 2);
      return b;
    })(),
    rcodes.refused,
  ],
  ["a transfer", question(name, "AXFR"), rcodes.notImplemented],
  ["ANY", question(name, "ANY" as packet.RecordType), rcodes.notImplemented],
])("%s", (_, bytes, expected) => {
  const answer = responder().respond(bytes, "udp");
  if (expected === undefined) expect(answer).toBeUndefined();
  else expect(code(answer as Buffer)).toBe(expected);
});

test("an EDNS version that does not exist yet is named", () => {
  const bytes = question(name, "A", { edns: 1232 });
  bytes[bytes.length - 5] = 1;
  const answer = answered(bytes);
  expect(code(answer)).toBe(rcodes.badVersion & 15);
  expect(answer[answer.length - 6]).toBe(rcodes.badVersion >> 4);
});

test("no bytes make it throw, and each answer is sound", () => {
  const random = randomNumbers(7);
  const below = (count: number): number => Math.floor(random() * count);
  const each = responder();
  const seeds = [
    question(name),
    question(name, "SRV", { edns: 4096 }),
    question("10-42-0-1.shop.pod.cluster.local", "AAAA"),
    question("1.1.42.10.in-addr.arpa", "PTR"),
  ];
  let answers = 0;
  for (let round = 0; round < 4_000; round++) {
    const bytes = Buffer.from(seeds[round % seeds.length]!);
    for (let n = below(6); n >= 0; n--) bytes[below(bytes.length)] = below(256);
    const cut = below(4) === 0 ? bytes.subarray(0, below(bytes.length)) : bytes;
    const answer = each.respond(cut, "udp");
    if (!Buffer.isBuffer(answer)) continue;
    answers++;
    if (answer.readUInt16BE(0) !== cut.readUInt16BE(0)) throw new Error("ID");
    if ((answer[2]! & 0x80) === 0) throw new Error("not an answer");
    if (answer.length > 12) packet.decode(answer);
  }
  expect(answers).toBeGreaterThan(200);
});

test("a key tells apart labels with dots in them", () => {
  const header = question("a.b").subarray(0, 12);
  const end = Buffer.from([0, 0, 1, 0, 1]);
  const one = parseQuery(
    Buffer.concat([header, Buffer.from("\x03a.b", "latin1"), end]),
  );
  const two = parseQuery(
    Buffer.concat([header, Buffer.from("\x01a\x01b", "latin1"), end]),
  );
  if ("rcode" in one || "rcode" in two) throw new Error("no query");
  expect(one.key).not.toBe(two.key);
});

test.each([
  ["to itself", (at: number) => at],
  ["ahead", (at: number) => at + 12],
  ["back and forth", (at: number) => at - 2],
])("a name of another server's answer that points %s is none", (_, to) => {
  const asked = question(name);
  const header = Buffer.from(asked);
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 6);
  // The two bytes before the record point to the record, whose name points to `to`.
  const at = header.length + 2;
  const pointer = (target: number): Buffer =>
    Buffer.from([0xc0 | (target >> 8), target & 255]);
  const answer = Buffer.concat([
    header,
    pointer(at),
    pointer(to(at)),
    Buffer.from([0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 10, 0, 0, 1]),
  ]);
  expect(answerRecords(answer)).toEqual([]);
});
