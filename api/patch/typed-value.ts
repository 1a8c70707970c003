// JSON values seen through their schema, as server-side apply sees them: which parts are one (leaves), which are merged
// by name (objects), by keys (list maps) or by value (list sets). On it: the fields a value sets, the merge of an applied
// configuration, and the removal of fields that no manager owns any more; what differs between two values is found by
// comparison.ts.
// Without a schema every object is merged by name and every list is one.
import { emptySet, leaf, pathText, type FieldSet } from "./field-set.ts";
import { isJsonObject, setOwn, type JsonObject } from "./json-value.ts";
import type { PatchField, PatchSchema } from "./patch-schema.ts";

export interface Part {
  readonly key: string;
  readonly value: unknown;
  readonly field: PatchField | undefined;
  /** A key of a map with free keys: owned by itself, beside what is in it. */
  readonly free: boolean;
}

type Shape = "leaf" | "object" | "list-map" | "list-set";

/** How the value is seen: as one, or by its parts. */
export function shapeOf(value: unknown, field: PatchField | undefined): Shape {
  if (Array.isArray(value)) {
    if (field?.listType === "map" && field.listMapKeys?.length)
      return "list-map";
    return field?.listType === "set" ? "list-set" : "leaf";
  }
  if (!isJsonObject(value) || field?.schema.type === "raw-extension")
    return "leaf";
  return (field?.mapType ?? field?.schema.mapType) === "atomic"
    ? "leaf"
    : "object";
}

export const rootField = (schema: PatchSchema | undefined): PatchField => ({
  schema: schema ?? { type: "json" },
});

export function fieldNamed(
  schema: PatchSchema | undefined,
  name: string,
): { field: PatchField | undefined; free: boolean } {
  const known = schema?.fields?.get(name);
  if (known) return { field: known, free: false };
  return { field: freeField(schema), free: true };
}

/** A field of a map with free keys. */
export function freeField(
  schema: PatchSchema | undefined,
): PatchField | undefined {
  return schema?.values && { schema: schema.values };
}

/** A key that is always written has its zero value for default. */
function keyDefault(field: PatchField | undefined): unknown {
  if (field?.default !== undefined) return field.default;
  if (field?.nullable !== false || field.omitEmpty !== false) return undefined;
  return field.schema.type === "string" ? "" : 0;
}

/** `k:{"name":"a"}`; undefined when the item has not all keys. */
export function itemKey(
  item: unknown,
  keys: readonly string[],
  schema: PatchSchema | undefined,
): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const values: JsonObject = {};
  for (const key of keys.length > 1 ? [...keys].sort() : keys) {
    const given = item[key];
    const value =
      given === undefined ? keyDefault(schema?.fields?.get(key)) : given;
    if (value === undefined || (value !== null && typeof value === "object"))
      return undefined;
    values[key] = value;
  }
  return `k:${JSON.stringify(values)}`;
}

/** The parts of a value that is no leaf; undefined when a list's items can't be distinguished. */
export function partsOf(
  value: unknown,
  field: PatchField | undefined,
): Map<string, Part> | undefined {
  const parts = new Map<string, Part>();
  const schema = field?.schema;
  if (Array.isArray(value)) {
    const item: PatchField | undefined = schema?.items && {
      schema: schema.items,
    };
    for (const one of value as unknown[]) {
      const key =
        field?.listType === "set"
          ? typeof one === "object"
            ? undefined
            : `v:${JSON.stringify(one)}`
          : itemKey(one, field?.listMapKeys ?? [], schema?.items);
      if (key === undefined || parts.has(key)) return undefined;
      parts.set(key, { key, value: one, field: item, free: true });
    }
    return parts;
  }
  for (const name of Object.keys(value as JsonObject)) {
    const key = `f:${name}`;
    const { field: known, free } = fieldNamed(schema, name);
    parts.set(key, {
      key,
      value: (value as JsonObject)[name],
      field: known,
      free,
    });
  }
  return parts;
}

export function partsOrLeaf(
  value: unknown,
  field: PatchField | undefined,
): Map<string, Part> | undefined {
  return shapeOf(value, field) === "leaf" ? undefined : partsOf(value, field);
}

export const isNothing = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (isJsonObject(value) && Object.keys(value).length === 0);

export const isScalar = (value: unknown): boolean =>
  typeof value !== "object" || value === null;

