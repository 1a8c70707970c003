// One attempt to have a request answered by an endpoint, the same for every protocol behind it.
import type { Readable } from "node:stream";

export interface UpstreamRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly authority: string;
  /** Names and values in turns, hop-by-hop ones and the framing left out. */
  readonly headers: readonly string[];
  /** Undefined: none follows. */
  readonly body: Readable | undefined;
  /** Undefined: the body's length is not known. */
  readonly bodyLength: number | undefined;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

/** Exactly one of `onEnd` and `onError` is called, once, and nothing after it. */
export interface ResponseSink {
  /** @param headers names and values in turns, as they came */
  onResponse(
    status: number,
    headers: readonly string[],
    hasTrailers: boolean,
  ): void;
  /** False: no more until resume(). */
  onData(chunk: Buffer): boolean;
  onEnd(trailers: readonly string[]): void;
  onError(error: UpstreamError): void;
}

export interface UpstreamCall {
  resume(): void;
  /** Nothing is called afterwards. */
  abort(): void;
}

export type UpstreamFailure =
  /** No connection: nothing was sent. */
  | "connect"
  /** The connection ended before the answer. */
  | "reset"
  | "timeout"
  /** Too many requests wait for the endpoint. */
  | "overload"
  /** What it answered is no HTTP. */
  | "protocol";

export class UpstreamError extends Error {
  constructor(
    readonly failure: UpstreamFailure,
    message: string,
  ) {
    super(message);
  }
}
