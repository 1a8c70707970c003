// The values that expressions compute. Integers are bigints and doubles numbers, so that the two never mix; lists and
// maps are read through an interface, as most of them are views of a JSON object. A failure is a value too: `&&`, `||`
// and loops look past it, everything else passes it on.
import { countCodePoints } from "../../patterns/code-points.ts";
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  optionalType,
  stringType,
  timestampType,
  typeType,
  uintType,
  type CelType,
} from "../checking/types.ts";

export type Value =
  | null
  | boolean
  /** int */
  | bigint
  /** double */
  | number
  | string
  /** bytes */
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | TypeValue
  | Optional
  | ListValue
  | MapValue
  | OpaqueValue;

/** An evaluation error; the message is the reference's. */
export class Failure {
  constructor(readonly message: string) {}
}

export type Result = Value | Failure;

export const noSuchOverload = new Failure("no such overload");

export class Uint {
  constructor(readonly value: bigint) {}
}

/** Nanoseconds since 1970. */
export class Timestamp {
  constructor(readonly nanos: bigint) {}
}

/** Nanoseconds, within int64. */
export class Duration {
  constructor(readonly nanos: bigint) {}
}

export class TypeValue {
  constructor(readonly type: CelType) {}
}

/** Undefined is none. */
export class Optional {
  static readonly none = new Optional(undefined);
  constructor(readonly value: Value | undefined) {}
}

export abstract class ListValue {
  abstract readonly size: number;
  /** The index lies within the size. */
  abstract at(index: number): Result;
  /** Both lists in a row, without copying them; lists of JSON that are sets or maps override it. */
  concat(other: ListValue): Result {
    return new JoinedList([...partsOf(this), ...partsOf(other)]);
  }
}

/** A list made by an expression. */
export class ArrayList extends ListValue {
  constructor(readonly elements: readonly Value[]) {
    super();
  }
  override get size(): number {
    return this.elements.length;
  }
  override at(index: number): Value {
    return this.elements[index] as Value;
  }
}

/** Lists in a row. Expressions are too short to join many. */
class JoinedList extends ListValue {
  override readonly size: number;
  constructor(readonly parts: readonly ListValue[]) {
    super();
    this.size = parts.reduce((sum, part) => sum + part.size, 0);
  }
  override at(index: number): Result {
    let rest = index;
    for (const part of this.parts) {
      if (rest < part.size) return part.at(rest);
      rest -= part.size;
    }
    return new Failure(`index out of bounds: ${index}`);
  }
}

function partsOf(list: ListValue): readonly ListValue[] {
  return list instanceof JoinedList ? list.parts : [list];
}

export abstract class MapValue {
  abstract readonly size: number;
  /** Undefined where the key is absent. */
  abstract get(key: Value): Result | undefined;
  /** The value of a string key; maps of JSON override it. */
  field(name: string): Result | undefined {
    return this.get(name);
  }
  abstract keys(): Iterable<Value>;
  /** `has(map.name)`; messages with fields that are always there override it. */
  has(name: string): boolean | Failure {
    const found = this.field(name);
    return found instanceof Failure ? found : found !== undefined;
  }
  /** Messages are maps with a type of their own. */
  get type(): CelType {
    return mapType(dynType, dynType);
  }
}

/** What keys are compared by: 1, 1u and 1.0 are the same key. */
function canonicalKey(key: Value): Value {
  if (typeof key === "number") return Number.isInteger(key) ? BigInt(key) : key;
  return key instanceof Uint ? key.value : key;
}

/** A map made by an expression. */
export class EntryMap extends MapValue {
  readonly #entries = new Map<Value, { key: Value; value: Value }>();

  /** The last value of a key is kept. */
  set(key: Value, value: Value): void {
    this.#entries.set(canonicalKey(key), { key, value });
  }
  override get size(): number {
    return this.#entries.size;
  }
  override get(key: Value): Value | undefined {
    return this.#entries.get(canonicalKey(key))?.value;
  }
  override *keys(): Iterable<Value> {
    for (const { key } of this.#entries.values()) yield key;
  }
}

/** A value of a library's type: a URL, an address, a quantity. */
export abstract class OpaqueValue {
  abstract readonly type: CelType;
  abstract equals(other: OpaqueValue): boolean;
}

const anyList = listType(dynType);

/** The type of a value as evaluation knows it: what lists and maps hold is not looked at. */
export function typeOf(value: Value): CelType {
  switch (typeof value) {
    case "boolean":
      return boolType;
    case "bigint":
      return intType;
    case "number":
      return doubleType;
    case "string":
      return stringType;
  }
  if (value === null) return nullType;
  if (value instanceof ListValue) return anyList;
  if (value instanceof MapValue || value instanceof OpaqueValue)
    return value.type;
  if (value instanceof Uint8Array) return bytesType;
  if (value instanceof Timestamp) return timestampType;
  if (value instanceof Duration) return durationType;
  if (value instanceof Uint) return uintType;
  if (value instanceof Optional) return optionalType(dynType);
  return typeType();
}

/** Whether a value can be an argument of that type, as far as evaluation checks. */
export function isOfType(value: Value, type: CelType): boolean {
  switch (type.kind) {
    case "dyn":
    case "param":
      return true;
    case "bool":
      return typeof value === "boolean";
    case "int":
      return typeof value === "bigint";
    case "double":
      return typeof value === "number";
    case "string":
      return typeof value === "string";
    case "null":
      return value === null;
    case "list":
      return value instanceof ListValue;
    case "map":
      return value instanceof MapValue;
    default: {
      const { kind, name } = typeOf(value as Value);
      return kind === type.kind && name === type.name;
    }
  }
}

/** The length that costs count: elements, entries, code points, bytes; 1 for all else. */
export function sizeOf(value: Value): number {
  if (typeof value === "string") return codePoints(value);
  if (value instanceof ListValue || value instanceof MapValue)
    return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof OpaqueValue && "size" in value)
    return value.size as number;
  return 1;
}

/** Counting a long string again and again would cost more than it is charged: the last few are remembered. */
const counted: { text: string; points: number }[] = [];
const longText = 1024;
const maxCounted = 8;

/** The number of code points. */
export function codePoints(text: string): number {
  if (text.length < longText) return countCodePoints(text);
  const known = counted.find((entry) => entry.text === text);
  if (known) return known.points;
  const points = countCodePoints(text);
  counted.push({ text, points });
  if (counted.length > maxCounted) counted.shift();
  return points;
}
