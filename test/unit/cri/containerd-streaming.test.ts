// The connection to containerd's streaming server at a command's end: see readToTheEnd.
import * as net from "node:net";
import { once } from "node:events";
import { readToTheEnd } from "../../../cri/containerd/streams/streaming.ts";

test("what the runtime said last is read, although it did not read its input", async () => {
  const server = net.createServer({ pauseOnConnect: true });
  server.unref();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  const accepted = once(server, "connection") as Promise<[net.Socket]>;
  const socket = net.connect(port, "127.0.0.1");
  const [[peer]] = await Promise.all([accepted, once(socket, "connect")]);
  server.close();
  readToTheEnd(socket);
  const parts: Buffer[] = [];
  socket.on("data", (part: Buffer) => parts.push(part));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => undefined);

  // All within one turn: the writer meets the reset before the reader looks.
  peer.write("the exit status");
  peer.resetAndDestroy();
  let written = 0;
  for (let i = 0; i < 10; i++) socket.write("input", () => written++);
  await closed;

  expect(Buffer.concat(parts).toString()).toBe("the exit status");
  expect(written).toBe(10);
});
