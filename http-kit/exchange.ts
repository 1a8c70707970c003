// One request and its answer, the same for HTTP/1.1 and HTTP/2. HTTP/2 goes through the stream API, HTTP/1.1 through
// the request event, so that neither pays for the other's compatibility layer.
// Invariant: exactly one of `respond`, `open` (or `stream`) and `switched` is called, once.
import type {
  IncomingHttpHeaders,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { Duplex, Readable, Writable } from "node:stream";
import type { Intaken } from "./intake/intake.ts";

/** Facts of the connection, found out once for all its requests. */
export interface Peer {
  readonly remoteAddress: string;
  /** The leaf in DER; the same Buffer for every request of a connection. */
  readonly clientCertificate: Buffer | undefined;
  /** What came with it in the handshake, its issuers in their order; a resumed session has none. */
  readonly clientChain?: readonly Buffer[];
  /** Set when the connection should end after this answer (go away). */
  goAway?: () => void;
  /** Who was authenticated last on the connection; unset before, and for anonymous requests. */
  tenant?: string | undefined;
  /** Whether the connection is read; undefined: it always is. */
  readonly intaken?: Intaken | undefined;
}

/** The connection of a request that offers to switch protocols. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What came after the request's header. */
  readonly head: Buffer;
}

export interface FrameStream {
  readonly out: Writable;
  /** Frames it as chunks of HTTP itself, if at all. */
  readonly framed?: boolean;
  end(): void;
}

/** How long a body that is too large is read on, so that the client comes to read the answer. */
const lingerMs = 500;
const lineEnd = Buffer.from("\r\n");

/** A chunk of the chunked transfer coding. */
export function chunkOf(bytes: Uint8Array): Buffer {
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    lineEnd,
  ]);
}

/** From names and values in turns, as they came. */
function groupByName(rawHeaders: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    const values = groups.get(name);
    if (values) values.push(rawHeaders[at + 1]!);
    else groups.set(name, [rawHeaders[at + 1]!]);
  }
  return groups;
}

export interface Exchange {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The values of a header that may come several times, apart from each other: `headers` joins them by commas. */
  headerValues(name: string): string[];
  readonly peer: Peer;
  /** Whose work this is, as far as it is known. */
  readonly tenant?: string | undefined;
  /** The request waits to begin; the returned function is to be called when it waits no longer. */
  waits?(): (() => void) | undefined;
  readonly http2: boolean;
  /** Streams are framed by the chunked coding of HTTP/1.1. */
  readonly chunks: boolean;
  readonly body: Readable;
  /** A body follows the headers. */
  readonly hasBody: boolean;
  /** Undefined: no other protocol is offered. An offer that is not taken changes nothing. */
  readonly upgrade: Upgrade | undefined;
  /** Headers have been sent. */
  readonly started: boolean;
  /** The client is gone or everything has been sent. */
  readonly closed: boolean;
  /** Of the answer, 0 before it. For metrics and audit. */
  readonly status: number;
  /** Of the answer's body; who writes a stream counts it. For metrics. */
  sentBytes: number;
  respond(
    status: number,
    headers: OutgoingHttpHeaders,
    body?: Uint8Array | string,
  ): void;
  /** A caller may change the bytes it wrote once the callback of their write was called. */
  open(status: number, headers: OutgoingHttpHeaders): Writable;
  /**
   * The same for many small frames shared by many streams. With `chunks` each has to be written as an HTTP chunk
   * (`chunkOf`), so that one buffer with its framing serves all HTTP/1.1 watchers with one write.
   */
  stream(status: number, headers: OutgoingHttpHeaders): FrameStream;
  /** The offer was taken and the socket is the taker's, in place of an answer. */
  switched(status?: number): void;
  /** Called once, when the answer is complete or the client has gone. */
  onClose(callback: () => void): void;
  destroy(): void;
}

