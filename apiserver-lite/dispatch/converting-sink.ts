// A watch whose kind converts outside of this process: the registry's events wait here, in order, until their objects are
// in the version that is watched, and go on to the transport's sink in batches.
//
// Invariants: the sink behind sees what it would see without conversion, in the same order; nothing waits when nothing has
// to be converted; at most `maxWaiting` events wait. A conversion that fails ends the watch with an ERROR event.
import { ApiError, errors } from "../../api/errors.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import type { CacheEvent } from "../cache/history.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import type { WatchSink, WatchType } from "../registry/verbs/watch.ts";

const maxWaiting = 10_000;
const maxBatch = 256;

interface Waiting {
  /** What has to be converted; empty: nothing. */
  readonly entries: readonly CacheEntry[];
  give(converted: readonly CacheEntry[]): void;
}

type Pause = () => Promise<void> | undefined;

export class ConvertingSink implements WatchSink {
  #waiting: Waiting[] = [];
  /** It gives on what waits; or what the watch begins with is not there yet. */
  #busy = true;
  #ended = false;
  #begin: (() => Promise<void>) | undefined;

  constructor(
    private readonly endpoint: Endpoint,
    private readonly sink: WatchSink,
    private readonly pause: Pause,
    /** Asked of objects in the watched version; the registry has asked the rest. Undefined: there is no more to ask. */
    private readonly selects?: (shown: CacheEntry) => boolean,
  ) {}

  /** Gives on what the watch begins with, then what came meanwhile. Rejects with ApiError 500. */
  async start(): Promise<void> {
    await this.#begin?.();
    this.#begin = undefined;
    await this.#giveAll();
  }

  initial(
    entries: readonly CacheEntry[],
    selected: (entry: CacheEntry) => boolean,
  ): void {
    this.#begin = async () => {
      const chosen = entries.filter(selected);
      const converted = await this.#convert(chosen);
      this.sink.initial(converted, this.selects ?? (() => true));
    };
  }

  past(
    events: readonly CacheEvent[],
    typeOf: (event: CacheEvent) => WatchType | undefined,
  ): void {
    this.#begin = async () => {
      const seen = events.flatMap((event) => {
        const type = typeOf(event);
        return type ? [{ type, event }] : [];
      });
      const converted = await this.#convert(
        seen.flatMap(({ type, event }) => this.#shownOf(type, event)),
      );
      const types = new Map<CacheEvent, WatchType>();
      let at = 0;
      for (const { type, event } of seen) {
        const count = this.#shownOf(type, event).length;
        const shown = this.#shown(type, event, converted.slice(at, at + count));
        at += count;
        if (shown) types.set(shown.event, shown.type);
      }
      this.sink.past([...types.keys()], (event) => types.get(event));
    };
  }

  event(type: WatchType, event: CacheEvent): void {
    this.#add({
      entries: this.#shownOf(type, event),
      give: (converted) => {
        const shown = this.#shown(type, event, converted);
        if (shown) this.sink.event(shown.type, shown.event);
      },
    });
  }

  bookmark(revision: number, initialEnd: boolean): void {
    this.#add({
      entries: [],
      give: () => this.sink.bookmark(revision, initialEnd),
    });
  }

  end(): void {
    this.#add({
      entries: [],
      give: () => {
        this.#ended = true;
        this.sink.end();
      },
    });
  }

  lost(error: unknown): void {
    this.#ended = true;
    this.sink.lost(error);
  }

  fail(error: ApiError): void {
    this.#ended = true;
    this.sink.fail(error);
  }

  #add(waiting: Waiting): void {
    if (this.#ended) return;
    if (!this.#busy) {
      const converted = waiting.entries.map((entry) =>
        this.endpoint.shown(entry),
      );
      if (!converted.some((each) => each instanceof Promise))
        return waiting.give(converted as CacheEntry[]);
    }
    if (this.#waiting.length >= maxWaiting)
      return this.lost(errors.expired("the watcher was too slow"));
    this.#waiting.push(waiting);
    if (!this.#busy) void this.#giveAll();
  }

  async #giveAll(): Promise<void> {
    this.#busy = true;
    try {
      while (this.#waiting.length > 0 && !this.#ended) {
        const batch = this.#waiting.splice(0, maxBatch);
        const converted = await this.#convert(
          batch.flatMap(({ entries }) => entries),
        );
        let at = 0;
        for (const { entries, give } of batch) {
          if (this.#ended) return;
          give(converted.slice(at, at + entries.length));
          at += entries.length;
        }
      }
    } catch (error) {
      this.#waiting = [];
      if (!this.#ended)
        this.fail(
          error instanceof ApiError ? error : errors.internal(String(error)),
        );
    } finally {
      this.#busy = false;
    }
  }

  #convert(entries: readonly CacheEntry[]): Promise<readonly CacheEntry[]> {
    return this.endpoint.allShown(entries, this.pause);
  }

  /** What of an event is converted: what is shown, and what a selection is asked about. */
  #shownOf(type: WatchType, { entry, previous }: CacheEvent): CacheEntry[] {
    if (type === "DELETED") return [previous!];
    return type === "MODIFIED" && this.selects ? [entry!, previous!] : [entry!];
  }

  /** The event with converted objects, and what it is for the selection; undefined: it is not seen. */
  #shown(
    type: WatchType,
    { frames: _, ...event }: CacheEvent,
    [first, previous]: readonly CacheEntry[],
  ): { type: WatchType; event: CacheEvent } | undefined {
    const gone = { ...event, previous: previous ?? first! };
    const present = { ...event, entry: first! };
    if (!this.selects)
      return { type, event: type === "DELETED" ? gone : present };
    const is = type !== "DELETED" && this.selects(first!);
    const was = type !== "ADDED" && this.selects(previous ?? first!);
    if (is) return { type: was ? "MODIFIED" : "ADDED", event: present };
    return was ? { type: "DELETED", event: gone } : undefined;
  }
}
