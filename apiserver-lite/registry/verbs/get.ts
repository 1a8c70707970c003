// get: Most Recent (unset), Any ("0") and Not older than; all from the watch cache.
import type { CacheEntry } from "../../cache/cache-entry.ts";
import type { Call } from "../call.ts";
import { getComputed } from "./computed.ts";
import { missing } from "./unreadable.ts";
import { mostRecent, notOlderThan, parseVersion } from "../versions.ts";

/** Throws ApiError 404, 504 (version in the future). Synchronous when nothing has to be waited for. */
export function get(call: Call): CacheEntry | Promise<CacheEntry> {
  const { registry } = call;
  if (!call.endpoint.stored) return getComputed(call);
  const version = parseVersion(call.query.get("resourceVersion") ?? "");
  const pending =
    version !== undefined && version > registry.cache.revision
      ? notOlderThan(registry, version)
      : version === undefined || registry.readsNewest(call.endpoint.info)
        ? mostRecent(registry)
        : undefined;
  return pending ? pending.then(() => find(call)) : find(call);
}

function find(call: Call): CacheEntry {
  const { stored } = call.endpoint;
  const entry = stored?.cache.get(stored.keyOf(call.namespace, call.name));
  if (!entry) throw missing(call);
  return entry;
}
