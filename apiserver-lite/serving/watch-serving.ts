// Watches over HTTP: opens the stream, bookmarks and ends it in time, and ends all when the server stops.
import type { OutgoingHttpHeaders } from "node:http";
import { ApiError } from "../../api/errors.ts";
import { keepWatch, openWatch, watchTimeoutMs } from "../dispatch/watch.ts";
import type { Call } from "../registry/call.ts";
import type { Registry } from "../registry/registry.ts";
import { isTrue, type OpenWatch } from "../registry/verbs/watch.ts";
import type { ChunkPool } from "./chunk-pool.ts";
import type { Upgrade } from "../../http-kit/exchange.ts";
import type { HttpRequest } from "./http-request.ts";
import { WatchSocket } from "./watch-socket.ts";
import { WatchFlusher, WatchResponse } from "./watch-response.ts";

interface WatchServingOptions {
  readonly registry: Registry;
  /** Streams without timeoutSeconds end after one to two times this. */
  readonly minRequestTimeoutMs: number;
  readonly bookmarkIntervalMs: number;
  /** So long a watch that sends its initial events counts as a request. */
  readonly maxInitialMs: number;
  readonly pool: ChunkPool;
}

/** Revisions that history has lost, or has not reached, are reported inside the stream, as in the reference. */
function isReportedInside(error: unknown): error is ApiError {
  return (
    error instanceof ApiError && (error.code === 410 || error.code === 504)
  );
}

function countCut({ endpoint }: Call): void {
  const { stored } = endpoint;
  if (stored) stored.cache.counts.cutWatchers++;
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

  /** Settles when the initial events are sent. Over WebSocket where that is offered, else as a streamed answer. */
  serve(request: HttpRequest, call: Call): Promise<void> {
    const { upgrade } = request.exchange;
    return upgrade && /^websocket$/i.test(upgrade.request.headers.upgrade ?? "")
      ? this.#serveSocket(request, upgrade, call)
      : this.#serveStream(request, call);
  }

  async #serveStream(request: HttpRequest, call: Call): Promise<void> {
    const { exchange, shown } = request;
    const response = new WatchResponse(
      shown,
      this.#flusher,
      exchange.chunks,
      () => {
        countCut(call);
        exchange.destroy();
      },
      this.options.registry.slices,
      this.options.pool,
      exchange,
      request.place,
    );
    const timeoutMs = this.#timeoutMs(call);
    let live: OpenWatch;
    try {
      live = await openWatch(call, response);
    } catch (error) {
      if (!isReportedInside(error)) throw error;
      const out = exchange.open(200, this.#streamHeaders(request));
      out.end(shown.error(error.status));
      return;
    }
    if (exchange.closed) return live.close();
    if (timeoutMs === 0) {
      live.close();
      exchange.open(200, this.#streamHeaders(request)).end();
      return;
    }
    const stream = exchange.stream(200, this.#streamHeaders(request));
    const close = this.#keep(timeoutMs, live, response);
    const { out } = stream;
    out.on("error", close);
    exchange.onClose(() => {
      // Further watches may follow on the connection.
      out.off("error", close);
      close();
    });
    const startMs = performance.now();
    const sending = response.attach(stream);
    if (isTrue(call.query.get("sendInitialEvents")))
      void Promise.resolve(sending).then(() =>
        this.options.registry.listStreams.sent(
          call.endpoint.info,
          call.namespace,
          startMs,
        ),
      );
    if (sending) await this.#whileInitial(sending);
  }

  /** A client that does not read its initial events must not hold its place for as long as it likes. */
  #whileInitial(sending: Promise<void>): Promise<void> {
    const { registry, maxInitialMs } = this.options;
    return new Promise((resolve) => {
      const timer = registry.clock.after(maxInitialMs, resolve);
      void sending.finally(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  /** The handshake is done once the watch is open. */
  async #serveSocket(
    { exchange, shown }: HttpRequest,
    { request, socket, head }: Upgrade,
    call: Call,
  ): Promise<void> {
    const sink = new WatchSocket(
      shown,
      this.options.registry.slices,
      this.#flusher.unread,
      () => countCut(call),
      exchange,
    );
    const timeoutMs = this.#timeoutMs(call);
    let live: OpenWatch;
    try {
      live = await openWatch(call, sink);
    } catch (error) {
      if (!isReportedInside(error)) throw error;
      sink.error(error.status);
      exchange.switched();
      await sink.attach(request, socket, head, () => undefined);
      return sink.end();
    }
    exchange.switched();
    const close = this.#keep(timeoutMs, live, sink);
    socket.once("close", close);
    await this.#whileInitial(sink.attach(request, socket, head, close));
  }

  /** Throws ApiError 400. */
  #timeoutMs({ query }: Call): number {
    return (
      watchTimeoutMs(query) ??
      this.options.minRequestTimeoutMs * (1 + Math.random())
    );
  }

  /** Keeps the watch for its time; returns what closes it before. */
  #keep(
    timeoutMs: number,
    live: OpenWatch,
    sink: { end(): void; close?(): void },
  ): () => void {
    const { registry, bookmarkIntervalMs } = this.options;
    const finish = (): void => {
      sink.end();
      close();
    };
    const stop = keepWatch(live, {
      clock: registry.clock,
      timeoutMs,
      bookmarkIntervalMs,
      finish,
    });
    const close = (): void => {
      stop();
      sink.close?.();
      this.#watches.delete(finish);
    };
    this.#watches.add(finish);
    return close;
  }

  #streamHeaders({ headers, shown }: HttpRequest): OutgoingHttpHeaders {
    return {
      ...headers,
      "content-type": shown.streamType,
      "cache-control": "no-cache, private",
    };
  }
}
