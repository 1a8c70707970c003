// The ingress proxy between real clients and real servers on loopback: HTTP/1.1, TLS, HTTP/2, gRPC's shape, WebSocket,
// streams both ways, and servers that fail.
import { once } from "node:events";
import * as http from "node:http";
import * as http2 from "node:http2";
import * as net from "node:net";
import * as tls from "node:tls";
import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
} from "../../../api/pki/certificate.ts";
import { eventually } from "../../support/eventually.ts";
import { freePorts } from "../../support/free-port.ts";
import { startHttpsServer } from "../../support/https-server.ts";
import {
  echo,
  rawExchange,
  request,
  startBackend,
  TestProxy,
  toBackend,
  type TestBackend,
} from "../../support/ingress-proxy.ts";

interface Echoed {
  name: string;
  method: string;
  url: string;
  headers: http.IncomingHttpHeaders;
  rawHeaders: string[];
  body: string;
}

const proxy = new TestProxy({ trustedProxies: ["127.0.0.2/32"] });
const backends: TestBackend[] = [];

async function backend(
  key: string,
  handle: http.RequestListener,
): Promise<TestBackend> {
  const started = await startBackend(handle);
  backends.push(started);
  proxy.backend(key, started.state);
  return started;
}

beforeAll(async () => {
  await proxy.start();
  await backend("echo", echo("echo"));
  proxy.routes("echo", [toBackend("echo", "echo.test")]);
});

afterAll(async () => {
  await proxy.stop();
  for (const each of backends) each.close();
});

const nowMs = Date.now();
const authority = createCertificateAuthority({
  subject: { commonName: "test" },
  nowMs,
});

function certificateFor(...dnsNames: string[]): {
  certificate: string;
  key: string;
} {
  const { certificate, key } = issueCertificate(authority, {
    subject: { commonName: dnsNames[0]! },
    dnsNames,
    nowMs,
    usages: ["server auth"],
    validityMs: YEAR_MS,
  });
  return { certificate, key: key.toString() };
}

async function echoed(
  options: Parameters<typeof request>[1] = {},
): Promise<Echoed> {
  const { status, text } = await request(proxy.http, {
    ...options,
    headers: { host: "echo.test", ...options.headers },
  });
  expect(status).toBe(200);
  return JSON.parse(text) as Echoed;
}

