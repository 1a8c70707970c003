// The socket of every HTTP port of the program: HTTP/1.1 and HTTP/2 over TLS (ALPN), upgrades on HTTP/1.1; each request is
// handed to the port as an Exchange (exchange.ts, upgrade-exchange.ts). Bounds connections, headers and idle time. Without
// a certificate it speaks plain HTTP/1.1, for tests and ports that only this machine reaches.
import type { PrivateKeyPem } from "../api/pki/keys.ts";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import {
  createSecureServer,
  Http2ServerRequest,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  constants,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createServer as createTlsServer } from "node:https";
import type { SecureContext, SecureContextOptions, TLSSocket } from "node:tls";
import type { Logger } from "pino";
import {
  contextsByName,
  secureContextOptions,
  serverNameCallback,
  type NamedPair,
  type ServingTls,
} from "../api/pki/serving-tls.ts";
import { arrive } from "./intake/arrive.ts";
import { Intake } from "./intake/intake.ts";
import { Handshakes } from "./connections/handshakes.ts";
import { HeaderDeadline } from "./connections/header-deadline.ts";
import { HeaderValues } from "./connections/header-values.ts";
import { OpenConnections } from "./connections/open-connections.ts";
import { clientCertificates } from "./connections/peer-certificates.ts";
import { Pipeline } from "./pipeline.ts";
import { maxHeaderFields, refusalOf } from "./request-head.ts";
import { SessionDeadline } from "./connections/session-deadline.ts";
import { replaceStreamTable } from "./connections/stream-table.ts";
import { UpgradeExchange } from "./upgrade-exchange.ts";
import {
  Http1Exchange,
  Http2Exchange,
  refuse,
  type Exchange,
  type Peer,
} from "./exchange.ts";

export interface ServingCertificate {
  /** PEM, chain allowed. */
  readonly cert: string;
  readonly key: PrivateKeyPem;
  /** PEM: whose certificates clients are asked for. Whether one is good is found out later, for each request. */
  readonly clientCa?: string;
  /** In place of those of the listener's `servingTls`. */
  readonly named?: readonly NamedPair[];
}

export interface ListenerOptions {
  /** Undefined: all. */
  readonly address: string | undefined;
  /** 0: a free one. */
  readonly port: number;
  readonly tls: ServingCertificate | undefined;
  /** Lowest version, cipher suites, and certificates by server name. */
  readonly servingTls?: ServingTls;
  /** In place of the certificates of `servingTls`. Undefined: the listener's own. */
  readonly contextOf?: (name: string) => SecureContext | undefined;
  /** Asked before any other: names that are the program's own. */
  readonly ownContextOf?: (name: string) => SecureContext | undefined;
  /** HTTP/1.1 only; default false. */
  readonly http1Only?: boolean;
  readonly maxStreamsPerConnection: number;
  /** Are clients asked for certificates in the handshake? Default true. */
  readonly asksForCertificates?: boolean;
  /** Of a request's header; default 1 MiB. */
  readonly maxHeaderBytes?: number;
  /**
   * Default 10,000. Beyond it a slow handshake is ended, or the connection that has been idle the longest, or the oldest
   * handshake, or the new one refused.
   */
  readonly maxConnections?: number;
  /** Probability that an HTTP/2 answer asks the client for a new connection; 0 to 0.02. */
  readonly goawayChance: number;
  readonly handle: (exchange: Exchange) => void;
  readonly logger: Logger;
}

const headersTimeoutMs = 32_000;
/** A handshake takes milliseconds; so long only where the machine or the network is overloaded. */
const slowHandshakeMs = 5_000;
/** Without a request, as at the reference. */
const idleTimeoutMs = 90_000;
/** A cluster of 5,000 nodes keeps two or three for each. */
const defaultMaxConnections = 10_000;
/** So that clients who heed it send long headers in one frame: continuations are limited to eight. */
const maxFrameBytes = 1024 * 1024;

/** Unsent parts of lists on all streams of a connection; beyond it new streams are refused. */
const maxSessionMemoryMb = 32;
/** The reference's: selectors and impersonated groups may be long. */
const maxHeaderBytes = 1024 * 1024;

export class Listener {
  /** TLS handshakes that failed. */
  handshakeErrors = 0;
  readonly #server: Server | Http2SecureServer;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #sockets = new Set<Socket>();
  readonly #peers = new WeakMap<object, Peer>();
  readonly #pipeline = new Pipeline();
  readonly #intake = new Intake();
  readonly #handshakes = new Handshakes();
  readonly #values = new HeaderValues();
  readonly #slow: HeaderDeadline;
  #idle: SessionDeadline | undefined;
  readonly #open: OpenConnections;
  #contextOf: (name: string) => SecureContext | undefined = () => undefined;

