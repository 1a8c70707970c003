// Clients that speak HTTP only to wear the server out: floods of frames, requests read in two ways, bodies that stop,
// answers that nobody reads. Whatever they do costs little, ends with their own connection, and nobody else notices.
import * as http2 from "node:http2";
import * as net from "node:net";
import * as tls from "node:tls";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
} from "../../../api/pki/certificate.ts";
import { eventually } from "../../support/eventually.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type TestServer,
} from "./support.ts";

const nowMs = Date.now();
const ca = createCertificateAuthority({ subject: { commonName: "ca" }, nowMs });
const pair = issueCertificate(ca, {
  subject: { commonName: "server" },
  usages: ["server auth"],
  ipAddresses: ["127.0.0.1"],
  validityMs: YEAR_MS,
  nowMs,
});

const servers: TestServer[] = [];
const sockets: net.Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) await server.stop();
});

async function start(
  options: Parameters<typeof startTestServer>[0] = {},
): Promise<TestServer> {
  const server = await startTestServer(options);
  servers.push(server);
  return server;
}

describe("HTTP/2", () => {
  const preface = Buffer.concat([
    Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    frame(4, 0, 0),
  ]);
  /** GET /version. */
  const headers = Buffer.concat([
    Buffer.from([0x82, 0x87, 0x04, 8]),
    Buffer.from("/version"),
    Buffer.from([0x01, 1, 0x78]),
  ]);
  const END_STREAM = 1;
  const END_HEADERS = 4;
  const streamOf = (at: number): number => at * 2 + 1;
  const times = (count: number, make: (at: number) => Buffer): Buffer =>
    Buffer.concat(Array.from({ length: count }, (_, at) => make(at)));
  const four = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };

  function frame(
    type: number,
    flags: number,
    stream: number,
    payload: Buffer = Buffer.alloc(0),
  ): Buffer {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head[3] = type;
    head[4] = flags;
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]);
  }

  async function connect(server: TestServer): Promise<tls.TLSSocket> {
    const socket = tls.connect({
      port: server.server.port,
      host: "127.0.0.1",
      ca: ca.certificate,
      ALPNProtocols: ["h2"],
    });
    sockets.push(socket);
    socket.on("error", () => undefined);
    socket.resume();
    await new Promise((resolve) => socket.once("secureConnect", resolve));
    return socket;
  }

  /** Another client gets its answer. */
  async function servesOthers(server: TestServer): Promise<void> {
    const session = http2.connect(`https://127.0.0.1:${server.server.port}`, {
      ca: ca.certificate,
    });
    const stream = session.request({ ":path": "/version" });
    const status = await new Promise((resolve, reject) => {
      stream.once("response", (given) => resolve(given[":status"]));
      session.once("error", reject);
      stream.once("error", reject);
    });
    stream.resume();
    session.destroy();
    expect(status).toBe(200);
  }

  test.each<[string, Buffer]>([
    [
      "requests that are reset at once",
      times(20_000, (at) =>
        Buffer.concat([
          frame(1, END_STREAM | END_HEADERS, streamOf(at), headers),
          frame(3, 0, streamOf(at), four(8)),
        ]),
      ),
    ],
    ["pings", times(50_000, () => frame(6, 0, 0, Buffer.alloc(8)))],
    [
      "settings",
      times(50_000, () => frame(4, 0, 0, Buffer.from([0, 4, 0, 1, 0, 0]))),
    ],
    [
      "empty data",
      Buffer.concat([
        frame(1, END_HEADERS, 1, headers),
        times(50_000, () => frame(0, 0, 1)),
      ]),
    ],
    [
      "priorities",
      times(50_000, (at) => frame(2, 0, streamOf(at), Buffer.alloc(5, 1))),
    ],
    ["window updates", times(50_000, () => frame(8, 0, 0, four(1)))],
    [
      "continuations without content",
      Buffer.concat([
        frame(1, END_STREAM, 1, headers),
        times(50_000, () => frame(9, 0, 1)),
      ]),
    ],
    [
      "continuations without end",
      Buffer.concat([
        frame(1, END_STREAM, 1, headers),
        times(500, () => frame(9, 0, 1, Buffer.alloc(10_000, 0x82))),
      ]),
    ],
    [
      "thousands of requests at once",
      times(5_000, (at) =>
        frame(1, END_STREAM | END_HEADERS, streamOf(at), headers),
      ),
    ],
    [
      "thousands of bodies that do not come",
      times(5_000, (at) => frame(1, END_HEADERS, streamOf(at), headers)),
    ],
    [
      "headers that name one long field of the table again and again",
      times(300, (at) =>
        frame(
          1,
          END_STREAM | END_HEADERS,
          streamOf(at),
          at === 0
            ? Buffer.concat([
                headers,
                Buffer.from([0x40, 1, 0x61, 0x7f, 0x81, 0x1e]),
                Buffer.alloc(4000, 0x62),
              ])
            : Buffer.concat([headers, Buffer.alloc(8_000, 0xbe)]),
        ),
      ),
    ],
    [
      "frames of unknown types",
      times(50_000, () => frame(0x77, 0xff, 0, Buffer.alloc(4))),
    ],
    [
      "a frame longer than announced",
      Buffer.concat([
        Buffer.from([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]),
        Buffer.alloc(100_000),
      ]),
    ],
  ])("%s: cut off, or harmless", async (_what, flood) => {
    const server = await start({
      tls: { cert: pair.certificate, key: pair.key },
    });
    await servesOthers(server);
    const bytesBefore = process.memoryUsage().rss;
    const started = process.cpuUsage();
    const socket = await connect(server);
    socket.write(preface);
    // Written without reading on: what the server answers piles up on its side.
    await new Promise<void>((resolve) => {
      socket.once("close", resolve);
      socket.write(flood, () => resolve());
    });
    await servesOthers(server);
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1000).toBeLessThan(4000);
    expect(process.memoryUsage().rss - bytesBefore).toBeLessThan(150 * 2 ** 20);
    await servesOthers(server);
  });
});

