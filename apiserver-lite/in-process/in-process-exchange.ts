// Transport.raw in process: a request through the same filters, without a socket, as a given user. The answer is read
// whole and bounded: an aggregated server may answer the request, and break its answer off or never end it.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { PassThrough, type Readable, Writable } from "node:stream";
import type { UserInfo } from "../../api/contracts.ts";
import { statusError } from "../../client/content/status-error.ts";
import { TransportError } from "../../client/transport.ts";
import type { Exchange, FrameStream, Peer } from "../../http-kit/exchange.ts";
import type { Front } from "../front/front.ts";

/** Of documents, metrics and single objects. */
const maxAnswerBytes = 16 * 1024 * 1024;

const tooLong = `the answer has more than ${maxAnswerBytes} bytes`;
const cutOff = "the answer was cut off";

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
  #bytes = 0;
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
        this.#bytes += chunk.length;
        if (this.#bytes > maxAnswerBytes) {
          this.#fail(tooLong);
          return done(new Error(tooLong));
        }
        // The buffer may be used again.
        this.#chunks.push(Buffer.from(chunk));
        done();
      },
      final: (done) => {
        this.#finish();
        done();
      },
      destroy: (_error, done) => {
        this.#fail(cutOff);
        done(null);
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
    this.#fail(cutOff);
  }

  /** An answer that has ended stays. */
  #fail(message: string): void {
    if (this.closed) return;
    this.#chunks.length = 0;
    this.#reject(new TransportError(message));
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

/** Rejects with an ApiError on a status of 400 and above, with a TransportError for an answer that is too long or broken off. */
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
