// The undo log of one resource: what each event replaced. It serves watches that resume, and reads of past versions.
//
// Example: a@5, then a@7 replaces it, then b@8 is new. At revision 6: undo b@8 (gone), undo a@7 (a@5) → {a@5}.
// Invariants: every event above `floor` is kept, in revision order; what is older than the retention goes, and so does
// the oldest half when the bytes of all resources pass their bound (HistoryBudget). Of a create, which says nothing that its
// entry does not, the entry alone is kept: a state that was just filled is all creates.
import { CacheEntry } from "./cache-entry.ts";

export interface CacheEvent {
  readonly type: "put" | "delete";
  readonly revision: number;
  readonly key: string;
  /** The new version; undefined for a delete. */
  readonly entry: CacheEntry | undefined;
  /** The version it replaced; undefined for a create. */
  readonly previous: CacheEntry | undefined;
  /** Encoded watch events by representation while the event is sent: made for the first watcher, shared by all. */
  frames?: Map<string, Buffer> | undefined;
}

export class HistoryBudget {
  bytes = 0;
  constructor(
    readonly maxBytes: number,
    readonly retentionMs: number,
  ) {}
}

/** What an event takes besides bytes: itself, its entry, their keys and Buffers. */
const perEventBytes = 700;
/** Events that are let go of at once. */
const maxPruned = 1024;

export class History {
  /** Those before `#head` are gone. */
  #events: (CacheEvent | CacheEntry | undefined)[] = [];
  /** When each of them came. */
  #atMs: number[] = [];
  #head = 0;
  #floor: number;

  constructor(
    floor: number,
    private readonly budget: HistoryBudget,
  ) {
    this.#floor = floor;
  }

  /** State and events are known for every revision from here on. */
  get floor(): number {
    return this.#floor;
  }

  /** The revision of the newest event; `floor` when there is none. */
  get newest(): number {
    return this.#events.length > this.#head
      ? this.#events[this.#events.length - 1]!.revision
      : this.#floor;
  }

  push(event: CacheEvent, atMs: number): void {
    const kept = event.previous ? event : (event.entry ?? event);
    this.#events.push(kept);
    this.#atMs.push(atMs);
    this.budget.bytes += sizeOf(kept);
    this.prune(atMs);
  }

  /** Lets go of what is too old or too much, a bounded number of events at a time; is there more? */
  prune(nowMs: number): boolean {
    const oldest = nowMs - this.budget.retentionMs;
    const last = this.#head + maxPruned;
    while (
      this.#head < this.#events.length &&
      (this.#atMs[this.#head]! < oldest ||
        (this.budget.bytes > this.budget.maxBytes &&
          this.#events.length - this.#head > 100))
    ) {
      if (this.#head === last) return true;
      const event = this.#events[this.#head]!;
      this.budget.bytes -= sizeOf(event);
      this.#floor = event.revision;
      this.#events[this.#head++] = undefined;
    }
    if (this.#head > 1024 && this.#head * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#head);
      this.#atMs = this.#atMs.slice(this.#head);
      this.#head = 0;
    }
    return false;
  }

  /** Lets go of everything; the resource is gone. */
  close(): void {
    for (let index = this.#head; index < this.#events.length; index++)
      this.budget.bytes -= sizeOf(this.#events[index]!);
    this.#floor = this.newest;
    this.#events = [];
    this.#atMs = [];
    this.#head = 0;
  }

  /** Events with a revision above `revision`, oldest first. The caller has checked the floor. */
  after(revision: number): CacheEvent[] {
    let low = this.#head;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#events[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#events.slice(low).map((kept) => eventOf(kept!));
  }
}

function eventOf(kept: CacheEvent | CacheEntry): CacheEvent {
  if (!(kept instanceof CacheEntry)) return kept;
  const { revision, key } = kept;
  return { type: "put", revision, key, entry: kept, previous: undefined };
}

function sizeOf(kept: CacheEvent | CacheEntry): number {
  const previous = kept instanceof CacheEntry ? undefined : kept.previous;
  return perEventBytes + (previous?.bytes ?? 0);
}
