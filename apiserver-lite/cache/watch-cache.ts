// The watch cache: the whole state of the store in memory, one ResourceCache a stored resource. Loaded once at start and
// kept up to date by the store's events; every reader of the API server reads here.
//
// Data's way: registry writes with a PendingEntry as attachment → the store calls its `encode` with the revision, which
// makes the CacheEntry → the store's event carries it back → the ResourceCache takes it as it is. Events without an
// attachment (other processes on one etcd, expiry) are decoded from the value.
// Invariants: `revision` is that of the newest event applied; with a local store it equals store.revision whenever a
// write's promise has resolved.
import { backoffMs } from "../../api/queueing/backoff.ts";
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { encodeObject } from "../../api/codec/object-text.ts";
import type { AnyObject } from "../../api/object.ts";
import type { Store, StoredValue, StoreEvent } from "../../storage/store.ts";
import { TimeSlices } from "../loop/time-slices.ts";
import { CacheEntry } from "./cache-entry.ts";
import { noFields, type Fields } from "./shared-fields.ts";
import { DerivedBytes } from "./derived-bytes.ts";
import { HistoryBudget } from "./history.ts";
import { ResourceCache, type Unreadable } from "./resource-cache.ts";

/** How the values of one resource become entries. */
export interface CachedResource {
  /** /registry/pods */
  readonly prefix: string;
  readonly namespaced: boolean;
  /** Parses a stored value into the object in the storage version. Throws on a value that can't be read. */
  decode(value: Uint8Array): AnyObject;
  fieldsOf(object: Readonly<AnyObject>): Fields;
  /** Of a value that holds the very bytes that readers get; undefined for any other value. Throws as `decode` does. */
  readStored?(value: Uint8Array, revision: number): StoredForm | undefined;
}

/** A value that holds the bytes that readers get. */
export interface StoredForm {
  readonly json: Buffer;
  readonly labels: Fields;
  readonly fields: Fields;
}

/** Attached to a write; `entry` is set by the time the store publishes the event. */
export interface PendingEntry {
  entry: CacheEntry | undefined;
}

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
const pruneIntervalMs = 60_000;
const reloads = { baseMs: 100, maxMs: 5_000 };

export class WatchCache {
  readonly #resources = new Map<string, ResourceCache>();
  readonly #kinds = new Map<string, CachedResource>();
  /** Resources being read, with the events that came meanwhile. */
  readonly #registering = new Map<
    string,
    { readonly events: StoreEvent[]; readonly done: Promise<ResourceCache> }
  >();
  /** By prefix, then key. */
  readonly #unreadable = new Map<string, Map<string, Unreadable>>();
  /** The names of the kind's selectable fields, as its first value has them; undefined: its stored forms are not trusted. */
  readonly #fieldNames = new Map<
    CachedResource,
    readonly string[] | undefined
  >();
  readonly #budget: HistoryBudget;
  /** What readers made of the entries' bytes. */
  readonly derived = new DerivedBytes();
  readonly #waiting: { revision: number; resolve: () => void }[] = [];
  /** The revision at each pruning of the last `historyMs`, oldest first. */
  readonly #pruned: { atMs: number; revision: number }[] = [];
  #compacted = 0;
  #revision = 0;
  #unsubscribe: (() => void) | undefined;
  #pruneTimer: Timer | undefined;
  #lost: Error | undefined;
  #reloadTimer: Timer | undefined;
  #stopped = false;
  #listenerFailures = 0;

