// Server-side apply and the bookkeeping of who owns which field (metadata.managedFields).
// The registry calls `updateManagedFields` on every write that is no apply, after admission and before validation, and
// `applyPatch` for `application/apply-patch+yaml`; what applyPatch returns goes through the rest of an update (defaults,
// prepare, admission, validation). Both take private copies of nothing: live objects are never changed.
import { errors } from "../errors.ts";
import type { AnyObject } from "../object.ts";
import type { ManagedFieldsEntry } from "../types/meta-v1.ts";
import { difference, isEmptySet, union, type FieldSet } from "./field-set.ts";
import {
  conflictsWith,
  lastApplied,
  refuseConflicts,
} from "./apply-conflicts.ts";
import {
  compare,
  comparing,
  withoutPaths,
  withoutReset,
  type Comparison,
} from "./comparison.ts";
import { copyingJson, sortedKeys } from "./json-value.ts";
import { sameJson } from "../objects/json-equality.ts";
import {
  decodeManagers,
  encodingManagers,
  equalManagers,
  isReset,
  managerId,
  managersOf,
  stripUnowned,
  timeText,
  type Manager,
  type Managers,
} from "./managed-fields.ts";
import { fieldsOfShape } from "./object-shape.ts";
import {
  changeFor,
  changeOf,
  changesElsewhere,
  nowhere,
  pruneElsewhere,
  prunesElsewhere,
  type Change,
  type ChangesByVersion,
  type OtherVersions,
} from "./other-versions.ts";
import type { PatchSchema } from "./patch-schema.ts";
import type { Steps } from "../queueing/steps.ts";
import {
  fieldsOf,
  mergeApplied,
  pruneValue,
  rootField,
} from "./typed-value.ts";
import { requireTyped } from "./typed-check.ts";

export interface FieldManagement {
  /** `fieldManager` of the request, or the user agent up to its first "/" for writes that are no apply. */
  readonly manager: string;
  /** The version the request speaks: "apps/v1". */
  readonly apiVersion: string;
  /** "" for the main resource, "status", "scale" … */
  readonly subresource: string;
  /** Undefined: entries that are new get no time. */
  readonly nowMs: number | undefined;
  /** Schema of the kind; undefined: every list is atomic and every map granular. */
  readonly schema: PatchSchema | undefined;
  /** Is the object so large that its fields are found and encoded in steps? */
  readonly large?: boolean;
  /** How conflicts name the version of updates. Default: as it is in the entry. */
  readonly conflictVersion?: string | undefined;
  /** Is the kind known in that version? What is owned in others is forgotten. Default: every version is. */
  readonly knows?: (apiVersion: string) => boolean;
  /**
   * Paths the strategy resets for this (sub)resource, so that no manager owns them through it: [["status"]] for the main
   * resource of a kind with a status subresource, [["spec"], …] for /status.
   */
  readonly resetPaths?: readonly (readonly string[])[];
  /** What is owned in versions of another form. Undefined: there are none, and every manager is compared in the request's. */
  readonly others?: OtherVersions | undefined;
}

function withoutManagedFields<T extends AnyObject>(object: Readonly<T>): T {
  if (!object.metadata.managedFields) return object as T;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata } as T;
}

/** The same for a comparison, to which what is undefined is absent: leaving a field out of a copy takes three times as long. */
function comparable(object: Readonly<AnyObject>): Readonly<AnyObject> {
  if (!object.metadata.managedFields) return object;
  const metadata: Partial<AnyObject["metadata"]> = { ...object.metadata };
  (metadata as { managedFields: unknown }).managedFields = undefined;
  return { ...object, metadata: metadata as AnyObject["metadata"] };
}

/** Drops the entries of unknown versions; undefined when one has no version at all: then nothing can be kept. */
function knownManagers(
  managers: Managers,
  { knows }: FieldManagement,
): Managers | undefined {
  let known: Map<string, Manager> | undefined;
  for (const [id, { apiVersion }] of managers) {
    if (apiVersion === "") return undefined;
    if (!knows || knows(apiVersion)) continue;
    known ??= new Map(managers);
    known.delete(id);
  }
  return known ?? managers;
}

function owned(
  set: FieldSet,
  resetPaths: FieldManagement["resetPaths"],
): FieldSet {
  return withoutPaths(stripUnowned(set), resetPaths);
}

