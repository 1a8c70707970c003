// Replacing an object: PUT, PATCH, status and every other guarded change go through `replace`.
//
// `produce` makes the new object (a private copy, stored version) from the live entry. When another write comes between,
// it is asked again, unless the new object named a resourceVersion: then the caller gets 409.
import type { ApiError, FieldError } from "../../../api/errors.ts";
import { errors, otherUidText } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { copyJson } from "../../../api/patch/json-value.ts";
import type { Steps } from "../../../api/queueing/steps.ts";
import { sameJson } from "../../../api/objects/json-equality.ts";
import type { CacheEntry } from "../../cache/cache-entry.ts";
import { validateReplacedMeta } from "../../resources/object-meta.ts";
import type { Call } from "../call.ts";
import { create, storedOf } from "./create.ts";
import { isHeld } from "./delete.ts";
import { isStale } from "../kinds/stale-value.ts";
import type { StoredKind } from "../kinds/stored-kind.ts";
import type { MaybePromise } from "../kinds/when-ready.ts";
import { dedupeOwners } from "./owner-references.ts";
import { missing } from "./unreadable.ts";
import { afterConflict, mostRecent } from "../versions.ts";
import { updateAdmission } from "./call-admission.ts";
import { asSent, manageFields } from "../field-owners.ts";
import {
  changeProblems,
  defaultsAfterOwnership,
  print,
  refuseProblems,
  removeObject,
  setAdmittedDefaults,
  setDefaults,
  setServedDefaults,
  unstoredEntry,
  writeObject,
} from "./write.ts";
import { asChecked, withoutNulls } from "./object-versions.ts";

export interface Replaced {
  readonly entry: CacheEntry;
  readonly created: boolean;
}

interface Replacement {
  /** A private copy in the stored version, kept afterwards. */
  readonly object: AnyObject;
  /** The object as it was sent, of asSent(). */
  readonly sent?: Readonly<AnyObject> | undefined;
  /** The caller named the version it changed: no retry. */
  readonly conditional: boolean;
  /** The object must have this one (PUT). */
  readonly uid?: string | undefined;
  /** managedFields are already right (server-side apply). */
  readonly applied?: boolean;
  /** Admission has seen what this follows from: the object created through a subresource. */
  readonly admitted?: boolean;
  /** Skips strategy and validation: the registry's own changes (finalize, deletion marks). */
  readonly trusted?: boolean;
}

type Produce = (live: CacheEntry) => MaybePromise<Replacement>;

const maxAttempts = 64;