describe("HTTP/1", () => {
  /** What a connection is sent until it ends, or `waitMs` have passed. */
  function talk(server: TestServer, bytes: string): Promise<string> {
    return new Promise((resolve) => {
      let text = "";
      const socket = net.connect(server.server.port, "127.0.0.1", () =>
        socket.write(bytes),
      );
      sockets.push(socket);
      socket.on("data", (chunk) => (text += chunk.toString()));
      socket.on("error", () => undefined);
      socket.on("close", () => resolve(text));
    });
  }

  const inner = `GET /api/v1/namespaces/default/secrets HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  test.each<[string, string, string]>([
    [
      "both lengths",
      "Content-Length: 5\r\nTransfer-Encoding: chunked",
      `0\r\n\r\n${inner}`,
    ],
    [
      "both lengths, the other way",
      "Transfer-Encoding: chunked\r\nContent-Length: 5",
      `0\r\n\r\n${inner}`,
    ],
    ["two lengths", "Content-Length: 5\r\nContent-Length: 6", `{"a"}${inner}`],
    ["a list of lengths", "Content-Length: 5, 6", `{"a"}${inner}`],
    ["a negative length", "Content-Length: -5", inner],
    ["a length with a sign", "Content-Length: +5", inner],
    ["a hexadecimal length", "Content-Length: 0x5", inner],
    [
      "a length beyond numbers",
      "Content-Length: 99999999999999999999999",
      inner,
    ],
    ["an unknown coding", "Transfer-Encoding: xchunked", `0\r\n\r\n${inner}`],
    [
      "a coding below the chunks",
      "Transfer-Encoding: gzip, chunked",
      `0\r\n\r\n${inner}`,
    ],
    [
      "an offer beside a wrong chunk",
      "Connection: Upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked",
      `zz\r\n${inner}`,
    ],
    [
      "a coding after chunked",
      "Transfer-Encoding: chunked, identity",
      `0\r\n\r\n${inner}`,
    ],
    [
      "a blank before the colon",
      "Transfer-Encoding : chunked",
      `0\r\n\r\n${inner}`,
    ],
    [
      "a folded header",
      "X-A: b\r\n c\r\nTransfer-Encoding:\r\n chunked",
      `0\r\n\r\n${inner}`,
    ],
    ["a NUL in a header", "X-A: b\0c", inner],
    ["a chunk of no number", "Transfer-Encoding: chunked", `zz\r\n${inner}`],
    [
      "a chunk beyond numbers",
      "Transfer-Encoding: chunked",
      `fffffffffffffffff\r\n${inner}`,
    ],
    ["a negative chunk", "Transfer-Encoding: chunked", `-1\r\n${inner}`],
  ])(
    "%s: refused, and what follows is no request",
    async (_what, head, rest) => {
      const server = await start();
      const text = await talk(
        server,
        `POST ${configMaps} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${head}\r\n\r\n${rest}`,
      );
      expect(text).toMatch(/^(HTTP\/1\.1 (400|413|431|501) |$)/);
      expect(text).not.toContain("SecretList");
      expect((await server.call("GET", "/readyz")).text).toBe("ok");
    },
  );

  test.each([
    [
      "a version that is none of this port",
      "/version HTTP/2.0\r\nHost: x",
      505,
    ],
    ["a version without headers", "/version HTTP/0.9\r\nHost: x", 505],
    ["two hosts", "/version HTTP/1.1\r\nHost: x\r\nHost: y", 400],
    ["a host that is none", "/version HTTP/1.1\r\nHost: x/../y", 400],
    ["no host", "/version HTTP/1.1\r\nX-A: b", 400],
  ])("%s is refused, and the connection ends", async (_what, head, status) => {
    const server = await start();
    const text = await talk(server, `GET ${head}\r\n\r\n`);
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  test("a body that stops is given up, and its connection", async () => {
    const server = await start({
      requestTimeoutMs: 300,
      shutdownGraceMs: 120_000,
    });
    const stalled = net.connect(server.server.port, "127.0.0.1");
    sockets.push(stalled);
    let text = "";
    stalled.on("data", (chunk) => (text += chunk.toString()));
    stalled.write(
      `POST ${configMaps} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"a`,
    );
    await eventually(() => text.startsWith("HTTP/1.1 504 "));
    await eventually(() => stalled.closed);
    // Nothing is waited for any more.
    const startedMs = performance.now();
    await servers.pop()!.stop();
    expect(performance.now() - startedMs).toBeLessThan(60_000);
  });

  test("watchers that do not read cost no more than a bound", async () => {
    const server = await start();
    const before = process.memoryUsage().rss;
    for (let at = 0; at < 30; at++) {
      const socket = net.connect(server.server.port, "127.0.0.1", () =>
        socket.write(`GET ${configMaps}?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n`),
      );
      sockets.push(socket);
      socket.on("error", () => undefined);
      socket.pause();
    }
    const value = "x".repeat(200_000);
    for (let at = 0; at < 150; at++) {
      const made = await server.call("POST", configMaps, {
        ...configMap(`c${at}`),
        data: { value },
      });
      expect(made.status).toBe(201);
    }
    // 30 MB were written: 900 MB to thirty watchers.
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 2 ** 20);
    expect((await server.call("GET", "/readyz")).text).toBe("ok");
  });
});
