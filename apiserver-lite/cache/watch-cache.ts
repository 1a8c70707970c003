// The watch cache: the whole state of the store in memory, one ResourceCache a stored resource. Loaded once at start and
// kept up to date by the store's events; every reader of the API server reads here.
//
// Data's way: registry writes with a PendingEntry as attachment → the store calls its `encode` with the revision, which
// makes the CacheEntry → the store's event carries it back → the ResourceCache takes it as it is. Events without an
// attachment (other processes on one etcd, expiry) are decoded from the value, sealed ones when they have been opened.
// Resources are added, replaced and removed while events come: writes meanwhile are neither lost nor seen twice.
// Invariants: `revision` is that of the newest event applied; with a local store it equals store.revision whenever a
// write's promise has resolved.
import type { Logger } from "pino";
import { backoffMs } from "../../api/queueing/backoff.ts";
import type { Clock, Timer } from "../../api/clock.ts";
import type { Store, StoredValue, StoreEvent } from "../../storage/store.ts";
import { StoreError } from "../../storage/store.ts";
import { TimeSlices } from "../loop/time-slices.ts";
import { CacheCounts } from "./cache-counts.ts";
import type { CacheEntry } from "./cache-entry.ts";
import {
  openedAtOnce,
  ResourceLoader,
  type CachedResource,
  type Opened,
} from "./cached-resource.ts";
import { DerivedBytes } from "./derived-bytes.ts";
import { EventOrder, type OpenedEvents } from "./event-order.ts";
import { HistoryBudget } from "./history.ts";
import { Pruning } from "./pruning.ts";
import { ResourceCache } from "./resource-cache.ts";
import { RevisionWaiters } from "./revision-waiters.ts";
import { UnclaimedValues } from "./unclaimed-values.ts";
import {
  byPrefix,
  changesTo,
  type Live,
  type Reading,
  type Slot,
} from "./slots.ts";

interface WatchCacheOptions {
  store: Store;
  clock: Clock;
  logger: Logger;
  /** How long history is kept; default 5 minutes. */
  historyMs?: number;
  /** Bound of all histories' bytes; default 96 MiB. */
  historyBytes?: number;
  rootPrefix?: string;
  /** What large work is cut by. */
  slices?: TimeSlices;
}

const defaultHistoryMs = 300_000;
const reloads = { baseMs: 100, maxMs: 5_000 };
/** Events that wait for one that is being opened; beyond it all is read again. */
const maxWaitingEvents = 10_000;
/** Values that are sorted between two looks at the clock. */
const valuesPerLook = 64;
/** How long a registration waits for the events up to its list before it asks for them again. */
const catchUpMs = 1000;

export class WatchCache {
  readonly #slots = new Map<string, Slot>();
  readonly #order: EventOrder;
  readonly #budget: HistoryBudget;
  /** What readers made of the entries' bytes. */
  readonly derived = new DerivedBytes();
  readonly #waiters: RevisionWaiters;
  readonly #pruning: Pruning;
  #revision = 0;
  #unsubscribe: (() => void) | undefined;
  #lost: Error | undefined;
  #reloadTimer: Timer | undefined;
  #stopped = false;
  #listenerFailures = 0;
  #unclaimed: UnclaimedValues | undefined;