export class Http1Exchange implements Exchange {
  readonly http2 = false;
  readonly upgrade: Upgrade | undefined;
  status = 0;
  sentBytes = 0;
  /** Made when first asked for: most requests repeat no header. */
  #headerGroups: ReadonlyMap<string, string[]> | undefined;
  /** Called when the answer is complete: one listener for all of them, as each costs as much as several of these. */
  #closing: (() => void)[] | undefined;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly peer: Peer,
    /** The client waits for 100 Continue before it sends its body. */
    private waiting = false,
  ) {}

  /** The reason phrase of the answer's first line, where it is not the status's own text. */
  set reason(text: string) {
    this.response.statusMessage = text;
  }

  get tenant(): string | undefined {
    return this.peer.tenant;
  }
  waits(): (() => void) | undefined {
    return this.peer.intaken?.waits();
  }
  get chunks(): boolean {
    return this.request.httpVersionMinor > 0;
  }
  get method(): string {
    return this.request.method ?? "GET";
  }
  get url(): string {
    const { url = "/" } = this.request;
    // As proxies are asked: with scheme and host.
    return url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?]*/i, "");
  }
  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }
  headerValues(name: string): string[] {
    this.#headerGroups ??= groupByName(this.request.rawHeaders);
    return this.#headerGroups.get(name) ?? [];
  }
  get hasBody(): boolean {
    const { headers } = this.request;
    return (
      headers["transfer-encoding"] !== undefined ||
      Number(headers["content-length"] ?? 0) > 0
    );
  }
  get body(): Readable {
    if (this.waiting && !this.started) this.response.writeContinue();
    this.waiting = false;
    return this.request;
  }
  get started(): boolean {
    return this.response.headersSent;
  }
  get closed(): boolean {
    return this.response.destroyed || this.response.writableEnded;
  }

  respond(
    status: number,
    headers: OutgoingHttpHeaders,
    body?: Uint8Array | string,
  ): void {
    this.status = status;
    this.sentBytes =
      body === undefined
        ? 0
        : typeof body === "string"
          ? Buffer.byteLength(body)
          : body.byteLength;
    headers["content-length"] ??= this.sentBytes;
    // The rest of a body that is too large, or does not come, is not waited for.
    const late = status === 413 || (status >= 503 && !this.request.complete);
    if (late) headers["connection"] = "close";
    this.response.writeHead(status, headers);
    const shown = this.request.method === "HEAD" ? undefined : body;
    if (late) this.#endLate(shown);
    else if (shown === undefined) this.response.end();
    else this.response.end(shown);
  }

  /** The client may still be sending: closing at once would take the answer from it. */
  #endLate(body: Uint8Array | string = ""): void {
    const { request, response } = this;
    response.write(body);
    const end = (): void => {
      clearTimeout(timer);
      response.end();
    };
    const timer = setTimeout(end, lingerMs);
    request.once("end", end);
    request.once("close", end);
  }

  open(status: number, headers: OutgoingHttpHeaders): Writable {
    this.status = status;
    this.response.writeHead(status, headers);
    this.response.flushHeaders();
    return this.response;
  }

  stream(status: number, headers: OutgoingHttpHeaders): FrameStream {
    const out = this.open(status, headers);
    const { response, chunks } = this;
    // From here on the framing is ours, and so is the socket: the response would cork and uncork it for every write.
    response.chunkedEncoding = false;
    return {
      out: response.socket ?? out,
      end: () => {
        if (chunks) response.write("0\r\n\r\n");
        response.end();
      },
    };
  }

  onClose(callback: () => void): void {
    if (this.#closing) this.#closing.push(callback);
    else {
      this.#closing = [callback];
      this.response.on("close", () => this.#close());
    }
  }

  #close(): void {
    for (const callback of this.#closing?.splice(0) ?? []) callback();
  }

  switched(): void {
    throw new Error("no other protocol was offered");
  }

  destroy(): void {
    this.request.socket.destroy();
  }
}

export class Http2Exchange implements Exchange {
  readonly http2 = true;
  readonly upgrade: undefined;
  readonly chunks = false;
  status = 0;
  sentBytes = 0;
  #headerGroups: ReadonlyMap<string, string[]> | undefined;

  constructor(
    readonly http2Stream: ServerHttp2Stream,
    readonly headers: IncomingHttpHeaders,
    readonly rawHeaders: readonly string[],
    readonly peer: Peer,
  ) {}

  headerValues(name: string): string[] {
    this.#headerGroups ??= groupByName(this.rawHeaders);
    return this.#headerGroups.get(name) ?? [];
  }

  get tenant(): string | undefined {
    return this.peer.tenant;
  }
  waits(): (() => void) | undefined {
    return this.peer.intaken?.waits();
  }

  get method(): string {
    return this.headers[":method"] as string;
  }
  get url(): string {
    // CONNECT names no path.
    return (this.headers[":path"] as string | undefined) ?? "";
  }
  get body(): Readable {
    return this.http2Stream;
  }
  get hasBody(): boolean {
    return !this.http2Stream.endAfterHeaders;
  }
  get started(): boolean {
    return this.http2Stream.headersSent;
  }
  get closed(): boolean {
    return this.http2Stream.closed || this.http2Stream.destroyed;
  }

  respond(
    status: number,
    headers: OutgoingHttpHeaders,
    body?: Uint8Array | string,
  ): void {
    this.status = status;
    if (this.closed) return;
    headers[":status"] = status;
    const empty =
      body === undefined ||
      body.length === 0 ||
      this.headers[":method"] === "HEAD";
    if (!empty) {
      this.sentBytes =
        typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
      headers["content-length"] ??= this.sentBytes;
    }
    const stream = this.http2Stream;
    if (status === 413) stream.once("finish", () => stream.close(0));
    stream.respond(headers, { endStream: empty });
    forgetSentHeaders(stream);
    if (!empty) stream.end(body);
  }

  open(status: number, headers: OutgoingHttpHeaders): Writable {
    this.status = status;
    // Pipes of the request's body and of the answer listen to this one stream: Node would take that for a leak.
    this.http2Stream.setMaxListeners(maxStreamListeners);
    if (!this.closed) {
      headers[":status"] = status;
      this.http2Stream.respond(headers);
      forgetSentHeaders(this.http2Stream);
    }
    return this.http2Stream;
  }

  stream(status: number, headers: OutgoingHttpHeaders): FrameStream {
    const out = this.open(status, headers);
    return { out, end: () => out.end() };
  }

  onClose(callback: () => void): void {
    this.http2Stream.once("close", callback);
  }

  switched(): void {
    throw new Error("no other protocol was offered");
  }

  /**
   * As Go's server ends what a handler gave up: INTERNAL_ERROR. A stream that is closed with a code while a pipe writes to
   * it makes Node 20 turn for ever and take all memory, and where nothing waits to be sent its client sees a whole answer.
   */
  destroy(): void {
    this.http2Stream.destroy(new Error("the answer was cut off"));
  }
}

const maxStreamListeners = 30;
let sentHeaders: symbol | undefined;

/** Node's own field, which nothing reads here: an answer that waits for its client would keep a table of its headers. */
function forgetSentHeaders(stream: object): void {
  sentHeaders ??= Object.getOwnPropertySymbols(stream).find(
    ({ description }) => description === "sent-headers",
  );
  if (sentHeaders) (stream as Record<symbol, unknown>)[sentHeaders] = undefined;
}

/** Answers what is no request one can serve, and ends the connection. */
export function refuse(
  exchange: Http1Exchange,
  status: number,
  text: string,
): void {
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    connection: "close",
  };
  exchange.reason = text;
  exchange.respond(status, headers, `${status} ${text}`);
}
