// How many connections a port takes, and which one goes for a new one; streams of HTTP/2.
import * as http2 from "node:http2";
import * as net from "node:net";
import * as tls from "node:tls";
import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pino from "pino";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
} from "../../../api/pki/certificate.ts";
import type { Exchange, Http2Exchange } from "../../../http-kit/exchange.ts";
import { Listener } from "../../../http-kit/listener.ts";
import { replaceStreamTable } from "../../../http-kit/connections/stream-table.ts";
import { eventually } from "../../support/eventually.ts";

const nowMs = Date.now();
const ca = createCertificateAuthority({ subject: { commonName: "ca" }, nowMs });
const pair = issueCertificate(ca, {
  subject: { commonName: "server" },
  usages: ["server auth"],
  ipAddresses: ["127.0.0.1"],
  validityMs: YEAR_MS,
  nowMs,
});

let listener: Listener;
let held: Exchange[];
let warnings: string[];
const sockets: net.Socket[] = [];

beforeEach(async () => {
  held = [];
  warnings = [];
  listener = new Listener({
    address: "127.0.0.1",
    port: 0,
    tls: { cert: pair.certificate, key: pair.key },
    maxStreamsPerConnection: 100,
    maxConnections: 3,
    goawayChance: 0,
    logger: pino({}, { write: (line: string) => void warnings.push(line) }),
    handle: (exchange) => {
      if (exchange.url === "/held") held.push(exchange);
      else exchange.respond(200, { "x-path": String(exchange.url) }, "ok");
    },
  });
  await listener.listen();
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  listener.destroy();
});

/** A connection that has asked for a path, when given. */
async function connect(path?: string): Promise<tls.TLSSocket> {
  const socket = tls.connect({
    port: listener.port,
    host: "127.0.0.1",
    ca: ca.certificate,
  });
  sockets.push(socket);
  socket.on("error", () => undefined);
  socket.resume();
  await new Promise<void>((resolve) => {
    socket.once("secureConnect", resolve);
    socket.once("close", () => resolve());
  });
  if (path) socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
}

test("handshakes that fail are counted", async () => {
  await connect();
  expect(listener.handshakeErrors).toBe(0);
  const plain = net.connect(listener.port, "127.0.0.1");
  sockets.push(plain);
  plain.on("error", () => undefined);
  plain.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await eventually(() => listener.handshakeErrors === 1);
});

test("the connection that has been idle the longest makes room", async () => {
  const before = held.length;
  const busy = await connect("/held");
  await eventually(() => held.length === before + 1);
  const idle = await connect();
  const asking = await connect("/");
  await once(asking, "data");
  const closed = once(idle, "close");
  const next = await connect();
  await closed;
  expect([busy, asking, next].map(({ destroyed }) => destroyed)).toEqual([
    false,
    false,
    false,
  ]);
  expect(warnings).toEqual([]);
});

test("when all are in use new ones are refused, and that is logged once", async () => {
  for (let at = 0; at < 3; at++) await connect("/held");
  await eventually(() => held.length === 3);
  for (let at = 0; at < 3; at++) expect((await connect()).destroyed).toBe(true);
  expect(warnings).toHaveLength(1);
  expect(JSON.parse(warnings[0]!)).toMatchObject({
    msg: "too many connections: new ones are refused",
    connections: 3,
  });
  held[0]!.respond(200, {}, "done");
  const answered = await eventually(async () => {
    const socket = await connect();
    return !socket.destroyed;
  });
  expect(answered).toBe(true);
});

test("handshakes that do not go on keep nobody out", async () => {
  await connect("/held");
  await eventually(() => held.length === 1);
  const silent = [0, 1].map(() => {
    const socket = net.connect(listener.port, "127.0.0.1");
    sockets.push(socket);
    return socket;
  });
  const ended = silent.map((socket) => once(socket, "close"));
  await Promise.all(silent.map((socket) => once(socket, "connect")));
  // Each takes the place of the older one.
  const others = [await connect("/held"), await connect("/held")];
  await Promise.all(ended);
  await eventually(() => held.length === 3);
  expect(others.map(({ destroyed }) => destroyed)).toEqual([false, false]);
  expect((await connect()).destroyed).toBe(true);
});

test("connections that have ended leave their places", async () => {
  for (let at = 0; at < 10; at++) {
    const socket = await connect("/held");
    await eventually(() => held.length === at + 1);
    socket.destroy();
    await eventually(() => listener.connections === 0);
  }
  expect(warnings).toEqual([]);
});

/** What comes back until the connection ends, for requests written as they are. */
async function exchangeRaw(text: string): Promise<string> {
  const socket = await connect();
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
  socket.write(text);
  await once(socket, "close");
  return answer;
}

