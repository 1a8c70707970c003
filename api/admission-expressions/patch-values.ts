// What mutations' expressions evaluated to, as JSON. Apply configurations keep what JSON has not (times, bytes, nulls
// made by the expression) as native values, which no schema takes: the reference's refusals name them. Values of
// JSON patches are converted as protocol buffers do it: times and bytes become text, large integers too.
import { ExactNumber } from "../exact-number.ts";
import { isJsonObject, setOwn, type JsonObject } from "../patch/json-value.ts";
import { NativeValue } from "../patch/native-value.ts";
import {
  JsonList,
  JsonMap,
  JsonObject as JsonView,
} from "../cel/values/json.ts";
import { formatSeconds, formatTimestamp } from "../cel/values/time.ts";
import {
  Duration,
  Failure,
  ListValue,
  MapValue,
  Optional,
  Timestamp,
  typeOf,
  TypeValue,
  Uint,
  type Result,
  type Value,
} from "../cel/values/value.ts";
import { MadeObject, MadeOperation } from "./patch-types.ts";

/** The value can't be part of a patch; the message is the reference's. */
export class UnusableValue extends Error {}

/** Throws UnusableValue for the objects whose type names are not the paths they are at. */
export function checkTypeNames(root: MadeObject): void {
  const problems: string[] = [];
  const visit = (value: Result | undefined, path: string): void => {
    if (value instanceof MadeObject) {
      const { typeName } = value;
      if (typeName !== path)
        problems.push(
          `unexpected type name ${JSON.stringify(typeName)}, expected ${JSON.stringify(path)}, which matches field name path from root Object type`,
        );
      for (const [name, field] of value.fields) visit(field, `${path}.${name}`);
    } else if (value instanceof ListValue && !(value instanceof JsonList))
      for (let index = 0; index < value.size; index++)
        visit(value.at(index), path);
    else if (value instanceof MapValue && !isView(value))
      for (const key of value.keys()) visit(value.get(key), path);
  };
  visit(root, root.typeName);
  if (problems.length > 0)
    throw new UnusableValue(`type mismatch: ${problems.join("\n")}`);
}

const isView = (value: MapValue): value is JsonMap | JsonView =>
  value instanceof JsonMap || value instanceof JsonView;

/** An apply configuration. Throws UnusableValue. */
export function configurationOf(object: MadeObject): JsonObject {
  const made: JsonObject = {};
  for (const [name, value] of object.fields) setOwn(made, name, fieldOf(value));
  return made;
}

/** Lists and maps that the expression wrote are converted, and what is in them is not looked into. */
function fieldOf(value: Value): unknown {
  if (value instanceof ListValue && !(value instanceof JsonList))
    return Array.from({ length: value.size }, (_, index) =>
      nativeOf(usable(value.at(index))),
    );
  if (!(value instanceof MapValue) || hasOwnConversion(value))
    return nativeOf(value);
  const made: JsonObject = {};
  for (const key of value.keys()) {
    if (typeof key !== "string")
      throw new UnusableValue("invalid return type: *dynamic.ObjectVal");
    setOwn(made, key, nativeOf(usable(value.get(key))));
  }
  return made;
}

const hasOwnConversion = (value: MapValue): boolean =>
  isView(value) ||
  value instanceof MadeObject ||
  value instanceof MadeOperation;

function usable(value: Result | undefined): Value {
  if (value instanceof Failure) throw new UnusableValue(value.message);
  return value ?? null;
}

function nativeOf(value: Value): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "number":
      return value;
    case "bigint":
      return integer(value);
  }
  if (value instanceof JsonList || value instanceof JsonMap) return value.raw;
  if (value instanceof JsonView) return value.raw;
  if (value instanceof MadeObject) return configurationOf(value);
  if (value instanceof TypeValue) return value.type.name;
  if (value instanceof Optional)
    return value.value === undefined ? null : nativeOf(value.value);
  return foreign(value);
}

function integer(value: bigint): unknown {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : new ExactNumber(String(value));
}

