// patch: JSON, merge, strategic merge and apply. The patch is applied to the live object in the served version, decoded
// like a body (unknown fields), and goes on as an update; after a conflict it is applied again to the newer state.
import { conform, TypeMismatch } from "../../../api/codec/conform.ts";
import { warningsOf } from "../../../api/codec/json.ts";
import { errors } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { applyPatch } from "../../../api/patch/apply.ts";
import type { PatchSchema } from "../../../api/patch/patch-schema.ts";
import {
  requireTyped,
  shownIdentity,
  shownKind,
} from "../../../api/patch/typed-check.ts";
import { finish, type Steps } from "../../../api/queueing/steps.ts";
import type { ObjectSchema } from "../../../api/schema.ts";
import type { CacheEntry } from "../../cache/cache-entry.ts";
import type { Call } from "../call.ts";
import { create, storedOf } from "./create.ts";
import {
  changeOf,
  patchOf,
  type Change,
  type PatchText,
  type PatchType,
  type ReadPatch,
} from "./patch-text.ts";
import { conformPatched, wordsForMaps } from "./patched-object.ts";
import { replace, type Replaced } from "./update.ts";
import { setServedDefaults } from "./write.ts";
import { whenReady, type MaybePromise } from "../kinds/when-ready.ts";
import { mostRecent } from "../versions.ts";
import { asSent, managing, type Management } from "../field-owners.ts";

/** Throws ApiError 400, 404, 409, 413, 415, 422. */
export function patch(
  call: Call,
  type: PatchType,
  read: ReadPatch,
): Promise<Replaced> {
  if (type === "apply") return apply(call, read);
  const { endpoint } = call;
  const mode = call.options.fieldValidation ?? "Warn";
  let change: Change | undefined;
  return replace(call, (live) => {
    change ??= changeOf(
      type,
      finish(read()),
      mode !== "Ignore",
      endpoint.custom
        ? undefined
        : (endpoint.schema as PatchSchema | undefined),
    );
    const parsed = change;
    return whenReady(endpoint.toServed(live.copy()), (served) =>
      whenReady(call.inTurns(changing(call, parsed, served)), (changed) =>
        whenReady(setServedDefaults(call, changed), () => {
          const conditional =
            changed.metadata.resourceVersion !== String(live.revision);
          const sent = asSent(call, changed);
          return whenReady(endpoint.toStored(changed), (object) => ({
            object,
            sent,
            conditional,
          }));
        }),
      ),
    );
  });
}

