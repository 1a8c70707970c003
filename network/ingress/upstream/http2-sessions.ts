// HTTP/2 connections to one endpoint: h2c with prior knowledge, or h2 over TLS. A connection takes streams up to what its
// server allows; another is opened when all are full, up to a bound.
import * as http2 from "node:http2";
import type { SecureClientSessionOptions } from "node:http2";
import { UpstreamError } from "./call.ts";

const maxSessions = 16;
const maxStreams = 200;
const maxHeaderPairs = 1000;
const idleMs = 60_000;

interface Session {
  readonly http2: http2.ClientHttp2Session;
  streams: number;
  connected: boolean;
  /** It takes no more streams. */
  closing: boolean;
}

export class Http2Sessions {
  readonly #sessions = new Set<Session>();
  #closed = false;

  constructor(
    private readonly url: string,
    private readonly tls: SecureClientSessionOptions | undefined,
    private readonly connectTimeoutMs: number,
  ) {}

  /** A stream's place; to be given back. Throws when all connections are full. */
  take(): {
    session: http2.ClientHttp2Session;
    connected: () => boolean;
    release: () => void;
  } {
    let chosen: Session | undefined;
    for (const each of this.#sessions)
      if (
        !each.closing &&
        each.streams < limitOf(each) &&
        (!chosen || each.streams < chosen.streams)
      )
        chosen = each;
    if (!chosen) {
      if (this.#closed || this.#sessions.size >= maxSessions)
        throw new UpstreamError("overload", "all connections are full");
      chosen = this.#open();
    }
    const session = chosen;
    session.streams++;
    return {
      session: session.http2,
      connected: () => session.connected,
      release: () => {
        session.streams--;
        if (this.#closed && session.streams === 0) session.http2.close();
      },
    };
  }

  /** Streams under way are finished. */
  close(): void {
    this.#closed = true;
    for (const each of this.#sessions) each.http2.close();
  }

  destroy(): void {
    this.#closed = true;
    for (const each of this.#sessions) each.http2.destroy();
  }

  #open(): Session {
    const session: Session = {
      http2: http2.connect(this.url, {
        ...this.tls,
        settings: { enablePush: false, initialWindowSize: 256 * 1024 },
        maxHeaderListPairs: maxHeaderPairs,
      }),
      streams: 0,
      connected: false,
      closing: false,
    };
    this.#sessions.add(session);
    const late = setTimeout(() => {
      session.http2.destroy(
        new UpstreamError("connect", "no connection in time"),
      );
    }, this.connectTimeoutMs);
    session.http2.once("connect", () => {
      clearTimeout(late);
      session.connected = true;
    });
    session.http2.on("error", () => undefined);
    session.http2.on("goaway", () => (session.closing = true));
    session.http2.setTimeout(idleMs, () => {
      if (session.streams > 0) return;
      session.closing = true;
      session.http2.close();
    });
    session.http2.once("close", () => {
      clearTimeout(late);
      session.closing = true;
      this.#sessions.delete(session);
    });
    return session;
  }
}

function limitOf({ http2: session, connected }: Session): number {
  const allowed = connected
    ? (session.remoteSettings.maxConcurrentStreams ?? maxStreams)
    : maxStreams;
  return Math.min(allowed, maxStreams);
}