/** The set of all fields the value sets. Throws AmbiguousList when the items of a list can't be distinguished. */
export function fieldsOf(
  value: unknown,
  schema: PatchSchema | undefined,
): FieldSet {
  const path: string[] = [];
  /** What is below the path; the path itself is a member where nothing can be below. */
  const within = (node: unknown, field: PatchField | undefined): FieldSet => {
    const shape = shapeOf(node, field);
    if (shape === "leaf") return leaf;
    const children = new Map<string, FieldSet>();
    const add = (
      key: string,
      inner: unknown,
      known: PatchField | undefined,
      free: boolean,
    ): void => {
      path.push(key);
      const below = within(inner, known);
      path.pop();
      if (below.member) children.set(key, below);
      else if (free || (below.children.size === 0 && isNothing(inner)))
        children.set(key, { member: true, children: below.children });
      else if (below.children.size > 0) children.set(key, below);
    };
    if (shape === "object") {
      for (const name of Object.keys(node as JsonObject)) {
        const key = `f:${name}`;
        const inner = (node as JsonObject)[name];
        if (isScalar(inner)) {
          children.set(key, leaf);
          continue;
        }
        const { field: known, free } = fieldNamed(field?.schema, name);
        // The root's own fields are no keys of a map, unless it keeps what it does not know.
        const isKey = path.length > 0 || schema?.preserveUnknownFields === true;
        add(key, inner, known, free && isKey);
      }
    } else {
      const parts = partsOf(node, field);
      if (!parts) throw new AmbiguousList(pathText(path));
      for (const part of parts.values())
        add(part.key, part.value, part.field, part.free);
    }
    return { member: false, children };
  };
  return within(value, rootField(schema));
}

/** A list whose items can't be distinguished; the message is its path. */
class AmbiguousList extends Error {}

const isEmptyShape = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isNothing(value);

/** The live value with the applied one over it: the applied order of list items, others between them where they were. */
export function mergeApplied(
  live: unknown,
  applied: unknown,
  field: PatchField | undefined,
): unknown {
  const shape = shapeOf(live, field);
  // Null is merged as what is merged with nothing in it.
  if (applied === null && shape !== "leaf" && !isEmptyShape(live)) return live;
  if (shape === "leaf" || shapeOf(applied, field) !== shape) return applied;
  if (shape === "object") {
    const result: JsonObject = { ...(live as JsonObject) };
    for (const name of Object.keys(applied as JsonObject)) {
      const value = (applied as JsonObject)[name];
      setOwn(
        result,
        name,
        Object.hasOwn(result, name)
          ? mergeApplied(
              result[name],
              value,
              fieldNamed(field?.schema, name).field,
            )
          : value,
      );
    }
    return result;
  }
  const [mine, theirs] = [partsOf(live, field), partsOf(applied, field)];
  if (!mine || !theirs) return applied;
  const result: unknown[] = [];
  const queue = [...theirs.values()];
  const done = new Set<string>();
  const take = (): void => {
    const part = queue.shift()!;
    done.add(part.key);
    const old = mine.get(part.key);
    result.push(
      old ? mergeApplied(old.value, part.value, part.field) : part.value,
    );
  };
  for (const part of mine.values()) {
    if (!theirs.has(part.key)) result.push(part.value);
    else if (!done.has(part.key)) while (!done.has(part.key)) take();
  }
  while (queue.length > 0) take();
  return result;
}

/** Takes out what was in `last` and is in `owned` no more, at or below; nothing else goes. */
export function pruneValue(
  value: unknown,
  last: FieldSet,
  owned: FieldSet,
  field: PatchField | undefined,
): unknown {
  const parts = partsOrLeaf(value, field);
  if (!parts) return value;
  const kept = new Map<string, unknown>();
  for (const part of parts.values()) {
    const was = last.children.get(part.key);
    const owner = owned.children.get(part.key);
    if (!was) kept.set(part.key, part.value);
    else if (owner)
      kept.set(part.key, pruneValue(part.value, was, owner, part.field));
    // An item that was only passed through, not owned itself, loses what was owned in it.
    else if (part.free && !was.member)
      kept.set(part.key, pruneValue(part.value, was, emptySet, part.field));
  }
  if (Array.isArray(value)) return [...kept.values()];
  const result: JsonObject = {};
  for (const [key, child] of kept) setOwn(result, key.slice(2), child);
  return result;
}
