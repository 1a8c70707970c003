// Requests sent without waiting for the answers before them: none outlives its client, and an upgrade waits its turn.
import * as net from "node:net";
import { once } from "node:events";
import pino from "pino";
import type { Exchange } from "../../../http-kit/exchange.ts";
import { Listener } from "../../../http-kit/listener.ts";
import { eventually } from "../../support/eventually.ts";

let listener: Listener;
let held: Exchange[];
let client: net.Socket;
let received: string;

beforeEach(async () => {
  held = [];
  received = "";
  listener = new Listener({
    address: "127.0.0.1",
    port: 0,
    tls: undefined,
    maxStreamsPerConnection: 1,
    goawayChance: 0,
    logger: pino({ enabled: false }),
    handle: (exchange) => void held.push(exchange),
  });
  await listener.listen();
  client = net.connect(listener.port, "127.0.0.1");
  client.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")));
  await once(client, "connect");
});
afterEach(() => {
  client.destroy();
  listener.destroy();
});

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const upgrade =
  "GET /upgrade HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

test("when the client leaves, answers that wait for their turn are closed", async () => {
  client.write(Array.from({ length: 20 }, (_, at) => get(`/${at}`)).join(""));
  await eventually(() => held.length === 20);
  const closed = held.map(() => 0);
  held.forEach((exchange, at) => exchange.onClose(() => closed[at]!++));
  client.destroy();
  await eventually(() => closed.every((count) => count === 1));
  expect(held.map((exchange) => exchange.closed)).not.toContain(false);
});

test("answers that have had their turn are closed once", async () => {
  client.write(get("/0") + get("/1") + get("/2"));
  await eventually(() => held.length === 3);
  const closed = held.map(() => 0);
  held.forEach((exchange, at) => exchange.onClose(() => closed[at]!++));
  held[1]!.respond(200, {}, "one");
  held[0]!.respond(200, {}, "zero");
  await eventually(() => received.endsWith("one"));
  client.destroy();
  await eventually(() => closed.every((count) => count === 1));
});

test("an upgrade is served after the requests before it", async () => {
  client.write(get("/0") + get("/1") + upgrade);
  await eventually(() => held.length === 2);
  held[1]!.respond(200, {}, "one");
  expect(held).toHaveLength(2);
  held[0]!.respond(200, {}, "zero");
  await eventually(() => held.length === 3);
  expect(held[2]!.upgrade).toBeDefined();
  held[2]!.respond(403, {}, "refused");
  await once(client, "close");
  expect(received).toMatch(/zero[^]*one[^]* 403 [^]*refused$/);
});

test("an upgrade whose client leaves before its turn is not served", async () => {
  client.write(get("/0") + upgrade);
  await eventually(() => held.length === 1);
  let closed = false;
  held[0]!.onClose(() => (closed = true));
  client.destroy();
  await eventually(() => closed);
  expect(held).toHaveLength(1);
});

test("many who wait for the end of an upgrade are not taken for a leak", async () => {
  client.write(upgrade);
  await eventually(() => held.length === 1);
  const exchange = held[0]!;
  const closed = Array.from({ length: 20 }, () => 0);
  closed.forEach((_, at) => exchange.onClose(() => closed[at]!++));
  const { socket } = exchange.upgrade!;
  // Above its maximum Node warns of a leak.
  expect(socket.listenerCount("close")).toBeLessThanOrEqual(
    socket.getMaxListeners(),
  );
  exchange.respond(500, {}, "no backend");
  await eventually(() => received.endsWith("no backend"));
  client.end();
  await eventually(() => closed.every((count) => count === 1));
});
