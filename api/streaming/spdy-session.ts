// A SPDY/3.1 connection over a given duplex, either side. Go's implementation, at the other end of nearly every such
// connection, never sends WINDOW_UPDATE and ignores it, so there are no windows here: a stream whose reader is slow
// buffers up to 1 MiB (less with many streams), then the whole connection is not read until it catches up. Nor is it read
// while its peer leaves many answers to its control frames unread (memory stays bounded).
// Invariants: streams of a dead connection end (readers get what came, then the end; written bytes are dropped);
// `closed` settles once, rejecting for a protocol error or a broken duplex.
import type { Duplex } from "node:stream";
import {
  FrameParser,
  SpdyProtocolError,
  controlFrame,
  flagFin,
  frameTypes,
  resetStatus,
  words,
  type Frame,
} from "./spdy-frames.ts";
import {
  HeaderReader,
  HeaderWriter,
  type SpdyHeaders,
} from "./spdy-headers.ts";
import { SpdyStream } from "./spdy-stream.ts";
import type { SpdyLink } from "./spdy-stream.ts";

interface SpdySessionOptions {
  side: "client" | "server";
  /** A stream of the peer; true accepts it (SYN_REPLY), false refuses it. Without it all are refused. */
  onStream?: (stream: SpdyStream) => boolean;
  /** Streams open at once that the peer may have made; default 256. */
  maxStreams?: number;
}

export interface SpdySession {
  /** Opens a stream at once; `stream.accepted` settles with the peer's answer. */
  openStream(headers: SpdyHeaders): SpdyStream;
  /** GOAWAY, then the duplex is ended once everything is written. */
  close(): void;
  destroy(error?: Error): void;
  readonly closed: Promise<void>;
}

const streamBufferBytes = 1024 * 1024;
/** What all streams share: with many of them each buffers less. */
const sharedBufferBytes = 4 * 1024 * 1024;
/** Answers to control frames that a peer may leave unread before no more of its frames are taken. */
const maxUnreadAnswers = 1024;
/** What may wait for a header block that is being inflated. */
const unreadBytes = 128 * 1024;
const defaultMaxStreams = 256;
const maxStreamId = 0x7fffffff;

export function createSpdySession(
  duplex: Duplex,
  options: SpdySessionOptions,
): SpdySession {
  return new Session(duplex, options);
}

class Session implements SpdySession {
  readonly closed: Promise<void>;
  readonly #settle: { resolve: () => void; reject: (error: Error) => void };
  readonly #duplex: Duplex;
  readonly #options: SpdySessionOptions;
  readonly #parser = new FrameParser();
  readonly #headerReader = new HeaderReader();
  readonly #headerWriter = new HeaderWriter();
  readonly #streams = new Map<number, SpdyStream>();
  readonly #waitingWriters: (() => void)[] = [];
  readonly #link: SpdyLink;
  #nextId: number;
  #lastPeerId = 0;
  #peerStreams = 0;
  #goingAway = false;
  #dead = false;
  /** Control frames written since the duplex wanted no more. */
  #unreadAnswers = 0;
  /** The stream whose reader holds the whole connection up. */
  #blockedBy: { stream: SpdyStream; resume: () => void } | undefined;
  /** The duplex gives nothing more; with the error that broke it. */
  #over: { error: Error | undefined } | undefined;
  #wake: () => void = () => undefined;

