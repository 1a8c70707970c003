// JSON read in place: lists and maps are views of the object's arrays and records, their elements become values when
// they are read. What a value becomes is said by its declared type, or by the JSON itself where there is none (dyn).
// Only own properties are read, so that `constructor` is a key like any other.
import { ExactNumber } from "../../exact-number.ts";
import { finish, Pace, type Steps } from "../../queueing/steps.ts";
import { fieldNamed } from "../schemas/escaping.ts";
import { comparing, equal, isPlain, type ComparesAsList } from "./equality.ts";
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

/** Lists that are joined by what their elements are, which takes steps. */
export interface JoinsInSteps {
  joining(other: ListValue, pace: Pace): Steps<Result>;
}

/** A list of type set: equal whatever the order, and joined without doubles. */
export class JsonSet extends JsonList implements ComparesAsList, JoinsInSteps {
  *comparingTo(other: ListValue, pace: Pace): Steps<boolean | Failure> {
    const own = new Set<string>();
    const failure = yield* eachKey(this, pace, (key) => own.add(key) && true);
    if (failure) return failure;
    let has = true;
    const theirs = yield* eachKey(other, pace, (key) => (has = own.has(key)));
    return theirs ?? has;
  }
  override concat(other: ListValue): Result {
    return finish(this.joining(other, new Pace()));
  }
  *joining(other: ListValue, pace: Pace): Steps<Result> {
    const joined = new Map<string, Value>();
    for (const list of [this, other]) {
      const failure = yield* eachKey(list, pace, (key, element) => {
        if (!joined.has(key)) joined.set(key, element);
        return true;
      });
      if (failure) return failure;
    }
    return new JoinedSet([...joined.values()]);
  }
}

/** Until `take` says false; the first failure ends it. */
function* eachKey(
  list: ListValue,
  pace: Pace,
  take: (key: string, element: Value) => boolean,
): Steps<Failure | undefined> {
  for (let index = 0; index < list.size; index++) {
    const element = list.at(index);
    if (element instanceof Failure) return element;
    if (!take(scalarKey(element), element)) return undefined;
    if (pace.isOver()) yield;
  }
  return undefined;
}

/** What joining a set with a list gives: a set again. */
class JoinedSet extends ArrayList implements ComparesAsList, JoinsInSteps {
  comparingTo(other: ListValue, pace: Pace): Steps<boolean | Failure> {
    return new JsonSet(this.elements, asItIs).comparingTo(other, pace);
  }
  override concat(other: ListValue): Result {
    return new JsonSet(this.elements, asItIs).concat(other);
  }
  joining(other: ListValue, pace: Pace): Steps<Result> {
    return new JsonSet(this.elements, asItIs).joining(other, pace);
  }
}

const asItIs: JsonReader = { read: (raw) => raw as Value };

/** A list of type map: elements are matched by their key fields, whatever the order. */
export class JsonKeyedList
  extends JsonList
  implements ComparesAsList, JoinsInSteps
{
  constructor(
    raw: readonly unknown[],
    items: JsonReader,
    private readonly keyFields: readonly string[],
  ) {
    super(raw, items);
  }
  *comparingTo(other: ListValue, pace: Pace): Steps<boolean | Failure> {
    const own = yield* this.#byKey(pace);
    for (let index = 0; index < other.size; index++) {
      const theirs = other.at(index);
      if (theirs instanceof Failure) return theirs;
      const place = own.get(this.#keyOf(rawOf(theirs)));
      if (place === undefined) return false;
      const same = yield* comparing(this.at(place), theirs, pace);
      if (same !== true) return same;
    }
    return true;
  }
  override concat(other: ListValue): Result {
    return finish(this.joining(other, new Pace()));
  }
  /** Elements with known keys replace those at their places, others follow. */
  *joining(other: ListValue, pace: Pace): Steps<Result> {
    const joined = [...this.raw];
    const places = yield* this.#byKey(pace);
    for (let index = 0; index < other.size; index++) {
      const element = other.at(index);
      if (element instanceof Failure) return element;
      const raw = rawOf(element);
      const place = places.get(this.#keyOf(raw));
      if (place === undefined) joined.push(raw);
      else joined[place] = raw;
      if (pace.isOver()) yield;
    }
    return new JsonKeyedList(joined, this.items, this.keyFields);
  }
  *#byKey(pace: Pace): Steps<Map<string, number>> {
    const places = new Map<string, number>();
    for (const [index, raw] of this.raw.entries()) {
      places.set(this.#keyOf(raw), index);
      if (pace.isOver()) yield;
    }
    return places;
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
    const field = fieldNamed(this.fields, name);
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
  *comparingTo(other: MapValue, pace: Pace): Steps<boolean | Failure> {
    if (this.size !== other.size) return false;
    if (pace.isOver()) yield;
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
      if (isPlain(mine) && isPlain(theirs)) {
        if (equal(mine, theirs) !== true) return false;
        continue;
      }
      const same = yield* comparing(mine, theirs, pace);
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
