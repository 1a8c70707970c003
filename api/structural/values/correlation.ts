// Which part of an object's older version a part of the new one comes from, and whether it is unchanged: what was invalid
// and has not changed is accepted (ratcheting). Fields are found by name where the schema has them, items of list maps by
// their keys; items of other lists come from nowhere.
import { sameJson } from "../../objects/json-equality.ts";
import { isJsonObject } from "../../patch/json-value.ts";
import type { Structural } from "../structural.ts";
import type { Mark, Run } from "./run.ts";

/** A part of the older version, and the schema of that place. */
export interface Older {
  readonly value: unknown;
  readonly schema: Structural;
}

export function olderField(
  { value, schema }: Older,
  name: string,
): Older | undefined {
  if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
  const below = schema.field(name);
  return below && { value: value[name], schema: below };
}

/** Finds the items of a list's older version by their keys; made once a list. */
export function olderItems({
  value,
  schema,
}: Older): ((item: unknown) => Older | undefined) | undefined {
  const { items, listType, listMapKeys } = schema;
  if (
    !items ||
    listType !== "map" ||
    listMapKeys.length === 0 ||
    !Array.isArray(value)
  )
    return undefined;
  let byKey: Map<string, unknown> | undefined;
  return (item) => {
    const key = itemKey(item, listMapKeys);
    if (key === undefined) return undefined;
    byKey ??= itemsByKey(value as unknown[], listMapKeys);
    const older = byKey.get(key);
    return older === undefined ? undefined : { value: older, schema: items };
  };
}

function itemsByKey(
  list: readonly unknown[],
  keys: readonly string[],
): Map<string, unknown> {
  const byKey = new Map<string, unknown>();
  for (const item of list) {
    const key = itemKey(item, keys);
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item);
  }
  return byKey;
}

/** Undefined when a key is missing or no scalar. */
function itemKey(item: unknown, keys: readonly string[]): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const values: unknown[] = [];
  for (const key of keys) {
    const value = Object.hasOwn(item, key) ? item[key] : undefined;
    if (value === undefined || value === null || typeof value === "object")
      return undefined;
    values.push(value);
  }
  return JSON.stringify(values);
}

/** Fields that no schema knows have no older version: an object with one has always changed. */
export function isUnchanged(value: unknown, older: Older): boolean {
  const was = older.value;
  if (Array.isArray(value)) {
    if (!Array.isArray(was) || was.length !== value.length) return false;
    const itemOf = olderItems(older);
    if (!itemOf) return sameJson(value, was);
    return (value as unknown[]).every((item) => {
      const before = itemOf(item);
      return before !== undefined && isUnchanged(item, before);
    });
  }
  if (!isJsonObject(value)) return value === was;
  if (!isJsonObject(was)) return false;
  const names = Object.keys(value);
  if (names.length !== Object.keys(was).length) return false;
  return names.every((name) => {
    const before = olderField(older, name);
    return before !== undefined && isUnchanged(value[name], before);
  });
}

/** What failed since then counts as accepted if the value is what it was. */
export function forgive(
  value: unknown,
  run: Run,
  older: Older,
  since: Mark,
): undefined {
  if (run.failures > since.failures && isUnchanged(value, older))
    run.return(since);
}
