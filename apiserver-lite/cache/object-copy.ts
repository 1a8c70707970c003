// Private copies of stored objects. The documents of managed fields, up to half of a small object, are not copied: no code
// changes them in place (api/patch/field-set.ts), patches included, and what is shared is known as it is.
import type { AnyObject } from "../../api/object.ts";
import { copyJson, type JsonObject } from "../../api/patch/json-value.ts";
import type { ManagedFieldsEntry } from "../../api/types/meta-v1.ts";

export function copyObject(object: Readonly<AnyObject>): AnyObject {
  const copy: AnyObject = { ...object };
  for (const key in copy) {
    if (key === "metadata") copy.metadata = copyMetadata(object.metadata);
    else copyField(copy, key);
  }
  return copy;
}

function copyMetadata(
  metadata: Readonly<AnyObject["metadata"]>,
): AnyObject["metadata"] {
  const copy = { ...metadata };
  for (const key in copy) {
    if (key !== "managedFields") copyField(copy as JsonObject, key);
    else copy.managedFields = metadata.managedFields?.map(sharingDocument);
  }
  return copy;
}

const sharingDocument = (entry: ManagedFieldsEntry): ManagedFieldsEntry => ({
  ...entry,
});

function copyField(copy: JsonObject, key: string): void {
  const value = copy[key];
  if (typeof value === "object" && value !== null) copy[key] = copyJson(value);
  else if (value === undefined) delete copy[key];
}
