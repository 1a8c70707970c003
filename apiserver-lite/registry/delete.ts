// delete: two phases. What has finalizers, or a grace period, is only marked (deletionTimestamp); it leaves the store
// when the last of them goes (update.ts) or when it is deleted again with no grace left.
import { formatTime } from "../../api/clock.ts";
import { errors, type ApiError } from "../../api/errors.ts";
import type { AnyObject } from "../../api/object.ts";
import type { DeleteOptions } from "../../api/types/meta-v1.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import type { Call } from "./call.ts";
import { storedOf } from "./create.ts";
import { missing } from "./unreadable.ts";
import { afterConflict, mostRecent } from "./versions.ts";
import {
  admissionAttributes,
  admit,
  removeObject,
  validateAdmission,
  writeObject,
} from "./write.ts";

export interface Deleted {
  /** The last state. */
  readonly entry: CacheEntry;
  /** False: only marked. */
  readonly gone: boolean;
}

const foreground = "foregroundDeletion";
const orphan = "orphan";
const maxAttempts = 64;

/** Does a finalizer still hold it? Namespaces have theirs in spec as well. */
export function isHeld(object: Readonly<AnyObject>): boolean {
  if ((object.metadata.finalizers?.length ?? 0) > 0) return true;
  if (object.kind !== "Namespace") return false;
  const spec = object["spec"] as { finalizers?: string[] } | undefined;
  return (spec?.finalizers?.length ?? 0) > 0;
}

/** Throws ApiError 404, 409 (preconditions), 422 (options), and what admission throws. */
export async function remove(
  call: Call,
  options: DeleteOptions,
): Promise<Deleted> {
  const kind = storedOf(call);
  const { info, strategy } = call.endpoint;
  checkOptions(call, options);
  const key = kind.keyOf(call.namespace, call.name);
  const fresh = mostRecent(call.registry);
  if (fresh) await fresh;
  for (let attempt = 1; ; attempt++) {
    const live = kind.cache.get(key);
    if (!live) throw missing(call);
    checkPreconditions(call, options, live);
    const attributes = admissionAttributes(
      call,
      "DELETE",
      undefined,
      live.raw,
      options,
    );
    await admit(call, attributes);
    await validateAdmission(call, attributes);
    const marked = mark(call, options, live);
    if (marked === "unchanged") return { entry: live, gone: false };
    if (marked === "remove") {
      if (call.dryRun) return { entry: live, gone: true };
      const result = await removeObject(call, kind, key, live.revision);
      if (result.ok) {
        await strategy.afterDelete?.(live.raw, call);
        return { entry: live, gone: true };
      }
    } else {
      if (call.dryRun) return { entry: live, gone: false };
      const written = await writeObject(call, kind, key, marked, live.revision);
      if (written.ok) return { entry: written.entry, gone: false };
    }
    if (attempt >= maxAttempts) throw errors.stale(info, call.name);
    await afterConflict(call.registry, live.revision);
  }
}

function checkOptions(call: Call, options: DeleteOptions): void {
  const problems = [];
  const { propagationPolicy, orphanDependents, gracePeriodSeconds } = options;
  if (propagationPolicy !== undefined && orphanDependents !== undefined)
    problems.push({
      type: "FieldValueInvalid" as const,
      field: "propagationPolicy",
      detail: `Invalid value: ${JSON.stringify(propagationPolicy)}: orphanDependents and deletionPropagation cannot be both set`,
    });
  if (
    propagationPolicy !== undefined &&
    !["Foreground", "Background", "Orphan"].includes(propagationPolicy)
  )
    problems.push({
      type: "FieldValueNotSupported" as const,
      field: "propagationPolicy",
      detail: `Unsupported value: ${JSON.stringify(propagationPolicy)}: supported values: "Foreground", "Background", "Orphan", "nil"`,
    });
  if (problems.length > 0)
    throw errors.invalid(
      { group: "meta.k8s.io", kind: "DeleteOptions" },
      "",
      problems,
    );
  if (gracePeriodSeconds !== undefined && gracePeriodSeconds < 0)
    options.gracePeriodSeconds = 1;
  void call;
}