  constructor(private readonly options: ListenerOptions) {
    const { tls, maxConnections = defaultMaxConnections, logger } = options;
    this.#open = new OpenConnections({
      max: maxConnections,
      makeRoom: () => this.#makeRoom(),
      logger,
    });
    const slow = (this.#slow = new HeaderDeadline(headersTimeoutMs));
    if (tls) {
      const common = {
        ...this.#loadCertificates(tls),
        requestCert: options.asksForCertificates ?? true,
        rejectUnauthorized: false,
        handshakeTimeout: headersTimeoutMs,
        SNICallback: serverNameCallback(
          () => options.contextOf ?? this.#contextOf,
          options.ownContextOf,
        ),
      };
      this.#server = options.http1Only
        ? createTlsServer(common)
        : createSecureServer({
            ...common,
            allowHTTP1: true,
            settings: {
              maxConcurrentStreams: options.maxStreamsPerConnection,
              initialWindowSize: 256 * 1024,
              maxHeaderListSize: options.maxHeaderBytes ?? maxHeaderBytes,
              maxFrameSize: maxFrameBytes,
            },
            maxHeaderListPairs: maxHeaderFields,
            maxSessionMemory: maxSessionMemoryMb,
          });
      this.#server.on(
        "stream",
        (
          stream: ServerHttp2Stream,
          headers: IncomingHttpHeaders,
          _flags: number,
          rawHeaders: readonly string[],
        ) => this.#onStream(stream, headers, rawHeaders),
      );
      const idle = (this.#idle = new SessionDeadline(
        idleTimeoutMs,
        headersTimeoutMs,
      ));
      this.#server.on("session", (session: ServerHttp2Session) => {
        replaceStreamTable(session);
        this.#sessions.add(session);
        idle.add(session);
        session.once("close", () => this.#sessions.delete(session));
        session.on("error", () => undefined);
      });
      this.#server.on("secureConnection", (socket: TLSSocket) => {
        this.#handshakes.done(socket);
        this.#track(socket);
        if (socket.alpnProtocol !== "h2") slow.add(socket);
      });
      this.#server.on("tlsClientError", () => void this.handshakeErrors++);
      this.#server.on("sessionError", () => undefined);
    } else {
      this.#server = createServer();
      this.#server.on("connection", (socket: Socket) => {
        this.#track(socket);
        slow.add(socket);
      });
    }
    const http1 = this.#server as Server;
    // Node would make a request and a response of its own of each HTTP/2 stream as soon as "request" is listened to.
    http1.removeAllListeners("newListener");
    http1.on("connection", (socket: Socket) => this.#admit(socket));
    for (const [event, waits] of [
      ["request", false],
      ["checkContinue", true],
    ] as const)
      http1.on(event, (request: IncomingMessage, response: ServerResponse) => {
        if (!(request instanceof Http2ServerRequest))
          this.#onRequest(request, response, waits);
      });
    http1.on(
      "upgrade",
      (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        socket.on("error", () => socket.destroy());
        this.#slow.forget(socket as Socket);
        const peer = this.#peerOf(socket as Socket);
        peer.intaken?.upgraded();
        const exchange = new UpgradeExchange(request, socket, head, peer);
        // Sent behind other requests: it gets the connection when they have been answered.
        this.#pipeline.afterAll(socket as Socket, () => this.#handle(exchange));
      },
    );
    http1.on(
      "clientError",
      ({ code }: NodeJS.ErrnoException, socket: Duplex) => {
        // Bytes after a last request do not shorten its answer.
        if (code === "HPE_CLOSED_CONNECTION") return;
        const status =
          code === "HPE_HEADER_OVERFLOW"
            ? "431 Request Header Fields Too Large"
            : "400 Bad Request";
        if (socket.writable)
          socket.end(
            `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`,
          );
        else socket.destroy();
      },
    );
    // Read by the parser of each HTTP/1 connection, also where HTTP/2's server accepts them.
    (http1 as Server & { maxHeaderSize: number }).maxHeaderSize =
      options.maxHeaderBytes ?? maxHeaderBytes;
    // One more than is served, so that a request with too many is seen to have them.
    http1.maxHeadersCount = maxHeaderFields + 1;
    // Watches last; a slow header is the only thing to time out.
    http1.requestTimeout = 0;
    http1.headersTimeout = headersTimeoutMs;
    http1.keepAliveTimeout = idleTimeoutMs;
    http1.timeout = 0;
  }

  listen(): Promise<void> {
    const { address, port } = this.options;
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ host: address, port, backlog: 1024 }, () => {
        this.#server.off("error", reject);
        this.#server.on("error", (error) =>
          this.options.logger.error({ err: error }, "listener"),
        );
        resolve();
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  /** New certificates for connections from now on. */
  reload(tls: ServingCertificate): void {
    if ("setSecureContext" in this.#server)
      this.#server.setSecureContext(this.#loadCertificates(tls));
  }

  /** No new connections; the present ones end when their requests have. */
  drain(): void {
    this.#server.close();
    for (const session of this.#sessions)
      if (!session.destroyed) session.goaway(constants.NGHTTP2_NO_ERROR);
    if ("closeIdleConnections" in this.#server)
      (this.#server as Server).closeIdleConnections();
    this.#slow.closeIdle();
  }

  /** Drains, and ends what is left after the grace. */
  async close(graceMs: number): Promise<void> {
    const ended = new Promise<void>((resolve) =>
      this.#server.listening ? this.#server.once("close", resolve) : resolve(),
    );
    this.drain();
    const timer = setTimeout(() => this.destroy(), graceMs);
    await ended;
    clearTimeout(timer);
    this.destroy();
  }

  destroy(): void {
    this.#server.close();
    this.#slow.stop();
    this.#idle?.stop();
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
    this.#open.destroy();
  }

  get connections(): number {
    return this.#sockets.size;
  }

  #onStream(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
  ): void {
    stream.on("error", ignored);
    this.#values.release(rawHeaders);
    const { session } = stream;
    const peer = this.#peerOf(session?.socket as Socket | undefined, session);
    const exchange = new Http2Exchange(stream, headers, rawHeaders, peer);
    if (session)
      stream.once(
        "close",
        this.#idle!.begin(session as ServerHttp2Session, stream),
      );
    const { goawayChance } = this.options;
    if (goawayChance > 0 && session && Math.random() < goawayChance) {
      // The client makes a new connection at once; the requests under way on this connection are finished.
      session.goaway(constants.NGHTTP2_NO_ERROR);
      stream.once("close", session.close.bind(session));
    }
    arrive(exchange, () => this.options.handle(exchange));
  }

  #onRequest(
    request: IncomingMessage,
    response: ServerResponse,
    waiting: boolean,
  ): void {
    const answered = this.#slow.begin(request.socket);
    this.#pipeline.add(request.socket, response);
    const peer = this.#peerOf(request.socket);
    const exchange = new Http1Exchange(request, response, peer, waiting);
    if (answered) exchange.onClose(answered);
    arrive(exchange, () => this.#handle(exchange));
  }

  #handle(exchange: Http1Exchange): void {
    const refusal = refusalOf(exchange.request);
    if (refusal) refuse(exchange, ...refusal);
    else this.options.handle(exchange);
  }

  #admit(socket: Socket): void {
    if (!this.#open.admit(socket)) return;
    const { tls } = this.options;
    if (tls !== undefined) this.#handshakes.begin(socket);
    this.#intake.accept(socket, tls !== undefined);
  }

  /** False: every connection is in use. */
  #makeRoom(): boolean {
    return (
      this.#handshakes.endOldest(slowHandshakeMs) ||
      this.#slow.endIdle() ||
      this.#idle?.endIdle() === true ||
      this.#handshakes.endOldest(0)
    );
  }

  #track(socket: Socket): void {
    socket.setNoDelay(true);
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    socket.on("error", () => undefined);
  }

  #peerOf(socket: Socket | undefined, key: object | undefined = socket): Peer {
    if (!socket || !key)
      return { remoteAddress: "", clientCertificate: undefined };
    let peer = this.#peers.get(key);
    if (!peer) {
      peer = {
        remoteAddress: socket.remoteAddress ?? "",
        ...clientCertificates(socket),
        intaken: this.#intake.of(socket),
        tenant: undefined,
      };
      this.#peers.set(key, peer);
    }
    return peer;
  }

  #loadCertificates(tls: ServingCertificate): SecureContextOptions {
    const { cert, key, clientCa, named } = tls;
    const servingTls = {
      ...this.options.servingTls,
      ...(named ? { named } : {}),
    };
    this.#contextOf = contextsByName(servingTls, clientCa);
    return secureContextOptions(
      { certificate: cert, key, clientCa },
      servingTls,
    );
  }
}

/** Made once: a callback made for a stream would keep its request until the client has read the answer. */
const ignored = (): void => undefined;
