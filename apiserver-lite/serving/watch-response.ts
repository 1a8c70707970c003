// One watch over HTTP: frames queued for the watcher are written once an event-loop turn; what it begins with is made in
// slices of time, as fast as the watcher reads. A watcher that does not read fast enough is cut off, so that others never
// wait and memory stays bounded.
import type { Writable } from "node:stream";
import type { ApiError } from "../../api/errors.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import type { CacheEvent } from "../cache/history.ts";
import type { WatchSink, WatchType } from "../registry/verbs/watch.ts";
import type { LoopWork } from "../loop/loop-watch.ts";
import type { TimeSlices } from "../loop/time-slices.ts";
import { writeTo } from "../request/back-pressure.ts";
import type { ChunkPool } from "./chunk-pool.ts";
import { chunkOf, type FrameStream } from "../../http-kit/exchange.ts";
import { UnreadBudget, type Reader } from "../request/unread-budget.ts";
import type { HeldPlace } from "./http-request.ts";
import type { ListParts } from "./formats.ts";
import type { Representation } from "./representation.ts";

/** Unsent bytes of one watcher; beyond it is cut. */
const maxPendingBytes = 16 * 1024 * 1024;
/** What a watcher holds that does not read its initial events. */
const unreadBytes = 512 * 1024;
/** Frames that wait to be made. */
const maxLater = 10_000;

const maxRestMs = 10;
/** How long writing to watchers may hold up everything else. */
const sliceMs = 3;
/** Different queues of one turn that are remembered to be shared. */
const maxJoined = 8;

