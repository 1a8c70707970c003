// delete: two phases. An object with finalizers, or a grace period, is only marked (deletionTimestamp); it leaves the
// store when the last of them goes (update.ts) or when it is deleted again with no grace left.
import { formatTime } from "../../../api/clock.ts";
import { errors, type FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { DeleteOptions } from "../../../api/types/meta-v1.ts";
import type { CacheEntry } from "../../cache/cache-entry.ts";
import type { Call } from "../call.ts";
import { storedOf } from "./create.ts";
import type { Endpoint } from "../endpoint.ts";
import type { StoredKind } from "../kinds/stored-kind.ts";
import { missing } from "./unreadable.ts";
import { afterConflict, mostRecent } from "../versions.ts";
import {
  admissionAttributes,
  admit,
  validateAdmission,
} from "./call-admission.ts";
import { removeObject, unstoredEntry, writeObject } from "./write.ts";

interface Deleted {
  /** The last state. */
  readonly entry: CacheEntry;
  /** False: only marked. */
  readonly gone: boolean;
}

const foreground = "foregroundDeletion";
const orphan = "orphan";
const maxAttempts = 64;

/** Does a finalizer, or what else its kind has, still keep it in the store? */
export function isHeld(
  { strategy }: Pick<Endpoint, "strategy">,
  object: Readonly<AnyObject>,
): boolean {
  return (
    (object.metadata.finalizers?.length ?? 0) > 0 ||
    (strategy.isHeld?.(object) ?? false)
  );
}

/** How an object comes to be deleted. */
interface Deletion {
  /** Admission has seen what this follows from: an eviction. */
  readonly admitted?: boolean;
  /** As one of a collection: admission sees no name. */
  readonly collection?: boolean;
}

/** Throws ApiError 404, 409 (preconditions), 422 (options), and what admission throws. */
export async function remove(
  call: Call,
  options: DeleteOptions,
  { admitted = false, collection = false }: Deletion = {},
): Promise<Deleted> {
  const kind = storedOf(call);
  const { info, strategy } = call.endpoint;
  checkDeleteOptions(options);
  const key = kind.keyOf(call.namespace, call.name);
  const fresh = mostRecent(call.registry);
  if (fresh) await fresh;
  for (let attempt = 1; ; attempt++) {
    const found = kind.cache.get(key);
    if (!found) throw missing(call);
    const viewing = kind.inStoredVersion(found);
    const live = viewing instanceof Promise ? await viewing : viewing;
    checkPreconditions(call, options, live);
    const ask = async (old: Readonly<AnyObject>): Promise<void> => {
      if (admitted) return;
      const attributes = admissionAttributes(call, "DELETE", undefined, old, {
        options,
        name: collection ? "" : call.name,
      });
      await admit(call, attributes);
      await validateAdmission(call, attributes);
    };
    await ask(live.raw);
    const refused = strategy.refuseDeletion?.(live.raw);
    if (refused) throw errors.forbidden(info, call.name, refused);
    const marked = mark(call, options, live);
    if (marked === "unchanged") return { entry: live, gone: false };
    if (marked === "remove") {
      const entry = lastState(call, kind, live);
      // The reference marks such an object first and then deletes it: admission is asked twice.
      if (entry !== live) await ask(entry.raw);
      if (call.dryRun) return { entry, gone: true };
      const result = await removeObject(call, kind, key, live.revision);
      if (result.ok) {
        await strategy.afterDelete?.(live.raw, call);
        return { entry, gone: true };
      }
    } else {
      if (call.dryRun)
        return { entry: unstoredEntry(kind, key, marked, live), gone: false };
      const written = await writeObject(call, kind, key, marked, live.revision);
      if (written.ok) return { entry: written.entry, gone: false };
    }
    if (attempt >= maxAttempts) throw errors.stale(info, call.name);
    await afterConflict(call.registry, live.revision);
  }
}

/** Throws ApiError 422. */
export function checkDeleteOptions(options: DeleteOptions): void {
  const problems: FieldError[] = [];
  const {
    propagationPolicy: policy,
    orphanDependents,
    gracePeriodSeconds,
  } = options;
  if (policy !== undefined && orphanDependents !== undefined)
    problems.push(
      fieldErrors.invalid(
        "propagationPolicy",
        policy,
        "orphanDependents and deletionPropagation cannot be both set",
      ),
    );
  const policies = ["Foreground", "Background", "Orphan"];
  if (policy !== undefined && !policies.includes(policy))
    problems.push(
      fieldErrors.notSupported("propagationPolicy", policy, [
        ...policies,
        "nil",
      ]),
    );
  problems.push(...dryRunProblems(options.dryRun ?? []));
  if (problems.length > 0)
    throw errors.invalid(
      { group: "meta.k8s.io", kind: "DeleteOptions" },
      "",
      problems,
    );
  if (gracePeriodSeconds !== undefined && gracePeriodSeconds < 0)
    options.gracePeriodSeconds = 1;
}

function checkPreconditions(
  call: Call,
  { preconditions }: DeleteOptions,
  live: CacheEntry,
): void {
  const { uid, resourceVersion } = preconditions ?? {};
  const { group, kind } = call.endpoint.info;
  const refuse = (
    what: string,
    asked: string,
    found: string,
    happened: string,
  ) =>
    errors.conflict(
      { group, resource: kind },
      call.name,
      `the ${what} in the precondition (${asked}) does not match the ${what} in record (${found}). The object might have been ${happened}`,
    );
  const liveUid = live.raw.metadata.uid ?? "";
  if (uid !== undefined && uid !== liveUid)
    throw refuse("UID", uid, liveUid, "deleted and then recreated");
  const version = String(live.revision);
  if (resourceVersion !== undefined && resourceVersion !== version)
    throw refuse("ResourceVersion", resourceVersion, version, "modified");
}

/** What is answered of an object that goes at once: where there could have been a grace period, it says there was none. */
function lastState(call: Call, kind: StoredKind, live: CacheEntry): CacheEntry {
  if (!call.endpoint.strategy.graceSeconds) return live;
  const object = live.copy();
  object.metadata.deletionTimestamp ??= formatTime(call.clock.now());
  object.metadata.deletionGracePeriodSeconds = 0;
  return unstoredEntry(kind, live.key, object, live);
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
  const held = finalizers.length > 0 || (strategy.isHeld?.(old) ?? false);
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
  strategy.prepareForDeletion?.(object);
  return object;
}

/** The finalizers with the propagation policy's own. */
function finalizersAfter(
  call: Call,
  options: DeleteOptions,
  present: readonly string[],
): string[] {
  const { propagationPolicy, orphanDependents } = options;
  const { strategy } = call.endpoint;
  const { garbageCollection = true } = call.registry.options;
  if (strategy.propagates === false || !garbageCollection) return [...present];
  let policy = propagationPolicy as string | undefined;
  if (policy === undefined && orphanDependents !== undefined)
    policy = orphanDependents
      ? "Orphan"
      : (strategy.withoutOrphans ?? "Background");
  if (policy === undefined) {
    const { orphanWarning } = call.endpoint.strategy;
    if (orphanWarning) call.warn(orphanWarning);
    if (present.includes(orphan) || present.includes(foreground))
      return [...present];
    policy = strategy.defaultPropagation ?? "Background";
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

/** `dryRun` takes "All" only. */
export function dryRunProblems(dryRun: readonly string[]): FieldError[] {
  if (dryRun.every((value) => value === "All")) return [];
  return [fieldErrors.notSupported("dryRun", dryRun, ["All"])];
}
