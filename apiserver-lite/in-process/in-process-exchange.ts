// Transport.raw in process: a request through the same filters, without a socket, as a given user.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { PassThrough, type Readable, Writable } from "node:stream";
import type { UserInfo } from "../../api/contracts.ts";
import { statusError } from "../../client/content/status-error.ts";
import { TransportError } from "../../client/transport.ts";
import type { Exchange, FrameStream, Peer } from "../../http-kit/exchange.ts";
import type { Front } from "../front/front.ts";

interface RawAnswer {
  status: number;
  body: unknown;
}

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
  #resolve!: (answer: RawAnswer) => void;
  #reject!: (error: Error) => void;
  readonly answer = new Promise<RawAnswer>((resolve, reject) => {
    this.#resolve = resolve;
    this.#reject = reject;
  });

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
    if (this.closed) return;
    this.#reject(new TransportError("the answer was cut off"));
    this.#close();
  }

  #finish(): void {
    const { status } = this;
    const text = Buffer.concat(this.#chunks).toString("utf8");
    if (status >= 400) this.#reject(statusError(status, text));
    else this.#resolve({ status, body: parsed(text) });
    this.#close();
  }

  #close(): void {
    this.closed = true;
    for (const callback of this.#closing) callback();
  }
}

/** Health and metrics are plain text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Rejects with an ApiError on a status of 400 and above. */
export function rawInProcess(
  front: Front,
  user: UserInfo,
  method: string,
  path: string,
  body: unknown,
): Promise<RawAnswer> {
  const exchange = new InProcessExchange(method, path, body);
  void front.handle(exchange, user);
  return exchange.answer;
}