/** Everyone loses what was changed or removed in its own version. */
function dispossess(
  managers: Managers,
  changes: ChangesByVersion,
  own: Change,
  except?: string,
): Map<string, Manager> {
  const left = new Map<string, Manager>();
  for (const [id, manager] of managers) {
    const { changed, removed } = changeFor(manager, changes, own);
    const set =
      id === except
        ? manager.set
        : difference(difference(manager.set, changed), removed);
    if (isEmptySet(set)) continue;
    left.set(id, set === manager.set ? manager : { ...manager, set });
  }
  return left;
}

function setEntries(object: AnyObject, entries: ManagedFieldsEntry[]): void {
  if (entries.length > 0) object.metadata.managedFields = entries;
  else delete object.metadata.managedFields;
}

const timeOf = ({ nowMs }: FieldManagement): string | undefined =>
  nowMs === undefined ? undefined : timeText(nowMs);

function isSame({ added, modified, removed }: Comparison): boolean {
  return isEmptySet(added) && isEmptySet(modified) && isEmptySet(removed);
}

/**
 * Sets metadata.managedFields of `object` (a private copy, changed in place) after a create, update or patch. `live` is
 * the stored object, undefined for a create. Without any difference the entries keep their timestamps. An object that
 * exists and has no managers (they were reset) stays without until it is applied.
 */
export function* updateManagedFields(
  live: Readonly<AnyObject> | undefined,
  object: AnyObject,
  management: FieldManagement,
): Steps<void> {
  if (!live && object.metadata.managedFields === undefined)
    return yield* manageCreated(object, management);
  const all = managersOf(live, object, management.subresource);
  const managers = knownManagers(all, management);
  const given = object.metadata.managedFields;
  if (!managers || (live && all.size === 0)) return setEntries(object, []);
  yield;
  const before = live && comparable(live);
  const after = comparable(object);
  const whole = yield* comparing(before, after, management);
  const own = withoutReset(whole, management.resetPaths);
  const change = changeOf(own);
  const mine = stripUnowned(change.changed);
  const changes =
    before && !isSame(whole)
      ? yield* changesElsewhere(managers, [before, after], whole, management)
      : nowhere;
  if (live && isSame(own) && changes.size === 0) {
    const ownEntries =
      given &&
      !sameJson(given, live.metadata.managedFields) &&
      !isReset(given) &&
      management.subresource === "";
    return setEntries(
      object,
      ownEntries
        ? yield* encodingManagers(managers)
        : (live.metadata.managedFields ?? []),
    );
  }
  yield;
  const result = dispossess(managers, changes, change);
  if (!isEmptySet(mine)) {
    const { manager: name, apiVersion, subresource } = management;
    const operation = "Update";
    const id = managerId({ name, operation, apiVersion, subresource });
    const before = result.get(id);
    const set = before ? union(before.set, mine) : mine;
    const time = timeOf(management) ?? before?.time;
    result.set(id, { name, operation, apiVersion, subresource, time, set });
  }
  setEntries(object, yield* encodingManagers(result));
}

/** All that an object owns which is new. */
function* fieldsOfNew(
  object: Readonly<AnyObject>,
  management: FieldManagement,
): Steps<FieldSet> {
  const { added, modified } = yield* comparing(undefined, object, management);
  return owned(union(added, modified), management.resetPaths);
}

/** A create that brings no entries of its own: one manager has all that is set. */
function* manageCreated(
  object: AnyObject,
  management: FieldManagement,
): Steps<void> {
  const { schema, resetPaths = [], manager, apiVersion } = management;
  const fieldsV1 = yield* fieldsOfShape(
    object,
    schema,
    resetPaths,
    () => fieldsOfNew(object, management),
    management.large,
  );
  if (!fieldsV1) return setEntries(object, []);
  const entry: ManagedFieldsEntry = {};
  if (manager) entry.manager = manager;
  entry.operation = "Update";
  entry.apiVersion = apiVersion;
  const time = timeOf(management);
  if (time) entry.time = time;
  entry.fieldsType = "FieldsV1";
  entry.fieldsV1 = fieldsV1;
  if (management.subresource) entry.subresource = management.subresource;
  setEntries(object, [entry]);
}

/**
 * Merges an applied configuration into the live object (undefined: a create) and returns the new object, a private copy,
 * with its managedFields. When the apply changes nothing, that is the live object with its old timestamps.
 * Nulls are set and owned like values. Throws ApiError 409 with one cause a conflict unless `force`, 400 for a
 * bad configuration.
 */