describe("many header fields", () => {
  const fields = (count: number): string =>
    Array.from({ length: count }, (_, at) => `X-${at}: a\r\n`).join("");

  test.each([1_200, 5_000])(
    "the one after %d others is kept",
    async (count) => {
      const before = held.length;
      const socket = await connect();
      socket.write(
        `GET /held HTTP/1.1\r\nHost: x\r\n${fields(count)}Impersonate-User: peon\r\n\r\n`,
      );
      await eventually(() => held.length === before + 1);
      const { headers } = held.at(-1)!;
      expect(headers["impersonate-user"]).toBe("peon");
      expect(held.at(-1)!.headerValues("impersonate-user")).toEqual(["peon"]);
    },
  );

  const tooMany = fields(10_000);
  const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
  test.each([
    ["a request", tooMany],
    ["an upgrade", upgrade + tooMany],
    ["repeated fields", "A: b\r\n".repeat(10_000)],
  ])("%s with too many is refused", async (_what, some) => {
    const before = held.length;
    const answer = await exchangeRaw(
      `GET /held HTTP/1.1\r\nHost: x\r\n${some}Impersonate-User: peon\r\n\r\n`,
    );
    expect(answer).toMatch(
      /^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/,
    );
    expect(held).toHaveLength(before);
  });
});

test("a stream of HTTP/2 is handled once, without a request of Node's own", async () => {
  const client = http2.connect(`https://127.0.0.1:${listener.port}`, {
    ca: ca.certificate,
  });
  client.request({ ":path": "/held", expect: "100-continue" });
  await eventually(() => held.length === 1);
  const { http2Stream } = held[0] as Http2Exchange;
  // Node's compatibility layer would listen to it, and answer the expectation.
  expect(http2Stream.listenerCount("wantTrailers")).toBe(0);
  expect(http2Stream.headersSent).toBe(false);
  client.destroy();
});

test("a stream whose body and answer go through pipes is not taken for a leak", async () => {
  const client = http2.connect(`https://127.0.0.1:${listener.port}`, {
    ca: ca.certificate,
  });
  const stream = client.request({ ":path": "/held", ":method": "POST" });
  stream.write("question");
  await eventually(() => held.length === 1);
  const exchange = held[0] as Http2Exchange;
  for (let at = 0; at < 4; at++) exchange.onClose(() => undefined);
  const backend = new PassThrough();
  const sent = pipeline(exchange.body, backend);
  const answered = pipeline(backend, exchange.open(200, {}));
  // Above its maximum Node warns of a leak.
  const { http2Stream } = exchange;
  expect(http2Stream.listenerCount("close")).toBeLessThanOrEqual(
    http2Stream.getMaxListeners(),
  );
  stream.end();
  const text = stream.setEncoding("utf8").toArray();
  await Promise.all([sent, answered]);
  expect((await text).join("")).toBe("question");
  client.destroy();
});

test.each(["while much is sent", "while nothing is sent"])(
  "an answer over HTTP/2 that is cut off %s does not look whole",
  async (when) => {
    const client = http2.connect(`https://127.0.0.1:${listener.port}`, {
      ca: ca.certificate,
    });
    const stream = client.request({ ":path": "/held" });
    const failed = once(stream, "end").catch(
      ({ code }: NodeJS.ErrnoException) => code,
    );
    await eventually(() => held.length === 1);
    const sink = held[0]!.open(200, {});
    const block = Buffer.alloc(65536);
    const source = new Readable({
      read() {
        if (when === "while much is sent") this.push(block);
      },
    });
    const sent = pipeline(source, sink).catch(() => "failed");
    let received = 0;
    stream.on("data", (chunk: Buffer) => {
      received += chunk.length;
      if (received > 1 << 20) held[0]!.destroy();
    });
    if (when === "while nothing is sent") held[0]!.destroy();
    expect(await failed).toBe("ERR_HTTP2_STREAM_ERROR");
    expect(await sent).toBe("failed");
    const next = client.request({ ":path": "/next" });
    const [headers] = (await once(next, "response")) as [
      http2.IncomingHttpHeaders,
    ];
    expect(headers["x-path"]).toBe("/next");
    client.destroy();
  },
);

test("CONNECT over HTTP/2 names no path", async () => {
  const client = http2.connect(`https://127.0.0.1:${listener.port}`, {
    ca: ca.certificate,
  });
  const stream = client.request({
    ":method": "CONNECT",
    ":authority": "example.com:443",
  });
  const [headers] = (await once(stream, "response")) as [
    http2.IncomingHttpHeaders,
  ];
  expect(headers["x-path"]).toBe("");
  client.destroy();
});

test("streams of HTTP/2 are kept in a table that holds none of those before", async () => {
  const client = http2.connect(`https://127.0.0.1:${listener.port}`, {
    ca: ca.certificate,
  });
  client.on("error", () => undefined);
  const answered = client.request({ ":path": "/answered" });
  await once(answered.resume(), "close");
  client.request({ ":path": "/held" }).on("error", () => undefined);
  await eventually(() => held.length === 1);
  const { session } = (held[0] as Http2Exchange).http2Stream;
  const state = tableOf(session!);
  expect(state.streams.constructor.name).toBe("StreamTable");
  expect(state.streams.size).toBe(1);
  // Not under a stream that is open.
  expect(replaceStreamTable(session!)).toBe(false);
  session!.destroy();
  await eventually(() => held[0]!.closed && state.streams.size === 0);
  expect(replaceStreamTable({} as http2.Http2Session)).toBe(false);
  client.destroy();
});

/** Node's own. */
function tableOf(session: http2.Http2Session): {
  streams: Map<number, object>;
} {
  const key = Object.getOwnPropertySymbols(session).find(
    ({ description }) => description === "state",
  );
  return (session as unknown as Record<symbol, never>)[key!]!;
}
