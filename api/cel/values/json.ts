// JSON read in place: lists and maps are views of the object's arrays and records, their elements become values when
// they are read. What a value becomes is said by its declared type, or by the JSON itself where there is none (dyn).
// Only own properties are read, so that `constructor` is a key like any other.
import { ExactNumber } from "../../exact-number.ts";
import { equal, type ComparesAsList } from "./equality.ts";
import {
  ArrayList,
  Duration,
  Failure,
  ListValue,
  MapValue,
  OpaqueValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Result,
  type Value,
} from "./value.ts";

/** How a type reads its JSON. */
export interface JsonReader {
  /** A failure for JSON that the type does not allow. Undefined and absent are never passed. */
  read(raw: unknown): Result;
}

type JsonObjectData = Readonly<Record<string, unknown>>;

/** Without a schema: integers become ints, other numbers doubles. */
function readDyn(raw: unknown): Result {
  switch (typeof raw) {
    case "string":
    case "boolean":
    case "bigint":
      return raw;
    case "number":
      return Number.isInteger(raw) ? BigInt(raw) : raw;
    case "object":
      if (raw === null) return null;
      if (Array.isArray(raw)) return new JsonList(raw, dynReader);
      if (raw instanceof ExactNumber)
        return /[.eE]/.test(raw.text) ? Number(raw.text) : BigInt(raw.text);
      if (isValue(raw)) return raw;
      return new JsonMap(raw as JsonObjectData, dynReader);
    default:
      return null;
  }
}

export const dynReader: JsonReader = { read: readDyn };

/** Whether something is a value already, as variables made by the program are. */
export function isValue(
  raw: object,
): raw is Exclude<Value, null | string> & object {
  const prototype: unknown = Object.getPrototypeOf(raw);
  if (prototype === Object.prototype || prototype === null) return false;
  return [
    ...[ListValue, MapValue, OpaqueValue, Uint8Array, Timestamp],
    ...[Duration, Uint, Optional, TypeValue],
  ].some((kind) => raw instanceof kind);
}

/** A list view over an array. */
export class JsonList extends ListValue {
  #views: Result[] | undefined;
  constructor(
    readonly raw: readonly unknown[],
    protected readonly items: JsonReader,
  ) {
    super();
  }
  override get size(): number {
    return this.raw.length;
  }
  override at(index: number): Result {
    const raw = this.raw[index];
    if (typeof raw !== "object" || raw === null) return this.items.read(raw);
    // A view that is read again keeps what it found out, as its size.
    this.#views ??= [];
    return (this.#views[index] ??= this.items.read(raw));
  }
}

/** What two scalars or keys are the same by. */
function scalarKey(value: Value): string {
  return typeof value === "object"
    ? JSON.stringify(value)
    : `${typeof value} ${value}`;
}

/** A list of type set: equal whatever the order, and joined without doubles. */
export class JsonSet extends JsonList implements ComparesAsList {
  equalTo(other: ListValue): boolean | Failure {
    const own = this.#keys();
    if (own instanceof Failure) return own;
    for (let index = 0; index < other.size; index++) {
      const element = other.at(index);
      if (element instanceof Failure) return element;
      if (!own.has(scalarKey(element))) return false;
    }
    return true;
  }
  override concat(other: ListValue): Result {
    const joined = new Map<string, Value>();
    for (const list of [this, other])
      for (let index = 0; index < list.size; index++) {
        const element = list.at(index);
        if (element instanceof Failure) return element;
        const key = scalarKey(element);
        if (!joined.has(key)) joined.set(key, element);
      }
    return new JoinedSet([...joined.values()]);
  }
  #keys(): Set<string> | Failure {
    const keys = new Set<string>();
    for (let index = 0; index < this.size; index++) {
      const element = this.at(index);
      if (element instanceof Failure) return element;
      keys.add(scalarKey(element));
    }
    return keys;
  }
}

/** What joining a set with a list gives: a set again. */
class JoinedSet extends ArrayList implements ComparesAsList {
  equalTo(other: ListValue): boolean | Failure {
    return new JsonSet(this.elements, asItIs).equalTo(other);
  }
  override concat(other: ListValue): Result {
    return new JsonSet(this.elements, asItIs).concat(other);
  }
}

const asItIs: JsonReader = { read: (raw) => raw as Value };