function sameFrames(a: readonly Buffer[], b: readonly Buffer[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

/**
 * Writes what all watchers of a server have queued, once a turn. The first events go out before the write they report is
 * answered (its promise settles behind the microtask), so that the watchers know of it when a client acts on the answer;
 * with many watchers the rest follows in slices, so that neither answers nor requests wait for all of them.
 */
export class WatchFlusher {
  /** Of all watchers of the server. */
  readonly unread = new UnreadBudget();
  #dirty: WatchResponse[] = [];
  /** Those whose turn it is, and the next of them. */
  #turn: WatchResponse[] = [];
  #at = 0;
  #busyMs = 0;
  #scheduled = false;
  /** Flushing takes at most about a quarter of the time: under a storm of writes each watcher gets more events a write. */
  #restUntilMs = 0;
  /** What was joined for one watcher in this turn, for the others that have queued the same. */
  readonly #joined: { frames: readonly Buffer[]; bytes: Buffer }[] = [];

  join(frames: readonly Buffer[], length: number): Buffer {
    if (frames.length === 1) return frames[0]!;
    for (const known of this.#joined)
      if (sameFrames(known.frames, frames)) return known.bytes;
    const bytes = Buffer.concat(frames, length);
    if (this.#joined.length < maxJoined) this.#joined.push({ frames, bytes });
    return bytes;
  }

  add(watcher: WatchResponse): void {
    this.#dirty.push(watcher);
    if (!this.#scheduled) this.#schedule();
  }

  #schedule(): void {
    this.#scheduled = true;
    const waitMs = this.#restUntilMs - performance.now();
    if (waitMs <= 0) queueMicrotask(this.#begin);
    else if (waitMs < 1) setImmediate(this.#begin);
    else setTimeout(this.#begin, waitMs);
  }

  readonly #begin = (): void => {
    this.#turn = this.#dirty;
    this.#dirty = [];
    this.#at = 0;
    this.#busyMs = 0;
    this.#slice();
  };

  readonly #slice = (): void => {
    const startMs = performance.now();
    let endMs = startMs;
    while (this.#at < this.#turn.length && endMs - startMs < sliceMs) {
      this.#turn[this.#at++]!.flush();
      if (this.#at % 8 === 0) endMs = performance.now();
    }
    this.#busyMs += performance.now() - startMs;
    if (this.#at < this.#turn.length) {
      setImmediate(this.#slice);
      return;
    }
    this.#turn = [];
    this.#joined.length = 0;
    this.#scheduled = false;
    this.#restUntilMs =
      performance.now() + Math.min(3 * this.#busyMs, maxRestMs);
    if (this.#dirty.length > 0) this.#schedule();
  };
}

export class WatchResponse implements WatchSink, Reader {
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #dirty = false;
  #stream: FrameStream | undefined;
  #out: Writable | undefined;
  /** What it begins with, until that has been sent. */
  #backlog: ListParts | undefined;
  #later: (() => Buffer)[] = [];
  #closed = false;
  /** It ended before it was attached. */
  #ending = false;
  /** It is waited for that all has been read. */
  #drains = false;

  constructor(
    private readonly representation: Representation,
    private readonly flusher: WatchFlusher,
    /** Frames go out as HTTP/1.1 chunks. */
    private readonly chunked: boolean,
    /** Cuts the watcher off. */
    private readonly cut: () => void,
    private readonly slices: TimeSlices,
    private readonly pool: ChunkPool,
    private readonly who?: LoopWork,
    /** While its initial events are sent. */
    private readonly place?: Pick<HeldPlace, "stalls" | "goesOn">,
  ) {}

  initial(
    entries: readonly CacheEntry[],
    selected: (entry: CacheEntry) => boolean,
  ): void {
    if (entries.length > 0)
      this.#backlog = this.representation.initialFrames(entries, selected);
  }

  past(
    events: readonly CacheEvent[],
    typeOf: (event: CacheEvent) => WatchType | undefined,
  ): void {
    this.#backlog = this.representation.pastFrames(events, typeOf);
  }

  event(type: WatchType, event: CacheEvent): void {
    const { representation } = this;
    if (this.#backlog && representation.ordered)
      return this.#pushLater(() => representation.pastFrame(type, event));
    this.#push(
      this.chunked
        ? representation.chunk(type, event)
        : representation.event(type, event),
    );
  }

  bookmark(revision: number, initialEnd: boolean): void {
    const { representation } = this;
    const make = (): Buffer => representation.bookmark(revision, initialEnd);
    if (this.#backlog && representation.ordered) return this.#pushLater(make);
    this.#push(this.#framed(make()));
  }

  #framed(frame: Buffer): Buffer {
    return this.chunked ? chunkOf(frame) : frame;
  }

  /** The headers have been sent: from here on frames flow. Settles when those it begins with are sent, or will not be. */
  attach(stream: FrameStream): void | Promise<void> {
    this.#stream = stream;
    this.#out = stream.out;
    if (this.#ending) return this.end();
    if (this.#backlog) return this.#sendBacklog(this.#backlog);
    if (this.#queue.length > 0) this.flush();
  }

  flush(): void {
    this.#dirty = false;
    const out = this.#out;
    if (!out || this.#closed || this.#backlog || this.#queue.length === 0)
      return;
    const queue = this.#queue;
    this.#queue = [];
    const bytes = this.#queuedBytes;
    this.#queuedBytes = 0;
    out.write(this.flusher.join(queue, bytes));
    this.#checkUnread(out);
  }

  #checkUnread(out: Writable): void {
    const { unread } = this.flusher;
    const { writableLength } = out;
    if (writableLength > maxPendingBytes) return this.cutOff();
    unread.note(this, writableLength);
    if (unread.bytes > 0 && !this.#drains && out.writableNeedDrain) {
      this.#drains = true;
      out.once("drain", () => {
        this.#drains = false;
        unread.forget(this);
      });
    }
  }

  /** Ends the stream after what is queued. */
  end(): void {
    if (this.#closed) return;
    if (!this.#stream) {
      this.#ending = true;
      return;
    }
    this.flush();
    this.#closed = true;
    this.#stream?.end();
  }

  fail({ status }: ApiError): void {
    this.#push(this.#framed(this.representation.error(status)));
    this.end();
  }

  /** The answer has begun, so its end is all that can be said. */
  lost(): void {
    this.cutOff();
  }

  get tenant(): string | undefined {
    return this.who?.tenant;
  }

  close(): void {
    this.#closed = true;
    this.flusher.unread.forget(this);
    this.#queue = [];
    this.#later = [];
    this.#backlog = undefined;
  }

  #push(frame: Buffer): void {
    if (this.#closed) return;
    this.#queue.push(frame);
    this.#queuedBytes += frame.length;
    if (this.#queuedBytes > maxPendingBytes) return this.cutOff();
    if (this.#dirty || !this.#out) return;
    this.#dirty = true;
    this.flusher.add(this);
  }

  /** Frames that depend on those before them are made when it is their turn. */
  #pushLater(make: () => Buffer): void {
    this.#later.push(make);
    if (this.#later.length > maxLater) this.cutOff();
  }

  async #sendBacklog(backlog: ListParts): Promise<void> {
    const out = this.#out!;
    try {
      for (const bytes of backlog) {
        const full =
          bytes &&
          writeTo(out, this.chunked ? this.pool.framed(bytes) : bytes, () =>
            this.pool.give(bytes),
          );
        if (full) {
          this.place?.stalls(unreadBytes);
          await full;
          this.place?.goesOn();
        }
        if (this.slices.over) await this.slices.next(this.who);
        if (this.#closed) return;
      }
      this.#backlog = undefined;
      for (const make of this.#later.splice(0))
        this.#push(this.#framed(make()));
      this.flush();
    } catch {
      // An object that can't be encoded: the answer has begun, so its end is all that can be said.
      this.cutOff();
    }
  }

  cutOff(): void {
    this.close();
    this.cut();
  }
}
