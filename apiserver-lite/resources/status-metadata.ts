// Kinds whose status is written without a change of metadata.
import type { KubeObject } from "../../api/object.ts";

/** What a write of status may not change of metadata, as it was. */
export function keepMetadata(
  object: KubeObject,
  old: Readonly<KubeObject>,
): void {
  const { labels, annotations, finalizers, ownerReferences } = old.metadata;
  const kept = { labels, annotations, finalizers, ownerReferences };
  for (const [name, value] of Object.entries(kept))
    if (value === undefined) delete object.metadata[name as keyof typeof kept];
    else Object.assign(object.metadata, { [name]: value });
}

/** Of such a write. */
export const keptBesideStatus: readonly (readonly string[])[] = [
  ["metadata"],
  ["spec"],
];
