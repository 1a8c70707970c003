// The present state of one stored resource, its recent history, and who watches it.
// Invariants: `apply` sees this resource's events in revision order; listeners are called in that order, synchronously,
// after the state has changed. A listener that throws disturbs neither the state nor another listener.
import { CacheCounts } from "./cache-counts.ts";
import type { CacheEntry } from "./cache-entry.ts";
import { History, type CacheEvent, type HistoryBudget } from "./history.ts";
import { OrderedEntries } from "./ordered-entries.ts";
import { PastView } from "./past-view.ts";

/** A stored value that is no object (damaged, or of a kind this program does not know). */
export interface Unreadable {
  /** Of the damaged version: what a forced delete expects. */
  readonly revision: number;
  readonly reason: string;
  /** It is sealed, and does not open. */
  readonly sealed: boolean;
}

/** A listener must not block. Its errors are logged and counted; see `listen`. */
type CacheListener = (event: CacheEvent) => void;

/** How a subscription may end before it is given up. */
interface ListenerEnds {
  /**
   * It threw, and lost its subscription. Without it the listener stays, and has missed the event: for state that is kept up
   * to date, where no more events would be worse.
   */
  readonly onLost?: (error: unknown) => void;
  /** The resource was removed or replaced. */
  readonly onClose?: () => void;
}

/** Of a resource; both are logged and counted by the watch cache. */
type ListenerFailure = (prefix: string, error: unknown) => void;

/** Objects just written stay parsed: they are likely to be written again soon. */
const maxWarm = 128;
/** Revisions at which lists are being read page by page. */
const maxViews = 8;

export class ResourceCache {
  readonly #warm: (CacheEntry | undefined)[] = [];
  #nextWarm = 0;
  readonly #byKey = new Map<string, CacheEntry>();
  readonly #ordered = new OrderedEntries();
  readonly #listeners = new Map<CacheListener, ListenerEnds>();
  #closed = false;
  #views: PastView[] = [];
  readonly history: History;

  constructor(
    /** Without the trailing slash: /registry/pods */
    readonly prefix: string,
    readonly namespaced: boolean,
    /** The revision of `entries`. */
    readonly loadedAt: number,
    budget: HistoryBudget,
    entries: readonly CacheEntry[],
    /** By key: these objects exist, but can't be decoded. The watch cache maintains the map. */
    readonly unreadable: ReadonlyMap<string, Unreadable> = new Map(),
    /** What its readers count. */
    readonly counts = new CacheCounts(),
    private readonly onFailure: ListenerFailure = () => undefined,
  ) {
    this.history = new History(loadedAt, budget);
    for (const entry of entries) this.#byKey.set(entry.key, entry);
    this.#ordered.load(inOrder(entries));
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
  entries(namespace = ""): readonly CacheEntry[] {
    return namespace === ""
      ? this.#ordered.slice("")
      : this.#ordered.slice(`${namespace}/`, `${namespace}0`);
  }

  /** Entries with from ≤ key < to ("": no end), in key order: those of this moment, whatever is written afterwards. */
  slice(from: string, to: string): readonly CacheEntry[] {
    return this.#ordered.slice(from, to);
  }

  /** How many these are. */
  count(from: string, to: string): number {
    return this.#ordered.count(from, to);
  }

  /**
   * What differs between `revision` and the present; undefined when nothing does. Throws RangeError when history does not
   * reach back to it. @param pause called now and then; may wait
   */
  async pastView(
    revision: number,
    pause: () => Promise<void> | undefined,
  ): Promise<PastView | undefined> {
    this.#views = this.#views.filter((one) => this.#reaches(one));
    let view = this.#views.find((one) => one.revision === revision);
    if (!view) {
      if (this.history.newest <= revision) return undefined;
      view = new PastView(revision);
      if (this.#views.length >= maxViews) this.#views.shift();
      this.#views.push(view);
    }
    while (view.upTo < this.history.newest) {
      if (!this.#reaches(view))
        throw new RangeError(`history has lost revision ${revision}`);
      for (const event of this.history.after(view.upTo)) {
        view.add(event);
        const paused = pause();
        if (paused) await paused;
      }
    }
    return view;
  }

  #reaches(view: PastView): boolean {
    return view.upTo >= this.history.floor;
  }

  /** Lets go of some of what is older than its time; is there more? */
  prune(nowMs: number): boolean {
    const more = this.history.prune(nowMs);
    const { floor } = this.history;
    this.#views = this.#views.filter(({ revision }) => revision >= floor);
    return more;
  }

  apply(event: CacheEvent, atMs: number): void {
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
    this.history.push(event, atMs);
    this.counts.events++;
    let failed: [CacheListener, unknown][] | undefined;
    for (const listener of this.#listeners.keys()) {
      try {
        listener(event);
      } catch (error) {
        (failed ??= []).push([listener, error]);
      }
    }
    for (const [listener, error] of failed ?? []) this.#fail(listener, error);
    // History keeps the bytes of objects; frames are made again for who resumes.
    event.frames = undefined;
    event.previous?.shrink();
  }

  /** Returns a disposer. Of a closed cache `onClose` is called at once. */
  listen(listener: CacheListener, ends: ListenerEnds = {}): () => void {
    if (this.#closed) {
      ends.onClose?.();
      return () => undefined;
    }
    this.#listeners.set(listener, ends);
    return () => this.#listeners.delete(listener);
  }

  /** No further event will come: the resource was removed or replaced. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Ends all subscriptions and lets go of history. A reader of a list goes on with the entries it has. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    this.history.close();
    this.#views = [];
    this.#warm.length = 0;
    for (const { onClose } of listeners) {
      try {
        onClose?.();
      } catch (error) {
        this.onFailure(this.prefix, error);
      }
    }
  }

  #fail(listener: CacheListener, error: unknown): void {
    this.onFailure(this.prefix, error);
    const onLost = this.#listeners.get(listener)?.onLost;
    if (!onLost) return;
    this.#listeners.delete(listener);
    try {
      onLost(error);
    } catch (second) {
      this.onFailure(this.prefix, second);
    }
  }
}

/** Stores list in key order: mostly there is nothing to do. */
function inOrder(entries: readonly CacheEntry[]): readonly CacheEntry[] {
  const sorted = entries.every(
    (entry, index) => index === 0 || entries[index - 1]!.key < entry.key,
  );
  return sorted
    ? entries
    : [...entries].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}