/** What stays a value of its own, shown as the reference shows it. */
function foreign(value: Exclude<Value, string | boolean | number | bigint>) {
  if (value === null)
    return new NativeValue("NULL_VALUE", "0", "structpb.NullValue", null);
  if (value instanceof Uint8Array) {
    const bytes = [...value];
    const shown = bytes.map((byte) => `0x${byte.toString(16)}`).join(", ");
    return new NativeValue(
      `[${bytes.join(" ")}]`,
      `[]uint8{${shown}}`,
      "[]uint8",
      Buffer.from(value).toString("base64"),
    );
  }
  if (value instanceof Uint)
    return new NativeValue(
      String(value.value),
      `0x${value.value.toString(16)}`,
      "uint64",
      integer(value.value),
    );
  if (value instanceof Timestamp) {
    const text = formatTimestamp(value);
    const shown = `${text.slice(0, -1).replace("T", " ")} +0000 UTC`;
    return new NativeValue(shown, shown, "time.Time", text);
  }
  if (value instanceof Duration) {
    const text = formatSeconds(value);
    return new NativeValue(text, String(value.nanos), "time.Duration", text);
  }
  if (value instanceof ListValue)
    return new NativeValue("[]", "[]ref.Val{}", "[]ref.Val", jsonOf(value));
  if (value instanceof MapValue)
    return new NativeValue(
      "map[]",
      "map[ref.Val]ref.Val{}",
      "map[ref.Val]ref.Val",
      value instanceof MadeOperation ? null : jsonOf(value),
    );
  const { name } = typeOf(value);
  const type =
    name === "kubernetes.Quantity" ? "*resource.Quantity" : `*${name}`;
  return new NativeValue(name, `(${type})(0xc000000000)`, type, null);
}

/** The tree without native values, changed in place; parts of the request's objects have none and stay as they are. */
export function withoutNativeValues(value: unknown): unknown {
  if (value instanceof NativeValue) return value.json;
  if (Array.isArray(value)) return value.map(withoutNativeValues);
  if (!isJsonObject(value)) return value;
  const made: JsonObject = {};
  for (const [key, inner] of Object.entries(value))
    setOwn(made, key, withoutNativeValues(inner));
  return made;
}

/** The value of an operation of a JSON patch. Throws UnusableValue. */
export function jsonOf(value: Value): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "number":
      return value;
    case "bigint":
      return jsonInteger(value);
  }
  if (value === null) return null;
  if (value instanceof Uint) return jsonInteger(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatSeconds(value);
  if (value instanceof Optional) return jsonOf(value.value ?? null);
  if (value instanceof JsonList || value instanceof JsonMap) return value.raw;
  if (value instanceof JsonView) return value.raw;
  if (value instanceof ListValue)
    return Array.from({ length: value.size }, (_, index) =>
      jsonOf(usable(value.at(index))),
    );
  if (value instanceof MadeObject) return withoutTypes(configurationOf(value));
  if (value instanceof MadeOperation)
    throw new UnusableValue("cannot convert to native type: *structpb.Value");
  if (value instanceof MapValue) return jsonMap(value);
  if (value instanceof TypeValue)
    throw new UnusableValue("type conversion not supported for 'type'");
  const name = typeOf(value).name.split(".").at(-1);
  throw new UnusableValue(
    `type conversion error from '${name}' to '*structpb.Value'`,
  );
}

/** Larger ones are no numbers in JSON for every reader. */
const jsonInteger = (value: bigint): unknown =>
  Number.isSafeInteger(Number(value)) ? Number(value) : String(value);

function jsonMap(map: MapValue): JsonObject {
  const made: JsonObject = {};
  for (const key of map.keys()) {
    if (typeof key !== "string")
      throw new UnusableValue(
        `unsupported type conversion from '${typeOf(key).name}' to string`,
      );
    setOwn(made, key, jsonOf(usable(map.get(key))));
  }
  return made;
}

const plainTypes: ReadonlySet<string> = new Set(["[]uint8", "uint64"]);

/** A configuration as JSON. */
function withoutTypes(value: unknown): unknown {
  if (value instanceof NativeValue) {
    if (plainTypes.has(value.type)) return value.json;
    throw new UnusableValue(`proto: invalid type: ${value.type}`);
  }
  if (value instanceof ExactNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(withoutTypes);
  if (!isJsonObject(value)) return value;
  const made: JsonObject = {};
  for (const [key, inner] of Object.entries(value))
    setOwn(made, key, withoutTypes(inner));
  return made;
}
