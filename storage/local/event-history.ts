// The listeners of a store and the last events, so that "list, then subscribe after its revision" has no gap.
// Invariants: every event with a revision above `#floor` up to the newest is in `#events`, in order. A listener that
// throws loses its subscription and is called no more; neither the commit nor another listener notices.
import { StoreError, type StoreEvent, type StoreListener } from "../store.ts";

/** A subscriber follows its list within moments; more history than this is never asked for in practice. */
const KEPT_EVENTS = 1024;

interface Subscriber {
  readonly listener: StoreListener;
  readonly onLost: (error: Error) => void;
}

export type ListenerFailure = (error: unknown) => void;

export class EventHistory {
  #events: StoreEvent[] = [];
  #floor = 0;
  readonly #subscribers = new Set<Subscriber>();
  #failures = 0;

  constructor(private readonly onFailure: ListenerFailure = () => undefined) {}

  /** How often a listener threw. */
  get failures(): number {
    return this.#failures;
  }

  /** Nothing at or below this revision can be replayed. */
  reset(floor: number): void {
    this.#events = [];
    this.#floor = floor;
  }

  publish(events: readonly StoreEvent[]): void {
    for (const event of events) this.#events.push(event);
    if (this.#events.length > 2 * KEPT_EVENTS) {
      const dropped = this.#events.splice(0, this.#events.length - KEPT_EVENTS);
      this.#floor = dropped.at(-1)!.revision;
    }
    for (const subscriber of [...this.#subscribers])
      this.#call(subscriber, events);
  }

  /** Notifies the subscribers that nothing more happened up to this revision. */
  advance(revision: number): void {
    for (const subscriber of [...this.#subscribers])
      this.#call(subscriber, [], revision);
  }

  subscribe(
    afterRevision: number,
    listener: StoreListener,
    onLost: (error: Error) => void,
  ): () => void {
    if (afterRevision < this.#floor) {
      let stopped = false;
      queueMicrotask(() => {
        if (!stopped)
          onLost(
            new StoreError(
              "compacted",
              `events after revision ${afterRevision} are gone`,
            ),
          );
      });
      return () => {
        stopped = true;
      };
    }
    const missed = this.#events.filter(
      (event) => event.revision > afterRevision,
    );
    const subscriber = { listener, onLost };
    this.#subscribers.add(subscriber);
    if (missed.length > 0) this.#call(subscriber, missed);
    return () => {
      this.#subscribers.delete(subscriber);
    };
  }

  #call(
    subscriber: Subscriber,
    events: readonly StoreEvent[],
    upTo?: number,
  ): void {
    try {
      subscriber.listener(events, upTo);
    } catch (error) {
      this.#subscribers.delete(subscriber);
      this.#report(error);
      // Later: a subscriber that lost events may subscribe again at once.
      queueMicrotask(() => {
        try {
          subscriber.onLost(
            new StoreError("unavailable", "a listener of the store failed", {
              cause: error,
            }),
          );
        } catch (second) {
          this.#report(second);
        }
      });
    }
  }

  #report(error: unknown): void {
    this.#failures++;
    try {
      this.onFailure(error);
    } catch {
      // Reporting it is all that can be done.
    }
  }

  /** Notifies every subscriber that no further event will come, and forgets them. */
  lose(error: Error): void {
    const lost = [...this.#subscribers];
    this.#subscribers.clear();
    for (const subscriber of lost) subscriber.onLost(error);
  }

  clear(): void {
    this.#subscribers.clear();
    this.#events = [];
  }
}
