// Watches over HTTP: opens the stream, bookmarks and ends it in time, and ends all when the server stops.
import type { OutgoingHttpHeaders } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "../../api/errors.ts";
import { openWatch } from "../dispatch/watch.ts";
import type { Call } from "../registry/call.ts";
import { integer } from "../registry/list.ts";
import type { Registry } from "../registry/registry.ts";
import type { OpenWatch } from "../registry/watch.ts";
import type { Asked } from "./answers.ts";
import type { ChunkPool } from "./chunk-pool.ts";
import type { Exchange, Http1Exchange } from "./exchange.ts";
import type { Representation } from "./representation.ts";
import { WatchSocket } from "./watch-socket.ts";
import { WatchFlusher, WatchResponse } from "./watch-response.ts";

export interface WatchServingOptions {
  readonly registry: Registry;
  /** Streams without timeoutSeconds end after one to two times this. */
  readonly minRequestTimeoutMs: number;
  readonly bookmarkIntervalMs: number;
  readonly pool: ChunkPool;
}

/** How long before the end a watcher is told once more how far it has come. */
const lastBookmarkMs = 2000;
/** What a timer can wait. */
const maxTimeoutMs = 2 ** 31 - 1;

/** What history has lost, or has not reached, is told inside the stream, as the reference does. */
function toldInside(error: unknown): error is ApiError {
  return (
    error instanceof ApiError && (error.code === 410 || error.code === 504)
  );
}

export class WatchServing {
  readonly #flusher = new WatchFlusher();
  readonly #watches = new Set<() => void>();

  constructor(private readonly options: WatchServingOptions) {}

  /** Spread over `overMs`, so that the clients do not all come back at once. */
  endAll(overMs = 0): void {
    const ends = [...this.#watches];
    const { clock } = this.options.registry;
    for (const [index, end] of ends.entries()) {
      if (overMs <= 0) end();
      else clock.after((overMs * index) / ends.length, end);
    }
  }

  get size(): number {
    return this.#watches.size;
  }

  async serve(
    exchange: Exchange,
    asked: Asked,
    call: Call,
    shown: Representation,
  ): Promise<void> {
    const response = new WatchResponse(
      shown,
      this.#flusher,
      exchange.chunks,
      () => exchange.destroy(),
      this.options.registry.slices,
      this.options.pool,
      exchange,
    );
    const timeoutMs = this.#timeoutMs(call);
    let live: OpenWatch;
    try {
      live = await openWatch(call, response);
    } catch (error) {
      if (!toldInside(error)) throw error;
      const out = exchange.open(200, this.#streamHeaders(asked, shown));
      out.end(shown.error(error.status));
      return;
    }
    if (exchange.closed) return live.close();
    if (timeoutMs === 0) {
      live.close();
      exchange.open(200, this.#streamHeaders(asked, shown)).end();
      return;
    }
    const stream = exchange.stream(200, this.#streamHeaders(asked, shown));
    const close = this.#keep(timeoutMs, live, response);
    exchange.onClose(close);
    stream.out.on("error", close);
    response.attach(stream);
  }

  /** The same over WebSocket; the handshake is done once the watch is open. */
  async serveSocket(
    exchange: Http1Exchange,
    call: Call,
    shown: Representation,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const sink = new WatchSocket(shown, this.options.registry.slices, exchange);
    const timeoutMs = this.#timeoutMs(call);
    let live: OpenWatch;
    try {
      live = await openWatch(call, sink);
    } catch (error) {
      if (!toldInside(error)) throw error;
      sink.error(error.status);
      await sink.attach(exchange.request, socket, head, () => undefined);
      return sink.end();
    }
    const close = this.#keep(timeoutMs, live, sink);
    socket.once("close", close);
    await sink.attach(exchange.request, socket, head, close);
  }

  /** Throws ApiError 400. */
  #timeoutMs({ query }: Call): number {
    const seconds = integer(query.get("timeoutSeconds"));
    return seconds === 0
      ? this.options.minRequestTimeoutMs * (1 + Math.random())
      : Math.min(Math.max(seconds * 1000, 0), maxTimeoutMs);
  }

  /** Bookmarks, one of them shortly before the end; the end in time, and the way to close. */
  #keep(
    timeoutMs: number,
    live: OpenWatch,
    sink: { end(): void; close?(): void },
  ): () => void {
    const { registry, bookmarkIntervalMs } = this.options;
    const { clock } = registry;
    const finish = (): void => {
      sink.end();
      close();
    };
    const timer = clock.after(timeoutMs, finish);
    const last =
      timeoutMs > lastBookmarkMs
        ? clock.after(timeoutMs - lastBookmarkMs, () => live.bookmark())
        : undefined;
    const tick = (): void => {
      live.bookmark();
      bookmarks = clock.after(bookmarkIntervalMs, tick);
    };
    let bookmarks = clock.after(bookmarkIntervalMs, tick);
    const close = (): void => {
      timer.cancel();
      last?.cancel();
      bookmarks.cancel();
      live.close();
      sink.close?.();
      this.#watches.delete(finish);
    };
    this.#watches.add(finish);
    return close;
  }

  #streamHeaders(asked: Asked, shown: Representation): OutgoingHttpHeaders {
    return {
      ...asked.headers,
      "content-type": shown.streamType,
      "cache-control": "no-cache, private",
    };
  }
}
