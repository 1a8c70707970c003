// How an entry of the watch cache is made from an object.
import { encodeObject } from "../../api/codec/object-text.ts";
import type { AnyObject } from "../../api/object.ts";
import { CacheEntry } from "./cache-entry.ts";
import { noFields, type Fields } from "./shared-fields.ts";

/** What an entry's making needs to know of its kind. */
export interface EntryShape {
  /** The selectable fields. */
  fieldsOf(object: Readonly<AnyObject>): Fields;
}

/** Makes the entry of an object that gets `revision`; the object is changed (resourceVersion) and kept. */
export function entryOf(
  kind: EntryShape,
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