describe("a request over HTTP/1.1", () => {
  test("passes with its path, query, headers and body", async () => {
    const seen = await echoed({
      method: "POST",
      path: "/a/b%20c?x=1&y=%2F",
      headers: { "x-own": "1", cookie: "a=b" },
      body: "hello",
    });
    expect(seen).toMatchObject({
      method: "POST",
      url: "/a/b%20c?x=1&y=%2F",
      body: "hello",
    });
    expect(seen.headers).toMatchObject({
      host: "echo.test",
      "x-own": "1",
      cookie: "a=b",
      "content-length": "5",
    });
  });

  test("says where it came from, and drops what a client says of that", async () => {
    const { headers, rawHeaders } = await echoed({
      headers: {
        "x-forwarded-for": "10.0.0.1",
        "X-Forwarded-Proto": "https",
        x_forwarded_for: "10.0.0.2",
        forwarded: "for=10.0.0.3",
        "x-real-ip": "10.0.0.4",
        "x-original-url": "/admin",
      },
    });
    expect(headers).toMatchObject({
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-proto": "http",
      "x-forwarded-host": "echo.test",
      "x-forwarded-port": String(proxy.http),
      "x-real-ip": "127.0.0.1",
    });
    expect(rawHeaders.join(" ")).not.toMatch(/10\.0\.0|x_forwarded|\/admin/);
  });

  test("keeps what a trusted proxy says", async () => {
    const { headers } = await echoed({
      localAddress: "127.0.0.2",
      headers: {
        "x-forwarded-for": "10.0.0.1",
        "x-forwarded-proto": "https",
      },
    });
    expect(headers).toMatchObject({
      "x-forwarded-for": "10.0.0.1, 127.0.0.2",
      "x-forwarded-proto": "https",
    });
  });

  test("leaves headers of the connection behind", async () => {
    const { headers } = await echoed({
      headers: {
        connection: "close, x-secret",
        "x-secret": "1",
        "proxy-authorization": "Basic x",
        te: "gzip",
        "keep-alive": "timeout=5",
      },
    });
    for (const name of ["x-secret", "proxy-authorization", "te", "keep-alive"])
      expect(headers[name]).toBeUndefined();
  });

  test("without a route is answered 404, without endpoints 503", async () => {
    proxy.routes("none", [toBackend("missing", "none.test")]);
    const unknown = await request(proxy.http, { headers: { host: "other" } });
    expect(unknown.status).toBe(404);
    const none = await request(proxy.http, { headers: { host: "none.test" } });
    expect(none.status).toBe(503);
    expect(none.headers["retry-after"]).toBe("1");
  });

  test("waits with its body for 100 Continue", async () => {
    const seen = await echoed({
      method: "PUT",
      headers: { expect: "100-continue", "content-length": "4" },
      body: "body",
    });
    expect(seen.body).toBe("body");
    expect(seen.headers.expect).toBeUndefined();
  });

  test("to a rule with a limit is refused when its body is larger", async () => {
    proxy.routes("small", [
      toBackend("echo", "small.test", { limits: { maxBodyBytes: 10 } }),
    ]);
    const send = (headers: http.OutgoingHttpHeaders, body: string) =>
      request(proxy.http, {
        method: "POST",
        headers: { host: "small.test", ...headers },
        body,
      });
    expect((await send({ "content-length": 11 }, "12345678901")).status).toBe(
      413,
    );
    const chunked = await send(
      { "transfer-encoding": "chunked" },
      "x".repeat(100),
    );
    expect(chunked.status).toBe(413);
    expect((await send({}, "1234567890")).status).toBe(200);
  });
});

