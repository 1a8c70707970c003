// A watch of this process as an async sequence: events wait in a bounded queue; a reader that does not take them gets
// 410, as a watcher over HTTP that does not read is cut off.
import { errors } from "../../api/errors.ts";
import type { AnyObject, KubeObject } from "../../api/object.ts";
import type { WatchEvent, WatchStream } from "../../client/client.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import { deepFreeze } from "../../api/objects/deep-freeze.ts";
import type { CacheEvent } from "../cache/history.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import type { WatchSink, WatchType } from "../registry/verbs/watch.ts";

const maxQueued = 100_000;

/** Shared and frozen, in the served version. */
export function served(endpoint: Endpoint, entry: CacheEntry): AnyObject {
  return endpoint.asIs
    ? entry.object
    : deepFreeze(endpoint.show(entry.object as AnyObject));
}

/**
 * Parsed when it is its turn: all at once would hold the event loop. A class: an accessor in an object literal would give
 * each event a hidden class that outlives it.
 */
class InitialEvent {
  readonly type = "ADDED" as const;

  constructor(
    private readonly endpoint: Endpoint,
    private readonly entry: CacheEntry,
  ) {}

  get object(): KubeObject {
    return served(this.endpoint, this.entry);
  }
}

export class WatchQueue implements WatchStream<KubeObject> {
  readonly #queue: WatchEvent<KubeObject>[] = [];
  #wake: (() => void) | undefined;
  #failure: unknown;
  #ended = false;
  readonly #closing = new Set<() => void>();

  /** What the registry calls; events are shown as this endpoint's. */
  sink(endpoint: Endpoint): WatchSink {
    const tell = (type: WatchType, event: CacheEvent): void =>
      this.#push({
        type,
        object:
          type === "DELETED"
            ? lastState(endpoint, event)
            : served(endpoint, event.entry!),
      });
    return {
      initial: (entries, selected) => {
        for (const entry of entries)
          if (selected(entry)) this.#push(new InitialEvent(endpoint, entry));
      },
      past: (events, typeOf) => {
        for (const event of events) {
          const type = typeOf(event);
          if (type) tell(type, event);
        }
      },
      event: tell,
      lost: (error) => this.fail(error),
      fail: (error) => this.fail(error),
      end: () => this.end(),
      bookmark: (revision, initialEnd) =>
        this.#push({
          type: "BOOKMARK",
          object: bookmarkOf(endpoint, revision, initialEnd),
        }),
    };
  }

  /** Queued events are still returned, then the error is thrown. */
  fail(error: unknown): void {
    if (this.#ended) return;
    this.#failure = error;
    this.end();
  }

  close(): void {
    this.#queue.length = 0;
    this.end();
  }

  /** Called once, when the watch is over for whatever reason; at once when it is. */
  onEnd(callback: () => void): void {
    if (this.#ended) callback();
    else this.#closing.add(callback);
  }

  async *[Symbol.asyncIterator](): AsyncIterator<WatchEvent<KubeObject>> {
    try {
      for (;;) {
        const event = this.#queue.shift();
        if (event) yield event;
        else if (this.#failure !== undefined) throw this.#failure;
        else if (this.#ended) return;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.close();
    }
  }

  #push(event: WatchEvent<KubeObject>): void {
    if (this.#ended) return;
    if (this.#queue.length >= maxQueued)
      return this.fail(errors.expired("the watcher was too slow"));
    this.#queue.push(event);
    this.#wake?.();
  }

  /** Queued events are still returned. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#wake?.();
    for (const callback of this.#closing) callback();
    this.#closing.clear();
  }
}

function bookmarkOf(
  { info, apiVersion }: Endpoint,
  revision: number,
  initialEnd: boolean,
): KubeObject {
  const metadata = {
    resourceVersion: String(revision),
    ...(initialEnd
      ? { annotations: { "k8s.io/initial-events-end": "true" } }
      : {}),
  } as KubeObject["metadata"];
  return { kind: info.kind, apiVersion, metadata };
}

function lastState(endpoint: Endpoint, event: CacheEvent): KubeObject {
  const last = event.previous!.copy();
  last.metadata.resourceVersion = String(event.revision);
  return deepFreeze(endpoint.show(last));
}
