// The answer to a client as it streams through: headers, pieces with back-pressure, trailers; on HTTP/1.1, HTTP/2, and
// for an upgrade that the backend did not take.
import type { Writable } from "node:stream";
import {
  Http1Exchange,
  Http2Exchange,
  type Exchange,
} from "../../../http-kit/exchange.ts";
import { headerObject } from "./header-hygiene.ts";

export interface ClientAnswer {
  /**
   * Throws when the headers can't be sent.
   * @param headers names and values in turns
   * @param trailers whether some may follow
   */
  start(status: number, headers: string[], trailers: boolean): void;
  /** False: no more until the callback of onDrain. */
  write(chunk: Buffer): boolean;
  onDrain(callback: () => void): void;
  end(trailers: readonly string[]): void;
  /** Cuts it off, so that the client sees that it is not complete. */
  reset(): void;
}

export function answerOf(exchange: Exchange): ClientAnswer {
  if (exchange instanceof Http2Exchange) return new Http2Answer(exchange);
  if (exchange instanceof Http1Exchange && !exchange.upgrade)
    return new Http1Answer(exchange);
  return new OpenAnswer(exchange);
}

class Http1Answer implements ClientAnswer {
  #written = false;

  constructor(private readonly exchange: Http1Exchange) {}

  start(status: number, headers: string[]): void {
    const { response } = this.exchange;
    response.writeHead(status, headers);
    this.exchange.status = status;
    // What has come with the headers is written with them; they do not wait for what has not.
    queueMicrotask(() => {
      if (!this.#written && !response.destroyed) response.flushHeaders();
    });
  }

  write(chunk: Buffer): boolean {
    this.#written = true;
    return this.exchange.response.write(chunk);
  }

  onDrain(callback: () => void): void {
    this.exchange.response.once("drain", callback);
  }

  end(trailers: readonly string[]): void {
    this.#written = true;
    const { response } = this.exchange;
    if (trailers.length > 0) {
      const pairs: [string, string][] = [];
      for (let at = 0; at + 1 < trailers.length; at += 2)
        pairs.push([trailers[at]!, trailers[at + 1]!]);
      response.addTrailers(pairs);
    }
    response.end();
  }

  reset(): void {
    this.exchange.destroy();
  }
}

class Http2Answer implements ClientAnswer {
  constructor(private readonly exchange: Http2Exchange) {}

  start(status: number, headers: string[], trailers: boolean): void {
    const { exchange } = this;
    exchange.status = status;
    if (exchange.closed) return;
    exchange.http2Stream.respond(
      { ":status": status, ...headerObject(headers) },
      { waitForTrailers: trailers },
    );
  }

  write(chunk: Buffer): boolean {
    return this.exchange.closed || this.exchange.http2Stream.write(chunk);
  }

  onDrain(callback: () => void): void {
    this.exchange.http2Stream.once("drain", callback);
  }

  end(trailers: readonly string[]): void {
    const { http2Stream: stream } = this.exchange;
    if (this.exchange.closed) return;
    // Node's compatibility layer, there for HTTP/1.1 on the same port, would send none of its own first.
    stream.removeAllListeners("wantTrailers");
    stream.once("wantTrailers", () =>
      stream.sendTrailers(headerObject(trailers)),
    );
    stream.end();
  }

  reset(): void {
    this.exchange.destroy();
  }
}

/** Of an exchange that is neither: what all have. */
class OpenAnswer implements ClientAnswer {
  #out: Writable | undefined;

  constructor(private readonly exchange: Exchange) {}

  start(status: number, headers: string[]): void {
    this.#out = this.exchange.open(status, headerObject(headers));
  }

  write(chunk: Buffer): boolean {
    return this.#out!.write(chunk);
  }

  onDrain(callback: () => void): void {
    this.#out!.once("drain", callback);
  }

  end(): void {
    this.#out!.end();
  }

  reset(): void {
    this.exchange.destroy();
  }
}
