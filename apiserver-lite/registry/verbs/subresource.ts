// Subresources with their own code (scale, binding, eviction, token, finalize …): the strategy's handler, with guarded
// access to the parent. A PATCH reads through the handler, patches, and updates through it.
import { errors, isConflict, isNotFound } from "../../../api/errors.ts";
import {
  parseApiVersion,
  type AnyObject,
  type GroupVersionResource,
} from "../../../api/object.ts";
import { copyJson } from "../../../api/patch/json-value.ts";
import type { PatchSchema } from "../../../api/patch/patch-schema.ts";
import { finish } from "../../../api/queueing/steps.ts";
import type { DeleteOptions } from "../../../api/types/meta-v1.ts";
import type { CacheEntry } from "../../cache/cache-entry.ts";
import { Call } from "../call.ts";
import { whenReady, type MaybePromise } from "../kinds/when-ready.ts";
import { remove } from "./delete.ts";
import { appliedTo, applyScale, checkIdentity } from "./patch.ts";
import {
  changeOf,
  type PatchText,
  type PatchType,
  type ReadPatch,
} from "./patch-text.ts";
import { conformPatched } from "./patched-object.ts";
import type {
  SubresourceHandler,
  SubresourceRequest,
} from "../../resources/strategy.ts";
import { replace } from "./update.ts";
import { afterConflict, mostRecent } from "../versions.ts";
import {
  admissionAttributes,
  admit,
  validateAdmission,
} from "./call-admission.ts";

const maxAttempts = 64;

function subresourceHandler(call: Call): SubresourceHandler {
  const handler = call.endpoint.strategy.subresources?.[call.subresource];
  if (!handler)
    throw errors.methodNotAllowed(call.endpoint.info, call.subresource);
  return handler;
}

/** @param asked what admission of a create is shown; default: the call itself */
export async function runSubresource(
  call: Call,
  verb: SubresourceRequest["verb"],
  given: AnyObject | undefined,
  asked = call,
): Promise<AnyObject> {
  const handler = subresourceHandler(call);
  const { namespace, name, query } = call;
  const body =
    verb === "create" && given
      ? await admitCreated(asked, given, (made) =>
          handler.prepareCreated?.(made, { namespace, name }),
        )
      : given;
  return handler.handle(
    { verb, namespace, name, body, query },
    contextOf(call, verb === "create"),
  );
}

/** What is created and not stored, here or through a subresource, passes admission; what changes the parent does as the parent's update. */
export async function admitCreated(
  call: Call,
  body: AnyObject,
  prepare?: (body: AnyObject) => void,
): Promise<AnyObject> {
  const { metadata } = body as Partial<AnyObject>;
  if (metadata && call.namespace !== "") metadata.namespace ||= call.namespace;
  const attributes = admissionAttributes(call, "CREATE", body, undefined, {
    name: call.name || metadata?.name || "",
  });
  await admit(call, attributes);
  prepare?.(attributes.object!);
  await validateAdmission(call, attributes);
  return attributes.object!;
}

/** A patch reports the object as missing, whatever a read reports. */
async function readForPatch(call: Call): Promise<AnyObject> {
  try {
    return await runSubresource(call, "get", undefined);
  } catch (error) {
    throw isNotFound(error)
      ? errors.notFound(call.endpoint.info, call.name)
      : error;
  }
}

/** Their writes leave the parent's metadata alone. */
const unmanagedSubresources: ReadonlySet<string> = new Set([
  "binding",
  "ephemeralcontainers",
]);

