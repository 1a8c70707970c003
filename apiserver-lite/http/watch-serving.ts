// Watches over HTTP: opens the stream, bookmarks and ends it in time, and ends all when the server stops.
import type { OutgoingHttpHeaders } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "../../api/errors.ts";
import type { Call } from "../registry/call.ts";
import { integer } from "../registry/list.ts";
import type { Registry } from "../registry/registry.ts";
import {
  watch,
  watchQueryOf,
  type OpenWatch,
  type WatchQuery,
} from "../registry/watch.ts";
import type { Asked } from "./answers.ts";
import type { Exchange, Http1Exchange } from "./exchange.ts";
import type { Representation } from "./representation.ts";
import { WatchSocket } from "./watch-socket.ts";
import { WatchFlusher, WatchResponse } from "./watch-response.ts";

export interface WatchServingOptions {
  readonly registry: Registry;
  /** Streams without timeoutSeconds end after one to two times this. */
  readonly minRequestTimeoutMs: number;
  readonly bookmarkIntervalMs: number;
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
    );
    integer(call.query.get("timeoutSeconds"), "timeoutSeconds");
    let live: OpenWatch;
    try {
      live = await watch(call, queryOf(call), response);
    } catch (error) {
      // What history has lost is told inside the stream, as the reference does.
      if (!(error instanceof ApiError) || error.code !== 410) throw error;
      const out = exchange.open(200, this.#streamHeaders(asked, shown));
      out.end(shown.error(error.status));
      return;
    }
    if (exchange.closed) return live.close();
    const stream = exchange.stream(200, this.#streamHeaders(asked, shown));
    const close = this.#keep(call, live, response);
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
    const sink = new WatchSocket(shown);
    let live: OpenWatch;
    try {
      live = await watch(call, queryOf(call), sink);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 410) throw error;
      sink.error(error.status);
      await sink.attach(exchange.request, socket, head, () => undefined);
      return sink.end();
    }
    const close = this.#keep(call, live, sink);
    socket.once("close", close);
    await sink.attach(exchange.request, socket, head, close);
  }

  /** Bookmarks, the end in time, and the way to close. */
  #keep(
    call: Call,
    live: OpenWatch,
    sink: { end(): void; close?(): void },
  ): () => void {
    const { registry, minRequestTimeoutMs, bookmarkIntervalMs } = this.options;
    const { clock } = registry;
    const asksSeconds = Number(call.query.get("timeoutSeconds") ?? 0);
    const timeoutMs =
      asksSeconds > 0
        ? asksSeconds * 1000
        : minRequestTimeoutMs * (1 + Math.random());
    const finish = (): void => {
      sink.end();
      close();
    };
    const timer = clock.after(timeoutMs, () => {
      live.bookmark();
      finish();
    });
    const tick = (): void => {
      live.bookmark();
      bookmarks = clock.after(bookmarkIntervalMs, tick);
    };
    let bookmarks = clock.after(bookmarkIntervalMs, tick);
    const close = (): void => {
      timer.cancel();
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

/** A watch of one object is a watch with a field selector. */
function queryOf(call: Call): WatchQuery {
  const query = watchQueryOf(call.query);
  if (call.name === "") return query;
  const fieldSelector = [query.fieldSelector, `metadata.name=${call.name}`]
    .filter(Boolean)
    .join(",");
  return { ...query, fieldSelector };
}