function checkPreconditions(
  call: Call,
  { preconditions }: DeleteOptions,
  live: CacheEntry,
): void {
  const { uid, resourceVersion } = preconditions ?? {};
  // The reference names the kind where others name the resource.
  const { group, kind } = call.endpoint.info;
  const refuse = (why: string): ApiError =>
    errors.conflict({ group, resource: kind }, call.name, why);
  const liveUid = live.raw.metadata.uid;
  if (uid !== undefined && uid !== liveUid)
    throw refuse(
      `the UID in the precondition (${uid}) does not match the UID in record (${liveUid}). The object might have been deleted and then recreated`,
    );
  if (
    resourceVersion !== undefined &&
    resourceVersion !== String(live.revision)
  )
    throw refuse(
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${live.revision}). The object might have been modified`,
    );
}

function mark(
  call: Call,
  options: DeleteOptions,
  live: CacheEntry,
): AnyObject | "remove" | "unchanged" {
  const { strategy } = call.endpoint;
  const old = live.raw;
  const { metadata } = old;
  const finalizers = finalizersAfter(call, options, metadata.finalizers ?? []);
  const wanted = strategy.graceSeconds?.(old, options);
  const held =
    finalizers.length > 0 ||
    isHeld({ ...old, metadata: { ...metadata, finalizers: [] } });
  const nowMs = call.clock.now();
  if (!held && !wanted) return "remove";
  const grace = wanted ?? 0;
  if (metadata.deletionTimestamp) {
    const left = metadata.deletionGracePeriodSeconds ?? 0;
    const shorter = wanted !== undefined && grace < left;
    if (!shorter && sameList(finalizers, metadata.finalizers ?? []))
      return "unchanged";
    const object = live.copy();
    setFinalizers(object, finalizers);
    if (shorter) {
      const requestedMs = Date.parse(metadata.deletionTimestamp) - left * 1000;
      object.metadata.deletionTimestamp = formatTime(
        Math.max(requestedMs + grace * 1000, 0),
      );
      object.metadata.deletionGracePeriodSeconds = grace;
    }
    return object;
  }
  const object = live.copy();
  setFinalizers(object, finalizers);
  object.metadata.deletionTimestamp = formatTime(nowMs + grace * 1000);
  object.metadata.deletionGracePeriodSeconds = grace;
  if ((object.metadata.generation ?? 0) > 0)
    object.metadata.generation = object.metadata.generation! + 1;
  if (object.kind === "Namespace")
    object["status"] = {
      ...(object["status"] as object),
      phase: "Terminating",
    };
  return object;
}

/** The finalizers with the propagation policy's own. */
function finalizersAfter(
  call: Call,
  options: DeleteOptions,
  present: readonly string[],
): string[] {
  const { propagationPolicy, orphanDependents } = options;
  let policy = propagationPolicy as string | undefined;
  if (policy === undefined && orphanDependents !== undefined)
    policy = orphanDependents ? "Orphan" : "Background";
  if (policy === undefined) {
    const { orphanWarning } = call.endpoint.strategy;
    if (orphanWarning) call.warn(orphanWarning);
    if (present.includes(orphan) || present.includes(foreground))
      return [...present];
    policy = call.endpoint.strategy.defaultPropagation ?? "Background";
  }
  const others = present.filter(
    (finalizer) => finalizer !== orphan && finalizer !== foreground,
  );
  if (policy === "Orphan") return [...others, orphan];
  if (policy === "Foreground") return [...others, foreground];
  return others;
}

function setFinalizers(object: AnyObject, finalizers: string[]): void {
  if (finalizers.length > 0) object.metadata.finalizers = finalizers;
  else delete object.metadata.finalizers;
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
