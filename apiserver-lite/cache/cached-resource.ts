// One stored resource in the watch cache: how its values become entries, and those that can't.
import { isDeepStrictEqual } from "node:util";
import type { AnyObject } from "../../api/object.ts";
import type { StoredValue, StoreEvent } from "../../storage/store.ts";
import type { TimeSlices } from "../loop/time-slices.ts";
import { CacheEntry } from "./cache-entry.ts";
import { entryOf, type EntryShape } from "./entries.ts";
import type { CacheCounts } from "./cache-counts.ts";
import type { Unreadable } from "./resource-cache.ts";
import type { Fields } from "./shared-fields.ts";

/** How the values of one resource become entries. */
export interface CachedResource extends EntryShape {
  /** /registry/pods */
  readonly prefix: string;
  readonly namespaced: boolean;
  /**
   * The bytes that `decode` reads, where the store's are others (sealed ones). May take its time, but ends; rejects for a
   * value that can't be opened. @param key in the store
   */
  open?(value: Uint8Array, key: string): Uint8Array | Promise<Uint8Array>;
  /** Parses an opened value into the object in the storage version. Throws on a value that can't be read. */
  decode(value: Uint8Array): AnyObject;
  /** Called with the entry that was made of what `decode` returned. */
  decoded?(entry: CacheEntry, object: AnyObject): void;
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
  /** Who made the entry: a resource that was registered later does not take it. */
  readonly resource: CachedResource;
  entry: CacheEntry | undefined;
}

/** What was made of sealed bytes; an Error: they can't be opened. */
export type Opened = Uint8Array | Error;

/** Values that are opened at the same time. */
export const openedAtOnce = 64;

export class ResourceLoader {
  /** By key. */
  readonly unreadable = new Map<string, Unreadable>();
  /** The names of the selectable fields, as the first value has them; undefined: stored forms are not trusted. */
  #fieldNames: { readonly names: readonly string[] | undefined } | undefined;

  constructor(
    readonly kind: CachedResource,
    readonly counts: CacheCounts,
    private readonly report: (error: unknown, key: string) => void,
  ) {}

  /** The entries of all that can be read, in slices of time. */
  async loadAll(
    values: readonly StoredValue[],
    slices: TimeSlices,
  ): Promise<CacheEntry[]> {
    const entries: CacheEntry[] = [];
    this.counts.loads++;
    this.counts.loaded += values.length;
    for (let at = 0; at < values.length; at += openedAtOnce) {
      const some = values.slice(at, at + openedAtOnce);
      const opening = this.#openAll(some);
      const opened = opening && (await opening);
      for (const [index, value] of some.entries()) {
        if (slices.over) await slices.next();
        const entry = this.load(value, opened?.[index]);
        if (!entry) continue;
        // Of many thousands a client may never ask for one again.
        entry.cool();
        entries.push(entry);
      }
    }
    return entries;
  }

  /** The opened bytes of each value; undefined where the store's are read as they are, which takes no time. */
  #openAll(
    values: readonly StoredValue[],
  ): Promise<readonly Opened[]> | undefined {
    return this.kind.open
      ? Promise.all(values.map(({ key, value }) => this.open(key, value)))
      : undefined;
  }

  /** Never rejects. */
  open(key: string, value: Uint8Array): Opened | Promise<Opened> {
    try {
      const opened = this.kind.open?.(value, key) ?? value;
      return opened instanceof Promise ? opened.catch(asError) : opened;
    } catch (error) {
      return asError(error);
    }
  }

  /**
   * Undefined for a value that can't be read: it is remembered, so that reads fail and a forced delete finds it.
   * @param opened the value's bytes, opened
   */
  load(
    value: StoredValue,
    opened: Opened = value.value,
  ): CacheEntry | undefined {
    const { kind } = this;
    const key = value.key.slice(kind.prefix.length + 1);
    try {
      if (opened instanceof Error) throw opened;
      const entry =
        this.#fromStored(key, opened, value.revision) ??
        this.#decoded(key, opened, value.revision);
      this.unreadable.delete(key);
      return entry;
    } catch (error) {
      this.unreadable.set(key, {
        revision: value.revision,
        reason: (error as Error).message,
        sealed: opened instanceof Error,
      });
      this.counts.unreadable++;
      this.report(error, value.key);
      return undefined;
    }
  }

  #decoded(key: string, value: Uint8Array, revision: number): CacheEntry {
    const { kind } = this;
    const object = kind.decode(value);
    const entry = entryOf(kind, key, object, revision);
    kind.decoded?.(entry, object);
    return entry;
  }

  /** The entry its writer in this process made; with the right revision, when the engine learnt that only now. */
  written({ key, attachment, revision }: StoreEvent): CacheEntry | undefined {
    const { kind } = this;
    const pending = attachment as PendingEntry | undefined;
    if (!pending?.entry || pending.resource !== kind) return undefined;
    if (pending.entry.revision !== revision)
      pending.entry = entryOf(
        kind,
        key.slice(kind.prefix.length + 1),
        pending.entry.copy(),
        revision,
      );
    return pending.entry;
  }

  /**
   * With the stored bytes as the entry's own. The first value of a kind is encoded again to compare, and all must have its
   * field names: another version of this program may have written other fields than this one would. The order of members
   * may differ.
   */
  #fromStored(
    key: string,
    value: Uint8Array,
    revision: number,
  ): CacheEntry | undefined {
    const { kind } = this;
    const known = this.#fieldNames;
    if (known && known.names === undefined) return undefined;
    const stored = kind.readStored?.(value, revision);
    if (!stored) return undefined;
    const { json, labels, fields } = stored;
    if (!known) {
      const parsed = entryOf(kind, key, kind.decode(value), revision);
      const trusted =
        saysTheSame(parsed.json, json) &&
        isDeepStrictEqual(parsed.labels, labels) &&
        isDeepStrictEqual(parsed.fields, fields);
      this.#fieldNames = { names: trusted ? Object.keys(fields) : undefined };
      if (!trusted) return parsed;
    } else if (!hasNames(fields, known.names!)) return undefined;
    return new CacheEntry(key, revision, json, labels, fields);
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

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
