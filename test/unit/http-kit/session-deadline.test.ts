// The looks at HTTP/2 connections: real sessions, a clock of their own.
import * as http2 from "node:http2";
import * as net from "node:net";
import { once } from "node:events";
import { Http2Exchange } from "../../../http-kit/exchange.ts";
import { SessionDeadline } from "../../../http-kit/connections/session-deadline.ts";
import { eventually } from "../../support/eventually.ts";

const idleMs = 9000;
const headersMs = 4000;
const lookMs = 1000;

let now: number;
let deadline: SessionDeadline;
let server: http2.Http2Server;
let client: http2.ClientHttp2Session;
let socket: net.Socket;
let opened: number;
let settings: number;
const sessions = new Set<http2.ServerHttp2Session>();

/** The looks of a time in which nothing but `meanwhile` happens. */
async function pass(
  ms: number,
  meanwhile?: () => Promise<unknown>,
): Promise<void> {
  for (let passed = 0; passed < ms; passed += lookMs) {
    await meanwhile?.();
    now += lookMs;
    deadline.check();
  }
}

const ended = (): Promise<boolean> => eventually(() => sessions.size === 0);

beforeEach(async () => {
  now = 0;
  sessions.clear();
  opened = 0;
  settings = 0;
  deadline = new SessionDeadline(idleMs, headersMs, () => now);
  server = http2.createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => undefined);
    session.on("remoteSettings", () => settings++);
    session.once("close", () => sessions.delete(session));
    deadline.add(session);
  });
  server.on("stream", (...given) => {
    const [stream, headers, , raw] = given as unknown as [
      http2.ServerHttp2Stream,
      http2.IncomingHttpHeaders,
      number,
      readonly string[],
    ];
    opened++;
    stream.on("error", () => undefined);
    const peer = { remoteAddress: "", clientCertificate: undefined };
    const exchange = new Http2Exchange(stream, headers, raw, peer);
    const { session } = stream;
    stream.once(
      "close",
      deadline.begin(session as http2.ServerHttp2Session, stream),
    );
    if (headers[":path"] === "/watch") exchange.open(200, {});
    else exchange.respond(200, {}, Buffer.alloc(100_000));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  deadline.stop();
  client?.destroy();
  socket?.destroy();
  for (const session of sessions) session.destroy();
  server.close();
});

async function connect(): Promise<void> {
  const { port } = server.address() as net.AddressInfo;
  client = http2.connect(`http://127.0.0.1:${port}`);
  client.on("error", () => undefined);
  await once(client, "remoteSettings");
  await eventually(() => settings === 1);
}

async function connectBare(bytes: Buffer): Promise<void> {
  const { port } = server.address() as net.AddressInfo;
  socket = net.connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.resume();
  socket.write(bytes);
  await eventually(() => sessions.size === 1);
}

/** Until both sides have closed the stream, and what follows it has come. */
async function get(path: string): Promise<void> {
  const stream = client.request({ ":path": path });
  stream.on("error", () => undefined);
  stream.resume();
  if (path === "/watch") await once(stream, "response");
  else {
    await once(stream, "close");
    await new Promise((resolve) => client.ping(resolve));
  }
}

const preface = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
/** HEADERS of a stream that announce a CONTINUATION, which never comes. */
const openHeaders = Buffer.from([0, 0, 1, 1, 0, 0, 0, 0, 1, 0x82]);
test("a connection without requests ends after its time, and pings do not keep it", async () => {
  await connect();
  await get("/");
  const ping = (): Promise<unknown> =>
    new Promise((resolve) => client.ping(resolve));
  await pass(idleMs - lookMs, ping);
  expect(sessions.size).toBe(1);
  const goaway = once(client, "goaway");
  await pass(lookMs);
  await goaway;
  await ended();
});

test("a watch keeps its connection, whatever time passes", async () => {
  await connect();
  await get("/watch");
  await pass(idleMs * 3);
  expect(sessions.size).toBe(1);
});

test("each request begins the time anew", async () => {
  await connect();
  for (let again = 0; again < 3; again++) {
    await pass(idleMs - lookMs);
    await get("/");
  }
  expect(sessions.size).toBe(1);
});

test("a client that sends no settings has the time of a header", async () => {
  await connectBare(preface.subarray(0, 30));
  await pass(headersMs - lookMs);
  expect(sessions.size).toBe(1);
  await pass(lookMs);
  await ended();
});

test("a header block that does not end has the time of a header", async () => {
  await connectBare(preface);
  await eventually(() => settings === 1);
  await pass(2 * lookMs);
  const [session] = sessions;
  const before = session!.socket.bytesRead;
  socket.write(openHeaders);
  await eventually(() => session!.socket.bytesRead > before);
  await pass(headersMs - lookMs);
  expect(sessions.size).toBe(1);
  await pass(2 * lookMs);
  expect(opened).toBe(0);
  await ended();
});

test("an answer that nobody reads is given up, and with it the connection", async () => {
  await connect();
  const stream = client.request({ ":path": "/" });
  stream.on("error", () => undefined);
  stream.pause();
  await eventually(() => opened === 1);
  await eventually(async () => {
    await pass(lookMs);
    return stream.rstCode !== undefined && stream.rstCode !== 0;
  });
  await pass(idleMs);
  await ended();
});

test("a request whose body never ends is closed after its answer", async () => {
  await connect();
  const stream = client.request({ ":path": "/", ":method": "POST" });
  stream.on("error", () => undefined);
  stream.resume();
  stream.write("half");
  await once(stream, "end");
  await pass(headersMs + 2 * lookMs);
  await once(stream, "close");
  await pass(idleMs);
  await ended();
});

test("the connection idle the longest is ended for a new one", async () => {
  await connect();
  const first = [...sessions][0]!;
  await get("/watch");
  const { port } = server.address() as net.AddressInfo;
  const other = http2.connect(`http://127.0.0.1:${port}`);
  other.on("error", () => undefined);
  await eventually(() => sessions.size === 2);
  expect(deadline.endIdle()).toBe(true);
  await eventually(() => sessions.size === 1);
  expect([...sessions]).toEqual([first]);
  expect(deadline.endIdle()).toBe(false);
  other.destroy();
});
