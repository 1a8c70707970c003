// What differs between two JSON values seen through their schema (typed-value.ts), as sets of fields: for the owners of
// fields, the conflicts of an apply, and what a create owns.
// Invariant: an absent field is compared as what the reference has in its place (`impliedBy`).
import { sameJson } from "../objects/json-equality.ts";
import { Pace, type Steps } from "../queueing/steps.ts";
import {
  FieldSetBuilder,
  leaf,
  withoutTree,
  type FieldPath,
  type FieldSet,
} from "./field-set.ts";
import type { JsonObject } from "./json-value.ts";
import type { PatchField, PatchSchema } from "./patch-schema.ts";
import {
  fieldNamed,
  freeField,
  isNothing,
  isScalar,
  partsOf,
  partsOrLeaf,
  rootField,
  shapeOf,
  type Part,
} from "./typed-value.ts";

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

const none: readonly string[] = [];
const times = new WeakMap<PatchSchema, readonly string[]>();

/** The keys of the fields that are times. */
function timesOf(schema: PatchSchema | undefined): readonly string[] {
  if (!schema?.fields) return none;
  let keys = times.get(schema);
  if (!keys) {
    keys = [...schema.fields]
      .filter(([, field]) => isTime(field))
      .map(([name]) => `f:${name}`);
    times.set(schema, keys);
  }
  return keys;
}

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
      if (isScalar(inner)) children.set(`f:${name}`, leaf);
      else {
        const known = schema?.fields?.get(name) ?? freeField(schema);
        children.set(`f:${name}`, wholeOf(inner, known));
      }
    }
    // Times that are not set are null in the reference, which counts them among the fields of a new part.
    for (const key of timesOf(schema)) children.set(key, leaf);
  } else {
    for (const part of partsOf(value, field)?.values() ?? [])
      children.set(part.key, wholeOf(part.value, part.field));
  }
  return children.size === 0 ? leaf : { member: true, children };
}

/** A part that is new, or gone, as a whole. */
interface Graft {
  readonly set: FieldSetBuilder;
  readonly path: FieldPath;
  readonly value: unknown;
  readonly field: PatchField | undefined;
}

/**
 * The changes. A part that is new as a whole is added with everything in it, and likewise for removal.
 * @param later such parts are listed there instead, and are still to be added
 */
export function compare(
  old: unknown,
  now: unknown,
  schema: PatchSchema | undefined,
  later?: Graft[],
): Comparison {
  const [added, modified, removed] = [
    new FieldSetBuilder(),
    new FieldSetBuilder(),
    new FieldSetBuilder(),
  ];
  const path: string[] = [];
  const graft = (
    set: FieldSetBuilder,
    value: unknown,
    field: PatchField | undefined,
  ): void => {
    if (later) later.push({ set, path: [...path], value, field });
    else set.graft(path, wholeOf(value, field));
  };
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
    if (a === undefined) return graft(added, b, field);
    if (b === undefined) return graft(removed, a, field);
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

/** Parts that lie deeper are made in one go. */
const deepestStep = 6;

/** The same in steps when the values are large. */
export function* comparing(
  old: unknown,
  now: unknown,
  { schema, large }: { schema: PatchSchema | undefined; large?: boolean },
): Steps<Comparison> {
  if (!large) return compare(old, now, schema);
  const later: Graft[] = [];
  const comparison = compare(old, now, schema, later);
  const pace = new Pace();
  yield;
  for (const { set, path, value, field } of later)
    set.graft(path, yield* makingWhole(value, field, pace, 0));
  return comparison;
}

/** What `wholeOf` makes. */
function* makingWhole(
  value: unknown,
  field: PatchField | undefined,
  pace: Pace,
  depth: number,
): Steps<FieldSet> {
  const shape = shapeOf(value, field);
  if (shape === "leaf") return leaf;
  if (depth > deepestStep) return wholeOf(value, field);
  const children = new Map<string, FieldSet>();
  if (shape === "object") {
    const schema = field?.schema;
    for (const name of Object.keys(value as JsonObject)) {
      const inner = (value as JsonObject)[name];
      if (inner === undefined) continue;
      if (isScalar(inner)) children.set(`f:${name}`, leaf);
      else {
        const known = schema?.fields?.get(name) ?? freeField(schema);
        const below = yield* makingWhole(inner, known, pace, depth + 1);
        children.set(`f:${name}`, below);
      }
      if (pace.isOver()) yield;
    }
    for (const key of timesOf(schema)) children.set(key, leaf);
  } else
    for (const part of partsOf(value, field)?.values() ?? []) {
      children.set(
        part.key,
        yield* makingWhole(part.value, part.field, pace, depth + 1),
      );
      if (pace.isOver()) yield;
    }
  return children.size === 0 ? leaf : { member: true, children };
}

/** `[["status"]]`: what the strategy sets back, so that no request writes it here. */
export type ResetPaths = readonly (readonly string[])[];

export function withoutPaths(set: FieldSet, paths: ResetPaths = []): FieldSet {
  return paths.reduce(
    (left, path) =>
      withoutTree(
        left,
        path.map((name) => `f:${name}`),
      ),
    set,
  );
}

/** A field that is reset afterwards is no change. */
export function withoutReset(
  { added, modified, removed }: Comparison,
  paths: ResetPaths | undefined,
): Comparison {
  return {
    added: withoutPaths(added, paths),
    modified: withoutPaths(modified, paths),
    removed: withoutPaths(removed, paths),
  };
}