export function* applyPatch(
  live: Readonly<AnyObject> | undefined,
  applied: Readonly<AnyObject>,
  management: FieldManagement & { readonly force: boolean },
): Steps<AnyObject> {
  const { schema, manager: name, apiVersion, subresource } = management;
  const given = applied.metadata?.managedFields as unknown;
  if (given !== undefined && given !== null)
    throw errors.badRequest("metadata.managedFields must be nil");
  const config = { ...applied };
  // Null says nothing of what every object has.
  if ((config.metadata as unknown) === null)
    delete (config as Partial<AnyObject>).metadata;
  if (schema) requireTyped(config, schema);
  yield;
  const base = live
    ? withoutManagedFields(live)
    : ({
        apiVersion: config.apiVersion,
        kind: config.kind,
        metadata: {},
      } as AnyObject);
  const managers = new Map(
    live ? startingManagers(live, base, management) : [],
  );
  const before = decodeManagers(live?.metadata.managedFields) ?? new Map();

  const operation = "Apply";
  const id = managerId({ name, operation, apiVersion, subresource });
  const last = managers.get(id);
  yield;
  const wanted = fieldsOf(config, schema);
  yield;
  const set = owned(wanted, management.resetPaths);
  const time = last?.time;
  managers.set(id, { name, operation, apiVersion, subresource, time, set });

  let next = mergeApplied(base, config, rootField(schema)) as AnyObject;
  if (last) {
    yield;
    next = yield* pruned(next, last, managers, wanted, management);
  }
  yield;
  const whole = yield* comparing(base, next, management);
  const comparison = withoutReset(whole, management.resetPaths);
  yield;
  const change = changeOf(comparison);
  const changes =
    live && !isSame(whole)
      ? yield* changesElsewhere(managers, [base, next], whole, management, id)
      : nowhere;
  if (!management.force) {
    const lost = (manager: Manager): FieldSet =>
      changeFor(manager, changes, change).changed;
    refuseConflicts(conflictsWith(managers, lost, id), base, management);
  }

  yield;
  const result = dispossess(managers, changes, change, id);
  if (live && isSame(comparison) && equalManagers(result, before))
    return yield* copyingJson(live as AnyObject);
  // The time is that of the last change of the object, not of who owns it; what is reset afterwards counts as one.
  const now = timeOf(management);
  if (!isSame(whole) && result.has(id) && now)
    result.set(id, { ...result.get(id)!, time: now });
  if (isEmptySet(set)) result.delete(id);
  yield;
  const object = yield* copyingJson(next);
  yield;
  if (
    name === "kubectl" &&
    live?.metadata.annotations?.[lastApplied] !== undefined
  ) {
    const text = `${JSON.stringify(sortedKeys(config))}\n`;
    object.metadata.annotations = {
      ...object.metadata.annotations,
      [lastApplied]: text,
    };
  }
  setEntries(object, yield* encodingManagers(result));
  return object;
}

/** Without what the applier applied last time and no manager owns any more. */
function* pruned(
  merged: AnyObject,
  last: Manager,
  managers: Managers,
  wanted: FieldSet,
  management: FieldManagement,
): Steps<AnyObject> {
  const { schema, others } = management;
  if (others && prunesElsewhere(last, managers, management))
    return yield* pruneElsewhere(merged, last, managers, {
      ...management,
      others,
    });
  let everyone = wanted;
  for (const manager of managers.values())
    everyone = union(everyone, manager.set);
  yield;
  const root = rootField(schema);
  return pruneValue(merged, last.set, everyone, root) as AnyObject;
}

/** An object that was never tracked: all it has belongs to "before-first-apply". */
function startingManagers(
  live: Readonly<AnyObject>,
  base: AnyObject,
  management: FieldManagement,
): Managers {
  const managers = decodeManagers(live.metadata.managedFields);
  if (managers && managers.size > 0) return managers;
  const { apiVersion, schema } = management;
  const set = stripUnowned(compare(undefined, base, schema).added);
  const first: Manager = {
    name: "before-first-apply",
    operation: "Update",
    apiVersion,
    subresource: "",
    time: timeOf(management),
    set,
  };
  return isEmptySet(set) ? new Map() : new Map([[managerId(first), first]]);
}