/** A list of type map: elements are matched by their key fields, whatever the order. */
export class JsonKeyedList extends JsonList implements ComparesAsList {
  constructor(
    raw: readonly unknown[],
    items: JsonReader,
    private readonly keyFields: readonly string[],
  ) {
    super(raw, items);
  }
  equalTo(other: ListValue): boolean | Failure {
    const own = this.#byKey();
    for (let index = 0; index < other.size; index++) {
      const theirs = other.at(index);
      if (theirs instanceof Failure) return theirs;
      const place = own.get(this.#keyOf(rawOf(theirs)));
      if (place === undefined) return false;
      const mine = this.at(place);
      if (mine instanceof Failure) return mine;
      const same = equal(mine, theirs);
      if (same !== true) return same;
    }
    return true;
  }
  /** Elements with known keys replace those at their places, others follow. */
  override concat(other: ListValue): Result {
    const joined = [...this.raw];
    const places = this.#byKey();
    for (let index = 0; index < other.size; index++) {
      const element = other.at(index);
      if (element instanceof Failure) return element;
      const raw = rawOf(element);
      const place = places.get(this.#keyOf(raw));
      if (place === undefined) joined.push(raw);
      else joined[place] = raw;
    }
    return new JsonKeyedList(joined, this.items, this.keyFields);
  }
  #byKey(): Map<string, number> {
    return new Map(this.raw.map((raw, index) => [this.#keyOf(raw), index]));
  }
  #keyOf(raw: unknown): string {
    const data = (raw ?? {}) as JsonObjectData;
    return JSON.stringify(this.keyFields.map((field) => data[field] ?? null));
  }
}

function rawOf(value: Value): unknown {
  return value instanceof JsonMap || value instanceof JsonObject
    ? value.raw
    : value;
}

/** The view of an inner list or map, made once. */
function keep(
  views: Map<string, Result>,
  name: string,
  reader: JsonReader,
  raw: unknown,
): Result {
  const known = views.get(name);
  if (known !== undefined) return known;
  const view = reader.read(raw);
  views.set(name, view);
  return view;
}

/** A map view over a record whose values have one type. */
export class JsonMap extends MapValue {
  #size: number | undefined;
  #views: Map<string, Result> | undefined;
  constructor(
    readonly raw: JsonObjectData,
    private readonly values: JsonReader,
  ) {
    super();
  }
  override get size(): number {
    return (this.#size ??= Object.keys(this.raw).length);
  }
  override get(key: Value): Result | undefined {
    return typeof key === "string" ? this.field(key) : undefined;
  }
  override field(name: string): Result | undefined {
    if (!Object.hasOwn(this.raw, name)) return undefined;
    const raw = this.raw[name];
    if (raw === undefined) return undefined;
    if (typeof raw !== "object") return this.values.read(raw);
    return keep((this.#views ??= new Map()), name, this.values, raw);
  }
  override keys(): Iterable<Value> {
    return Object.keys(this.raw);
  }
}

/** What an object's type knows of a field; `reader` is undefined where expressions do not see it. */
interface JsonField {
  /** As JSON has it; expressions use the escaped name. */
  readonly jsonName: string;
  readonly reader: JsonReader | undefined;
  /** Null is a value of it; default: such a field is absent. */
  readonly hasNull?: boolean;
}

/** By escaped names. */
type JsonFields = ReadonlyMap<string, JsonField>;

/** A view over a record with declared fields: other fields are not seen, null ones are absent. */
export class JsonObject extends MapValue {
  #size: number | undefined;
  #views: Map<string, Result> | undefined;
  constructor(
    readonly raw: JsonObjectData,
    readonly fields: JsonFields,
  ) {
    super();
  }
  override get size(): number {
    return (this.#size ??= Object.keys(this.raw).length);
  }
  override get(key: Value): Result | undefined {
    return typeof key === "string" ? this.field(key) : undefined;
  }
  override field(name: string): Result | undefined {
    const field = this.fields.get(name);
    if (!field?.reader || !Object.hasOwn(this.raw, field.jsonName))
      return undefined;
    const raw = this.raw[field.jsonName];
    if (raw === undefined) return undefined;
    if (raw === null) return field.hasNull ? null : undefined;
    if (typeof raw !== "object") return field.reader.read(raw);
    return keep((this.#views ??= new Map()), name, field.reader, raw);
  }
  override *keys(): Iterable<Value> {
    for (const [name, { jsonName }] of this.fields)
      if (Object.hasOwn(this.raw, jsonName)) yield name;
  }
  /** Fields without a reader compare as JSON. */
  equalTo(other: MapValue): boolean | Failure {
    if (this.size !== other.size) return false;
    for (const [name, { jsonName, reader }] of this.fields) {
      if (!Object.hasOwn(this.raw, jsonName)) continue;
      if (!reader) {
        const theirs =
          other instanceof JsonObject ? other.raw[jsonName] : undefined;
        if (!sameJson(this.raw[jsonName], theirs)) return false;
        continue;
      }
      const mine = this.field(name);
      const theirs = other.field(name);
      if (mine === undefined && theirs === undefined) continue;
      if (mine === undefined || theirs === undefined) return false;
      if (mine instanceof Failure) return mine;
      if (theirs instanceof Failure) return theirs;
      const same = equal(mine, theirs);
      if (same !== true) return same;
    }
    return true;
  }
}

function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object") return false;
  if (left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every(
      (key) =>
        Object.hasOwn(right, key) &&
        sameJson((left as JsonObjectData)[key], (right as JsonObjectData)[key]),
    )
  );
}
