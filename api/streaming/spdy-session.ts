// A SPDY/3.1 connection over a given duplex, either side. Go's implementation, at the other end of nearly every such
// connection, never sends WINDOW_UPDATE and ignores it, so there are no windows here: a stream whose reader is slow
// buffers up to 1 MiB, then the whole connection is not read until it catches up (memory stays bounded).
// Invariants: streams of a dead connection end (readers get what came, then the end; written bytes are dropped);
// `closed` settles once, rejecting for a protocol error or a broken duplex.
import { Duplex } from "node:stream";
import {
  FrameParser,
  SpdyProtocolError,
  controlFrame,
  dataHeader,
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

interface SpdySessionOptions {
  side: "client" | "server";
  /** A stream of the peer; true accepts it (SYN_REPLY), false refuses it. Without it all are refused. */
  onStream?: (stream: SpdyStream) => boolean;
  /** Streams open at once that the peer may have made; default 256. */
  maxStreams?: number;
}

export interface SpdySession {
  /** Opens a stream at once; `stream.accepted` tells the peer's answer. */
  openStream(headers: SpdyHeaders): SpdyStream;
  /** GOAWAY, then the duplex is ended once everything is written. */
  close(): void;
  destroy(error?: Error): void;
  readonly closed: Promise<void>;
}

/** What a stream needs of its session. */
interface Link {
  write(frames: readonly Buffer[], done: (error?: Error | null) => void): void;
  wantsMore(stream: SpdyStream): void;
  reset(stream: SpdyStream): void;
  over(stream: SpdyStream): void;
}

const streamBufferBytes = 1024 * 1024;
/** Written bytes of one stream are cut to frames of this, so that streams take turns. */
const maxFrameBytes = 64 * 1024;
const defaultMaxStreams = 256;
const maxStreamId = 0x7fffffff;

export class SpdyStream extends Duplex {
  /** Resolves when the peer took the stream, rejects when it refused it or the connection broke before. */
  readonly accepted: Promise<void>;
  #accept!: () => void;
  #refuse!: (error: Error) => void;
  #link: Link;
  #lost = false;
  remoteDone = false;
  localDone = false;

  constructor(
    link: Link,
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

export function createSpdySession(
  duplex: Duplex,
  options: SpdySessionOptions,
): SpdySession {
  const { side, onStream, maxStreams = defaultMaxStreams } = options;
  const parser = new FrameParser();
  const headerReader = new HeaderReader();
  const headerWriter = new HeaderWriter();
  const streams = new Map<number, SpdyStream>();
  const waitingWriters: (() => void)[] = [];
  let nextId = side === "client" ? 1 : 2;
  let lastPeerId = 0;
  let peerStreams = 0;
  let goingAway = false;
  let dead = false;
  let blockedBy: { stream: SpdyStream; resume: () => void } | undefined;
  let settle!: { resolve: () => void; reject: (error: Error) => void };
  const closed = new Promise<void>(
    (resolve, reject) => (settle = { resolve, reject }),
  );
  closed.catch(() => undefined);

  function releaseWriters(): void {
    for (const done of waitingWriters.splice(0)) done();
  }

  function send(frames: readonly Buffer[], done?: () => void): void {
    if (dead || duplex.destroyed || duplex.writableEnded) {
      done?.();
      return;
    }
    duplex.cork();
    let more = true;
    for (const frame of frames) more = duplex.write(frame);
    duplex.uncork();
    if (done === undefined) return;
    if (more) done();
    else waitingWriters.push(done);
  }

  function unblock(stream: SpdyStream): void {
    if (blockedBy?.stream !== stream) return;
    const { resume } = blockedBy;
    blockedBy = undefined;
    resume();
  }

  const link: Link = {
    write: (frames, done) => send(frames, () => done()),
    wantsMore: unblock,
    reset(stream) {
      send([
        controlFrame(
          frameTypes.rstStream,
          0,
          words(stream.id, resetStatus.cancel),
        ),
      ]);
    },
    over(stream) {
      if (streams.get(stream.id) === stream) {
        streams.delete(stream.id);
        if (isPeers(stream.id)) peerStreams--;
      }
      unblock(stream);
    },
  };

  function isPeers(id: number): boolean {
    return id % 2 === (side === "client" ? 0 : 1);
  }

  function die(error?: Error): void {
    if (dead) return;
    dead = true;
    headerReader.close();
    for (const stream of [...streams.values()])
      stream.lose("the connection was closed");
    streams.clear();
    const blocked = blockedBy;
    blockedBy = undefined;
    blocked?.resume();
    releaseWriters();
    if (error === undefined) settle.resolve();
    else settle.reject(error);
  }

  function remoteEnd(stream: SpdyStream): void {
    if (stream.remoteDone) return;
    stream.remoteDone = true;
    stream.push(null);
  }

  function openedByPeer(id: number, headers: SpdyHeaders, fin: boolean): void {
    if (!isPeers(id) || id <= lastPeerId)
      throw new SpdyProtocolError(`bad stream id ${id}`);
    lastPeerId = id;
    const stream = new SpdyStream(link, id, headers);
    if (
      goingAway ||
      peerStreams >= maxStreams ||
      onStream === undefined ||
      !onStream(stream)
    ) {
      stream.localDone = stream.remoteDone = true;
      stream.destroy();
      send([
        controlFrame(
          frameTypes.rstStream,
          0,
          words(id, resetStatus.refusedStream),
        ),
      ]);
      return;
    }
    peerStreams++;
    streams.set(id, stream);
    stream.answered();
    send([
      controlFrame(
        frameTypes.synReply,
        0,
        Buffer.concat([words(id), headerWriter.write({})]),
      ),
    ]);
    if (fin) remoteEnd(stream);
  }

  async function control(
    type: number,
    flags: number,
    payload: Buffer,
  ): Promise<void> {
    const need = (bytes: number): void => {
      if (payload.length < bytes)
        throw new SpdyProtocolError(`control frame ${type} is truncated`);
    };
    const fin = (flags & flagFin) !== 0;
    switch (type) {
      case frameTypes.synStream: {
        need(10);
        const headers = await headerReader.read(payload.subarray(10));
        if (!dead)
          openedByPeer(payload.readUInt32BE(0) & maxStreamId, headers, fin);
        return;
      }
      case frameTypes.synReply:
      case frameTypes.headers: {
        need(4);
        // Read in any case: the compression context runs through all blocks.
        await headerReader.read(payload.subarray(4));
        const stream = streams.get(payload.readUInt32BE(0) & maxStreamId);
        if (stream === undefined) return;
        if (type === frameTypes.synReply) stream.answered();
        if (fin) remoteEnd(stream);
        return;
      }
      case frameTypes.rstStream: {
        need(8);
        const stream = streams.get(payload.readUInt32BE(0) & maxStreamId);
        if (stream === undefined) return;
        const status = payload.readUInt32BE(4);
        stream.lose(`the stream was reset by the peer (status ${status})`);
        unblock(stream);
        return;
      }
      case frameTypes.ping: {
        need(4);
        // Ours would be odd for a client; the peer's are answered as they are.
        if (isPeers(payload.readUInt32BE(0)))
          send([controlFrame(frameTypes.ping, 0, payload.subarray(0, 4))]);
        return;
      }
      case frameTypes.goAway:
        goingAway = true;
        return;
      default:
      // SETTINGS, WINDOW_UPDATE and unknown frames change nothing here.
    }
  }

  /** A promise when reading has to wait. */
  function handle(frame: Frame): Promise<void> | undefined {
    if (frame.kind === "control")
      return control(frame.type, frame.flags, frame.payload);
    const stream = streams.get(frame.streamId);
    if (stream === undefined || stream.remoteDone) return undefined; // late bytes of a stream that is over
    const more = frame.data.length === 0 || stream.push(frame.data);
    if (frame.fin) {
      remoteEnd(stream);
      return undefined;
    }
    if (more || stream.readableLength < streamBufferBytes) return undefined;
    return new Promise((resume) => (blockedBy = { stream, resume }));
  }

  async function run(): Promise<void> {
    for await (const chunk of duplex.iterator({
      destroyOnReturn: false,
    }) as AsyncIterable<Buffer>) {
      parser.add(chunk);
      for (
        let frame = parser.next();
        frame !== undefined && !dead;
        frame = parser.next()
      ) {
        const wait = handle(frame);
        if (wait !== undefined) await wait;
      }
      if (dead) return;
    }
  }

  duplex.on("drain", releaseWriters);
  // The connection's end is told by run(), after the frames that came before it: headers are inflated on other threads,
  // so a busy machine may see the close while the last chunk's frames still wait. Only a server that is held up by a
  // reader of its own must not wait: its peer is gone.
  const gone = (error?: Error): void => {
    if (side === "server" && blockedBy !== undefined) die(error);
  };
  duplex.on("error", gone);
  duplex.on("close", () => gone());
  run().then(
    () => {
      die();
      duplex.end();
    },
    (error: unknown) => {
      if (
        (error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE"
      ) {
        die();
        return;
      }
      const failure = error instanceof Error ? error : new Error(String(error));
      if (failure instanceof SpdyProtocolError && !dead)
        send([
          controlFrame(
            frameTypes.goAway,
            0,
            words(lastPeerId, resetStatus.protocolError),
          ),
        ]);
      die(failure);
      duplex.destroy();
    },
  );

  return {
    closed,
    openStream(headers) {
      const id = nextId;
      nextId += 2;
      const stream = new SpdyStream(link, id, headers);
      if (dead || goingAway || id > maxStreamId) {
        stream.lose("the connection was closed");
        return stream;
      }
      streams.set(id, stream);
      const payload = Buffer.concat([
        words(id, 0),
        Buffer.from([0, 0]),
        headerWriter.write(headers),
      ]);
      send([controlFrame(frameTypes.synStream, 0, payload)]);
      return stream;
    },
    close() {
      if (dead || goingAway) {
        if (!dead) duplex.end();
        return;
      }
      goingAway = true;
      send([controlFrame(frameTypes.goAway, 0, words(lastPeerId, 0))]);
      duplex.end();
    },
    destroy(error) {
      die(error);
      duplex.destroy();
    },
  };
}