/** PUT. `body` is a private copy in the served version. */
export async function update(call: Call, body: AnyObject): Promise<Replaced> {
  const { endpoint } = call;
  const kind = storedOf(call);
  const { metadata } = body;
  if (!metadata.name) throw errors.badRequest(undetermined(call.name));
  if (metadata.name !== call.name)
    throw errors.badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${call.name})`,
    );
  if (endpoint.info.namespaced) {
    metadata.namespace ||= call.namespace;
    if (metadata.namespace !== call.namespace)
      throw errors.badRequest(
        "the namespace of the provided object does not match the namespace sent on the request",
      );
  } else if (metadata.namespace !== undefined) delete metadata.namespace;
  const live = kind.cache.get(kind.keyOf(call.namespace, call.name));
  if (!live && metadata.uid) throw otherUid(call, metadata.uid, "");
  if (
    !live &&
    endpoint.strategy.allowCreateOnUpdate &&
    call.subresource === ""
  ) {
    delete metadata.resourceVersion;
    const entry = await create(call, body, { unauthorized: true });
    return { entry, created: true };
  }
  dedupeOwners(call, body, "");
  const setting = setServedDefaults(call, body);
  if (setting) await setting;
  const sent = asSent(call, body);
  const converting = endpoint.toStored(body);
  const object = converting instanceof Promise ? await converting : converting;
  const { uid } = metadata;
  const conditional = namesVersion(object);
  // Each attempt changes what it is given, and one with a version is the only one.
  return replace(call, () => ({
    object: conditional ? object : copyJson(object),
    sent,
    conditional,
    uid,
  }));
}

/** "0" asks for nothing, as no version does. */
function namesVersion({ metadata }: Readonly<AnyObject>): boolean {
  return Boolean(metadata.resourceVersion) && metadata.resourceVersion !== "0";
}

/** See the header. Throws ApiError 404, 409, 422. */
export async function replace(call: Call, produce: Produce): Promise<Replaced> {
  const kind = storedOf(call);
  const { info } = call.endpoint;
  const key = kind.keyOf(call.namespace, call.name);
  const fresh = mostRecent(call.registry);
  if (fresh) await fresh;
  for (let attempt = 1; ; attempt++) {
    const found = kind.cache.get(key);
    if (!found) throw missing(call);
    const viewing = kind.inStoredVersion(found);
    const live = viewing instanceof Promise ? await viewing : viewing;
    call.bytes = Math.max(call.bytes, live.json.length);
    const producing = produce(live);
    const replacement =
      producing instanceof Promise ? await producing : producing;
    const { object, conditional } = replacement;
    checkPreconditions(call, replacement, live);
    const taken: Taken = { prepared: undefined };
    let failed = true;
    try {
      const next = replacement.trusted
        ? object
        : await prepare(call, object, live, replacement, taken);
      next.metadata.resourceVersion = String(live.revision);
      // One that was stored in another version is written, whatever it says.
      const older = live !== found || kind.form.isOlder(found);
      const same = !older && sameJson(next, live.raw);
      const stale = same && isStale(call.registry.store, kind, key);
      if (same && !(stale && (await stale))) {
        failed = false;
        return { entry: live, created: false };
      }
      if (call.dryRun)
        return {
          entry: unstoredEntry(kind, key, next, live),
          created: false,
        };
      const turn = print(call, next);
      if (turn) await turn;
      const done = await commit(call, kind, key, next, live);
      if (done) {
        failed = false;
        const { afterUpdate } = call.endpoint.strategy;
        if (taken.prepared && afterUpdate)
          await afterUpdate(next, live.raw, call);
        return { entry: done, created: false };
      }
    } finally {
      if (failed && taken.prepared)
        await call.endpoint.strategy.rollback?.(taken.prepared, call, live.raw);
    }
    if (conditional || attempt >= maxAttempts)
      throw kind.cache.get(key)
        ? errors.stale(info, call.name)
        : errors.notFound(info, call.name);
    await afterConflict(call.registry, live.revision);
  }
}

/** What the strategy has prepared, so that the caller gives back what the strategy took. */
interface Taken {
  prepared: AnyObject | undefined;
}

/** 400 of an object that does not say its name. */
const undetermined = (name: string): string =>
  `the name of the object (${name} based on URL) was undeterminable: name must be provided`;

/** 409: the object of that name is another one. */
function otherUid(call: Call, uid: string, liveUid: string): ApiError {
  const kind = storedOf(call);
  const key = kind.storeKey(kind.keyOf(call.namespace, call.name));
  // The error of an object that was not written does not have the store's own prefix.
  const shown = call.dryRun ? key.replace(/^\/registry/, "") : key;
  return errors.conflict(
    { group: call.endpoint.info.group, resource: call.endpoint.info.resource },
    call.name,
    otherUidText(shown, uid, liveUid),
  );
}

function checkPreconditions(
  call: Call,
  { object, uid, trusted }: Replacement,
  live: CacheEntry,
): void {
  const { info, strategy } = call.endpoint;
  const liveUid = live.raw.metadata.uid;
  if (uid && liveUid && uid !== liveUid) throw otherUid(call, uid, liveUid);
  if (!namesVersion(object)) {
    if (!trusted && strategy.allowUnconditionalUpdate === false)
      throw errors.invalid(
        { group: info.group, kind: info.resource },
        call.name,
        [
          {
            type: "FieldValueInvalid",
            field: "metadata.resourceVersion",
            detail: "Invalid value: 0x0: must be specified for an update",
          },
        ],
      );
    return;
  }
  checkVersion(call, object, live);
}

/** Throws ApiError 400, 409. */
function checkVersion(call: Call, object: AnyObject, live: CacheEntry): void {
  const { resourceVersion } = object.metadata;
  if (!namesVersion(object) || resourceVersion === String(live.revision))
    return;
  if (!/^[0-9]+$/.test(resourceVersion!))
    throw errors.badRequest(
      `strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`,
    );
  throw errors.stale(call.endpoint.info, call.name);
}

/** Undefined: another write came first. */
async function commit(
  call: Call,
  kind: StoredKind,
  key: string,
  object: AnyObject,
  live: CacheEntry,
): Promise<CacheEntry | undefined> {
  const { metadata } = object;
  if (
    metadata.deletionTimestamp &&
    !(metadata.deletionGracePeriodSeconds ?? 0) &&
    !isHeld(call.endpoint, object) &&
    isHeld(call.endpoint, live.raw)
  ) {
    const result = await removeObject(call, kind, key, live.revision);
    if (!result.ok) return undefined;
    await call.endpoint.strategy.afterDelete?.(live.raw, call);
    return unstoredEntry(kind, key, object, live);
  }
  const written = await writeObject(call, kind, key, object, live.revision);
  return written.ok ? written.entry : undefined;
}

/** Admission, preparation and validation of an update. Returns the object to store. */
async function prepare(
  call: Call,
  given: AnyObject,
  live: CacheEntry,
  { applied = false, admitted = false, sent }: Replacement,
  taken: Taken,
): Promise<AnyObject> {
  const { endpoint } = call;
  const { strategy } = endpoint;
  const old = live.raw;
  let object = given;
  let turn = call.nextTurn();
  if (turn) await turn;
  const late = defaultsAfterOwnership(call);
  turn = (late ? undefined : setDefaults(call, object)) ?? call.nextTurn();
  if (turn) await turn;
  // No manager owns the fields that strategy and admission set.
  const managing = applied ? undefined : manageFields(call, old, object, sent);
  if (managing) await managing;
  turn = (late ? setDefaults(call, object) : undefined) ?? call.nextTurn();
  if (turn) await turn;
  const starting = updateAdmission(call, object, old);
  const admission = starting instanceof Promise ? await starting : starting;
  if (!admitted) {
    const admitting = admission.admit();
    object = admitting instanceof Promise ? await admitting : admitting;
  }
  checkVersion(call, object, live);
  dedupeOwners(call, object, " after mutating admission happens");
  keepSystemFields(object, old);
  if (call.subresource === "status") object = takeStatus(object, old);
  else if (endpoint.hasStatus && call.subresource === "") {
    if (old["status"] !== undefined) object["status"] = copyJson(old["status"]);
    else if (object["status"] !== undefined) delete object["status"];
  }
  object.metadata.resourceVersion = String(live.revision);
  const part = endpoint.part(call.subresource);
  if (!part && call.subresource === "") taken.prepared = object;
  const rules = part ?? (call.subresource === "" ? strategy : undefined);
  const preparing = rules?.prepareForUpdate?.(object, old, call);
  if (preparing) await preparing;
  turn = setAdmittedDefaults(call, object) ?? call.nextTurn();
  if (turn) await turn;
  countGeneration(call, object, old);
  const viewing = asChecked(call, object, old);
  const [checked, was] = viewing instanceof Promise ? await viewing : viewing;
  const found = call.inTurns(validation(call, checked, was!));
  refuseProblems(
    call,
    object.metadata.name ?? "",
    found instanceof Promise ? await found : found,
  );
  turn = call.nextTurn();
  if (turn) await turn;
  if (call.subresource === "")
    call.warnEach(strategy.warnings?.(object, old) ?? []);
  const validating = admitted ? undefined : admission.validate(object);
  if (validating) await validating;
  turn = call.nextTurn();
  if (turn) await turn;
  return withoutNulls(call, object);
}

/** What is wrong with the new object. */
function* validation(
  call: Call,
  object: AnyObject,
  old: Readonly<AnyObject>,
): Steps<MaybePromise<FieldError[]>> {
  const { strategy, info } = call.endpoint;
  const meta = validateReplacedMeta(object, old, {
    namespaced: info.namespaced,
    anyFinalizer: strategy.anyFinalizer ?? false,
    custom: call.endpoint.custom,
  });
  const part = call.endpoint.part(call.subresource);
  if (part) return changeProblems(call, part, object, old, meta);
  if (call.subresource !== "" && call.subresource !== "scale") return meta;
  const own = strategy.validate?.(object, call) ?? [];
  yield;
  return changeProblems(call, strategy, object, old, [...meta, ...own]);
}

function keepSystemFields(object: AnyObject, old: Readonly<AnyObject>): void {
  const next = object.metadata;
  const was = old.metadata;
  next.uid ||= was.uid;
  if (was.creationTimestamp) next.creationTimestamp = was.creationTimestamp;
  if (was.deletionTimestamp) next.deletionTimestamp = was.deletionTimestamp;
  if (was.deletionGracePeriodSeconds !== undefined)
    next.deletionGracePeriodSeconds ??= was.deletionGracePeriodSeconds;
  if (was.generation !== undefined) next.generation = was.generation;
  // Deleting costs an object its shape, also when there is nothing to delete.
  else if (next.generation !== undefined) delete next.generation;
}

/** An update of /status keeps the rest, copied: defaults are set once more after this, and the old object may be frozen. */
function takeStatus(object: AnyObject, old: Readonly<AnyObject>): AnyObject {
  const next: AnyObject = { ...old, metadata: object.metadata };
  for (const name in next)
    if (name !== "metadata" && name !== "status")
      next[name] = copyJson(next[name]);
  if (object["status"] !== undefined) next["status"] = object["status"];
  else if (next["status"] !== undefined) delete next["status"];
  return next;
}

function countGeneration(
  call: Call,
  object: AnyObject,
  old: Readonly<AnyObject>,
): void {
  const {
    countsGeneration = true,
    countsMetadata,
    countsStatus,
  } = call.endpoint.strategy;
  if (countsGeneration === false || countsGeneration === "created") return;
  if (call.subresource === "status") return;
  if (
    !sameSpec(object, old) ||
    (countsStatus && !sameJson(object["status"], old["status"])) ||
    (countsMetadata !== undefined &&
      !sameJson(
        object.metadata[countsMetadata] ?? {},
        old.metadata[countsMetadata] ?? {},
      ))
  )
    object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

/** Equal but for metadata and status? */
function sameSpec(a: Readonly<AnyObject>, b: Readonly<AnyObject>): boolean {
  for (const key in a)
    if (!besideSpec.has(key) && !sameJson(a[key], b[key])) return false;
  for (const key in b)
    if (!besideSpec.has(key) && a[key] === undefined && b[key] !== undefined)
      return false;
  return true;
}

const besideSpec = new Set(["metadata", "status", "kind", "apiVersion"]);
