// Clients of the DNS server that mean it ill: what they hold and how much is counted about them is bounded.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { systemClock } from "../../../../api/clock.ts";
import { Forwarder } from "../../../../network/dns/forwarder.ts";
import { openListener } from "../../../../network/dns/listener.ts";
import { parseQuery, type Query } from "../../../../network/dns/query.ts";
import { Responder } from "../../../../network/dns/responder.ts";
import { ClusterZone } from "../../../../network/dns/zone.ts";
import { eventually } from "../../../support/eventually.ts";
import { question } from "./dns-questions.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function framed(bytes: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

async function listener(
  respond: () => Buffer | Promise<Buffer>,
  idleMs?: number,
): Promise<() => Promise<Socket>> {
  const { ports, close } = await openListener({
    listen: [{ address: "127.0.0.1", port: 0 }],
    allowed: ["127.0.0.0/8"],
    respond,
    ...(idleMs === undefined ? {} : { idleMs }),
  });
  closing.push(close);
  return async () => {
    const socket = connect(ports[0]!, "127.0.0.1");
    socket.on("error", () => undefined);
    closing.push(() => socket.destroy());
    await once(socket, "connect");
    return socket;
  };
}

test.each<[string, () => Buffer | Promise<Buffer>]>([
  ["large answers that are not read", () => Buffer.alloc(60_000)],
  ["answers that take their time", () => new Promise(() => undefined)],
])("%s: no further query of the client is served", async (_, answer) => {
  let served = 0;
  const dial = await listener(() => {
    served++;
    return answer();
  });
  const hostile = await dial();
  hostile.pause();
  hostile.write(Buffer.concat(Array(2000).fill(framed(question("a.b")))));
  await eventually(() => served > 0);
  const honest = await dial();
  honest.write(framed(question("c.d")));
  const before = served;
  await eventually(() => served > before);
  // 64 under way, or what fits into the kernel's buffers.
  expect(served).toBeLessThan(300);
});

test("queries that waited are served when the client reads", async () => {
  const dial = await listener(() => Buffer.alloc(60_000));
  const socket = await dial();
  let received = 0;
  socket.on("data", ({ length }: Buffer) => (received += length));
  socket.write(Buffer.concat(Array(500).fill(framed(question("a.b")))));
  await eventually(() => received === 500 * 60_002);
});

test("a query that comes byte by byte ends its connection", async () => {
  const dial = await listener(() => Buffer.alloc(12), 200);
  const socket = await dial();
  const drip = setInterval(() => socket.write(Buffer.from([1])), 20);
  closing.push(() => clearInterval(drip));
  await eventually(() => socket.destroyed);
});

test("connections that are held lock nobody out", async () => {
  const dial = await listener(() => Buffer.alloc(12));
  const held: Socket[] = [];
  for (let n = 0; n < 520; n++) held.push(await dial());
  const socket = await dial();
  socket.write(framed(question("a.b")));
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.length).toBe(14);
  await eventually(() => held[0]!.destroyed);
  expect(held.at(-1)!.destroyed).toBe(false);
});

test("types that nobody knows are counted as one", () => {
  const responder = new Responder({
    zone: new ClusterZone("cluster.local", []),
    forwarder: new Forwarder(systemClock),
  });
  const asked = question("x.svc.cluster.local");
  for (let type = 0; type < 65_536; type++) {
    asked.writeUInt16BE(type, asked.length - 4);
    void responder.respond(asked, "udp");
  }
  const { requests } = responder.counts;
  expect(requests.get("udp 1")).toBe(1);
  expect(requests.get("udp other")).toBeGreaterThan(65_000);
  expect(requests.size).toBeLessThan(30);
});

test("clients that wait for the same answer are limited", async () => {
  const silent = createSocket("udp4");
  silent.bind(0, "127.0.0.1");
  await once(silent, "listening");
  closing.push(() => new Promise<void>((done) => silent.close(() => done())));
  const forwarder = new Forwarder(systemClock, 300);
  forwarder.configure(
    [{ address: "127.0.0.1", port: silent.address().port }],
    {},
  );
  const query = parseQuery(question("slow.example")) as Query;
  const waiting = Array.from({ length: 10_000 }, () =>
    forwarder.ask(query, "10.0.0.1"),
  );
  const refused = await forwarder.ask(query, "10.0.0.1");
  expect(refused[3]! & 15).toBe(5);
  expect(forwarder.counts.refused).toBe(1);
  await Promise.all(waiting);
  expect((await forwarder.ask(query, "10.0.0.1"))[3]! & 15).toBe(2);
});

test("random names of one client keep others neither from the zone nor from other servers", async () => {
  let asked = 0;
  const upstream = createSocket("udp4");
  // It answers one name alone.
  upstream.on("message", (bytes, { address, port }) => {
    asked++;
    if (bytes.includes("honest")) {
      const answer = Buffer.from(bytes);
      answer.writeUInt16BE(0x8183, 2);
      upstream.send(answer, port, address);
    }
  });
  upstream.bind(0, "127.0.0.1");
  await once(upstream, "listening");
  closing.push(() => new Promise<void>((done) => upstream.close(() => done())));
  // The honest answer has to come within it, behind the flood.
  const forwarder = new Forwarder(systemClock, 4000);
  forwarder.configure(
    [{ address: "127.0.0.1", port: upstream.address().port }],
    {},
  );
  const responder = new Responder({
    zone: new ClusterZone("cluster.local", []),
    forwarder,
  });
  const codes = new Map<number, number>();
  const flood = Array.from({ length: 5000 }, async (_, at) => {
    const answer = await responder.respond(
      question(`n${at}.example`),
      "udp",
      "10.0.0.1",
    )!;
    const code = answer[3]! & 15;
    codes.set(code, (codes.get(code) ?? 0) + 1);
  });
  const honest = await responder.respond(
    question("honest.example"),
    "udp",
    "10.0.0.2",
  )!;
  // The server's own answer: there is no such name.
  expect(honest[3]! & 15).toBe(3);
  // A name of the zone needs no promise at all.
  expect(
    Buffer.isBuffer(
      responder.respond(question("x.svc.cluster.local"), "udp", "10.0.0.2"),
    ),
  ).toBe(true);
  await Promise.all(flood);
  expect(codes.get(5)).toBe(4750);
  expect(codes.get(2)).toBe(250);
  expect(asked).toBeLessThanOrEqual(251);
  // Its place is free again.
  void forwarder.ask(parseQuery(question("late.example")) as Query, "10.0.0.1");
  expect(forwarder.counts.refused).toBe(4750);
});