  constructor(private readonly options: WatchCacheOptions) {
    this.#budget = new HistoryBudget(
      options.historyBytes ?? 96 * 1024 * 1024,
      options.historyMs ?? defaultHistoryMs,
    );
    this.#waiters = new RevisionWaiters(options.clock);
    this.#pruning = new Pruning({
      clock: options.clock,
      historyMs: options.historyMs ?? defaultHistoryMs,
      slices: options.slices,
      derived: this.derived,
      revision: () => this.#revision,
      resources: () => this.resources(),
    });
    this.#order = new EventOrder(
      (event) => this.#openEvent(event),
      (events, upTo, opened) => this.#apply(events, upTo, opened),
      (error) => {
        this.#unsubscribe?.();
        this.#lose(error as Error);
      },
    );
  }

  get revision(): number {
    return this.#revision;
  }

  /**
   * Exact reads of older revisions are refused as too old, even where the undo log could still serve them: versions
   * expire by age, as those the reference's storage has compacted, also in collections that never change. Watches
   * start at any revision the undo log knows.
   */
  get compacted(): number {
    return this.#pruning.compacted;
  }

  /** Set when the store's events have ended: nothing here can be trusted to be fresh any more. */
  get lost(): Error | undefined {
    return this.#lost;
  }

  /** How often a listener threw since the start. */
  get listenerFailures(): number {
    return this.#listenerFailures;
  }

  /** @param more resources will be registered before `endStart`: their values are kept for them */
  async start(kinds: readonly CachedResource[], more = false): Promise<void> {
    if (more) this.#unclaimed = new UnclaimedValues();
    const { store, rootPrefix = "/registry" } = this.options;
    const found = new Map<ResourceLoader, StoredValue[]>();
    const loaders = new Map<string, ResourceLoader>();
    for (const resource of kinds) {
      const loader = this.#loaderOf(resource);
      loaders.set(resource.prefix, loader);
      found.set(loader, []);
    }
    const { revision, values } = await store.list(`${rootPrefix}/`);
    this.#revision = revision;
    const slices = new TimeSlices();
    for (const [index, value] of values.entries()) {
      if (index % valuesPerLook === 0 && slices.over) await slices.next();
      const loader = byPrefix(loaders, value.key);
      if (loader) found.get(loader)!.push(value);
      else this.#unclaimed?.add(value);
    }
    for (const [loader, own] of found)
      this.#install(loader, await loader.loadAll(own, slices), revision);
    this.#subscribe(revision);
    this.#pruning.start();
  }

  endStart(): void {
    this.#unclaimed = undefined;
  }

  stop(): void {
    this.#stopped = true;
    this.#order.clear();
    this.#reloadTimer?.cancel();
    this.#unsubscribe?.();
    this.#pruning.stop();
    this.#waiters.end();
  }

  /**
   * Adds a resource while running, or takes the place of the one under the same prefix: its readers see the old one until
   * the new one has been read, then that one is closed. Rejects when the store can't be read. @param installed called in
   * the turn in which the new one takes its place, when both have seen the same events
   */
  async register(
    kind: CachedResource,
    installed: (cache: ResourceCache) => void = () => undefined,
  ): Promise<ResourceCache> {
    const slot = this.#slots.get(kind.prefix) ?? {
      live: undefined,
      reading: undefined,
    };
    if (slot.reading)
      throw new Error(`${kind.prefix} is being registered already`);
    const reading: Reading = {
      loader: this.#loaderOf(kind),
      events: [],
      stale: false,
      cancelled: false,
    };
    slot.reading = reading;
    this.#slots.set(kind.prefix, slot);
    try {
      for (;;) {
        const cache = await this.#read(kind.prefix, reading, installed);
        if (cache) return cache;
      }
    } finally {
      if (slot.reading === reading) slot.reading = undefined;
      if (!slot.live && this.#slots.get(kind.prefix) === slot)
        this.#slots.delete(kind.prefix);
    }
  }

  /** Undefined: events were lost meanwhile. */
  async #read(
    prefix: string,
    reading: Reading,
    installed: (cache: ResourceCache) => void,
  ): Promise<ResourceCache | undefined> {
    const { store, clock } = this.options;
    reading.events = [];
    reading.stale = false;
    const { revision, values } = this.#unclaimed
      ? { revision: this.#revision, values: this.#unclaimed.take(prefix) }
      : await store.list(`${prefix}/`);
    const entries = await reading.loader.loadAll(
      values,
      this.options.slices ?? new TimeSlices(),
    );
    // Other resources must not be older than this one: a list says one revision for what it holds.
    while (this.#revision < revision && !reading.cancelled) {
      await store.currentRevision();
      await this.waitFor(revision, catchUpMs);
      if (this.#stopped) throw new StoreError("closed", "the cache is closed");
    }
    if (reading.cancelled)
      throw new Error(`${prefix} was removed while it was registered`);
    if (reading.stale) return undefined;
    const cache = this.#install(reading.loader, entries, revision);
    const live = this.#slots.get(prefix)!.live!;
    for (const { event, opened } of reading.events)
      this.#applyTo(live, event, opened, clock.monotonic());
    installed(cache);
    return cache;
  }

  /** Removes a resource: its watches end, what it holds in memory goes, the store is left alone. */
  unregister(prefix: string): void {
    const slot = this.#slots.get(prefix);
    if (!slot) return;
    if (slot.reading) slot.reading.cancelled = true;
    this.#slots.delete(prefix);
    slot.live?.cache.close();
  }

  resource(prefix: string): ResourceCache | undefined {
    return this.#slots.get(prefix)?.live?.cache;
  }

  *resources(): Iterable<ResourceCache> {
    for (const { live } of this.#slots.values()) if (live) yield live.cache;
  }

  /** Resolves true once the cache is at `revision`, false after timeoutMs. */
  waitFor(revision: number, timeoutMs: number): Promise<boolean> {
    return this.#revision >= revision
      ? Promise.resolve(true)
      : this.#waiters.wait(revision, timeoutMs);
  }

  #subscribe(afterRevision: number): void {
    const { store } = this.options;
    this.#unsubscribe = store.subscribe(
      afterRevision,
      (events, upTo = 0) => {
        this.#order.add(events, upTo);
        if (this.#order.size > maxWaitingEvents)
          throw new Error("too many events wait for a value to be opened");
      },
      (error) => this.#lose(error),
    );
  }

  #lose(error: Error): void {
    this.#lost = error;
    this.#order.clear();
    this.options.logger.error(
      { err: error },
      "lost the store's events; reading it again",
    );
    this.#reload(0);
  }

  /**
   * Reads the whole state again. The differences become events, each key's latest change only; deletes get the revision
   * of the list. Tried until it works.
   */
  #reload(failures: number): void {
    const { store, clock, logger, rootPrefix = "/registry" } = this.options;
    const read = async (): Promise<void> => {
      const { revision, values } = await store.list(`${rootPrefix}/`);
      const events = changesTo(this.#slots, values, revision);
      const opened = await this.#openEvents(events);
      if (this.#stopped) return;
      this.#apply(events, revision, opened);
      this.#unclaimed = undefined;
      for (const { reading } of this.#slots.values())
        if (reading) reading.stale = true;
      this.#lost = undefined;
      this.#subscribe(revision);
    };
    read().catch((error: unknown) => {
      if (this.#stopped) return;
      const retryMs = backoffMs(reloads, failures);
      logger.warn({ err: error, retryMs }, "can't read the store again");
      this.#reloadTimer = clock.after(retryMs, () =>
        this.#reload(failures + 1),
      );
    });
  }

  #loaderOf(kind: CachedResource): ResourceLoader {
    const { logger } = this.options;
    const counts = this.resource(kind.prefix)?.counts ?? new CacheCounts();
    return new ResourceLoader(kind, counts, (err, key) =>
      logger.error(
        { err, key },
        "a stored value can't be read; it is left alone",
      ),
    );
  }

  #install(
    loader: ResourceLoader,
    entries: readonly CacheEntry[],
    revision: number,
  ): ResourceCache {
    const { kind } = loader;
    const cache = new ResourceCache(
      kind.prefix,
      kind.namespaced,
      revision,
      this.#budget,
      entries,
      loader.unreadable,
      loader.counts,
      (prefix, err) => {
        this.#listenerFailures++;
        this.options.logger.error(
          { err, prefix },
          "a listener of the watch cache failed",
        );
      },
    );
    const known = this.#slots.get(kind.prefix);
    const replaced = known?.live;
    const live = { loader, cache };
    if (known) known.live = live;
    else this.#slots.set(kind.prefix, { live, reading: undefined });
    replaced?.cache.close();
    return cache;
  }

  /** Undefined: nothing has to be opened. */
  #openEvent(event: StoreEvent): Opened | Promise<Opened> | undefined {
    if (event.type === "delete") return undefined;
    const slot = this.#slotOf(event.key);
    const loader = slot?.live?.loader ?? slot?.reading?.loader;
    // Both that are there open alike: the seal is the resource's.
    return loader?.kind.open && !loader.written(event)
      ? loader.open(event.key, event.value!)
      : undefined;
  }

  async #openEvents(events: readonly StoreEvent[]): Promise<OpenedEvents> {
    const opened = new Map<StoreEvent, Opened>();
    let promises: Promise<void>[] = [];
    for (const event of events) {
      const result = this.#openEvent(event);
      if (result instanceof Promise)
        promises.push(result.then((bytes) => void opened.set(event, bytes)));
      else if (result) opened.set(event, result);
      if (promises.length < openedAtOnce) continue;
      await Promise.all(promises);
      promises = [];
    }
    await Promise.all(promises);
    return opened;
  }

  #apply(
    events: readonly StoreEvent[],
    upTo: number,
    opened: OpenedEvents,
  ): void {
    const nowMs = this.options.clock.monotonic();
    for (const event of events) {
      this.#revision = event.revision;
      const slot = this.#slotOf(event.key);
      if (!slot) {
        this.#unclaimed?.apply(event);
        continue;
      }
      const bytes = opened.get(event);
      if (slot.live) this.#applyTo(slot.live, event, bytes, nowMs);
      slot.reading?.events.push({ event, opened: bytes });
    }
    if (upTo > this.#revision) this.#revision = upTo;
    this.#waiters.reached(this.#revision);
  }

  #applyTo(
    { loader, cache }: Live,
    event: StoreEvent,
    opened: Opened | undefined,
    nowMs: number,
  ): void {
    // Read with the rest when the resource was registered.
    if (event.revision <= cache.loadedAt) return;
    const key = event.key.slice(cache.prefix.length + 1);
    const previous = cache.get(key);
    const entry =
      event.type === "put"
        ? (loader.written(event) ?? loader.load(event as StoredValue, opened))
        : undefined;
    if (event.type === "delete" || entry) loader.unreadable.delete(key);
    if (!entry && !previous) return;
    const type = entry ? "put" : "delete";
    // One string for all who keep it.
    const known = (entry ?? previous)!.key;
    const { revision } = event;
    cache.apply({ type, revision, key: known, entry, previous }, nowMs);
  }

  #slotOf(key: string): Slot | undefined {
    return byPrefix(this.#slots, key);
  }
}
