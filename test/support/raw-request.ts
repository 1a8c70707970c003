// One HTTP/1.1 request, or offer to switch protocols, over a connection of its own that the caller keeps and destroys.
import * as net from "node:net";
import { eventually } from "./eventually.ts";

interface RawRequest {
  path: string;
  method: string;
  headers: Record<string, string>;
  /** The protocol to switch to; without it the connection is to be closed after the answer. */
  upgrade: string | undefined;
}

/** Resolves once the server has ended the connection or switched protocols. The socket is added to `sockets` at once. */
export async function rawRequest(
  port: number,
  { path, method, headers, upgrade }: RawRequest,
  sockets: net.Socket[],
): Promise<{ status: number; head: string; body: string; ended: boolean }> {
  const socket = net.connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => undefined);
  const sent = {
    host: "x",
    ...headers,
    ...(upgrade ? { connection: "Upgrade", upgrade } : { connection: "close" }),
  };
  const lines = Object.entries(sent).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  let text = "";
  let ended = false;
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.on("end", () => (ended = true));
  const switched = (): boolean =>
    text.startsWith("HTTP/1.1 101") && text.includes("\r\n\r\n");
  await eventually(() => ended || socket.destroyed || switched());
  const [head = "", body = ""] = text.split("\r\n\r\n", 2);
  return { status: Number(head.split(" ")[1]), head, body, ended };
}
