// The sockets of the server: UDP and TCP on the same port of each address. Only sources in the given ranges are answered,
// so that a node with a public address is no open resolver; all others get silence. Every number is bounded: connections,
// queries under way on one, bytes of one, idle time.
// Source: RFC 1035 section 4.2, RFC 7766.
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import {
  createServer,
  isIPv6,
  type Server,
  type Socket as TcpSocket,
} from "node:net";
import { AddressRanges, plainAddress } from "../address-ranges.ts";
import type { Transport } from "./responder.ts";

const maxConnections = 512;
const defaultIdleMs = 10_000;
/** A query is a header, a name and an OPT record: no honest one comes near. */
const maxQueryBytes = 4096;
const maxUnderWay = 64;
const receiveBuffer = 1024 * 1024;

export interface ListenAddress {
  readonly address: string;
  /** 0: any free one. */
  readonly port: number;
}

type Respond = (
  bytes: Buffer,
  transport: Transport,
  client: string,
) => Buffer | Promise<Buffer> | undefined;

interface ListenerOptions {
  listen: readonly ListenAddress[];
  /** CIDRs whose queries are answered. */
  allowed: readonly string[];
  respond: Respond;
  /** How long a connection may do nothing, and a query may take to arrive; default 10 s. */
  idleMs?: number;
}

interface Listener {
  /** The ports, in the order of the addresses. */
  readonly ports: readonly number[];
  close(): Promise<void>;
}

async function listenUdp(
  { address, port }: ListenAddress,
  accepts: (address: string) => boolean,
  respond: Respond,
): Promise<Socket> {
  const socket = createSocket({
    type: isIPv6(address) ? "udp6" : "udp4",
    recvBufferSize: receiveBuffer,
    ...(isIPv6(address) ? { ipv6Only: true } : {}),
    // Destinations are addresses: without this each datagram would wait for a turn of the loop.
    lookup: (host, _options, callback) =>
      callback(null, host, isIPv6(host) ? 6 : 4),
  });
  const reply = (answer: Buffer, { address: to, port: toPort }: RemoteInfo) => {
    socket.send(answer, toPort, to, () => undefined);
  };
  socket.on("message", (bytes, source) => {
    // A reply to port 0 can't be sent; it would fail the socket.
    if (source.port === 0 || !accepts(source.address)) return;
    const answer = respond(bytes, "udp", source.address);
    if (answer instanceof Promise)
      void answer.then((each) => reply(each, source)).catch(() => undefined);
    else if (answer) reply(answer, source);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind({ port, address, exclusive: true }, () => {
      socket.off("error", reject);
      // What ICMP reports of a client that went away concerns no other client.
      socket.on("error", () => undefined);
      resolve();
    });
  });
  return socket;
}

/**
 * Reads the framed queries of one connection. While answers wait, to be made or to be taken by the client, no further query
 * is read, not even one that has arrived: answers are much larger than queries.
 */
function serveConnection(
  socket: TcpSocket,
  respond: Respond,
  idleMs: number,
): void {
  let received: Buffer = Buffer.alloc(0);
  let underWay = 0;
  let partial: NodeJS.Timeout | undefined;
  const address = socket.remoteAddress ?? "";
  socket.setTimeout(idleMs, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.on("close", () => clearTimeout(partial));
  const isBusy = (): boolean =>
    underWay >= maxUnderWay || socket.writableNeedDrain;
  const write = (answer: Buffer): void => {
    if (socket.destroyed) return;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(answer.length);
    // A client that does not read ends with the idle time.
    socket.write(Buffer.concat([length, answer]));
  };
  const serve = (bytes: Buffer): void => {
    const answer = respond(bytes, "tcp", address);
    if (!answer) socket.destroy();
    else if (answer instanceof Promise) {
      underWay++;
      void answer
        .then(write)
        .catch(() => socket.destroy())
        .finally(() => {
          underWay--;
          readOn();
        });
    } else write(answer);
  };
  const readOn = (): void => {
    while (received.length >= 2 && !socket.destroyed && !isBusy()) {
      const length = received.readUInt16BE(0);
      if (length > maxQueryBytes) {
        socket.destroy();
        return;
      }
      if (received.length < 2 + length) break;
      serve(Buffer.from(received.subarray(2, 2 + length)));
      received = received.subarray(2 + length);
      clearTimeout(partial);
      partial = undefined;
    }
    if (socket.destroyed) return;
    if (isBusy()) {
      socket.pause();
      return;
    }
    socket.resume();
    // A query that comes byte by byte is never idle.
    if (received.length > 0)
      partial ??= setTimeout(() => socket.destroy(), idleMs);
  };
  socket.on("drain", readOn);
  socket.on("data", (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    readOn();
  });
}

function listenTcp(
  { address, port }: ListenAddress,
  accepts: (address: string) => boolean,
  { respond, idleMs = defaultIdleMs }: ListenerOptions,
  open: Set<TcpSocket>,
): Promise<Server> {
  const server = createServer((socket) => {
    if (!accepts(plainAddress(socket.remoteAddress ?? ""))) {
      socket.destroy();
      return;
    }
    // The oldest one goes: connections that are kept open for nothing must not lock others out.
    const [oldest] = open;
    if (oldest && open.size >= maxConnections) {
      oldest.destroy();
      open.delete(oldest);
    }
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    serveConnection(socket, respond, idleMs);
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: address, ipv6Only: true }, () => {
      server.off("error", reject);
      server.on("error", () => undefined);
      resolve(server);
    });
  });
}

/** UDP's port decides; TCP takes the same. A free port may be taken for TCP alone, then another one is tried. */
async function listenBoth(
  target: ListenAddress,
  accepts: (address: string) => boolean,
  options: ListenerOptions,
  open: Set<TcpSocket>,
): Promise<{ udp: Socket; tcp: Server; port: number }> {
  for (let tries = 0; ; tries++) {
    const udp = await listenUdp(target, accepts, options.respond);
    const { port } = udp.address();
    try {
      const tcp = await listenTcp({ ...target, port }, accepts, options, open);
      return { udp, tcp, port };
    } catch (error) {
      udp.close();
      if (target.port !== 0 || tries >= 10) throw error;
    }
  }
}

/** Rejects when an address or port can't be taken; nothing stays open then. */
export async function openListener(
  options: ListenerOptions,
): Promise<Listener> {
  const allowed = new AddressRanges(options.allowed);
  const accepts = (address: string): boolean => allowed.contains(address);
  const open = new Set<TcpSocket>();
  const sockets: { udp: Socket; tcp: Server; port: number }[] = [];
  const close = async (): Promise<void> => {
    for (const socket of open) socket.destroy();
    await Promise.all(
      sockets.flatMap(({ udp, tcp }) => [
        new Promise<void>((resolve) => udp.close(() => resolve())),
        new Promise<void>((resolve) => tcp.close(() => resolve())),
      ]),
    );
  };
  try {
    for (const target of options.listen)
      sockets.push(await listenBoth(target, accepts, options, open));
  } catch (error) {
    await close();
    throw error;
  }
  return { ports: sockets.map(({ port }) => port), close };
}
