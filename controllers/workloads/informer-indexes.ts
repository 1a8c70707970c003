// Index functions that several controllers share: one function, one table.
import type { KubeObject } from "../../api/object.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { controllerOf } from "../../api/objects/owner-references.ts";

/** Under the controller's uid, or under `orphans/<namespace>`. */
export function controllerIndex(object: KubeObject): readonly string[] {
  return [
    controllerOf(object)?.uid ?? `orphans/${object.metadata.namespace ?? ""}`,
  ];
}

export function nodeNameIndex(pod: Pod): readonly string[] {
  return pod.spec.nodeName ? [pod.spec.nodeName] : [];
}

/** The objects controlled by an owner, and those of its namespace without a controller. */
export const orphansOf = (namespace: string | undefined): string =>
  `orphans/${namespace ?? ""}`;
