// A type with what a schema says beyond it: how its JSON is read, the fields of objects, and the sizes that cost
// estimation counts with.
import { dynReader, type JsonReader } from "../values/json.ts";
import {
  boolType,
  doubleType,
  dynType,
  intType,
  listType,
  mapType,
  objectType,
  stringType,
  type CelType,
} from "../checking/types.ts";
import { JsonList, JsonMap, JsonObject } from "../values/json.ts";
import { Failure } from "../values/value.ts";

export interface DeclaredType extends JsonReader {
  readonly type: CelType;
  /** The greatest size that values can have; undefined where nothing limits it. */
  readonly maxElements: number | undefined;
  /** The fewest bytes of its JSON. */
  readonly minSerializedSize: number;
  /** Of objects, by escaped names. */
  readonly fields?: ReadonlyMap<string, DeclaredField>;
  /** Of lists and maps. */
  readonly elements?: DeclaredType;
}

export interface DeclaredField {
  readonly jsonName: string;
  readonly reader: DeclaredType | undefined;
  readonly hasNull?: boolean;
}

/** The largest request: a string in it cannot be longer, a list cannot have more elements. */
export const maxRequestBytes = 3 * 1024 * 1024;

const mistyped = (expected: string) =>
  new Failure(`invalid data, expected ${expected}`);

export const dynDeclared: DeclaredType = {
  type: dynType,
  maxElements: undefined,
  minSerializedSize: 1,
  read: (raw) => dynReader.read(raw),
};

export const boolDeclared: DeclaredType = {
  type: boolType,
  maxElements: 0,
  minSerializedSize: 4,
  read: (raw) => (typeof raw === "boolean" ? raw : mistyped("bool")),
};

export const intDeclared: DeclaredType = {
  type: intType,
  maxElements: 0,
  minSerializedSize: 1,
  read(raw) {
    if (typeof raw === "number" && Number.isInteger(raw)) return BigInt(raw);
    const value = dynReader.read(raw);
    return typeof value === "bigint" ? value : mistyped("int");
  },
};

export const doubleDeclared: DeclaredType = {
  type: doubleType,
  maxElements: 0,
  minSerializedSize: 1,
  read(raw) {
    if (typeof raw === "number") return raw;
    const value = dynReader.read(raw);
    if (typeof value === "bigint") return Number(value);
    return typeof value === "number" ? value : mistyped("float");
  },
};

/** A type whose values the program makes itself: there is no JSON to be read. */
export function valueDeclared(type: CelType): DeclaredType {
  return {
    type,
    maxElements: undefined,
    minSerializedSize: 0,
    read: () => mistyped("a value"),
  };
}

/** `maxElements` in bytes of UTF-8. */
export function stringDeclared(
  maxElements = maxRequestBytes - 2,
): DeclaredType {
  return {
    type: stringType,
    maxElements,
    minSerializedSize: 2,
    read: (raw) => (typeof raw === "string" ? raw : mistyped("string")),
  };
}

export function listDeclared(
  elements: DeclaredType,
  maxElements?: number,
): DeclaredType {
  return {
    type: listType(elements.type),
    elements,
    maxElements,
    minSerializedSize: 2,
    read: (raw) =>
      Array.isArray(raw) ? new JsonList(raw, elements) : mistyped("an array"),
  };
}

export function mapDeclared(
  elements: DeclaredType,
  maxElements?: number,
): DeclaredType {
  return {
    type: mapType(stringType, elements.type),
    elements,
    maxElements,
    minSerializedSize: 2,
    read: (raw) =>
      isRecord(raw) ? new JsonMap(raw, elements) : mistyped("a map"),
  };
}

/** An object type of that name; fields by escaped names. */
export function objectDeclared(
  name: string,
  fields: ReadonlyMap<string, DeclaredField>,
  minSerializedSize = 2,
): DeclaredType {
  return {
    type: objectType(name),
    fields,
    maxElements: undefined,
    minSerializedSize,
    read: (raw) =>
      isRecord(raw) ? new JsonObject(raw, fields) : mistyped("a map"),
  };
}

export function isRecord(
  raw: unknown,
): raw is Readonly<Record<string, unknown>> {
  return typeof raw === "object" && raw !== null && !Array.isArray(raw);
}

/** All object types below a type, by their names. */
export function objectTypesOf(
  types: Iterable<DeclaredType>,
): Map<string, DeclaredType> {
  const found = new Map<string, DeclaredType>();
  const queue = [...types];
  for (let next = queue.pop(); next; next = queue.pop()) {
    if (next.elements) queue.push(next.elements);
    if (!next.fields || found.has(next.type.name)) continue;
    found.set(next.type.name, next);
    for (const { reader } of next.fields.values())
      if (reader) queue.push(reader);
  }
  return found;
}