/** The served object with the change applied, which uses it up. */
function* changing(
  call: Call,
  change: Change,
  served: AnyObject,
): Steps<AnyObject> {
  yield;
  const result = change.apply(served);
  yield;
  const changed = conformPatched(result, change, call.endpoint, {
    mode: call.options.fieldValidation ?? "Warn",
    warn: (problem) => call.warn(problem),
  });
  checkIdentity(call, changed);
  return changed;
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

/** The live object in the served version, copied, with the configuration applied. Throws what apply throws. */
export function appliedTo(
  call: Call,
  text: PatchText,
  live: Readonly<AnyObject> | undefined,
): MaybePromise<AnyObject> {
  return managing(call, (management) => applied(call, text, live, management));
}

function* applied(
  call: Call,
  text: PatchText,
  live: Readonly<AnyObject> | undefined,
  management: Management,
): Steps<AnyObject> {
  const { apiVersion, info, schema } = call.endpoint;
  const given = (text.value ?? {}) as AnyObject;
  checkTypeMeta(given, apiVersion, info.kind);
  yield;
  const merged = yield* applyPatch(live, given, management);
  yield;
  reportProblems(call, text);
  const object = schema ? versioned(merged, given, schema) : merged;
  if (!live && object.metadata.uid)
    throw errors.conflict(
      info,
      call.name,
      `uid mismatch: the provided object specified uid ${object.metadata.uid}, and no existing object was found`,
    );
  checkIdentity(call, object);
  return object;
}

async function apply(call: Call, read: ReadPatch): Promise<Replaced> {
  const { endpoint } = call;
  const reading = call.inTurns(read());
  const text = reading instanceof Promise ? await reading : reading;
  const kind = storedOf(call);
  const key = kind.keyOf(call.namespace, call.name);
  if (!kind.cache.get(key)) await mostRecent(call.registry);
  if (!kind.cache.get(key)) {
    if (call.subresource !== "")
      throw errors.notFound(endpoint.info, call.name);
    const object = await appliedTo(call, text, undefined);
    delete object.metadata.resourceVersion;
    return {
      entry: await create(call, object, { applied: true, unauthorized: true }),
      created: true,
    };
  }
  const conditional = Boolean(
    (text.value as AnyObject | null)?.metadata?.resourceVersion,
  );
  const served = (live: CacheEntry): MaybePromise<Readonly<AnyObject>> =>
    endpoint.native ? live.raw : endpoint.toServed(live.copy());
  return replace(call, (live) =>
    whenReady(served(live), (before) =>
      whenReady(appliedTo(call, text, before), (merged) =>
        whenReady(endpoint.toStored(merged), (object) => ({
          object,
          conditional,
          applied: true,
        })),
      ),
    ),
  );
}

/** Keys twice in an applied text: reported after all other problems. */
function reportProblems(call: Call, { problems }: PatchText): void {
  if (problems.length === 0) return;
  if (call.options.fieldValidation === "Strict")
    throw errors.badRequest(
      `error strict decoding YAML: error converting YAML to JSON: ${problems.join(", ")}`,
    );
  if (call.options.fieldValidation !== "Ignore")
    problems.flatMap(warningsOf).forEach((text) => call.warn(text));
}

/** The merged tree as an object of its type. Throws ApiError 400. */
function versioned(
  merged: AnyObject,
  given: Readonly<AnyObject>,
  schema: ObjectSchema,
): AnyObject {
  try {
    const { object } = schema.conform
      ? schema.conform(merged, false, "kept")
      : conform(merged, schema, false);
    return object as AnyObject;
  } catch (error) {
    if (!(error instanceof TypeMismatch)) throw error;
    throw errors.badRequest(
      `failed to convert new object (${shownIdentity(given)}) to proper version: unable to convert unstructured object to ${shownKind(given.apiVersion, given.kind)}: ${wordsForMaps(error)}`,
    );
  }
}

/** An apply of a Scale owns the parent's replicas. Throws what apply throws. */
export async function applyScale(call: Call, read: ReadPatch): Promise<void> {
  const { endpoint } = call;
  const given = finish(read()).value as AnyObject;
  checkTypeMeta(given, "autoscaling/v1", "Scale");
  requireTyped(given, endpoint.types.schemaOf("autoscaling/v1", "Scale")!);
  const { metadata, spec } = given as AnyObject & {
    spec?: { replicas?: unknown };
  };
  const replicas = spec?.replicas;
  const parent = {
    apiVersion: endpoint.apiVersion,
    kind: endpoint.info.kind,
    metadata: { ...metadata, name: metadata?.name ?? call.name },
    ...(replicas === undefined
      ? {}
      : nested(
          endpoint.strategy.replicasPath ?? ["spec", "replicas"],
          replicas,
        )),
  };
  await apply(call, patchOf(parent));
}

/** `value` below the steps: { spec: { replicas: 3 } } */
function nested(steps: readonly string[], value: unknown): object {
  return steps.reduceRight<unknown>(
    (inner, step) => ({ [step]: inner }),
    value,
  ) as object;
}

/** An applied configuration says what it is, and it is what the URL says. Throws ApiError 400. */
function checkTypeMeta(
  given: Readonly<AnyObject>,
  wantedVersion: string,
  wantedKind: string,
): void {
  const { apiVersion, kind } = given;
  if (apiVersion !== wantedVersion || kind !== wantedKind)
    throw errors.badRequest(
      `invalid object type: ${shownKind(apiVersion, kind)}`,
    );
}