describe("a hostile request", () => {
  const get = "GET / HTTP/1.1\r\nHost: echo.test\r\n";
  test.each([
    [
      "length and chunks",
      `POST / HTTP/1.1\r\nHost: echo.test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG`,
    ],
    [
      "two lengths",
      `POST / HTTP/1.1\r\nHost: echo.test\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`,
    ],
    [
      "a wrong length",
      `POST / HTTP/1.1\r\nHost: echo.test\r\nContent-Length: +5\r\n\r\nhello`,
    ],
    [
      "chunks that are not last",
      `POST / HTTP/1.1\r\nHost: echo.test\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
    ],
    [
      "an unknown coding",
      `POST / HTTP/1.1\r\nHost: echo.test\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      "a coding below the chunks",
      `POST / HTTP/1.1\r\nHost: echo.test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      "an empty coding",
      `POST / HTTP/1.1\r\nHost: echo.test\r\nTransfer-Encoding: \r\nContent-Length: 5\r\n\r\nhello`,
    ],
    [
      "chunks in HTTP/1.0",
      `POST / HTTP/1.0\r\nHost: echo.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      "a length that would be rounded",
      `POST / HTTP/1.1\r\nHost: echo.test\r\nContent-Length: 9007199254740993\r\n\r\nhello`,
    ],
    ["another version", "GET / HTTP/2.0\r\nHost: echo.test\r\n\r\n"],
    ["an ancient version", "GET / HTTP/0.9\r\nHost: echo.test\r\n\r\n"],
    ["a space before a colon", `${get}Content-Length : 5\r\n\r\nhello`],
    ["a folded line", `${get}X-A: 1\r\n 2\r\n\r\n`],
    ["a bare line feed", "GET / HTTP/1.1\nHost: echo.test\n\n"],
    ["two hosts", `${get}Host: other.test\r\n\r\n`],
    ["no host", "GET / HTTP/1.1\r\n\r\n"],
    ["a user in the host", "GET / HTTP/1.1\r\nHost: a@echo.test\r\n\r\n"],
    ["a path in the host", "GET / HTTP/1.1\r\nHost: echo.test/x\r\n\r\n"],
    ["a wrong port", "GET / HTTP/1.1\r\nHost: echo.test:99999\r\n\r\n"],
    ["a NUL in the path", "GET /%00 HTTP/1.1\r\nHost: echo.test\r\n\r\n"],
    ["a wrong escape", "GET /%zz HTTP/1.1\r\nHost: echo.test\r\n\r\n"],
    ["a fragment", "GET /a#b HTTP/1.1\r\nHost: echo.test\r\n\r\n"],
    ["no target", "OPTIONS * HTTP/1.1\r\nHost: echo.test\r\n\r\n"],
    [
      "a target of another scheme",
      "GET ftp://echo.test/ HTTP/1.1\r\nHost: echo.test\r\n\r\n",
    ],
    ["no request", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["huge headers", `${get}X-A: ${"a".repeat(70_000)}\r\n\r\n`],
  ])("with %s is refused", async (_name, text) => {
    const answer = await rawExchange(proxy.http, text, {
      until: /\r\n\r\n/,
    });
    expect(answer).toMatch(/^HTTP\/1\.1 (400|413|431|501|505) /);
  });

  test("for a tunnel is not served", async () => {
    const answer = await rawExchange(
      proxy.http,
      "CONNECT echo.test:443 HTTP/1.1\r\nHost: echo.test\r\n\r\n",
    );
    expect(answer).not.toMatch(/ 200 /);
    const trace = await rawExchange(
      proxy.http,
      "TRACE / HTTP/1.1\r\nHost: echo.test\r\n\r\n",
      { until: /\r\n\r\n/ },
    );
    expect(trace).toMatch(/ 405 /);
  });

  test("with an absolute target goes where the target says", async () => {
    const answer = await rawExchange(
      proxy.http,
      "GET http://echo.test/x?y HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n",
    );
    expect(answer).toMatch(/ 200 /);
    expect(answer).toContain('"host":"echo.test"');
    expect(answer).toContain('"url":"/x?y"');
  });

  test("with dot segments reaches the backend as it was matched", async () => {
    proxy.routes("public", [
      {
        ...toBackend("echo", "dots.test"),
        matches: [{ path: { type: "Prefix", value: "/public" } }],
      },
    ]);
    const ask = async (path: string): Promise<string> =>
      rawExchange(
        proxy.http,
        `GET ${path} HTTP/1.1\r\nHost: dots.test\r\nConnection: close\r\n\r\n`,
      );
    for (const path of [
      "/public/../admin",
      "/public/%2e%2e/admin",
      "/public/.%2E/admin",
      "/publicity",
    ])
      expect(await ask(path)).toMatch(/ 404 /);
    expect(await ask("/%70ublic/./a/../b")).toContain('"url":"/public/b"');
    expect(await ask("/public/a%2fb")).toContain('"url":"/public/a%2Fb"');
    for (const path of ["/public/..%2fadmin", "/public/a%5c..%2f..%2fadmin"])
      expect(await ask(path)).toMatch(/ 400 /);
  });

  test("hidden in another one's body never becomes a request", async () => {
    const seen: string[] = [];
    await backend("strict", (incoming, response) => {
      seen.push(incoming.url ?? "");
      incoming.resume();
      response.end("ok");
    });
    proxy.routes("strict", [toBackend("strict", "strict.test")]);
    const inner = "GET /hidden HTTP/1.1\r\nHost: strict.test\r\n\r\n";
    await rawExchange(
      proxy.http,
      `POST /outer HTTP/1.1\r\nHost: strict.test\r\nContent-Length: ${inner.length}\r\nConnection: close\r\n\r\n${inner}`,
    );
    await rawExchange(
      proxy.http,
      `POST /outer HTTP/1.1\r\nHost: strict.test\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${inner.length.toString(16)};ext=\r\n${inner}\r\n0\r\n\r\n`,
    );
    expect(seen).toEqual(["/outer", "/outer"]);
  });
});

describe("a backend", () => {
  test("that refuses connections is passed over for one that answers", async () => {
    const [dead] = await freePorts(1);
    const alive = await startBackend(echo("alive"));
    backends.push(alive);
    proxy.backend("half", {
      protocol: "http",
      endpoints: [
        { address: "127.0.0.1", port: dead! },
        ...alive.state.endpoints,
      ],
    });
    proxy.routes("half", [toBackend("half", "half.test")]);
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const reply = await request(proxy.http, {
          headers: { host: "half.test" },
        });
        return reply.status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    proxy.backend("half", {
      protocol: "http",
      endpoints: [{ address: "127.0.0.1", port: dead! }],
    });
    const alone = await request(proxy.http, { headers: { host: "half.test" } });
    expect(alone.status).toBe(502);
  });

  test("gets a request once that may not be repeated", async () => {
    let count = 0;
    await backend("rude", (incoming) => {
      count++;
      incoming.socket.destroy();
    });
    proxy.routes("rude", [toBackend("rude", "rude.test")]);
    const reply = await request(proxy.http, {
      method: "POST",
      headers: { host: "rude.test" },
      body: "x",
    });
    expect(reply.status).toBe(502);
    expect(count).toBe(1);
  });

  test.each([
    ["nonsense", "SSH-2.0-OpenSSH\r\n"],
    ["a wrong status", "HTTP/1.1 abc\r\n\r\n"],
    ["huge headers", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}\r\n\r\n`],
    ["nothing", ""],
    [
      "headers of both framings",
      "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
  ])("that answers %s is a bad gateway", async (name, text) => {
    const server = net.createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end(text));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    proxy.backend(`bad ${name}`, {
      protocol: "http",
      endpoints: [{ address: "127.0.0.1", port }],
    });
    proxy.routes("bad", [toBackend(`bad ${name}`, "bad.test")]);
    const reply = await request(proxy.http, { headers: { host: "bad.test" } });
    expect(reply.status).toBe(502);
    server.close();
  });

  test("that does not answer in time is a gateway time-out", async () => {
    await backend("slow", () => undefined);
    proxy.routes("slow", [
      toBackend("slow", "slow.test", { limits: { attemptTimeoutMs: 100 } }),
    ]);
    const reply = await request(proxy.http, { headers: { host: "slow.test" } });
    expect(reply.status).toBe(504);
  });

  test("whose body breaks off breaks off the answer", async () => {
    await backend("broken", (_incoming, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half");
      setImmediate(() => response.destroy());
    });
    proxy.routes("broken", [toBackend("broken", "broken.test")]);
    await expect(
      request(proxy.http, { headers: { host: "broken.test" } }),
    ).rejects.toThrow(/aborted|hang up|reset/);
  });

  test("learns that its client left", async () => {
    let left = false;
    let asked = false;
    await backend("endless", (incoming, response) => {
      asked = true;
      response.write("x");
      incoming.socket.once("close", () => (left = true));
    });
    proxy.routes("endless", [toBackend("endless", "endless.test")]);
    const call = http.get({
      host: "127.0.0.1",
      port: proxy.http,
      agent: false,
      headers: { host: "endless.test" },
    });
    call.on("error", () => undefined);
    await once(call, "response");
    expect(asked).toBe(true);
    call.destroy();
    await eventually(() => left);
  });
});

describe("streams", () => {
  test("a slow reader holds the backend back", async () => {
    let written = 0;
    const chunk = Buffer.alloc(64 * 1024);
    await backend("flood", (_incoming, response) => {
      const push = (): void => {
        while (written < 200 * 1024 * 1024) {
          written += chunk.length;
          if (!response.write(chunk)) {
            response.once("drain", push);
            return;
          }
        }
      };
      push();
    });
    proxy.routes("flood", [toBackend("flood", "flood.test")]);
    const call = http.get({
      host: "127.0.0.1",
      port: proxy.http,
      agent: false,
      headers: { host: "flood.test" },
    });
    call.on("error", () => undefined);
    const [response] = (await once(call, "response")) as [http.IncomingMessage];
    response.pause();
    let last = -1;
    await eventually(
      () => {
        const still = written === last;
        last = written;
        return still && written > 0;
      },
      { intervalMs: 300 },
    );
    expect(written).toBeLessThan(32 * 1024 * 1024);
    call.destroy();
  });

  test("a client that never reads is cut off, and its backend is free", async () => {
    let free = false;
    await backend("unread", (incoming, response) => {
      incoming.socket.once("close", () => (free = true));
      const push = (): void => {
        while (response.write(Buffer.alloc(65_536)));
        response.once("drain", push);
      };
      push();
    });
    proxy.routes("unread", [
      toBackend("unread", "unread.test", { limits: { idleTimeoutMs: 300 } }),
    ]);
    const call = http.get({
      host: "127.0.0.1",
      port: proxy.http,
      agent: false,
      headers: { host: "unread.test" },
    });
    call.on("error", () => undefined);
    const [response] = (await once(call, "response")) as [http.IncomingMessage];
    response.on("error", () => undefined);
    response.pause();
    await eventually(() => free);
    call.destroy();
  });

  test("a slow backend holds its client back", async () => {
    const server = net.createServer((socket) => {
      socket.pause();
      socket.on("error", () => undefined);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    proxy.backend("stuck", {
      protocol: "http",
      endpoints: [{ address: "127.0.0.1", port }],
    });
    proxy.routes("stuck", [toBackend("stuck", "stuck.test")]);
    const socket = net.connect(proxy.http, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(
      "POST / HTTP/1.1\r\nHost: stuck.test\r\nContent-Length: 999999999\r\n\r\n",
    );
    let sent = 0;
    const push = (): void => {
      while (sent < 200 * 1024 * 1024) {
        sent += 65_536;
        if (!socket.write(Buffer.alloc(65_536))) {
          socket.once("drain", push);
          return;
        }
      }
    };
    push();
    let last = -1;
    await eventually(
      () => {
        const still = sent === last;
        last = sent;
        return still;
      },
      { intervalMs: 300 },
    );
    expect(sent).toBeLessThan(48 * 1024 * 1024);
    socket.destroy();
    server.close();
  });

  test("pieces pass as they come", async () => {
    let next: (text: string) => void = () => undefined;
    await backend("pieces", (_incoming, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      next = (text) => void response.write(text);
    });
    proxy.routes("pieces", [toBackend("pieces", "pieces.test")]);
    const call = http.get({
      host: "127.0.0.1",
      port: proxy.http,
      agent: false,
      headers: { host: "pieces.test" },
    });
    call.on("error", () => undefined);
    const [response] = (await once(call, "response")) as [http.IncomingMessage];
    for (const text of ["one", "two"]) {
      const came = once(response, "data");
      next(text);
      expect(String((await came)[0])).toBe(text);
    }
    call.destroy();
  });
});

describe("TLS", () => {
  const certificateOf = async (
    servername: string | undefined,
  ): Promise<string> => {
    const socket = tls.connect({
      host: "127.0.0.1",
      port: proxy.https,
      rejectUnauthorized: false,
      ...(servername === undefined ? {} : { servername }),
    });
    await once(socket, "secureConnect");
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return String(subject.CN);
  };
  const use = (certificate: string, rank: string, ...hosts: string[]) => [
    { sockets: ["https"], rank, hosts, certificate },
  ];

  test("shows the certificate of the name that is asked for", async () => {
    proxy.certificate(
      "a",
      certificateFor("a.test"),
      use("a", "1", "a.test", "both.test"),
    );
    proxy.certificate(
      "wild",
      certificateFor("*.wild.test"),
      use("wild", "0", "*.wild.test", "both.test"),
    );
    proxy.certificate("own", certificateFor("own.test"), use("own", "1"));
    expect(await certificateOf("a.test")).toBe("a.test");
    expect(await certificateOf("x.wild.test")).toBe("*.wild.test");
    expect(await certificateOf("both.test")).toBe("*.wild.test");
    expect(await certificateOf("own.test")).toBe("own.test");
    for (const name of ["x.y.wild.test", "other.test", undefined])
      expect(await certificateOf(name)).toBe(
        "Orbit Ingress default certificate",
      );
  });

  test("a certificate that can't be used is reported, and others stay", async () => {
    const { certificate } = certificateFor("bad.test");
    const { key } = certificateFor("other.test");
    proxy.certificate("bad", { certificate, key }, use("bad", "0", "bad.test"));
    proxy.certificate("junk", { certificate: "x", key: "y" });
    expect(proxy.certificateProblems.get("bad")).toMatch(/not the certificate/);
    expect(proxy.certificateProblems.get("junk")).toBeDefined();
    expect(await certificateOf("bad.test")).toBe(
      "Orbit Ingress default certificate",
    );
    expect(await certificateOf("a.test")).toBe("a.test");
    proxy.certificate(
      "bad",
      certificateFor("bad.test"),
      use("bad", "0", "bad.test"),
    );
    expect(await certificateOf("bad.test")).toBe("bad.test");
  });

  test("a new certificate leaves open connections alone", async () => {
    const agent = new (await import("node:https")).Agent({
      keepAlive: true,
      maxSockets: 1,
    });
    const ask = () =>
      request(proxy.https, {
        tls: true,
        agent,
        servername: "a.test",
        headers: { host: "echo.test" },
      });
    expect((await ask()).status).toBe(200);
    proxy.certificate("a", certificateFor("new.test"), use("a", "1", "a.test"));
    const { status, text } = await ask();
    expect(status).toBe(200);
    const seen = JSON.parse(text) as Echoed;
    expect(seen.headers["x-forwarded-proto"]).toBe("https");
    expect(await certificateOf("a.test")).toBe("new.test");
    agent.destroy();
  });

  test("junk in a handshake ends that connection only", async () => {
    await rawExchange(proxy.https, "GET / HTTP/1.1\r\n\r\n");
    expect(await certificateOf("own.test")).toBe("own.test");
  });
});

describe("HTTP/2", () => {
  async function overHttp2(
    headers: http2.OutgoingHttpHeaders,
    body?: string,
  ): Promise<{
    headers: http2.IncomingHttpHeaders;
    text: string;
    trailers: http2.IncomingHttpHeaders;
  }> {
    const session = http2.connect(`https://127.0.0.1:${proxy.https}`, {
      rejectUnauthorized: false,
    });
    const stream = session.request(headers, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    let trailers: http2.IncomingHttpHeaders = {};
    stream.once("trailers", (each: http2.IncomingHttpHeaders) => {
      trailers = each;
    });
    const [answer] = (await once(stream, "response")) as [
      http2.IncomingHttpHeaders,
    ];
    let text = "";
    for await (const chunk of stream) text += String(chunk);
    session.close();
    return { headers: answer, text, trailers };
  }

  test("in front of a backend of HTTP/1.1", async () => {
    const { headers, text } = await overHttp2(
      {
        ":method": "POST",
        ":path": "/two",
        ":authority": "echo.test",
        cookie: "a=1",
      },
      "body",
    );
    expect(headers[":status"]).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      url: "/two",
      body: "body",
      headers: { host: "echo.test", "x-forwarded-proto": "https" },
    });
  });

  test("whose cookies come apart gives a backend of HTTP/1.1 one field", async () => {
    const { text } = await overHttp2({
      ":path": "/",
      ":authority": "echo.test",
      cookie: ["a=1", "b=2", "c=3"],
      "x-twice": ["1", "2"],
    });
    const { rawHeaders } = JSON.parse(text) as Echoed;
    const values = (name: string): string[] =>
      rawHeaders.filter((_, at) => rawHeaders[at - 1] === name);
    expect(values("cookie")).toEqual(["a=1; b=2; c=3"]);
    expect(values("x-twice")).toEqual(["1", "2"]);
  });

  test("with another Host than its authority is refused", async () => {
    const { headers } = await overHttp2({
      ":path": "/",
      ":authority": "echo.test",
      host: "other.test",
    });
    expect(headers[":status"]).toBe(400);
  });

  test("gRPC's shape reaches an h2c backend and comes back with trailers", async () => {
    const server = http2.createServer();
    server.on("stream", (stream, headers) => {
      stream.respond(
        { ":status": 200, "content-type": "application/grpc" },
        { waitForTrailers: true },
      );
      stream.on("wantTrailers", () =>
        stream.sendTrailers({
          "grpc-status": "0",
          "x-te": String(headers["te"]),
        }),
      );
      stream.pipe(stream);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    proxy.backend("grpc", {
      protocol: "h2c",
      endpoints: [{ address: "127.0.0.1", port }],
    });
    proxy.routes("grpc", [toBackend("grpc", "grpc.test")]);
    const reply = await overHttp2(
      {
        ":method": "POST",
        ":path": "/pkg.Service/Method",
        ":authority": "grpc.test",
        "content-type": "application/grpc",
        te: "trailers",
      },
      "ping",
    );
    expect(reply.headers[":status"]).toBe(200);
    expect(reply.text).toBe("ping");
    expect(reply.trailers).toMatchObject({
      "grpc-status": "0",
      "x-te": "trailers",
    });
    // The same backend for a client of HTTP/1.1.
    const one = await request(proxy.http, {
      method: "POST",
      headers: { host: "grpc.test" },
      body: "pong",
    });
    expect(one.text).toBe("pong");
    expect(one.trailers["grpc-status"]).toBe("0");
    server.close();
    proxy.backend("grpc", undefined);
  });

  test("a backend of h2c that is gone is a bad gateway", async () => {
    const [dead] = await freePorts(1);
    proxy.backend("gone", {
      protocol: "h2c",
      endpoints: [{ address: "127.0.0.1", port: dead! }],
    });
    proxy.routes("gone", [toBackend("gone", "gone.test")]);
    const { headers } = await overHttp2({
      ":path": "/",
      ":authority": "gone.test",
    });
    expect(headers[":status"]).toBe(502);
  });
});

test("a backend over TLS is verified, unless its user says otherwise", async () => {
  const server = await startHttpsServer(() => ({ ok: true }), {
    dnsNames: ["web.default.svc"],
  });
  const endpoints = [{ address: "127.0.0.1", port: server.port }];
  proxy.routes("tls", [toBackend("tls", "tls.test")]);
  const status = async (
    name: string,
    verify: boolean,
    ca?: string,
  ): Promise<number> => {
    proxy.backend("tls", {
      protocol: "https",
      endpoints,
      tls: {
        serverName: name,
        verify,
        ...(ca === undefined ? {} : { authority: ca }),
      },
    });
    const reply = await request(proxy.http, { headers: { host: "tls.test" } });
    return reply.status;
  };
  expect(await status("web.default.svc", true)).toBe(502);
  expect(await status("web.default.svc", true, server.authority)).toBe(200);
  expect(await status("other.default.svc", true, server.authority)).toBe(502);
  expect(await status("web.default.svc", false)).toBe(200);
  await server.close();
});

describe("an upgrade", () => {
  let webSockets: WebSocketServer;
  beforeAll(async () => {
    const started = await backend("ws", (_incoming, response) => {
      response.writeHead(426).end("upgrade");
    });
    webSockets = new WebSocketServer({ server: started.server });
    webSockets.on("connection", (socket, incoming) => {
      socket.send(String(incoming.headers["x-forwarded-for"]));
      socket.on("message", (data, binary) => socket.send(data, { binary }));
    });
    proxy.routes("ws", [toBackend("ws", "ws.test")]);
  });
  afterAll(() => webSockets.close());

  test.each(["ws", "wss"])("to a WebSocket over %s", async (scheme) => {
    const port = scheme === "ws" ? proxy.http : proxy.https;
    const socket = new WebSocket(`${scheme}://127.0.0.1:${port}/chat`, {
      headers: { host: "ws.test" },
      rejectUnauthorized: false,
    });
    const [first] = (await once(socket, "message")) as [Buffer];
    expect(first.toString()).toBe("127.0.0.1");
    const large = Buffer.alloc(1024 * 1024, 7);
    socket.send(large);
    const [answer] = (await once(socket, "message")) as [Buffer];
    expect(answer.equals(large)).toBe(true);
    const closed = once([...webSockets.clients][0]!, "close");
    socket.close();
    await closed;
  });

  test("that the backend does not take is answered as it says", async () => {
    const answer = await rawExchange(
      proxy.http,
      "GET / HTTP/1.1\r\nHost: ws.test\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n",
    );
    expect(answer).toMatch(/^HTTP\/1\.1 4(00|26) /);
  });

  test("to HTTP/2 is not passed on", async () => {
    const answer = await rawExchange(
      proxy.http,
      "GET / HTTP/1.1\r\nHost: echo.test\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
      { until: /\}$/ },
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).not.toMatch(/h2c|http2-settings/i);
  });
});

