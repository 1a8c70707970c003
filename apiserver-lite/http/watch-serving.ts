// Watches over HTTP: opens the stream, bookmarks and ends it in time, and ends all when the server stops.
import type { OutgoingHttpHeaders } from "node:http";
import { ApiError } from "../../api/errors.ts";
import type { Call } from "../registry/call.ts";
import { integer } from "../registry/list.ts";
import type { Registry } from "../registry/registry.ts";
import { watch, watchQueryOf } from "../registry/watch.ts";
import type { Asked } from "./answers.ts";
import type { Exchange } from "./exchange.ts";
import type { Representation } from "./representation.ts";
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

  endAll(): void {
    for (const end of [...this.#watches]) end();
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
    const { registry, minRequestTimeoutMs, bookmarkIntervalMs } = this.options;
    const query = watchQueryOf(call.query);
    const fieldSelector =
      call.name === ""
        ? query.fieldSelector
        : [query.fieldSelector, `metadata.name=${call.name}`]
            .filter(Boolean)
            .join(",");
    const response = new WatchResponse(
      shown,
      this.#flusher,
      exchange.chunks,
      () => exchange.destroy(),
    );
    const asksSeconds = integer(
      call.query.get("timeoutSeconds"),
      "timeoutSeconds",
    );
    let opened;
    try {
      opened = await watch(call, { ...query, fieldSelector }, response);
    } catch (error) {
      // What history has lost is told inside the stream, as the reference does.
      if (!(error instanceof ApiError) || error.code !== 410) throw error;
      const out = exchange.open(200, this.#streamHeaders(asked, shown));
      out.end(shown.error(error.status));
      return;
    }
    const live = opened;
    if (exchange.closed) return live.close();
    const stream = exchange.stream(200, this.#streamHeaders(asked, shown));
    const timeoutMs =
      asksSeconds > 0
        ? asksSeconds * 1000
        : minRequestTimeoutMs * (1 + Math.random());
    const finish = (): void => {
      response.end();
      close();
    };
    const timer = registry.clock.after(timeoutMs, () => {
      live.bookmark();
      finish();
    });
    let bookmarks = registry.clock.after(bookmarkIntervalMs, tick);
    function tick(): void {
      live.bookmark();
      bookmarks = registry.clock.after(bookmarkIntervalMs, tick);
    }
    const close = (): void => {
      timer.cancel();
      bookmarks.cancel();
      live.close();
      response.close();
      this.#watches.delete(finish);
    };
    this.#watches.add(finish);
    exchange.onClose(close);
    stream.out.on("error", close);
    response.attach(stream);
  }

  #streamHeaders(asked: Asked, shown: Representation): OutgoingHttpHeaders {
    return {
      ...asked.headers,
      "content-type": shown.streamType,
      "cache-control": "no-cache, private",
    };
  }
}
