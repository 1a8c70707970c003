// Who owns what in versions that the request does not speak. A manager's fields are those of the version it wrote, so what
// a write changes is found once more in each such version: live and new object are converted into it and compared there.
//
// Example: v2 calls `a` of v1 `b`. m2 applied b in v2; an apply of another `a` in v1 conflicts with m2's `b`, and with
// force m2 loses it.
// Invariant: nothing is converted for managers of the request's own version, or of one that has the same form.
import { ApiError } from "../errors.ts";
import type { AnyObject } from "../object.ts";
import type { Steps } from "../queueing/steps.ts";
import {
  comparing,
  withoutReset,
  type Comparison,
  type ResetPaths,
} from "./comparison.ts";
import { emptySet, union, type FieldSet } from "./field-set.ts";
import type { Manager, Managers } from "./managed-fields.ts";
import type { PatchSchema } from "./patch-schema.ts";
import { typedProblem } from "./typed-check.ts";
import { fieldsOf, pruneValue, rootField } from "./typed-value.ts";

export interface OtherVersions {
  /** Has this version the form of the request's? Then what holds in one holds in the other. */
  alike(apiVersion: string): boolean;
  /** Objects of one version in another, in order; a step may have to be waited for. Throws ApiError 500. */
  convert(
    objects: readonly Readonly<AnyObject>[],
    apiVersion: string,
  ): Steps<readonly Readonly<AnyObject>[]>;
  schemaOf(apiVersion: string): PatchSchema | undefined;
  /**
   * Is the kind built in? Its conversions are trusted, and the paths that are reset are so in all versions; those of custom
   * resources are in the request's only, as at the reference.
   */
  readonly builtin: boolean;
}

/** What a write takes from the owners of a version. */
export interface Change {
  /** Added or modified: an apply conflicts with others who own it. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

export type ChangesByVersion = ReadonlyMap<string, Change>;

export const changeOf = ({ added, modified, removed }: Comparison): Change => ({
  changed: union(added, modified),
  removed,
});

interface Versioned {
  readonly apiVersion: string;
  readonly schema: PatchSchema | undefined;
  readonly large?: boolean;
  readonly resetPaths?: ResetPaths;
  readonly others?: OtherVersions | undefined;
}

/** The changes that the fields of a manager are compared with. */
export function changeFor(
  { apiVersion }: Manager,
  changes: ChangesByVersion,
  own: Change,
): Change {
  return changes.get(apiVersion) ?? own;
}

export const nowhere: ChangesByVersion = new Map();

/**
 * The changes in the versions of managers other than `except`, where they are other ones than the request's own.
 * @param whole in the request's version, with what is reset afterwards
 */
export function* changesElsewhere(
  managers: Managers,
  [before, after]: readonly [Readonly<AnyObject>, Readonly<AnyObject>],
  whole: Comparison,
  { apiVersion, others, large, resetPaths }: Versioned,
  except?: string,
): Steps<ChangesByVersion> {
  if (!others) return nowhere;
  let changes: Map<string, Change> | undefined;
  for (const [id, { apiVersion: version }] of managers) {
    if (id === except || version === apiVersion || changes?.has(version))
      continue;
    changes ??= new Map();
    if (others.alike(version)) {
      if (!others.builtin) changes.set(version, changeOf(whole));
      continue;
    }
    const [old, now] = yield* viewsIn([before, after], version, others);
    const schema = others.schemaOf(version);
    const found = yield* comparing(
      old,
      now,
      large ? { schema, large } : { schema },
    );
    const left = others.builtin ? withoutReset(found, resetPaths) : found;
    changes.set(version, changeOf(left));
  }
  return changes ?? nowhere;
}

/** The objects in another version, whose schema they must fit. */
function* viewsIn(
  objects: readonly Readonly<AnyObject>[],
  apiVersion: string,
  others: OtherVersions,
): Steps<readonly Readonly<AnyObject>[]> {
  if (objects.every((one) => one.apiVersion === apiVersion)) return objects;
  const views = yield* others.convert(objects, apiVersion);
  if (others.builtin) return views;
  const schema = others.schemaOf(apiVersion);
  for (const view of views) {
    const problem = schema && typedProblem(view, schema);
    if (problem !== undefined)
      throw new ApiError({ code: 500, message: problem });
  }
  return views;
}

/** Was the last apply in a version of another form, or does a manager own fields in one? */
export function prunesElsewhere(
  last: Manager,
  managers: Managers,
  { apiVersion, others }: Versioned,
): boolean {
  if (!others) return false;
  const elsewhere = ({ apiVersion: version }: Manager): boolean =>
    version !== apiVersion && !others.alike(version);
  return elsewhere(last) || [...managers.values()].some(elsewhere);
}

/**
 * The merged object without what the applier applied last time, in the version of then, and no manager owns any more in any
 * version. What another version can't express without a field keeps it.
 */
export function* pruneElsewhere(
  merged: Readonly<AnyObject>,
  last: Manager,
  managers: Managers,
  {
    apiVersion,
    others,
  }: Pick<Versioned, "apiVersion"> & { readonly others: OtherVersions },
): Steps<AnyObject> {
  const owned = new Map<string, FieldSet>();
  for (const { apiVersion: version, set } of managers.values()) {
    const known = owned.get(version);
    owned.set(version, known ? union(known, set) : set);
  }
  const root = rootField(others.schemaOf(last.apiVersion));
  const [whole] = yield* viewsIn([merged], last.apiVersion, others);
  const mine = owned.get(last.apiVersion) ?? emptySet;
  let pruned = pruneValue(whole, last.set, mine, root) as AnyObject;
  owned.delete(last.apiVersion);
  for (const [version, set] of owned) {
    const schema = others.schemaOf(version);
    const [all, left] = yield* viewsIn([whole!, pruned], version, others);
    const kept = union(fieldsOf(left, schema), set);
    yield;
    pruned = pruneValue(
      all,
      fieldsOf(all, schema),
      kept,
      rootField(schema),
    ) as AnyObject;
    [pruned] = (yield* viewsIn([pruned], last.apiVersion, others)) as readonly [
      AnyObject,
    ];
    yield;
  }
  // Nothing but what was applied last time goes, whatever the conversions have lost.
  const kept = fieldsOf(pruned, others.schemaOf(last.apiVersion));
  const result = pruneValue(whole, last.set, kept, root) as AnyObject;
  const [own] = yield* viewsIn([result], apiVersion, others);
  return own as AnyObject;
}
