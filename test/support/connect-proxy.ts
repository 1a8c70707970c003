// A proxy of HTTP CONNECT for tests, over TCP, TLS with client certificates, or a unix socket: it notes where it was asked to
// go, and may refuse, hang, speak nonsense, or lead somewhere else.
import * as http from "node:http";
import * as https from "node:https";
import * as net from "node:net";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

export interface ConnectProxy {
  readonly port: number;
  /** host:port of each CONNECT. */
  readonly asked: string[];
  /** Takes the connection over: what is written is the proxy's answer. */
  answer: ((socket: Duplex) => void) | undefined;
  /** Wherever it is asked to go, it goes to this port of 127.0.0.1. */
  leadsTo: number | undefined;
  stop(): Promise<void>;
}

/** @param at a unix socket's path; without it a port of 127.0.0.1 */
export async function startConnectProxy(
  at: { socketPath?: string; tls?: https.ServerOptions } = {},
): Promise<ConnectProxy> {
  const server = at.tls ? https.createServer(at.tls) : http.createServer();
  const open = new Set<Duplex>();
  const asked: string[] = [];
  server.on("connection", (socket: net.Socket) => {
    open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => open.delete(socket));
  });
  const proxy: ConnectProxy = {
    get port() {
      return (server.address() as AddressInfo).port;
    },
    asked,
    answer: undefined,
    leadsTo: undefined,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
  server.on("connect", ({ url = "" }, socket: Duplex) => {
    asked.push(url);
    socket.on("error", () => socket.destroy());
    if (proxy.answer) return proxy.answer(socket);
    const { hostname, port } = new URL(`http://${url}`);
    const to =
      proxy.leadsTo === undefined
        ? net.connect(Number(port), hostname.replace(/^\[|\]$/g, ""))
        : net.connect(proxy.leadsTo, "127.0.0.1");
    open.add(to);
    to.once("connect", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      to.pipe(socket).pipe(to);
    });
    to.on("error", () => socket.destroy());
    to.once("close", () => {
      open.delete(to);
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) =>
    at.socketPath === undefined
      ? server.listen(0, "127.0.0.1", resolve)
      : server.listen(at.socketPath, resolve),
  );
  return proxy;
}
