// The present state of one stored resource, its recent history, and who watches it.
// Invariants: `apply` sees this resource's events in revision order; watchers and subscribers are called in that order,
// synchronously, after the state has changed.
import type { CacheEntry } from "./cache-entry.ts";
import { History, type CacheEvent, type HistoryBudget } from "./history.ts";
import { OrderedEntries } from "./ordered-entries.ts";

/** A stored value that is no object (damaged, or of a kind this program does not know). */
export interface Unreadable {
  /** Of the damaged version: what a forced delete expects. */
  readonly revision: number;
  readonly reason: string;
}

/** Must not throw and must not block. */
export type CacheListener = (event: CacheEvent) => void;

/** Objects just written stay parsed: what is written is likely to be written again soon. */
const maxWarm = 128;

export class ResourceCache {
  readonly #warm: (CacheEntry | undefined)[] = [];
  #nextWarm = 0;
  readonly #byKey = new Map<string, CacheEntry>();
  readonly #ordered = new OrderedEntries();
  readonly #listeners = new Set<CacheListener>();
  readonly history: History;

  constructor(
    /** Without the trailing slash: /registry/pods */
    readonly prefix: string,
    readonly namespaced: boolean,
    revision: number,
    budget: HistoryBudget,
    entries: readonly CacheEntry[],
    /** By key: these exist, but nobody can read them. Kept by the watch cache. */
    readonly unreadable: ReadonlyMap<string, Unreadable> = new Map(),
  ) {
    this.history = new History(revision, budget);
    for (const entry of entries) this.#byKey.set(entry.key, entry);
    this.#ordered.load(
      [...entries].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)),
    );
  }

  get size(): number {
    return this.#ordered.size;
  }

  get watched(): boolean {
    return this.#listeners.size > 0;
  }

  get(key: string): CacheEntry | undefined {
    return this.#byKey.get(key);
  }

  /** All entries of a namespace ("" for all), in key order. */
  entries(namespace = ""): CacheEntry[] {
    return namespace === ""
      ? this.#ordered.slice("")
      : this.#ordered.slice(`${namespace}/`, `${namespace}0`);
  }

  /** Entries with from ≤ key < to, in key order. */
  range(from: string, to: string): Iterable<CacheEntry> {
    return this.#ordered.range(from, to);
  }

  /** The same as of a past revision; the caller has checked that history reaches back to it. */
  rangeAt(revision: number, from: string, to: string): CacheEntry[] {
    const events = this.history.after(revision);
    const present = this.#ordered.slice(from, to);
    if (events.length === 0) return present;
    const past = new Map<string, CacheEntry | undefined>();
    for (const event of events) {
      // The oldest event of a key tells what was before.
      if (!past.has(event.key)) past.set(event.key, event.previous);
    }
    const entries = present.filter((entry) => !past.has(entry.key));
    const before = entries.length;
    for (const [key, entry] of past)
      if (entry && key >= from && (to === "" || key < to)) entries.push(entry);
    if (entries.length > before)
      entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    return entries;
  }

  apply(event: CacheEvent): void {
    if (event.entry) {
      this.#byKey.set(event.key, event.entry);
      this.#ordered.set(event.entry);
      this.#warm[this.#nextWarm]?.cool();
      this.#warm[this.#nextWarm] = event.entry;
      this.#nextWarm = (this.#nextWarm + 1) % maxWarm;
    } else {
      this.#byKey.delete(event.key);
      this.#ordered.delete(event.key);
    }
    this.history.push(event);
    for (const listener of this.#listeners) listener(event);
    // History keeps the bytes of objects; frames are made again for who resumes.
    delete event.frames;
    event.previous?.shrink();
  }

  listen(listener: CacheListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
