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
  /** What has to be converted; undefined: nothing. */
  readonly entry: CacheEntry | undefined;
  give(converted: CacheEntry): void;
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
      this.sink.initial(converted, () => true);
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
        seen.map(({ type, event }) => shownOf(type, event)),
      );
      const types = new Map<CacheEvent, WatchType>();
      for (const [index, { type, event }] of seen.entries())
        types.set(eventWith(type, event, converted[index]!), type);
      this.sink.past([...types.keys()], (event) => types.get(event));
    };
  }

  event(type: WatchType, event: CacheEvent): void {
    this.#add({
      entry: shownOf(type, event),
      give: (converted) =>
        this.sink.event(type, eventWith(type, event, converted)),
    });
  }

  bookmark(revision: number, initialEnd: boolean): void {
    this.#add({
      entry: undefined,
      give: () => this.sink.bookmark(revision, initialEnd),
    });
  }

  end(): void {
    this.#add({
      entry: undefined,
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
      const { entry } = waiting;
      const converted = entry && this.endpoint.shown(entry);
      if (!(converted instanceof Promise)) return waiting.give(converted!);
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
        const entries = batch.flatMap(({ entry }) => entry ?? []);
        const converted = (await this.#convert(entries)).values();
        for (const { entry, give } of batch) {
          if (this.#ended) return;
          // Of what has no entry nothing is asked.
          give(entry ? converted.next().value! : (undefined as never));
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
}

/** What a watcher is shown of an event. */
function shownOf(type: WatchType, { entry, previous }: CacheEvent): CacheEntry {
  return (type === "DELETED" ? previous : entry)!;
}

function eventWith(
  type: WatchType,
  { frames: _, ...event }: CacheEvent,
  converted: CacheEntry,
): CacheEvent {
  return type === "DELETED"
    ? { ...event, previous: converted }
    : { ...event, entry: converted };
}
