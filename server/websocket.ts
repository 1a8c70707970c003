// WebSocket upgrades by `ws`, as the MessageSocket of api/streaming. `ws` refuses sub-protocol names with a slash, so the
// port-forward tunnel's name is swapped for a substitute in the request and swapped back in the answer's head.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { portForwardTunnelProtocol } from "../api/streaming/channel-protocol.ts";
import type { MessageSocket } from "../api/streaming/message-socket.ts";

const tunnelStandIn = "orbit-portforward-tunnel";
/** One message; clients send at most some tens of KiB. */
const maxMessageBytes = 1024 * 1024;
/** A peer that does not answer the close message is dropped. */
const closeTimeoutMs = 5_000;

function messageSocket(socket: WebSocket): MessageSocket {
  let closing: NodeJS.Timeout | undefined;
  socket.on("error", () => socket.terminate());
  socket.on("close", () => clearTimeout(closing));
  return {
    send(message, done) {
      if (socket.readyState !== socket.OPEN) done();
      else
        socket.send(message, { binary: typeof message !== "string" }, (error) =>
          done(error ?? null),
        );
    },
    onMessage(listener) {
      socket.on("message", (data: Buffer) => listener(data));
    },
    onClose(listener) {
      if (socket.readyState === socket.CLOSED) listener();
      else socket.once("close", () => listener());
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close(code, reason) {
      if (socket.readyState !== socket.OPEN) return;
      socket.resume(); // the peer's close message has to be read
      socket.close(code, reason);
      closing = setTimeout(() => socket.terminate(), closeTimeoutMs);
      closing.unref();
    },
  };
}

export function isWebSocketUpgrade(request: IncomingMessage): boolean {
  return /(^|,)\s*websocket\s*(,|$)/i.test(request.headers.upgrade ?? "");
}

export interface WebSocketUpgrader {
  /** Completes the handshake with the given sub-protocol ("" for none); undefined: the handshake was bad and answered. */
  upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    protocol: string,
  ): Promise<MessageSocket | undefined>;
  close(): void;
}

export function createWebSocketUpgrader(): WebSocketUpgrader {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    handleProtocols: (protocols) => [...protocols][0] ?? false,
  });
  server.on("headers", (lines) => {
    const at = lines.indexOf(`Sec-WebSocket-Protocol: ${tunnelStandIn}`);
    if (at !== -1)
      lines[at] = `Sec-WebSocket-Protocol: ${portForwardTunnelProtocol}`;
  });
  return {
    upgrade(request, socket, head, protocol) {
      if (protocol === "") delete request.headers["sec-websocket-protocol"];
      else
        request.headers["sec-websocket-protocol"] =
          protocol === portForwardTunnelProtocol ? tunnelStandIn : protocol;
      return new Promise((resolve) => {
        const refused = (): void => resolve(undefined);
        socket.once("close", refused);
        server.handleUpgrade(request, socket, head, (opened) => {
          socket.off("close", refused);
          // Nothing is delivered before the caller listens.
          opened.pause();
          resolve(messageSocket(opened));
        });
      });
    },
    close: () => server.close(),
  };
}
