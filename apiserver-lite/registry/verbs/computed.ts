// get and list of resources that are made when they are read: nothing is stored, so there is no version.
import { errors } from "../../../api/errors.ts";
import { CacheEntry } from "../../cache/cache-entry.ts";
import { noFields } from "../../cache/shared-fields.ts";
import { encodeObject } from "../../../api/codec/object-text.ts";
import type { Call } from "../call.ts";
import { selectionOf } from "./selection.ts";

/** Throws ApiError 404. */
export async function getComputed(call: Call): Promise<CacheEntry> {
  const [entry] = await entries(call, call.name);
  if (!entry) throw errors.notFound(call.endpoint.info, call.name);
  return entry;
}

/** Throws ApiError 400 for bad selectors. */
export async function listComputed(
  call: Call,
  query: {
    readonly labelSelector: string;
    readonly fieldSelector: string;
  },
): Promise<{ readonly entries: CacheEntry[]; readonly revision: 0 }> {
  const selection = selectionOf(
    call.endpoint,
    "",
    query.labelSelector,
    query.fieldSelector,
  );
  const all = await entries(call, undefined);
  return {
    entries: all.filter((entry) => selection.matches(entry)),
    revision: 0,
  };
}

async function entries(
  call: Call,
  name: string | undefined,
): Promise<CacheEntry[]> {
  const { strategy } = call.endpoint;
  const objects = (await strategy.computed?.(call, name, call.namespace)) ?? [];
  return objects.map(
    (object) =>
      new CacheEntry(
        object.metadata.name,
        0,
        encodeObject(object),
        object.metadata.labels ?? noFields,
        noFields,
        object,
      ),
  );
}
