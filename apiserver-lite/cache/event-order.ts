// Keeps the store's events in order while values of some of them are being opened: sealed values may need a service
// outside. Where nothing is sealed every event passes at once.
//
// Example: events 5 (sealed, takes its time) and 6 arrive → 6 waits; when 5 is open both are given on, 5 first.
// Invariants: events are given on in the order they came in; many are being opened at the same time.
import type { StoreEvent } from "../../storage/store.ts";
import type { Opened } from "./cached-resource.ts";

export type OpenedEvents = ReadonlyMap<StoreEvent, Opened>;

interface Waiting {
  readonly events: readonly StoreEvent[];
  readonly upTo: number;
  readonly opened: Map<StoreEvent, Opened>;
  left: number;
}

const nothing: OpenedEvents = new Map();

export class EventOrder {
  #waiting: Waiting[] = [];
  #waitingEvents = 0;

  constructor(
    /** Undefined: the event's value is read as it is. */
    private readonly open: (
      event: StoreEvent,
    ) => Opened | Promise<Opened> | undefined,
    private readonly give: (
      events: readonly StoreEvent[],
      upTo: number,
      opened: OpenedEvents,
    ) => void,
    /** Receives the error that `give` threw while it had no caller to catch it. */
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Events that wait. */
  get size(): number {
    return this.#waitingEvents;
  }

  add(events: readonly StoreEvent[], upTo: number): void {
    let opened: Map<StoreEvent, Opened> | undefined;
    let promises: [StoreEvent, Promise<Opened>][] | undefined;
    for (const event of events) {
      const result = this.open(event);
      if (result instanceof Promise) (promises ??= []).push([event, result]);
      else if (result) (opened ??= new Map()).set(event, result);
    }
    if (!promises && this.#waiting.length === 0)
      return this.give(events, upTo, opened ?? nothing);
    const waiting: Waiting = {
      events,
      upTo,
      opened: opened ?? new Map(),
      left: promises?.length ?? 0,
    };
    this.#waiting.push(waiting);
    this.#waitingEvents += events.length;
    for (const [event, promise] of promises ?? [])
      void promise.then((value) => {
        waiting.opened.set(event, value);
        waiting.left--;
        this.#drain();
      });
  }

  /** Forgets what waits: it is read again with the rest. */
  clear(): void {
    this.#waiting = [];
    this.#waitingEvents = 0;
  }

  #drain(): void {
    while (this.#waiting[0]?.left === 0) {
      const { events, upTo, opened } = this.#waiting.shift()!;
      this.#waitingEvents -= events.length;
      try {
        this.give(events, upTo, opened);
      } catch (error) {
        return this.failed(error);
      }
    }
  }
}