  constructor(duplex: Duplex, options: SpdySessionOptions) {
    this.#duplex = duplex;
    this.#options = options;
    this.#nextId = options.side === "client" ? 1 : 2;
    let settle!: { resolve: () => void; reject: (error: Error) => void };
    this.closed = new Promise<void>(
      (resolve, reject) => (settle = { resolve, reject }),
    );
    this.closed.catch(() => undefined);
    this.#settle = settle;
    this.#link = {
      write: (frames, done) => this.#send(frames, () => done()),
      wantsMore: (stream) => this.#unblock(stream),
      reset: ({ id }) => this.#resetStream(id, resetStatus.cancel),
      over: (stream) => this.#forget(stream),
    };
    duplex.on("drain", () => this.#releaseWriters());
    duplex.on("data", (chunk: Buffer) => this.#arrived(chunk));
    duplex.on("end", () => this.#inputOver());
    duplex.on("error", (error) => this.#inputOver(error));
    duplex.on("close", () => {
      this.#inputOver();
      this.#releaseWriters();
    });
    this.#run().then(
      () => {
        this.#die();
        duplex.end();
      },
      (error: unknown) => this.#failed(error),
    );
  }

  openStream(headers: SpdyHeaders): SpdyStream {
    const id = this.#nextId;
    this.#nextId += 2;
    const stream = new SpdyStream(this.#link, id, headers);
    if (this.#dead || this.#goingAway || id > maxStreamId) {
      stream.lose("the connection was closed");
      return stream;
    }
    this.#streams.set(id, stream);
    this.#sendControl(
      frameTypes.synStream,
      words(id, 0),
      Buffer.from([0, 0]),
      this.#headerWriter.write(headers),
    );
    return stream;
  }

  close(): void {
    if (this.#dead) return;
    if (!this.#goingAway) {
      this.#goingAway = true;
      this.#sendControl(frameTypes.goAway, words(this.#lastPeerId, 0));
    }
    this.#duplex.end();
  }

  destroy(error?: Error): void {
    this.#die(error);
    this.#duplex.destroy();
  }

  /**
   * Handles the frames in order, then reports the connection's end. The duplex is read by its events, not by its
   * iterator, which drops what was not taken yet when the connection breaks: headers are inflated on other threads, so on
   * a busy machine the last frames may still wait when the close, or the reset that answers our own last frames, comes.
   */
  async #run(): Promise<void> {
    while (!this.#dead) {
      const frame = this.#parser.next();
      if (frame !== undefined) {
        const wait = this.#handle(frame);
        if (wait !== undefined) await wait;
        if (this.#answersUnread()) await this.#answersRead();
        continue;
      }
      if (this.#over?.error) throw this.#over.error;
      if (this.#over) return;
      const more = new Promise<void>((resolve) => (this.#wake = resolve));
      this.#duplex.resume();
      await more;
    }
  }

  #arrived(chunk: Buffer): void {
    if (this.#dead) return;
    this.#parser.add(chunk);
    if (
      this.#blockedBy !== undefined ||
      this.#answersUnread() ||
      this.#parser.length > unreadBytes
    )
      this.#duplex.pause();
    this.#wake();
  }

  #inputOver(error?: Error): void {
    this.#over ??= { error };
    // A server that is held up by a reader of its own, or by answers unread, must not wait: its peer is gone.
    if (
      this.#options.side === "server" &&
      (this.#blockedBy !== undefined || this.#answersUnread())
    )
      this.#die(error);
    this.#wake();
  }

  #failed(error: unknown): void {
    const failure = error instanceof Error ? error : new Error(String(error));
    if (failure instanceof SpdyProtocolError && !this.#dead)
      this.#sendControl(
        frameTypes.goAway,
        words(this.#lastPeerId, resetStatus.protocolError),
      );
    this.#die(failure);
    this.#duplex.destroy();
  }

  #die(error?: Error): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#headerReader.close();
    for (const stream of [...this.#streams.values()])
      stream.lose("the connection was closed");
    this.#streams.clear();
    const blocked = this.#blockedBy;
    this.#blockedBy = undefined;
    blocked?.resume();
    this.#wake();
    this.#releaseWriters();
    if (error === undefined) this.#settle.resolve();
    else this.#settle.reject(error);
  }

  /** A promise when reading has to wait. */
  #handle(frame: Frame): Promise<void> | undefined {
    if (frame.kind === "control")
      return this.#control(frame.type, frame.flags, frame.payload);
    const stream = this.#streams.get(frame.streamId);
    // Late bytes of a stream that is over.
    if (stream === undefined || stream.remoteDone) return undefined;
    const more = frame.data.length === 0 || stream.push(frame.data);
    if (frame.fin) {
      remoteEnd(stream);
      return undefined;
    }
    const limit = Math.min(
      streamBufferBytes,
      sharedBufferBytes / this.#streams.size,
    );
    if (more || stream.readableLength < limit) return undefined;
    this.#duplex.pause();
    return new Promise((resume) => (this.#blockedBy = { stream, resume }));
  }

  async #control(type: number, flags: number, payload: Buffer): Promise<void> {
    const least = leastPayload.get(type) ?? 0;
    if (payload.length < least)
      throw new SpdyProtocolError(`control frame ${type} is truncated`);
    const fin = (flags & flagFin) !== 0;
    switch (type) {
      case frameTypes.synStream: {
        const headers = await this.#headerReader.read(payload.subarray(10));
        if (!this.#dead) this.#openedByPeer(streamIdOf(payload), headers, fin);
        return;
      }
      case frameTypes.synReply:
      case frameTypes.headers: {
        // Read in any case: the compression context runs through all blocks.
        await this.#headerReader.read(payload.subarray(4));
        const stream = this.#streams.get(streamIdOf(payload));
        if (stream === undefined) return;
        if (type === frameTypes.synReply) stream.answered();
        if (fin) remoteEnd(stream);
        return;
      }
      case frameTypes.rstStream: {
        const stream = this.#streams.get(streamIdOf(payload));
        if (stream === undefined) return;
        const status = payload.readUInt32BE(4);
        stream.lose(`the stream was reset by the peer (status ${status})`);
        return this.#unblock(stream);
      }
      case frameTypes.ping:
        // Ours would be odd for a client; the peer's are answered as they are.
        if (this.#isPeers(payload.readUInt32BE(0)))
          this.#sendControl(frameTypes.ping, payload.subarray(0, 4));
        return;
      case frameTypes.goAway:
        this.#goingAway = true;
        return;
      default:
      // SETTINGS, WINDOW_UPDATE and unknown frames change nothing here.
    }
  }

  #openedByPeer(id: number, headers: SpdyHeaders, fin: boolean): void {
    if (!this.#isPeers(id) || id <= this.#lastPeerId)
      throw new SpdyProtocolError(`bad stream id ${id}`);
    this.#lastPeerId = id;
    const { onStream, maxStreams = defaultMaxStreams } = this.#options;
    const stream = new SpdyStream(this.#link, id, headers);
    if (
      this.#goingAway ||
      this.#peerStreams >= maxStreams ||
      onStream === undefined ||
      !onStream(stream)
    ) {
      stream.localDone = stream.remoteDone = true;
      stream.destroy();
      this.#resetStream(id, resetStatus.refusedStream);
      return;
    }
    this.#peerStreams++;
    this.#streams.set(id, stream);
    stream.answered();
    this.#sendControl(
      frameTypes.synReply,
      words(id),
      this.#headerWriter.write({}),
    );
    if (fin) remoteEnd(stream);
  }

  #isPeers(id: number): boolean {
    return id % 2 === (this.#options.side === "client" ? 0 : 1);
  }

  #forget(stream: SpdyStream): void {
    if (this.#streams.get(stream.id) === stream) {
      this.#streams.delete(stream.id);
      if (this.#isPeers(stream.id)) this.#peerStreams--;
    }
    this.#unblock(stream);
  }

  #unblock(stream: SpdyStream): void {
    if (this.#blockedBy?.stream !== stream) return;
    const { resume } = this.#blockedBy;
    this.#blockedBy = undefined;
    resume();
  }

  #resetStream(id: number, status: number): void {
    this.#sendControl(frameTypes.rstStream, words(id, status));
  }

  #sendControl(type: number, ...payload: readonly Buffer[]): void {
    this.#send([controlFrame(type, 0, Buffer.concat(payload))]);
    if (this.#duplex.writableNeedDrain) this.#unreadAnswers++;
  }

  #answersUnread(): boolean {
    return this.#unreadAnswers > maxUnreadAnswers;
  }

  #answersRead(): Promise<void> {
    this.#duplex.pause();
    return new Promise((resolve) => this.#send([], resolve));
  }

  /** `done` is called when more may be written; at once on a dead connection, where written bytes are dropped. */
  #send(frames: readonly Buffer[], done?: () => void): void {
    const duplex = this.#duplex;
    if (this.#dead || duplex.destroyed || duplex.writableEnded) return done?.();
    duplex.cork();
    let more = !duplex.writableNeedDrain;
    for (const frame of frames) more = duplex.write(frame);
    duplex.uncork();
    if (done === undefined) return;
    if (more) done();
    else this.#waitingWriters.push(done);
  }

  #releaseWriters(): void {
    this.#unreadAnswers = 0;
    for (const done of this.#waitingWriters.splice(0)) done();
  }
}

/** By the type of a control frame: the bytes its payload has at least. */
const leastPayload: ReadonlyMap<number, number> = new Map<number, number>([
  [frameTypes.synStream, 10],
  [frameTypes.synReply, 4],
  [frameTypes.headers, 4],
  [frameTypes.rstStream, 8],
  [frameTypes.ping, 4],
]);

const streamIdOf = (payload: Buffer): number =>
  payload.readUInt32BE(0) & maxStreamId;

function remoteEnd(stream: SpdyStream): void {
  if (stream.remoteDone) return;
  stream.remoteDone = true;
  stream.push(null);
}
