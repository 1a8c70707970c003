// The fields that a create owns, found again without building their set: objects made from one template differ only in
// values that no set depends on. The shapes of the last objects of each kind are kept with the documents of their fields;
// an object of the same shape has the same document.
//
// Relies on: what `compare` (typed-value.ts) finds against nothing depends on the names of fields, on which scalars are
// zero and which leaves empty, on the keys of list items and on the values of list sets, and on nothing else. A Shape
// holds just these, and the order of the names.
import { ExactNumber } from "../exact-number.ts";
import {
  encodeFieldSet,
  encodingLarge,
  isEmptySet,
  isLarge,
  type FieldSet,
} from "./field-set.ts";
import { isJsonObject, type JsonObject } from "./json-value.ts";
import type { PatchField, PatchSchema } from "./patch-schema.ts";
import type { Steps } from "../queueing/steps.ts";
import { fieldNamed, rootField, shapeOf } from "./typed-value.ts";

/** One class for all kinds of nodes, so that the walk meets one layout. */
class Shape {
  constructor(
    readonly kind: "scalar" | "leaf" | "object" | "list-map" | "list-set",
    /** Of scalars and leaves. */
    readonly type: string,
    /** Is the scalar the zero value, or the leaf empty? */
    readonly zero: boolean,
    /** Of an object's fields, in order; the key fields of list items. */
    readonly names: readonly string[],
    readonly inner: readonly Shape[],
    /** The keys of all items of a list map, one after the other; the values of a set. */
    readonly values: readonly unknown[],
  ) {}
}

interface Known {
  readonly shape: Shape;
  readonly resetPaths: readonly (readonly string[])[];
  readonly document: JsonObject | undefined;
}

/** Templates of one kind that objects are created from at the same time. */
const maxKnown = 8;
/** Larger objects are not remembered. */
const maxNodes = 1000;
const knownBySchema = new WeakMap<PatchSchema, Known[]>();
const none: readonly never[] = [];

/**
 * FieldsV1 of the set that a create of `object` (without managedFields) owns.
 * The document is shared: do not change it. Undefined: nothing is owned.
 * @param setOf makes the set when it is not known
 * @param large of large objects no shapes are kept: they are not compared with any
 */
export function* fieldsOfShape(
  object: Readonly<object>,
  schema: PatchSchema | undefined,
  resetPaths: readonly (readonly string[])[],
  setOf: () => Steps<FieldSet>,
  large = false,
): Steps<JsonObject | undefined> {
  const known = schema && !large ? knownOf(schema) : undefined;
  for (let at = 0; known && at < known.length; at++) {
    const one = known[at]!;
    if (!fits(object, one.shape) || !equalPaths(one.resetPaths, resetPaths))
      continue;
    if (at > 0) known.unshift(...known.splice(at, 1));
    return one.document;
  }
  const set = yield* setOf();
  yield;
  yield* encodingLarge(set);
  const document = isEmptySet(set) ? undefined : encodeFieldSet(set);
  if (!known || isLarge(set)) return document;
  const shape = new ShapeReader().read(object, rootField(schema));
  if (shape) {
    known.unshift({ shape, resetPaths, document });
    if (known.length > maxKnown) known.pop();
  }
  return document;
}

function knownOf(schema: PatchSchema): Known[] {
  let known = knownBySchema.get(schema);
  if (!known) knownBySchema.set(schema, (known = []));
  return known;
}

class ShapeReader {
  #nodes = 0;

  /** Returns undefined for a value that is too large, or holds values that shapes do not distinguish. */
  read(value: unknown, field: PatchField | undefined): Shape | undefined {
    if (++this.#nodes > maxNodes || value instanceof ExactNumber)
      return undefined;
    if (typeof value !== "object" || value === null)
      return new Shape(
        "scalar",
        typeOf(value),
        isZero(value),
        none,
        none,
        none,
      );
    const kind = shapeOf(value, field);
    if (kind === "leaf")
      return new Shape("leaf", typeOf(value), isBare(value), none, none, none);
    if (kind === "object") return this.#object(value as JsonObject, field);
    return this.#list(value as unknown[], kind, field);
  }

  #object(value: JsonObject, field: PatchField | undefined): Shape | undefined {
    const names: string[] = [];
    const inner: Shape[] = [];
    for (const name in value) {
      const below = fieldNamed(field?.schema, name).field;
      const shape = this.read(value[name], below);
      if (!shape) return undefined;
      names.push(name);
      inner.push(shape);
    }
    return new Shape("object", "object", false, names, inner, none);
  }

  #list(
    list: readonly unknown[],
    kind: "list-map" | "list-set",
    field: PatchField | undefined,
  ): Shape | undefined {
    const names = kind === "list-map" ? field!.listMapKeys! : none;
    const items = field?.schema.items;
    const inner: Shape[] = [];
    const values: unknown[] = [];
    for (const item of list) {
      if (kind === "list-set") values.push(item);
      else for (const name of names) values.push(keyOf(item, name));
      const shape = this.read(item, items && { schema: items });
      if (!shape) return undefined;
      inner.push(shape);
    }
    if (values.some((value) => typeof value === "object" && value !== null))
      return undefined;
    return new Shape(kind, "array", false, names, inner, values);
  }
}

function fits(value: unknown, shape: Shape): boolean {
  switch (shape.kind) {
    case "scalar":
      return typeOf(value) === shape.type && isZero(value) === shape.zero;
    case "leaf":
      return typeOf(value) === shape.type && isBare(value) === shape.zero;
    case "object":
      return fitsObject(value, shape);
    default:
      return fitsList(value, shape);
  }
}

function fitsObject(value: unknown, { names, inner }: Shape): boolean {
  if (!isJsonObject(value)) return false;
  let at = 0;
  for (const name in value) {
    if (name !== names[at] || !fits(value[name], inner[at]!)) return false;
    at++;
  }
  return at === names.length;
}

function fitsList(
  value: unknown,
  { kind, names, inner, values }: Shape,
): boolean {
  if (!Array.isArray(value) || value.length !== inner.length) return false;
  let next = 0;
  for (let at = 0; at < inner.length; at++) {
    const item = value[at] as unknown;
    if (kind === "list-set") {
      if (item !== values[next++]) return false;
    } else {
      for (const name of names)
        if (keyOf(item, name) !== values[next++]) return false;
    }
    if (!fits(item, inner[at]!)) return false;
  }
  return true;
}

const typeOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;

const isZero = (value: unknown): boolean =>
  value === "" || value === 0 || value === false;

/** Has an object or array nothing in it? */
function isBare(value: unknown): boolean {
  for (const _ in value as object) return false;
  return true;
}

function keyOf(item: unknown, name: string): unknown {
  return isJsonObject(item) ? item[name] : undefined;
}

function equalPaths(
  a: readonly (readonly string[])[],
  b: readonly (readonly string[])[],
): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  return a.every(
    (path, at) =>
      path.length === b[at]!.length &&
      path.every((step, index) => step === b[at]![index]),
  );
}
