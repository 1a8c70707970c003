// Transport.raw in process: a request through the same filters, without a socket, as a given user.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { PassThrough, type Readable, Writable } from "node:stream";
import type { UserInfo } from "../../api/contracts.ts";
import type { Exchange, FrameStream, Peer } from "../../http-kit/exchange.ts";
import type { Front } from "../front/front.ts";

class InProcessExchange implements Exchange {
  readonly http2 = false;
  readonly chunks = false;
  readonly headers: IncomingHttpHeaders;
  readonly peer: Peer = {
    remoteAddress: "127.0.0.1",
    clientCertificate: undefined,
  };
  readonly body: Readable;
  readonly hasBody: boolean;
  readonly upgrade: undefined;
  status = 0;
  started = false;
  sentBytes = 0;
  closed = false;
  readonly #chunks: Buffer[] = [];
  readonly #closing: (() => void)[] = [];
  #resolve!: (answer: { status: number; body: unknown }) => void;
  readonly answer = new Promise<{ status: number; body: unknown }>(
    (resolve) => (this.#resolve = resolve),
  );

  constructor(
    readonly method: string,
    readonly url: string,
    body: unknown,
  ) {
    this.headers = {
      accept: "application/json",
      "user-agent": "orbit",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    this.hasBody = body !== undefined;
    const stream = new PassThrough();
    stream.end(body === undefined ? undefined : JSON.stringify(body));
    this.body = stream;
  }

  headerValues(name: string): string[] {
    const value = this.headers[name];
    return value === undefined ? [] : [String(value)];
  }

  respond(
    status: number,
    _headers: OutgoingHttpHeaders,
    body?: Uint8Array | string,
  ): void {
    this.open(status).end(body);
  }

  open(status: number): Writable {
    this.status = status;
    this.started = true;
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        // The buffer may be used again.
        this.#chunks.push(Buffer.from(chunk));
        done();
      },
      final: (done) => {
        this.#finish();
        done();
      },
    });
  }

  stream(status: number): FrameStream {
    const out = this.open(status);
    return { out, end: () => out.end() };
  }

  onClose(callback: () => void): void {
    this.#closing.push(callback);
  }

  switched(): void {
    throw new Error("no other protocol was offered");
  }

  destroy(): void {
    if (!this.closed) this.#finish();
  }

  #finish(): void {
    this.closed = true;
    const text = Buffer.concat(this.#chunks).toString("utf8");
    let body: unknown = text;
    try {
      body = JSON.parse(text);
    } catch {
      // Health and metrics are plain text.
    }
    for (const callback of this.#closing) callback();
    this.#resolve({ status: this.status, body });
  }
}

export function rawInProcess(
  front: Front,
  user: UserInfo,
  method: string,
  path: string,
  body: unknown,
): Promise<{ status: number; body: unknown }> {
  const exchange = new InProcessExchange(method, path, body);
  void front.handle(exchange, user);
  return exchange.answer;
}
