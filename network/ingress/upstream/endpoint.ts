// One address of a backend: its connections, opened at the first request and closed when they have been idle, what is
// under way on them, and whether it answered lately. What waits for an endpoint is bounded, so that a slow one slows
// down its own requests only.
import { Pool } from "undici";
import type { SecureContextOptions } from "node:tls";
import type { BackendAddress, BackendState } from "../routing/route.ts";
import {
  UpstreamError,
  type ResponseSink,
  type UpstreamCall,
  type UpstreamRequest,
} from "./call.ts";
import { callOverHttp1 } from "./http1-call.ts";
import { callOverHttp2 } from "./http2-call.ts";
import { Http2Sessions } from "./http2-sessions.ts";
import { checkServerNames } from "../../../api/pki/server-names.ts";

export const connectTimeoutMs = 5000;
/** Connections of HTTP/1.1. */
const maxConnections = 256;
/** Requests under way and waiting. */
const maxRequests = 1024;
const maxHeaderBytes = 64 * 1024;
/** As undici's default: shorter than what servers keep idle connections for, so that few close under a request. */
const keepAliveMs = 4000;
const firstPauseMs = 1000;
const longestPauseMs = 30_000;

export interface TlsToBackend extends SecureContextOptions {
  readonly servername: string;
  readonly rejectUnauthorized: boolean;
  readonly checkServerIdentity: typeof checkServerNames;
}

export function tlsOf({ tls }: BackendState): TlsToBackend | undefined {
  if (!tls) return undefined;
  return {
    servername: tls.serverName,
    rejectUnauthorized: tls.verify,
    checkServerIdentity: checkServerNames,
    ...(tls.authority === undefined ? {} : { ca: tls.authority }),
  };
}

export class Endpoint {
  #pool: Pool | undefined;
  #sessions: Http2Sessions | undefined;
  #underWay = 0;
  #pauseMs = firstPauseMs;
  #closed = false;
  /** It is asked last until then. */
  pausedUntilMs = 0;
  usedMs = 0;

  constructor(
    readonly address: BackendAddress,
    private readonly tls: TlsToBackend | undefined,
  ) {}

  /** host:port */
  get authority(): string {
    const { address, port } = this.address;
    return address.includes(":")
      ? `[${address}]:${port}`
      : `${address}:${port}`;
  }

  get underWay(): number {
    return this.#underWay;
  }

  get idle(): boolean {
    return this.#underWay === 0;
  }

  /** Counts a connection that is not made here (an upgraded one). */
  begin(): () => void {
    this.#refuseOverload();
    this.#underWay++;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.#underWay--;
      if (this.#closed && this.idle) this.release();
    };
  }

  /** Throws an UpstreamError when too many wait. */
  call(
    request: UpstreamRequest,
    sink: ResponseSink,
    http2: boolean,
    nowMs: number,
  ): UpstreamCall {
    const over = this.begin();
    this.usedMs = nowMs;
    try {
      if (!http2)
        return callOverHttp1(
          (this.#pool ??= this.#openPool()),
          request,
          sink,
          over,
          this.tls?.servername,
        );
      const scheme = this.tls ? "https" : "http";
      this.#sessions ??= new Http2Sessions(
        `${scheme}://${this.authority}`,
        this.tls && { ...this.tls, ALPNProtocols: ["h2"] },
        connectTimeoutMs,
      );
      return callOverHttp2(this.#sessions, scheme, request, sink, over);
    } catch (error) {
      over();
      throw error;
    }
  }

  failed(nowMs: number): void {
    this.pausedUntilMs = nowMs + this.#pauseMs;
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
  }

  answered(): void {
    this.#pauseMs = firstPauseMs;
    this.pausedUntilMs = 0;
  }

  /** Gives its connections back; they are opened again when they are needed. */
  release(): void {
    this.#pool?.close().catch(() => undefined);
    this.#sessions?.close();
    this.#pool = undefined;
    this.#sessions = undefined;
  }

  /** It is no endpoint any more: what is under way on it ends by itself. */
  close(): void {
    this.#closed = true;
    if (this.idle) this.release();
  }

  destroy(): void {
    this.#closed = true;
    this.#pool?.destroy().catch(() => undefined);
    this.#sessions?.destroy();
  }

  #refuseOverload(): void {
    if (this.#underWay >= maxRequests)
      throw new UpstreamError(
        "overload",
        `${this.#underWay} requests are under way at ${this.authority}`,
      );
  }

  #openPool(): Pool {
    return new Pool(`${this.tls ? "https" : "http"}://${this.authority}`, {
      connections: maxConnections,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: maxHeaderBytes,
      strictContentLength: true,
      connect: { timeout: connectTimeoutMs, ...this.tls, allowH2: false },
    });
  }
}