export async function patchSubresource(
  call: Call,
  type: PatchType,
  read: ReadPatch,
): Promise<AnyObject> {
  if (type === "apply" && call.subresource === "scale") {
    await applyScale(call, read);
    return runSubresource(call, "get", undefined);
  }
  let patch: PatchText | undefined;
  for (let attempt = 1; ; attempt++) {
    const current = await readForPatch(call);
    patch ??= finish(read());
    const changed = await patched(call, type, patch, current);
    const seen = current.metadata?.resourceVersion;
    const conditional =
      changed.metadata?.resourceVersion !== seen ||
      changed.metadata?.uid !== current.metadata?.uid;
    try {
      return await runSubresource(call, "update", changed);
    } catch (error) {
      // Another write came between: the patch is applied to what that made.
      if (!isConflict(error) || conditional || attempt >= maxAttempts)
        throw error;
      await afterConflict(call.registry, Number(seen));
    }
  }
}

function patched(
  call: Call,
  type: PatchType,
  text: PatchText,
  current: Readonly<AnyObject>,
): MaybePromise<AnyObject> {
  const copy = copyJson(current) as AnyObject;
  if (type === "apply") return appliedTo(call, text, copy);
  // What the handler returned: the parent's kind or one of its own.
  const { apiVersion, kind } = copy as { apiVersion: string; kind: string };
  const { group, version } = parseApiVersion(apiVersion);
  const { types } = call.endpoint;
  const schema = types.schemaOf(apiVersion, kind);
  const mode = call.options.fieldValidation ?? "Warn";
  const change = changeOf(
    type,
    text,
    mode !== "Ignore",
    call.endpoint.custom
      ? undefined
      : ((schema as PatchSchema | undefined) ?? { type: "json" }),
  );
  const target = { apiVersion, info: { group, version, kind }, schema, types };
  const changed = conformPatched(change.apply(copy), change, target, {
    mode,
    warn: (problem) => call.warn(problem),
  });
  checkIdentity(call, changed);
  return changed;
}

function contextOf(
  call: Call,
  isAdmitted: boolean,
): Parameters<SubresourceHandler["handle"]>[1] {
  const { endpoint } = call;
  // Handlers read and change the version that was spoken: a definition's paths are that version's.
  const served = (entry: CacheEntry): MaybePromise<Readonly<AnyObject>> =>
    endpoint.native ? entry.object : endpoint.toServed(entry.copy());
  const find = (): MaybePromise<Readonly<AnyObject>> => {
    const { stored, info } = endpoint;
    const entry = stored?.cache.get(stored.keyOf(call.namespace, call.name));
    if (!entry) throw errors.notFound(info, call.name);
    return served(entry);
  };
  return Object.assign(Object.create(call) as Call, {
    parent: () => Promise.resolve(mostRecent(call.registry)).then(find),
    mutate: async (change: (object: AnyObject) => void) => {
      const { entry } = await replace(call, (live) =>
        whenReady(endpoint.toServed(live.copy()), (shown) => {
          const before = shown.metadata.resourceVersion;
          change(shown);
          const conditional = shown.metadata.resourceVersion !== before;
          const unmanaged = unmanagedSubresources.has(call.subresource);
          return whenReady(endpoint.toStored(shown), (object) => ({
            object,
            conditional,
            applied: unmanaged,
            admitted: isAdmitted,
          }));
        }),
      );
      return (await served(entry)) as AnyObject;
    },
    mutateStatusOf: async (
      { group, version, resource }: GroupVersionResource,
      namespace: string,
      name: string,
      change: (object: AnyObject) => void,
    ) => {
      const endpoint = call.registry.endpoint(group, version, resource);
      if (!endpoint) throw errors.notFound({ group, resource }, name);
      const other = new Call(call.registry, {
        ...call.options,
        dryRun: call.dryRun,
        endpoint,
        namespace,
        name,
        subresource: "status",
      });
      await replace(other, (live) => {
        const object = live.copy();
        change(object);
        return { object, conditional: false };
      });
    },
    remove: async (options: DeleteOptions) => {
      const parent = new Call(call.registry, {
        ...call.options,
        subresource: "",
        // Options of a delete may come in a body (an eviction's) and ask for less than the request does.
        dryRun: call.dryRun || (options.dryRun?.length ?? 0) > 0,
      });
      const { entry } = await remove(parent, options, { admitted: true });
      return entry.object as AnyObject;
    },
  });
}
