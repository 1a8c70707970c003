// patch: JSON, merge, strategic merge and apply. The patch is applied to the live object in the served version, decoded
// like a body (unknown fields), and goes on as an update; after a conflict it is applied again to the newer state.
import { conformObject } from "../../api/codec/json.ts";
import { errors } from "../../api/errors.ts";
import type { AnyObject } from "../../api/object.ts";
import { applyPatch } from "../../api/patch/apply.ts";
import { copyJson } from "../../api/patch/json-value.ts";
import type { PatchSchema } from "../../api/patch/patch-schema.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import type { Call } from "./call.ts";
import { create, storedOf } from "./create.ts";
import {
  changeOf,
  patchOf,
  type Change,
  type PatchText,
  type PatchType,
} from "./patch-text.ts";
import { conformPatched } from "./patched-object.ts";
import { replace, type Replaced } from "./update.ts";
import { mostRecent } from "./versions.ts";
import { undeclaredFields } from "./undeclared-fields.ts";
import { resetPathsOf } from "./write.ts";

/** `read` gives the patch; what it gives is not changed. Throws ApiError 400, 404, 409, 413, 415, 422. */
export async function patch(
  call: Call,
  type: PatchType,
  read: () => PatchText,
): Promise<Replaced> {
  if (type === "apply") return apply(call, read);
  const { endpoint } = call;
  const mode = call.options.fieldValidation ?? "Warn";
  let change: Change | undefined;
  return replace(call, (live) => {
    change ??= changeOf(
      type,
      read(),
      mode !== "Ignore",
      endpoint.schema as PatchSchema | undefined,
    );
    const served = endpoint.toServed(live.copy());
    const changed = conformPatched(change.apply(served), change, endpoint, {
      mode,
      warn: (problem) => call.warn(problem),
    });
    checkIdentity(call, changed);
    return {
      object: endpoint.toStored(changed),
      conditional: changed.metadata.resourceVersion !== String(live.revision),
    };
  });
}

/** The object may name what the URL names, and nothing else. Throws ApiError 400. */
export function checkIdentity(call: Call, object: AnyObject): void {
  const { metadata } = object;
  const { namespaced } = call.endpoint.info;
  if (namespaced) metadata.namespace ||= call.namespace;
  if ((metadata.namespace ?? "") !== (namespaced ? call.namespace : "")) {
    if (namespaced)
      throw errors.badRequest(
        "the namespace of the provided object does not match the namespace sent on the request",
      );
    delete metadata.namespace;
  }
  if (!metadata.name)
    throw errors.badRequest(
      `the name of the object (${call.name} based on URL) was undeterminable: name must be provided`,
    );
  if (metadata.name !== call.name)
    throw errors.badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${call.name})`,
    );
}

async function apply(call: Call, read: () => PatchText): Promise<Replaced> {
  const { endpoint } = call;
  const given = read().value as AnyObject;
  checkTypeMeta(given, endpoint.apiVersion, endpoint.info.kind);
  // The name in the URL stands in for a missing one only when there is an object that has it.
  const named = Boolean(given.metadata?.name);
  checkApplied(call, given);
  const kind = storedOf(call);
  const management = {
    manager: call.manager,
    apiVersion: endpoint.apiVersion,
    subresource: call.subresource,
    nowMs: call.clock.now(),
    schema: endpoint.schema as PatchSchema | undefined,
    resetPaths: resetPathsOf(call),
    force: call.options.force ?? false,
  };
  const merge = (live: CacheEntry | undefined): AnyObject => {
    const applied = copyJson(given);
    const served = live && endpoint.toServed(live.copy());
    const merged = applyPatch(served, applied, management);
    // The configuration is partial; the object is not.
    return endpoint.schema
      ? (conformObject(merged as Record<string, unknown>, endpoint.schema, {
          fieldValidation: "Ignore",
        }).object as AnyObject)
      : merged;
  };
  const key = kind.keyOf(call.namespace, call.name);
  if (!kind.cache.get(key)) await mostRecent(call.registry);
  if (!kind.cache.get(key)) {
    if (call.subresource !== "")
      throw errors.notFound(endpoint.info, call.name);
    if (given.metadata.uid)
      throw errors.conflict(
        endpoint.info,
        call.name,
        `uid mismatch: the provided object specified uid ${given.metadata.uid}, and no existing object was found`,
      );
    if (!named)
      throw errors.badRequest(
        `the name of the object (${call.name} based on URL) was undeterminable: name must be provided`,
      );
    if (given.metadata.resourceVersion)
      throw errors.stale(endpoint.info, call.name);
    const object = merge(undefined);
    return {
      entry: await create(call, object, { applied: true }),
      created: true,
    };
  }
  return replace(call, (live) => {
    const object = endpoint.toStored(merge(live));
    return {
      object,
      conditional:
        given.metadata.resourceVersion !== undefined &&
        given.metadata.resourceVersion !== "",
      applied: true,
    };
  });
}

function checkApplied(call: Call, given: AnyObject): void {
  const { endpoint } = call;
  if (endpoint.schema) {
    const decoded = conformObject(
      given as Record<string, unknown>,
      endpoint.schema,
      {
        fieldValidation: "Strict",
        partial: true,
      },
    );
    if (decoded.problems.length > 0)
      throw undeclaredFields(
        given,
        endpoint.schema,
        decoded.problems.map(
          (problem) =>
            JSON.parse(problem.replace(/^[a-z]+ field /, "")) as string,
        ),
      );
    for (const key of Object.keys(given)) delete given[key];
    Object.assign(given, decoded.object);
  }
  given.metadata ??= {} as AnyObject["metadata"];
  given.metadata.name ??= call.name;
  if (given.metadata.name !== call.name)
    throw errors.badRequest(
      `the name of the object (${given.metadata.name}) does not match the name on the URL (${call.name})`,
    );
  if (given.metadata.managedFields?.length)
    throw errors.badRequest("metadata.managedFields must be nil");
  const { namespace } = given.metadata;
  if (endpoint.info.namespaced && namespace && namespace !== call.namespace)
    throw errors.badRequest(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
}

/** An apply of a Scale owns the parent's replicas. Throws what apply throws. */
export async function applyScale(
  call: Call,
  read: () => PatchText,
): Promise<void> {
  const { endpoint } = call;
  const given = read().value as AnyObject;
  checkTypeMeta(given, "autoscaling/v1", "Scale");
  const { metadata, spec } = given as AnyObject & {
    spec?: { replicas?: unknown };
  };
  const replicas = spec?.replicas;
  const parent = {
    apiVersion: endpoint.apiVersion,
    kind: endpoint.info.kind,
    metadata: { ...metadata, name: metadata?.name ?? call.name },
    ...(replicas === undefined ? {} : { spec: { replicas } }),
  };
  await apply(call, patchOf(parent));
}

/** An applied configuration says what it is, and it is what the URL says. */
function checkTypeMeta(
  given: Readonly<AnyObject>,
  wantedVersion: string,
  wantedKind: string,
): void {
  const { apiVersion, kind } = given;
  if (!apiVersion || !kind)
    throw errors.badRequest(
      `invalid object type: ${JSON.stringify(kind ?? "")} in version ${JSON.stringify(apiVersion ?? "")}`,
    );
  if (apiVersion !== wantedVersion)
    throw errors.badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${apiVersion}, expected: ${wantedVersion}`,
    );
  if (kind !== wantedKind)
    throw errors.badRequest(
      `Incorrect kind specified in apply patch. Specified patch kind: ${kind}, expected: ${wantedKind}`,
    );
}
