// A container's log over a WebSocket: the answer's bytes in messages, binary or (base64.binary.k8s.io) base64 text. What
// the client sends is ignored. The log is read no faster than the client takes it.
import type { IncomingMessage } from "node:http";
import type { Duplex, Readable } from "node:stream";
import type { WebSocket } from "ws";
import { errors } from "../../api/errors.ts";
import { offeredProtocols } from "../authentication/bearer-subprotocol.ts";

const BASE64 = "base64.binary.k8s.io";
const PROTOCOLS: readonly string[] = ["binary.k8s.io", BASE64];

/** Does the handshake and sends what `log` has, then closes. Throws ApiError 400 for a protocol that is not known. */
export async function sendLog(
  log: Readable,
  headers: IncomingMessage["headers"],
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  const asked = offeredProtocols(headers);
  const chosen = asked.find((name) => PROTOCOLS.includes(name));
  if (asked.length > 0 && !chosen)
    throw errors.badRequest(
      `requested protocol(s) are not supported: [${asked.join(" ")}]; supports [ ${PROTOCOLS.join(" ")}]`,
    );
  const { WebSocketServer } = await import("ws");
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: 64 * 1024,
    handleProtocols: () => chosen ?? false,
  });
  const request = { method: "GET", headers } as IncomingMessage;
  server.handleUpgrade(request, socket, head, (opened) => {
    opened.on("error", () => opened.terminate());
    opened.on("close", () => log.destroy());
    void pump(log, opened, chosen === BASE64);
  });
}

async function pump(
  log: Readable,
  socket: WebSocket,
  base64: boolean,
): Promise<void> {
  try {
    for await (const chunk of log as AsyncIterable<Buffer>)
      await new Promise<void>((resolve, reject) =>
        socket.send(base64 ? chunk.toString("base64") : chunk, (error) =>
          error ? reject(error) : resolve(),
        ),
      );
    socket.close(1000);
  } catch {
    // The client has gone, or the agent broke off.
    socket.terminate();
  }
}
