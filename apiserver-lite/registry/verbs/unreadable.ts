// Stored values that are no objects: reads answer 500 with the reference's texts, which say more behind the gate, and a
// delete that says so, behind the same gate, removes them without looking at finalizers or preconditions.
import { qualifiedResource } from "../../../api/object.ts";
import { ApiError, errors } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { DeleteOptions } from "../../../api/types/meta-v1.ts";
import type { Unreadable } from "../../cache/resource-cache.ts";
import type { Call } from "../call.ts";
import { storedOf } from "./create.ts";
import type { StoredKind } from "../kinds/stored-kind.ts";
import type { Selection } from "./selection.ts";
import { mostRecent } from "../versions.ts";
import { removeObject } from "./write.ts";

const unsafeDeleteGate = "AllowUnsafeMalformedObjectDeletion";
/** Asked of the authorizer beside `delete`. */
export const unsafeDeleteVerb = "unsafe-delete-ignore-read-errors";

const field = "ignoreStoreReadErrorWithClusterBreakingPotential";

/** 404, or 500 when the object is there and can't be read. */
export function missing(call: Call): ApiError {
  const { stored, info } = call.endpoint;
  const found = stored && unreadableOf(call, stored);
  return found
    ? corrupt(
        call,
        stored.storeKey(stored.keyOf(call.namespace, call.name)),
        found,
      )
    : errors.notFound(info, call.name);
}

function unreadableOf(call: Call, kind: StoredKind): Unreadable | undefined {
  return kind.cache.unreadable.get(kind.keyOf(call.namespace, call.name));
}

/** What the decoder says, without the words requests are refused with. */
function reasonOf({ reason, sealed }: Unreadable): string {
  if (sealed) return reason;
  const unrecognized =
    /^the object provided is unrecognized \(must be of type [^)]*\): (?:couldn't get version\/kind; )?(?:json parse error: )?/.exec(
      reason,
    )?.[0];
  if (unrecognized !== undefined) {
    const text = reason.slice(unrecognized.length);
    const shown = text.endsWith(")") ? text.indexOf(" (") : -1;
    return shown < 0 ? text : text.slice(0, shown);
  }
  const handled = reason.indexOf(" cannot be handled as a");
  const colon = handled < 0 ? -1 : reason.indexOf(": ", handled);
  return colon < 0 ? reason : reason.slice(colon + 2);
}

function corruptText(key: string, found: Unreadable): string {
  const relative = key.replace(/^\/registry/, "");
  const what = found.sealed
    ? "data from the storage is not transformable"
    : "object not decodable";
  return `StorageError: corrupt object, Code: 7, Key: ${relative}, ResourceVersion: 0, AdditionalErrorMsg: ${what} revision=${found.revision}: ${reasonOf(found)}`;
}

function corrupt(call: Call, key: string, found: Unreadable): ApiError {
  if (!call.registry.gate(unsafeDeleteGate))
    return found.sealed
      ? errors.internal(found.reason)
      : new ApiError({ code: 500, message: reasonOf(found) });
  const message = corruptText(key, found);
  return new ApiError({
    code: 500,
    reason: "InternalError",
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });
}

/** Throws ApiError 500 when the selected range holds something that can't be read. */
export function refuseUnreadable(
  call: Call,
  kind: StoredKind,
  { from, to }: Selection,
): void {
  const { unreadable } = kind.cache;
  if (unreadable.size === 0) return;
  const found = [...unreadable].filter(
    ([key]) => key >= from && (to === "" || key < to),
  );
  if (found.length === 0) return;
  if (!call.registry.gate(unsafeDeleteGate)) {
    found.sort(([a], [b]) => (a < b ? -1 : 1));
    const [first, value] = found[0]!;
    const key = kind.storeKey(first);
    throw value.sealed
      ? errors.internal(
          `unable to transform key ${JSON.stringify(key)}: ${value.reason}`,
        )
      : corrupt(call, key, value);
  }
  const { group, resource } = call.endpoint.info;
  const qualified = qualifiedResource({ group, resource });
  throw new ApiError({
    code: 500,
    reason: "StorageReadError",
    message: `failed to read one or more ${qualified} from the storage`,
    details: {
      ...(group ? { group } : {}),
      kind: resource,
      name: `${kind.prefix}/`,
      causes: found.slice(0, 100).map(([key, value]) => ({
        reason: "UnexpectedServerResponse",
        message: corruptText(kind.storeKey(key), value),
        field: kind.storeKey(key),
      })),
    },
  });
}

/** Does the request ask for a forced delete, and may it? Throws ApiError 422 for options that do not go with it. */
export function asksForced(call: Call, options: DeleteOptions): boolean {
  if (!options[field] || !call.registry.gate(unsafeDeleteGate)) return false;
  const problems = (
    [
      ["dryRun", call.dryRun || (options.dryRun?.length ?? 0) > 0],
      ["gracePeriodSeconds", options.gracePeriodSeconds !== undefined],
      ["orphanDependents", options.orphanDependents !== undefined],
      ["preconditions", options.preconditions !== undefined],
      ["propagationPolicy", options.propagationPolicy !== undefined],
    ] as const
  )
    .filter(([, set]) => set)
    .map(([name]) =>
      fieldErrors.invalid(field, true, `cannot be set together with .${name}`),
    );
  if (problems.length > 0)
    throw errors.invalid(
      { group: "meta.k8s.io", kind: "DeleteOptions" },
      "",
      problems,
    );
  return true;
}

/** The 422 of a forced delete of a collection. */
export function refuseForcedCollection(
  call: Call,
  options: DeleteOptions,
): void {
  if (!asksForced(call, options)) return;
  throw errors.invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", [
    fieldErrors.invalid(
      field,
      true,
      "is not allowed with DELETECOLLECTION, try again after removing the option",
    ),
  ]);
}

/** Removes the named value, which can't be read. Throws ApiError 404, 409, 422 (it can be read). */
export async function removeUnreadable(call: Call): Promise<void> {
  const kind = storedOf(call);
  await mostRecent(call.registry);
  const { group, resource } = call.endpoint.info;
  const key = kind.keyOf(call.namespace, call.name);
  const found = unreadableOf(call, kind);
  if (!found) {
    if (!kind.cache.get(key))
      throw errors.notFound(call.endpoint.info, call.name);
    throw errors.invalid({ group, kind: resource }, call.name, [
      fieldErrors.invalid(
        field,
        true,
        "is exclusively used to delete corrupt object(s), try again by removing this option",
      ),
    ]);
  }
  call.registry.logger.warn(
    { key: kind.storeKey(key), user: call.user.name },
    "removing a value that can't be read",
  );
  const removed = await removeObject(call, kind, key, found.revision);
  if (!removed.ok) throw errors.stale(call.endpoint.info, call.name);
}
