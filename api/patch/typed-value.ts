// JSON values seen through their schema, as server-side apply sees them: which parts are one (leaves), which are merged
// by name (objects), by keys (list maps) or by value (list sets). On it: the fields a value sets, what differs between
// two values, the merge of an applied configuration, and the removal of fields that no manager owns any more.
// Without a schema every object is merged by name and every list is one.
import {
  emptySet,
  FieldSetBuilder,
  leaf,
  pathText,
  type FieldSet,
} from "./field-set.ts";
import { isJsonObject, setOwn, type JsonObject } from "./json-value.ts";
import { sameJson } from "../objects/json-equality.ts";
import type { PatchField, PatchSchema } from "./patch-schema.ts";

interface Part {
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
function freeField(schema: PatchSchema | undefined): PatchField | undefined {
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
function partsOf(
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

function partsOrLeaf(
  value: unknown,
  field: PatchField | undefined,
): Map<string, Part> | undefined {
  return shapeOf(value, field) === "leaf" ? undefined : partsOf(value, field);
}

const isNothing = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (isJsonObject(value) && Object.keys(value).length === 0);

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
        const { field: known, free } = fieldNamed(field?.schema, name);
        // The root's own fields are no keys of a map, unless it keeps what it does not know.
        const isKey = path.length > 0 || schema?.preserveUnknownFields === true;
        add(`f:${name}`, (node as JsonObject)[name], known, free && isKey);
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

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** What is no pointer in the reference is always there, if only empty; an empty list or map is null. */
function impliedBy(field: PatchField | undefined): unknown {
  if (!field || field.nullable !== false) return undefined;
  const { type } = field.schema;
  if (type === "object") return {};
  if (isTime(field)) return null;
  if (field.omitEmpty !== false) return undefined;
  return type in zeros ? zeros[type] : null;
}

const zeros: Readonly<Record<string, unknown>> = {
  string: "",
  boolean: false,
  int32: 0,
  int64: 0,
  double: 0,
};

const isTime = ({ nullable, schema }: PatchField): boolean =>
  nullable === false &&
  (schema.type === "time" || schema.type === "micro-time");

/** The value and everything in it. */
function wholeOf(value: unknown, field: PatchField | undefined): FieldSet {
  const shape = shapeOf(value, field);
  if (shape === "leaf") return leaf;
  const children = new Map<string, FieldSet>();
  if (shape === "object") {
    const schema = field?.schema;
    for (const name of Object.keys(value as JsonObject)) {
      const inner = (value as JsonObject)[name];
      if (inner === undefined) continue;
      const known = schema?.fields?.get(name) ?? freeField(schema);
      children.set(`f:${name}`, wholeOf(inner, known));
    }
    // Times that are not set are null in the reference, which counts them among the fields of a new part.
    for (const [name, inner] of schema?.fields ?? [])
      if (isTime(inner)) children.set(`f:${name}`, leaf);
  } else {
    for (const part of partsOf(value, field)?.values() ?? [])
      children.set(part.key, wholeOf(part.value, part.field));
  }
  return children.size === 0 ? leaf : { member: true, children };
}

/** The changes. A part that is new as a whole is added with everything in it, and likewise for removal. */
export function compare(
  old: unknown,
  now: unknown,
  schema: PatchSchema | undefined,
): Comparison {
  const [added, modified, removed] = [
    new FieldSetBuilder(),
    new FieldSetBuilder(),
    new FieldSetBuilder(),
  ];
  const path: string[] = [];
  const visit = (
    before: unknown,
    after: unknown,
    field: PatchField | undefined,
    parentBefore: boolean,
    parentAfter: boolean,
  ): void => {
    const a = before === undefined && parentBefore ? impliedBy(field) : before;
    const b = after === undefined && parentAfter ? impliedBy(field) : after;
    if (a === b) return;
    if (shapeOf(a, field) === "object" && shapeOf(b, field) === "object")
      return visitFields(a as JsonObject, b as JsonObject, field?.schema);
    if (a !== undefined && b !== undefined && sameJson(a, b)) return;
    if (a === undefined) return added.graft(path, wholeOf(b, field));
    if (b === undefined) return removed.graft(path, wholeOf(a, field));
    const x = a === null ? undefined : partsOrLeaf(a, field);
    const y = b === null ? undefined : partsOrLeaf(b, field);
    if ((!x && !isNothing(a)) || (!y && !isNothing(b)))
      return visitOtherShape(x, y);
    const keys =
      x && y ? new Set([...x.keys(), ...y.keys()]) : (x ?? y)?.keys();
    for (const key of keys ?? []) {
      const left = x?.get(key);
      const right = y?.get(key);
      path.push(key);
      visit(left?.value, right?.value, (right ?? left)!.field, true, true);
      path.pop();
    }
  };
  /** One side is a leaf where the other has parts (or both are leaves): the parts go or come with the change. */
  const visitOtherShape = (
    x: ReadonlyMap<string, Part> | undefined,
    y: ReadonlyMap<string, Part> | undefined,
  ): void => {
    modified.insert(path);
    for (const { key, value, field } of x?.values() ?? [])
      removed.graft([...path, key], wholeOf(value, field));
    for (const { key, value, field } of y?.values() ?? [])
      added.graft([...path, key], wholeOf(value, field));
  };
  /** Compares two objects field by field: equal parts are found on the way, not before. */
  const visitFields = (
    x: JsonObject,
    y: JsonObject,
    type: PatchSchema | undefined,
  ): void => {
    const one = (name: string, left: unknown, right: unknown): void => {
      if (left === right) return;
      path.push(`f:${name}`);
      visit(left, right, fieldNamed(type, name).field, true, true);
      path.pop();
    };
    for (const name in x)
      one(name, x[name], Object.hasOwn(y, name) ? y[name] : undefined);
    for (const name in y)
      if (!Object.hasOwn(x, name)) one(name, undefined, y[name]);
  };
  visit(old ?? {}, now, rootField(schema), true, true);
  return {
    added: added.build(),
    modified: modified.build(),
    removed: removed.build(),
  };
}

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
