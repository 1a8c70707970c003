// Clients of a gRPC server on a unix socket that name the socket's path as their :authority, as Go's did until 2023, and
// bytes that are no HTTP/2.
import { once } from "node:events";
import * as http2 from "node:http2";
import * as net from "node:net";
import { join } from "node:path";
import { AuthorityFilter } from "../../../grpc/authority-filter.ts";
import { GrpcChannel, loadGrpc } from "../../../grpc/channel.ts";
import { GrpcServer } from "../../../grpc/server.ts";
import { createWireCodec } from "../../../grpc/wire.ts";
import { randomNumbers } from "../../support/random-numbers.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
const method = { path: "/t.S/Call", request: "Text", response: "Text" };
const codec = createWireCodec({ Text: [["text", 1, "string", 0]] });

async function serve(): Promise<string> {
  const socket = join(directories(), "s.sock");
  const server = new GrpcServer(await loadGrpc(), {
    codec,
    handlers: [{ method, unary: ({ text }: { text: string }) => ({ text }) }],
  });
  await server.listen(socket);
  closing.push(() => server.close());
  return socket;
}

/** gRPC's status of a call whose headers are the client's own. */
async function call(
  session: http2.ClientHttp2Session,
  authority: string,
  text = "x",
): Promise<string> {
  const stream = session.request({
    ":method": "POST",
    ":path": method.path,
    ":authority": authority,
    "content-type": "application/grpc",
    te: "trailers",
  });
  const message = codec.encode("Text", { text });
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(message.length, 1);
  stream.end(Buffer.concat([frame, message]));
  stream.resume();
  const [trailers] = (await once(stream, "trailers")) as [
    http2.IncomingHttpHeaders,
  ];
  return String(trailers["grpc-status"]);
}

function connect(socket: string): http2.ClientHttp2Session {
  const session = http2.connect("http://localhost", {
    createConnection: () => net.connect(socket),
  });
  closing.push(() => session.destroy());
  return session;
}

test.each([
  "/var/lib/kubelet/device-plugins/kubelet.sock",
  "///var/lib/kubelet/pod-resources/kubelet.sock",
  "localhost",
  `/${"~@[$#".repeat(30)}/s.sock`,
  // Characters that are shorter without compression than with it.
  `/tmp/${"\\{}^`".repeat(40)}`,
])(
  "a client whose authority is %s is served, again and again",
  async (name) => {
    const session = connect(await serve());
    for (let count = 0; count < 3; count++)
      expect(await call(session, name)).toBe("0");
    // Another one, in the middle of the tables' life.
    expect(await call(session, `${name}/other`)).toBe("0");
    expect(await call(session, name, "y".repeat(100_000))).toBe("0");
  },
);

test("grpc-js's own client is served as before", async () => {
  const socket = await serve();
  const channel = new GrpcChannel(await loadGrpc(), {
    target: `unix://${socket}`,
    codec,
    settings: {},
  });
  closing.push(() => channel.close());
  const text = "z".repeat(1_000_000);
  expect(await channel.unary(method, { text })).toEqual({ text });
});

/** What a client writes for a call. */
async function written(authority: string): Promise<Buffer> {
  const directory = directories();
  const chunks: Buffer[] = [];
  const server = net.createServer((socket) => {
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", () => undefined);
  });
  await once(server.listen(join(directory, "s.sock")), "listening");
  const session = http2.connect("http://localhost", {
    createConnection: () => net.connect(join(directory, "s.sock")),
  });
  session.on("error", () => undefined);
  const stream = session.request({
    ":method": "POST",
    ":path": "/t.S/Call",
    ":authority": authority,
    "x-last": "marker-of-the-end",
  });
  stream.on("error", () => undefined);
  stream.end("body-of-the-end");
  const isDone = (): boolean =>
    Buffer.concat(chunks).includes("body-of-the-end");
  while (!isDone()) await new Promise((resolve) => setImmediate(resolve));
  session.destroy();
  server.close();
  return Buffer.concat(chunks);
}

test("however the bytes are cut, the same comes out", async () => {
  const bytes = await written("/run/s.sock");
  const whole = new AuthorityFilter().pass(bytes);
  expect(whole.includes("-run-s.sock")).toBe(true);
  for (const size of [1, 2, 3, 7, 10, 64]) {
    const filter = new AuthorityFilter();
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size)
      parts.push(filter.pass(bytes.subarray(at, at + size)));
    expect(Buffer.concat(parts)).toEqual(whole);
  }
});

test("what can't be read passes as it is, and damaged bytes hold nothing up", async () => {
  const bytes = await written("/run/s.sock");
  const random = randomNumbers(7);
  for (let round = 0; round < 2000; round++) {
    const damaged = Buffer.from(bytes);
    for (let count = 0; count < 4; count++)
      damaged[24 + Math.floor(random() * (bytes.length - 24))] = Math.floor(
        random() * 256,
      );
    const out = new AuthorityFilter().pass(damaged);
    expect(out.length).toBeLessThan(bytes.length + 200);
  }
  const nonsense = Buffer.alloc(100_000, 0xff);
  expect(new AuthorityFilter().pass(nonsense)).toEqual(nonsense);
});

test("a server closes with clients that say nothing or nonsense", async () => {
  const socket = await serve();
  const silent = net.connect(socket);
  const talking = net.connect(socket);
  for (const each of [silent, talking]) {
    each.on("error", () => undefined);
    await once(each, "connect");
  }
  talking.end("GET / HTTP/1.1\r\n\r\n");
  talking.resume();
  await once(talking, "close");
  const silentEnds = once(silent, "close");
  silent.resume();
  await closing.pop()!();
  await silentEnds;
  await expect(
    new Promise((resolve, reject) => {
      net.connect(socket).on("connect", resolve).on("error", reject);
    }),
  ).rejects.toThrow("ENOENT");
});
