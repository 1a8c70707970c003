// What is to be done with an object by the states of its owners. Nothing here reads or writes.
import type { KubeObject } from "../../api/object.ts";
import type { OwnerReference } from "../../api/types/meta-v1.ts";
import { foregroundFinalizer, orphanFinalizer } from "./graph.ts";

/** solid: there, and stays; dangling: gone; waiting: being deleted in the foreground, until its dependents are gone. */
export type OwnerState = "solid" | "dangling" | "waiting";

type Collection =
  | { readonly action: "keep" }
  /** It has a solid owner: the others are owners no more. */
  | {
      readonly action: "drop-owners";
      readonly owners: readonly OwnerReference[];
    }
  | {
      readonly action: "delete";
      readonly policy: "Orphan" | "Foreground" | "Background";
      /** Its own references hold no owner up any more. */
      readonly unblockOwners: boolean;
    };

interface Dependents {
  readonly any: boolean;
  /** One of them is being deleted in the foreground itself. */
  readonly waiting: boolean;
}

/** @param object as it was read just now */
export function planCollection(
  object: KubeObject,
  states: readonly (readonly [OwnerReference, OwnerState])[],
  dependents: Dependents,
): Collection {
  if (states.length === 0) return { action: "keep" };
  const inState = (wanted: OwnerState): OwnerReference[] =>
    states.filter(([, state]) => state === wanted).map(([owner]) => owner);
  const waiting = inState("waiting");
  if (inState("solid").length > 0) {
    const owners = [...inState("dangling"), ...waiting];
    return owners.length > 0
      ? { action: "drop-owners", owners }
      : { action: "keep" };
  }
  if (waiting.length > 0 && dependents.any)
    return {
      action: "delete",
      policy: "Foreground",
      // A circle of owners that all wait would never end: this one lets go.
      unblockOwners: dependents.waiting,
    };
  const finalizers = object.metadata.finalizers ?? [];
  return {
    action: "delete",
    policy: finalizers.includes(orphanFinalizer)
      ? "Orphan"
      : finalizers.includes(foregroundFinalizer)
        ? "Foreground"
        : "Background",
    unblockOwners: false,
  };
}
