// Real sockets: what they and TLS's have in common is Node's.
import { once } from "node:events";
import * as net from "node:net";
import { Handshakes } from "../../../http-kit/connections/handshakes.ts";

let server: net.Server;
const accepted: net.Socket[] = [];
const clients: net.Socket[] = [];

beforeAll(async () => {
  server = net.createServer((socket) => void accepted.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => {
  for (const socket of clients) socket.destroy();
  server.close();
});

async function connection(): Promise<net.Socket> {
  const came = once(server, "connection");
  clients.push(
    net.connect((server.address() as net.AddressInfo).port, "127.0.0.1"),
  );
  await came;
  return accepted.at(-1)!;
}

test("the oldest goes first, when it is old enough", async () => {
  let nowMs = 0;
  const handshakes = new Handshakes(() => nowMs);
  const [first, second, third] = [
    await connection(),
    await connection(),
    await connection(),
  ];
  for (const socket of [first, second, third]) {
    handshakes.begin(socket);
    nowMs += 1000;
  }
  handshakes.done(second);
  expect(handshakes.endOldest(5000)).toBe(false);
  nowMs = 5000;
  expect(handshakes.endOldest(5000)).toBe(true);
  expect(handshakes.endOldest(5000)).toBe(false);
  const over = (): boolean[] =>
    [first, second, third].map(({ destroyed }) => destroyed);
  expect(over()).toEqual([true, false, false]);
  expect(handshakes.endOldest(0)).toBe(true);
  expect(handshakes.endOldest(0)).toBe(false);
  expect(over()).toEqual([true, false, true]);
});

test("one whose client has left is none any more", async () => {
  const handshakes = new Handshakes();
  const socket = await connection();
  handshakes.begin(socket);
  const closed = once(socket, "close");
  socket.destroy();
  await closed;
  expect(handshakes.endOldest(0)).toBe(false);
});