test.each([
  ["of a known length", "Content-Length: 5\r\n\r\nhello"],
  [
    "in chunks",
    "Transfer-Encoding: chunked\r\n\r\n2;x\r\nhe\r\n3\r\nllo\r\n0\r\nX-T: 1\r\n\r\n",
  ],
])("a body %s beside an offer that is not taken arrives", async (_, rest) => {
  const answer = await rawExchange(
    proxy.http,
    `POST /b HTTP/1.1\r\nHost: echo.test\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n${rest}GET /hidden HTTP/1.1\r\nHost: echo.test\r\n\r\n`,
    { until: /\}$/ },
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer).toContain('"body":"hello"');
  expect(answer).not.toContain("hidden");
});

test("routes and backends change without a failed request", async () => {
  const one = await startBackend(echo("one"));
  const two = await startBackend(echo("two"));
  backends.push(one, two);
  proxy.backend("moving", one.state);
  proxy.routes("moving", [toBackend("moving", "moving.test")]);
  const seen = new Map<string, number>();
  let stop = false;
  const clients = Array.from({ length: 4 }, async () => {
    while (!stop) {
      const { status, text } = await request(proxy.http, {
        headers: { host: "moving.test" },
      });
      const name = status === 200 ? (JSON.parse(text) as Echoed).name : text;
      seen.set(name, (seen.get(name) ?? 0) + 1);
    }
  });
  for (let n = 0; n < 20; n++) {
    proxy.backend("moving", n % 2 ? one.state : two.state);
    proxy.routes("moving", [toBackend("moving", "moving.test")]);
    const before = [...seen.values()].reduce((a, b) => a + b, 0);
    await eventually(
      () => [...seen.values()].reduce((a, b) => a + b, 0) > before + 4,
      { intervalMs: 2 },
    );
  }
  stop = true;
  await Promise.all(clients);
  expect([...seen.keys()].sort()).toEqual(["one", "two"]);
});

test("a stop lets requests under way end", async () => {
  const draining = new TestProxy({ graceMs: 60_000 });
  await draining.start();
  let release: () => void = () => undefined;
  const late = await startBackend((_incoming, response) => {
    release = () => response.end("late");
  });
  backends.push(late);
  draining.backend("late", late.state);
  draining.routes("late", [toBackend("late")]);
  let asked = false;
  late.server.once("request", () => (asked = true));
  const reply = request(draining.http, { headers: { host: "any" } });
  await eventually(() => asked);
  const port = draining.http;
  const stopped = draining.stop();
  // No second request: what it brings to the backend would not be the one under way.
  await eventually(
    () =>
      new Promise((resolve) => {
        const socket = net.connect(port, "127.0.0.1");
        socket.once("error", () => resolve(true));
        socket.once("connect", () => {
          socket.destroy();
          resolve(false);
        });
      }),
    { what: "new connections to be refused" },
  );
  release();
  expect((await reply).text).toBe("late");
  await stopped;
});