  constructor(private readonly options: WatchCacheOptions) {
    this.#budget = new HistoryBudget(
      options.historyBytes ?? 96 * 1024 * 1024,
      options.historyMs ?? defaultHistoryMs,
    );
  }

  get revision(): number {
    return this.#revision;
  }

  /**
   * Exact reads of older revisions are refused as too old, even where the undo log could still serve them: versions
   * expire by age, as those the reference's storage has compacted, also in collections that nobody changes. Watches
   * start at any revision the undo log knows.
   */
  get compacted(): number {
    return this.#compacted;
  }

  /** Set when the store's events have ended: nothing here can be trusted to be fresh any more. */
  get lost(): Error | undefined {
    return this.#lost;
  }

  /** How often a listener threw since the start. */
  get listenerFailures(): number {
    return this.#listenerFailures;
  }

  async start(resources: readonly CachedResource[]): Promise<void> {
    const { store, rootPrefix = "/registry" } = this.options;
    for (const resource of resources)
      this.#kinds.set(resource.prefix, resource);
    const { revision, values } = await store.list(`${rootPrefix}/`);
    this.#revision = revision;
    const byPrefix = new Map<string, CacheEntry[]>();
    const slices = new TimeSlices();
    for (const value of values) {
      if (slices.over) await slices.next();
      const kind = this.#kindOf(value.key);
      if (!kind) continue;
      const entry = this.#load(kind, value);
      if (!entry) continue;
      // Of many thousands nobody may ever ask for one again.
      entry.cool();
      const list = byPrefix.get(kind.prefix);
      if (list) list.push(entry);
      else byPrefix.set(kind.prefix, [entry]);
    }
    for (const kind of resources)
      this.#install(kind, byPrefix.get(kind.prefix) ?? []);
    this.#subscribe(revision);
    this.#prune();
  }

  stop(): void {
    this.#stopped = true;
    this.#reloadTimer?.cancel();
    this.#unsubscribe?.();
    this.#pruneTimer?.cancel();
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  /**
   * Adds a resource while running: a custom resource definition became served. What is written meanwhile is neither lost
   * nor seen twice.
   */
  async register(kind: CachedResource): Promise<ResourceCache> {
    const { prefix } = kind;
    const known = this.#resources.get(prefix);
    const begun = this.#registering.get(prefix);
    if (!known && begun) return begun.done;
    this.#kinds.set(prefix, kind);
    if (known) return known;
    const events: StoreEvent[] = [];
    const done = this.#readNew(kind, events).finally(() =>
      this.#registering.delete(prefix),
    );
    this.#registering.set(prefix, { events, done });
    return done;
  }

  /** @param events of the resource that come while it is read */
  async #readNew(
    kind: CachedResource,
    events: readonly StoreEvent[],
  ): Promise<ResourceCache> {
    const { store, clock } = this.options;
    let read: Awaited<ReturnType<Store["list"]>>;
    try {
      read = await store.list(`${kind.prefix}/`);
    } catch (error) {
      this.#kinds.delete(kind.prefix);
      throw error;
    }
    const entries: CacheEntry[] = [];
    for (const value of read.values) {
      const entry = this.#load(kind, value);
      if (entry) entries.push(entry);
    }
    const cache = this.#install(kind, entries, read.revision);
    for (const event of events) this.#applyTo(kind, cache, event, clock.now());
    return cache;
  }

  resource(prefix: string): ResourceCache | undefined {
    return this.#resources.get(prefix);
  }

  resources(): Iterable<ResourceCache> {
    return this.#resources.values();
  }

  /** Resolves true once the cache is at `revision`, false after timeoutMs. */
  waitFor(revision: number, timeoutMs: number): Promise<boolean> {
    if (this.#revision >= revision) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter = {
        revision,
        resolve: () => {
          timer.cancel();
          resolve(this.#revision >= revision);
        },
      };
      const timer = this.options.clock.after(timeoutMs, () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        resolve(false);
      });
      this.#waiting.push(waiter);
    });
  }

  #subscribe(afterRevision: number): void {
    const { store, logger } = this.options;
    this.#unsubscribe = store.subscribe(
      afterRevision,
      (events, upTo) => this.#apply(events, upTo),
      (error) => {
        this.#lost = error;
        logger.error({ err: error }, "lost the store's events; reading anew");
        this.#reload(0);
      },
    );
  }

  /**
   * Reads the whole state again. What differs becomes events, each key's latest change only; deletes get the revision
   * of the list. Tried until it works.
   */
  #reload(failures: number): void {
    const { store, clock, logger, rootPrefix = "/registry" } = this.options;
    store
      .list(`${rootPrefix}/`)
      .then(({ revision, values }) => {
        if (this.#stopped) return;
        this.#apply(this.#changes(values, revision), revision);
        this.#lost = undefined;
        this.#subscribe(revision);
      })
      .catch((error: unknown) => {
        if (this.#stopped) return;
        const retryMs = backoffMs(reloads, failures);
        logger.warn({ err: error, retryMs }, "can't read the store anew");
        this.#reloadTimer = clock.after(retryMs, () =>
          this.#reload(failures + 1),
        );
      });
  }

  #changes(values: readonly StoredValue[], revision: number): StoreEvent[] {
    const present = new Set<string>();
    const events: StoreEvent[] = [];
    for (const { key, value, revision: changed } of values) {
      present.add(key);
      const kind = this.#kindOf(key);
      const cache = kind && this.#resources.get(kind.prefix);
      const known = cache?.get(key.slice(kind!.prefix.length + 1));
      if (cache && known?.revision !== changed)
        events.push({
          type: "put",
          key,
          value,
          revision: changed,
          attachment: undefined,
        });
    }
    events.sort((a, b) => a.revision - b.revision);
    for (const cache of this.#resources.values()) {
      for (const { key } of cache.entries()) {
        const full = `${cache.prefix}/${key}`;
        if (!present.has(full))
          events.push({
            type: "delete",
            key: full,
            value: undefined,
            revision,
            attachment: undefined,
          });
      }
    }
    return events;
  }

  #install(
    kind: CachedResource,
    entries: readonly CacheEntry[],
    revision = this.#revision,
  ): ResourceCache {
    const cache = new ResourceCache(
      kind.prefix,
      kind.namespaced,
      revision,
      this.#budget,
      entries,
      this.#unreadableOf(kind),
      (prefix, err) => {
        this.#listenerFailures++;
        this.options.logger.error(
          { err, prefix },
          "a listener of the watch cache failed",
        );
      },
    );
    this.#resources.set(kind.prefix, cache);
    return cache;
  }

  /** Undefined for a value that can't be read: it is remembered, so that reads fail and a forced delete finds it. */
  #load(kind: CachedResource, value: StoredValue): CacheEntry | undefined {
    const key = value.key.slice(kind.prefix.length + 1);
    try {
      const entry =
        this.#fromStored(kind, key, value) ??
        entryOf(kind, key, kind.decode(value.value), value.revision);
      this.#unreadableOf(kind).delete(key);
      return entry;
    } catch (error) {
      this.#unreadableOf(kind).set(key, {
        revision: value.revision,
        reason: (error as Error).message,
      });
      this.options.logger.error(
        { err: error, key: value.key },
        "a stored value can't be read; it is left alone",
      );
      return undefined;
    }
  }

  /**
   * With the stored bytes as the entry's own. The first value of a kind is encoded again to compare, and all must have its
   * field names: what another version of this program wrote may hold something else than this one would write. The order
   * of members may differ.
   */
  #fromStored(
    kind: CachedResource,
    key: string,
    { value, revision }: StoredValue,
  ): CacheEntry | undefined {
    const known = this.#fieldNames.get(kind);
    if (known === undefined && this.#fieldNames.has(kind)) return undefined;
    const stored = kind.readStored?.(value, revision);
    if (!stored) return undefined;
    const { json, labels, fields } = stored;
    if (known === undefined) {
      const parsed = entryOf(kind, key, kind.decode(value), revision);
      const trusted =
        saysTheSame(parsed.json, json) &&
        isDeepStrictEqual(parsed.labels, labels) &&
        isDeepStrictEqual(parsed.fields, fields);
      this.#fieldNames.set(kind, trusted ? Object.keys(fields) : undefined);
      if (!trusted) return parsed;
    } else if (!hasNames(fields, known)) return undefined;
    return new CacheEntry(key, revision, json, labels, fields);
  }

  #unreadableOf({ prefix }: CachedResource): Map<string, Unreadable> {
    let known = this.#unreadable.get(prefix);
    if (!known) {
      known = new Map();
      this.#unreadable.set(prefix, known);
    }
    return known;
  }

  #apply(events: readonly StoreEvent[], upTo = 0): void {
    const nowMs = this.options.clock.now();
    for (const event of events) {
      const kind = this.#kindOf(event.key);
      const cache = kind && this.#resources.get(kind.prefix);
      this.#revision = event.revision;
      if (kind && cache) this.#applyTo(kind, cache, event, nowMs);
      else if (kind) this.#registering.get(kind.prefix)?.events.push(event);
    }
    if (upTo > this.#revision) this.#revision = upTo;
    if (this.#waiting.length > 0) {
      for (const waiter of [...this.#waiting]) {
        if (waiter.revision > this.#revision) continue;
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        waiter.resolve();
      }
    }
  }

  #applyTo(
    kind: CachedResource,
    cache: ResourceCache,
    event: StoreEvent,
    nowMs: number,
  ): void {
    // Read with the rest when the resource was registered.
    if (event.revision <= cache.loadedAt) return;
    const key = event.key.slice(kind.prefix.length + 1);
    const previous = cache.get(key);
    const entry =
      event.type === "put"
        ? (this.#pending(kind, key, event) ??
          this.#load(kind, event as StoredValue))
        : undefined;
    if (event.type === "delete" || event.attachment)
      this.#unreadable.get(kind.prefix)?.delete(key);
    if (entry || previous)
      cache.apply({
        type: entry ? "put" : "delete",
        revision: event.revision,
        // One string for all who keep it.
        key: (entry ?? previous)!.key,
        entry,
        previous,
        atMs: nowMs,
      });
  }

  /** The entry its writer in this process made; with the right revision, when the engine learnt that only now. */
  #pending(
    kind: CachedResource,
    key: string,
    { attachment, revision }: StoreEvent,
  ): CacheEntry | undefined {
    const pending = attachment as PendingEntry | undefined;
    if (!pending?.entry) return undefined;
    if (pending.entry.revision !== revision)
      pending.entry = entryOf(kind, key, pending.entry.copy(), revision);
    return pending.entry;
  }

  /** The longest registered prefix of a key: two or three path segments. */
  #kindOf(key: string): CachedResource | undefined {
    let slash = key.indexOf("/", 1);
    let found: CachedResource | undefined;
    for (let depth = 0; depth < 3; depth++) {
      slash = key.indexOf("/", slash + 1);
      if (slash < 0) break;
      found = this.#kinds.get(key.slice(0, slash)) ?? found;
    }
    return found;
  }

  #prune(): void {
    this.#pruneTimer = this.options.clock.after(pruneIntervalMs, () => {
      const nowMs = this.options.clock.now();
      void this.#pruneAll(nowMs);
      this.derived.age();
      this.#pruned.push({ atMs: nowMs, revision: this.#revision });
      const { historyMs = defaultHistoryMs } = this.options;
      while (this.#pruned[0] && this.#pruned[0].atMs <= nowMs - historyMs)
        this.#compacted = this.#pruned.shift()!.revision;
      this.#prune();
    });
  }

  async #pruneAll(nowMs: number): Promise<void> {
    const { slices } = this.options;
    for (const cache of this.#resources.values())
      while (cache.prune(nowMs)) if (slices?.over) await slices.next();
  }
}

/** All of them and no others, in this order. */
function hasNames(fields: Fields, names: readonly string[]): boolean {
  let at = 0;
  for (const name in fields) if (name !== names[at++]) return false;
  return at === names.length;
}

function saysTheSame(one: Buffer, other: Buffer): boolean {
  return (
    one.equals(other) ||
    isDeepStrictEqual(JSON.parse(one.toString()), JSON.parse(other.toString()))
  );
}

/** Makes the entry of an object that gets `revision`; the object is changed (resourceVersion) and kept. */
export function entryOf(
  kind: CachedResource,
  key: string,
  object: AnyObject,
  revision: number,
): CacheEntry {
  object.metadata.resourceVersion = String(revision);
  return new CacheEntry(
    key,
    revision,
    encodeObject(object),
    object.metadata.labels ?? noFields,
    kind.fieldsOf(object),
    object,
  );
}
