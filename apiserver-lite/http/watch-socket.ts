// Watches over WebSocket: each event is one text message (binary for protobuf and CBOR). What the client sends is
// ignored; a client that does not read is cut off.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { CacheEntry } from "../cache/cache-entry.ts";
import type { CacheEvent } from "../cache/history.ts";
import type { WatchSink, WatchType } from "../registry/watch.ts";
import type { Representation } from "./representation.ts";

const maxPendingBytes = 16 * 1024 * 1024;

interface Socket {
  readonly bufferedAmount: number;
  send(data: Buffer, options: { binary: boolean }): void;
  close(code?: number): void;
  terminate(): void;
  on(event: "close" | "error", listener: () => void): unknown;
}

export class WatchSocket implements WatchSink {
  #socket: Socket | undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  constructor(private readonly representation: Representation) {}

  initial(entries: readonly CacheEntry[]): void {
    for (const entry of entries)
      this.#push(this.representation.frame("ADDED", entry));
  }

  event(type: WatchType, event: CacheEvent): void {
    this.#push(this.representation.event(type, event));
  }

  bookmark(revision: number, initialEnd: boolean): void {
    this.#push(this.representation.bookmark(revision, initialEnd));
  }

  /** An ERROR event with a Status. */
  error(status: object): void {
    this.#push(this.representation.error(status));
  }

  /** Does the handshake; frames that waited go out. */
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
    });
    server.handleUpgrade(request, socket, head, (webSocket) => {
      const opened: Socket = webSocket;
      opened.on("close", onClose);
      opened.on("error", () => opened.terminate());
      this.#socket = opened;
      for (const frame of this.#waiting.splice(0)) this.#push(frame);
    });
  }

  end(): void {
    this.#socket?.close(1000);
  }

  #push(frame: Buffer): void {
    const socket = this.#socket;
    if (!socket) {
      this.#waitingBytes += frame.length;
      if (this.#waitingBytes <= maxPendingBytes) this.#waiting.push(frame);
      return;
    }
    const binary = !/json|yaml/.test(this.representation.contentType);
    socket.send(frame, { binary });
    if (socket.bufferedAmount > maxPendingBytes) socket.terminate();
  }
}
