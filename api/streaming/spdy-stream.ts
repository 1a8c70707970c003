// One stream of a SPDY connection, as a duplex. Its session gives it bytes and ends, and writes its frames.
import { Duplex } from "node:stream";
import { dataHeader } from "./spdy-frames.ts";
import type { SpdyHeaders } from "./spdy-headers.ts";

/** What a stream needs of its session. */
export interface SpdyLink {
  write(frames: readonly Buffer[], done: (error?: Error | null) => void): void;
  wantsMore(stream: SpdyStream): void;
  reset(stream: SpdyStream): void;
  over(stream: SpdyStream): void;
}

/** Written bytes of one stream are cut to frames of this, so that streams take turns. */
const maxFrameBytes = 64 * 1024;

export class SpdyStream extends Duplex {
  /** Resolves when the peer took the stream, rejects when it refused it or the connection broke before. */
  readonly accepted: Promise<void>;
  #accept!: () => void;
  #refuse!: (error: Error) => void;
  readonly #link: SpdyLink;
  #lost = false;
  remoteDone = false;
  localDone = false;

  constructor(
    link: SpdyLink,
    readonly id: number,
    readonly headers: SpdyHeaders,
  ) {
    super({
      allowHalfOpen: true,
      readableHighWaterMark: 64 * 1024,
      writableHighWaterMark: 64 * 1024,
    });
    this.#link = link;
    this.accepted = new Promise((resolve, reject) => {
      this.#accept = resolve;
      this.#refuse = reject;
    });
    this.accepted.catch(() => undefined);
    // A stream reset by the peer must not end the process of a user who does not listen.
    this.on("error", () => undefined);
  }

  /** For the session. */
  answered(): void {
    this.#accept();
  }

  /**
   * For the session: the peer reset the stream, or the connection is gone. What came before can still be read (containerd
   * resets an error stream right after its Status); the stream closes when that is done.
   */
  lose(why: string): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#refuse(new Error(why));
    if (!this.remoteDone) {
      this.remoteDone = true;
      this.push(null);
    }
    if (this.readableEnded) this.destroy();
    else this.once("end", () => this.destroy());
  }

  override _read(): void {
    this.#link.wantsMore(this);
  }

  override _write(
    chunk: Buffer,
    _encoding: string,
    done: (error?: Error | null) => void,
  ): void {
    if (this.#lost) {
      done();
      return;
    }
    const frames: Buffer[] = [];
    for (let at = 0; at < chunk.length; at += maxFrameBytes) {
      const piece = chunk.subarray(at, at + maxFrameBytes);
      frames.push(dataHeader(this.id, piece.length, false), piece);
    }
    if (frames.length === 0) done();
    else this.#link.write(frames, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.localDone = true;
    if (this.#lost) done();
    else this.#link.write([dataHeader(this.id, 0, true)], done);
  }

  override _destroy(
    error: Error | null,
    done: (error?: Error | null) => void,
  ): void {
    if (!this.#lost && !(this.remoteDone && this.localDone))
      this.#link.reset(this);
    this.#link.over(this);
    this.#refuse(error ?? new Error("the stream was destroyed"));
    done(error);
  }
}
