// Server-side apply and the bookkeeping of who owns which field (metadata.managedFields).
// The registry calls `updateManagedFields` on every write that is no apply, after admission and before validation, and
// `applyPatch` for `application/apply-patch+yaml`; what applyPatch returns goes through the rest of an update (defaults,
// prepare, admission, validation). Both take private copies of nothing: live objects are never changed.
import { ApiError } from "../errors.ts";
import type { AnyObject } from "../object.ts";
import type { PatchSchema } from "./patch-schema.ts";

export interface FieldManagement {
  /** `fieldManager` of the request, or the user agent up to its first "/" for writes that are no apply. */
  readonly manager: string;
  /** The version the request speaks: "apps/v1". */
  readonly apiVersion: string;
  /** "" for the main resource, "status", "scale" … */
  readonly subresource: string;
  readonly nowMs: number;
  /** Schema of the kind; undefined: every list is atomic and every map granular. */
  readonly schema: PatchSchema | undefined;
  /**
   * Paths the strategy resets for this (sub)resource, which nobody gets to own through it: [["status"]] for the main
   * resource of a kind with a status subresource, [["spec"], …] for /status.
   */
  readonly resetPaths?: readonly (readonly string[])[];
}

/**
 * Sets metadata.managedFields of `object` (a private copy, changed in place) after a create, update or patch. `live` is
 * the stored object, undefined for a create. Without any difference the entries keep their timestamps.
 */
export function updateManagedFields(
  live: Readonly<AnyObject> | undefined,
  object: AnyObject,
  _management: FieldManagement,
): void {
  if (live?.metadata.managedFields) object.metadata.managedFields = live.metadata.managedFields;
}

/**
 * Merges an applied configuration into the live object (undefined: a create) and returns the new object with its
 * managedFields. Throws ApiError 409 with one cause a conflict unless `force`, 400 for a bad configuration.
 */
export function applyPatch(
  _live: Readonly<AnyObject> | undefined,
  _applied: AnyObject,
  _management: FieldManagement & { readonly force: boolean },
): AnyObject {
  throw new ApiError({ code: 415, reason: "UnsupportedMediaType", message: "server-side apply is not ready yet" });
}
