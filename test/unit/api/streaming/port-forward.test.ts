// Port-forward over SPDY, server side: halves of pairs that never get their other half, and terminals' sizes beside it.
import { PassThrough } from "node:stream";
import { createServer, connect, type Socket } from "node:net";
import { once } from "node:events";
import { acceptSpdyRemoteCommand } from "../../../../api/streaming/spdy-remote-command.ts";
import { serveSpdyPortForward } from "../../../../api/streaming/port-forward-server.ts";
import {
  createSpdySession,
  type SpdySession,
} from "../../../../api/streaming/spdy-session.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { eventually } from "../../../support/eventually.ts";

let sockets: [Socket, Socket];
let client: SpdySession;
const clock = new FakeClock();

beforeEach(async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const near = connect(port, "127.0.0.1");
  const [far] = (await once(server, "connection")) as [Socket];
  server.close();
  sockets = [near, far];
  client = createSpdySession(near, { side: "client" });
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
});

const half = (requestid: string): Record<string, string> => ({
  streamtype: "error",
  port: "80",
  requestid,
});

function serve(): void {
  void serveSpdyPortForward(sockets[1], {
    connect: () => Promise.resolve(new PassThrough()),
    clock,
    pod: "one",
    uid: "1",
  });
}

test("the half of a pair that was reset leaves nothing behind", async () => {
  serve();
  const streams = Array.from({ length: 20 }, (_unused, index) =>
    client.openStream(half(String(index))),
  );
  await Promise.all(streams.map((stream) => stream.accepted));
  expect(clock.pending).toBe(20);
  for (const stream of streams) stream.destroy();
  await eventually(() => clock.pending === 0);
});

test("a request id that no client makes is refused", async () => {
  serve();
  await client.openStream(half("7")).accepted;
  await expect(
    client.openStream(half("7".repeat(20_000))).accepted,
  ).rejects.toThrow("reset by the peer");
});

test("of terminal sizes that come at once the last ones count", async () => {
  const accepted = acceptSpdyRemoteCommand(
    sockets[1],
    { stdin: false, stdout: true, stderr: false, tty: true },
    "v4.channel.k8s.io",
    clock,
  );
  for (const streamtype of ["error", "stdout"])
    client.openStream({ streamtype });
  const resize = client.openStream({ streamtype: "resize" });
  const connection = await accepted;
  const widths: number[] = [];
  connection.onResize(({ width }) => widths.push(width));
  resize.write(
    Array.from(
      { length: 1000 },
      (_unused, width) => `{"Width":${width},"Height":24}`,
    ).join(""),
  );
  await eventually(() => widths.at(-1) === 999);
  expect(widths.length).toBeLessThan(30);
});
