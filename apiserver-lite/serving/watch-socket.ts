// Watches over WebSocket: each event is one text message (binary for protobuf and CBOR). Messages of the client
// are ignored; the initial events are sent in slices of time as fast as the client reads, and a client that does not read
// the later ones is cut off.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { ApiError } from "../../api/errors.ts";
import { offeredProtocols } from "../authentication/bearer-subprotocol.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import type { CacheEvent } from "../cache/history.ts";
import type { LoopWork } from "../loop/loop-watch.ts";
import type { WatchSink, WatchType } from "../registry/verbs/watch.ts";
import type { TimeSlices } from "../loop/time-slices.ts";
import type { Reader, UnreadBudget } from "../request/unread-budget.ts";
import type { Representation } from "./representation.ts";

const maxPendingBytes = 16 * 1024 * 1024;
/** Frames that wait for the handshake or for what the watch begins with. */
const maxWaiting = 10_000;

interface Socket {
  readonly bufferedAmount: number;
  send(data: Buffer, options: { binary: boolean }, sent?: () => void): void;
  close(code?: number): void;
  terminate(): void;
  on(event: "close" | "error", listener: () => void): unknown;
}

export class WatchSocket implements WatchSink, Reader {
  #socket: Socket | undefined;
  #backlog: Iterable<Buffer | undefined> | undefined;
  #waiting: (() => Buffer)[] = [];
  #closed = false;
  /** It ended before the handshake. */
  #ending = false;

  constructor(
    private readonly representation: Representation,
    private readonly slices: TimeSlices,
    private readonly unread: UnreadBudget,
    /** It is cut off. */
    private readonly cut: () => void,
    private readonly who?: LoopWork,
  ) {}

  get tenant(): string | undefined {
    return this.who?.tenant;
  }

  initial(
    entries: readonly CacheEntry[],
    selected: (entry: CacheEntry) => boolean,
  ): void {
    this.#backlog = this.#initial(entries, selected);
  }

  *#initial(
    entries: readonly CacheEntry[],
    selected: (entry: CacheEntry) => boolean,
  ): Iterable<Buffer | undefined> {
    for (const entry of entries)
      yield selected(entry)
        ? this.representation.frame("ADDED", entry)
        : undefined;
  }

  past(
    events: readonly CacheEvent[],
    typeOf: (event: CacheEvent) => WatchType | undefined,
  ): void {
    this.#backlog = this.#past(events, typeOf);
  }

  *#past(
    events: readonly CacheEvent[],
    typeOf: (event: CacheEvent) => WatchType | undefined,
  ): Iterable<Buffer | undefined> {
    for (const event of events) {
      const type = typeOf(event);
      yield type && this.representation.pastFrame(type, event);
    }
  }

  event(type: WatchType, event: CacheEvent): void {
    const { representation } = this;
    if (this.#backlog)
      this.#waitFor(() => representation.pastFrame(type, event));
    else this.#push(representation.event(type, event));
  }

  bookmark(revision: number, initialEnd: boolean): void {
    const make = (): Buffer =>
      this.representation.bookmark(revision, initialEnd);
    if (this.#backlog) this.#waitFor(make);
    else this.#push(make());
  }

  /** An ERROR event with a Status. */
  error(status: object): void {
    this.#push(this.representation.error(status));
  }

  /** Does the handshake; frames that waited go out. Settles when they are sent, or will not be. */
  async attach(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    onClose: () => void,
  ): Promise<void> {
    const { WebSocketServer } = await import("ws");
    const server = new WebSocketServer({
      noServer: true,
      maxPayload: 64 * 1024,
      handleProtocols: () => offeredProtocols(request.headers)[0] ?? false,
    });
    let sending: Promise<void> | undefined;
    server.handleUpgrade(request, socket, head, (webSocket) => {
      const opened: Socket = webSocket;
      opened.on("close", () => {
        this.#closed = true;
        this.unread.forget(this);
        onClose();
      });
      opened.on("error", () => opened.terminate());
      this.#socket = opened;
      if (this.#closed) return opened.terminate();
      sending = this.#sendBacklog(opened);
    });
    await sending;
  }

  fail({ status }: ApiError): void {
    this.error(status);
    this.end();
  }

  /** The stream has begun, so its end is all that can be said. */
  lost(): void {
    this.#closed = true;
    this.#socket?.terminate();
  }

  end(): void {
    if (this.#socket) this.#socket.close(1000);
    else this.#ending = true;
  }

  async #sendBacklog(socket: Socket): Promise<void> {
    const { slices } = this;
    try {
      for (const frame of this.#backlog ?? []) {
        if (frame)
          await new Promise<void>((sent) =>
            socket.send(frame, { binary: this.#binary }, () => sent()),
          );
        if (slices.over) await slices.next(this.who);
        if (this.#closed) return;
      }
    } catch {
      // An object that can't be encoded: the stream has begun, so its end is all that can be said.
      return socket.terminate();
    }
    this.#backlog = undefined;
    for (const make of this.#waiting.splice(0)) this.#push(make());
    if (this.#ending) socket.close(1000);
  }

  /** Frames are made when it is their turn: some depend on those before them. */
  #waitFor(make: () => Buffer): void {
    if (this.#waiting.length < maxWaiting) this.#waiting.push(make);
    else if (this.#socket) this.#socket.terminate();
    else this.#closed = true;
  }

  get #binary(): boolean {
    return !/json|yaml/.test(this.representation.contentType);
  }

  #push(frame: Buffer): void {
    const socket = this.#socket;
    if (!socket) return this.#waitFor(() => frame);
    socket.send(frame, { binary: this.#binary });
    const { bufferedAmount } = socket;
    if (bufferedAmount > maxPendingBytes) this.cutOff();
    else if (!this.#closed) this.unread.note(this, bufferedAmount);
  }

  cutOff(): void {
    this.cut();
    this.#socket?.terminate();
  }
}
