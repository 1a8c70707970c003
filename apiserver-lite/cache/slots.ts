// What the watch cache has under each prefix of the store: a resource that readers see, one that is being read to take its
// place or to be the first, or both.
import type { StoredValue, StoreEvent } from "../../storage/store.ts";
import type { Opened, ResourceLoader } from "./cached-resource.ts";
import type { ResourceCache } from "./resource-cache.ts";

/** A resource that readers see. */
export interface Live {
  readonly loader: ResourceLoader;
  readonly cache: ResourceCache;
}

/** A resource that is being read, with the events that came meanwhile. */
export interface Reading {
  readonly loader: ResourceLoader;
  events: { readonly event: StoreEvent; readonly opened: Opened | undefined }[];
  /** Events were lost: the state read so far is too old. */
  stale: boolean;
  cancelled: boolean;
}

export interface Slot {
  live: Live | undefined;
  reading: Reading | undefined;
}

/** What belongs to the longest known prefix of a key: two or three path segments. */
export function byPrefix<T>(
  known: ReadonlyMap<string, T>,
  key: string,
): T | undefined {
  let slash = key.indexOf("/", 1);
  let found: T | undefined;
  for (let depth = 0; depth < 3; depth++) {
    slash = key.indexOf("/", slash + 1);
    if (slash < 0) break;
    found = known.get(key.slice(0, slash)) ?? found;
  }
  return found;
}

/**
 * By what the store's values differ from what readers see, as events: each key's latest change only, and deletes with the
 * revision of the list.
 */
export function changesTo(
  slots: ReadonlyMap<string, Slot>,
  values: readonly StoredValue[],
  revision: number,
): StoreEvent[] {
  const attachment = undefined;
  const present = new Set<string>();
  const events: StoreEvent[] = [];
  for (const { key, value, revision: changed } of values) {
    present.add(key);
    const cache = byPrefix(slots, key)?.live?.cache;
    if (!cache) continue;
    if (cache.get(key.slice(cache.prefix.length + 1))?.revision !== changed)
      events.push({ type: "put", key, value, revision: changed, attachment });
  }
  events.sort((a, b) => a.revision - b.revision);
  for (const { live } of slots.values()) {
    if (!live) continue;
    for (const entry of live.cache.entries()) {
      const key = `${live.cache.prefix}/${entry.key}`;
      if (!present.has(key))
        events.push({
          type: "delete",
          key,
          value: undefined,
          revision,
          attachment,
        });
    }
  }
  return events;
}
