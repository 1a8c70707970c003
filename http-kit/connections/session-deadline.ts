// HTTP/2 connections have no time-out of their own in Node. Looked at now and then, without anything on the way of the
// bytes:
// - one without streams is ended after `idleMs` (Go's IdleTimeout; pings do not keep it);
// - one without streams that has begun something (a header block without its end, or no settings at all) has `headersMs`
//   to complete it;
// - a stream that has been answered and that the client neither reads nor ends is reset after `headersMs`, so that it
//   keeps no connection open.
// Streams that are still being answered (watches) have no limit here.
import {
  constants,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { Listed, RequestList } from "../../api/queueing/request-list.ts";

/**
 * A stream as it is seen here. Not its exchange: an answered stream may wait for its client long after its request is
 * over, and should keep no more than the answer.
 */
export type TimedStream = Pick<
  ServerHttp2Stream,
  "writableEnded" | "bufferSize" | "closed" | "destroyed" | "close"
>;

class OpenStream extends Listed {
  /** Of an answered stream: when it last moved, and what was unsent then. */
  sinceMs = 0;
  unsentBytes: number | undefined;

  /** @param stream unset when it is closed: what closes it may be held for longer */
  constructor(public stream: TimedStream | undefined) {
    super();
  }
}

interface Tracked {
  readonly streams: RequestList<OpenStream>;
  /** Since when there are no streams. */
  idleSinceMs: number;
  /** When it was last seen with nothing begun. */
  quietSinceMs: number;
  /** Received by then; -1: the client's settings are waited for; undefined: to be read when what follows has come. */
  bytes: number | undefined;
  ending: boolean;
}

export class SessionDeadline {
  readonly #sessions = new Map<ServerHttp2Session, Tracked>();
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly idleMs: number,
    private readonly headersMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#timer = setInterval(() => this.check(), headersMs / 4);
    this.#timer.unref();
  }

  add(session: ServerHttp2Session): void {
    const now = this.now();
    const tracked: Tracked = {
      streams: new RequestList(),
      idleSinceMs: now,
      quietSinceMs: now,
      bytes: -1,
      ending: false,
    };
    this.#sessions.set(session, tracked);
    session.once("close", () => this.#sessions.delete(session));
    // Whole frames: the bytes up to their end are complete.
    const complete = (): void => {
      tracked.bytes = undefined;
      tracked.quietSinceMs = this.now();
    };
    session.on("remoteSettings", complete);
    session.on("ping", complete);
  }

  /** A request's headers are there; to be called back when the stream is closed. */
  begin(session: ServerHttp2Session, stream: TimedStream): () => void {
    const tracked = this.#sessions.get(session);
    if (!tracked) return () => undefined;
    const open = new OpenStream(stream);
    tracked.streams.add(open);
    return () => {
      open.stream = undefined;
      tracked.streams.delete(open);
      if (tracked.streams.size > 0) return;
      tracked.idleSinceMs = tracked.quietSinceMs = this.now();
      tracked.bytes = undefined;
      // The longest idle are the first of the map.
      if (this.#sessions.delete(session)) this.#sessions.set(session, tracked);
    };
  }

  check(): void {
    const now = this.now();
    for (const [session, tracked] of this.#sessions) {
      if (tracked.streams.size > 0) this.#resetUnread(tracked, now);
      else if (tracked.ending) session.destroy();
      else if (now - tracked.idleSinceMs >= this.idleMs) {
        tracked.ending = true;
        session.close();
      } else this.#checkBegun(session, tracked, now);
    }
  }

  /** Ends the connection that has been idle the longest. False: there is none. */
  endIdle(): boolean {
    for (const [session, { streams }] of this.#sessions)
      if (streams.size === 0) {
        this.#sessions.delete(session);
        session.destroy();
        return true;
      }
    return false;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #resetUnread({ streams }: Tracked, now: number): void {
    for (const open of [...streams]) {
      const { stream } = open;
      if (!stream?.writableEnded || stream.closed || stream.destroyed) continue;
      const { bufferSize: unsentBytes } = stream;
      if (open.unsentBytes !== unsentBytes) {
        open.unsentBytes = unsentBytes;
        open.sinceMs = now;
      } else if (now - open.sinceMs >= this.headersMs)
        stream.close(
          unsentBytes > 0
            ? constants.NGHTTP2_CANCEL
            : constants.NGHTTP2_NO_ERROR,
        );
    }
  }

  #checkBegun(
    session: ServerHttp2Session,
    tracked: Tracked,
    now: number,
  ): void {
    const received = session.socket?.bytesRead ?? 0;
    const { bytes, quietSinceMs } = tracked;
    if (bytes === undefined) {
      // The client's window updates follow the end of a stream.
      if (now - quietSinceMs < this.headersMs / 4) return;
      tracked.bytes = received;
      tracked.quietSinceMs = now;
    } else if (bytes === received) tracked.quietSinceMs = now;
    else if (now - quietSinceMs >= this.headersMs) session.destroy();
  }
}
