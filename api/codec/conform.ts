// Brings a freshly parsed tree into the shape of its type, as decoding into the reference's structs and encoding again
// would: unknown fields are noted and dropped, null is unset, empty `omitEmpty` values go, values that are always
// written come (zero numbers, empty objects), quantities, times and durations become canonical. One exception: what the
// reference would write as null is left out here. The tree is used up: parts of it are reused in the result.
import { ApiError } from "../errors.ts";
import { ExactNumber, integerOf, plainNumbers } from "../exact-number.ts";
import { formatDuration, parseDurationMs } from "../duration.ts";
import { isKnownDocument } from "../patch/field-set.ts";
import { isJsonObject, jsonKind } from "../patch/json-value.ts";
import { canonicalQuantity } from "../quantity.ts";
import type {
  Conformed,
  FieldSchema,
  ObjectSchema,
  StrictProblem,
  TypeSchema,
} from "../schema.ts";
import { countKeys, joinPath, setOwn } from "./json-text.ts";
import { isPlainTime, normaliseTime } from "./time-text.ts";
import { stringTypeName } from "./value-type-names.ts";

/** A value that does not fit its type; `message` is what the reference's decoder says after "json: " and the like. */
export class TypeMismatch extends Error {
  constructor(
    message: string,
    readonly value?: unknown,
    /** The type that was wanted, as the reference's language prints it. */
    readonly type = "",
    /** Unset for types with a reader of their own. */
    readonly shape?: "struct" | "slice" | "map" | "scalar",
  ) {
    super(message);
  }
}

/** A body that is no object of the kind that is wanted. */
export class UndecodableBody extends ApiError {
  constructor(
    message: string,
    /** The decoder's own text, which some callers report alone. */
    readonly why: string,
  ) {
    super({ code: 400, reason: "BadRequest", message });
  }
}

/** The reference stops counting there as well. */
const MAX_PROBLEMS = 100;

/**
 * `value` must be private to the caller. With `strict` unset, unknown fields are dropped silently. Throws TypeMismatch
 * for the first value of a wrong type.
 */
export function conform(
  value: unknown,
  schema: ObjectSchema,
  strict: boolean,
): Conformed {
  if (schema.conform) return schema.conform(value, strict);
  const walk = new Conforming(strict);
  const object = walk.value(value, schema) as
    Record<string, unknown> | undefined;
  return {
    object: object ?? (walk.zero(schema) as Record<string, unknown>),
    keys: walk.keys,
    problems: walk.problems,
  };
}

/** The 400 of a body that could not be decoded: `kind` and `version` as the document names them, `wanted` the type. */
export function cannotBeHandled(
  kind: string,
  version: string,
  wanted: string,
  why: string,
): ApiError {
  return new UndecodableBody(
    `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${wanted}: ${why}`,
    why,
  );
}

/** The reference's words for a kind that does not exist. */
export function unknownKind(apiVersion: string, kind: string): string {
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`;
}

/** A path step: a field, an index, or (in an array of one) a map's key. */
type Step = string | number | readonly [string];

/** Fields that appear even when the document leaves them out. */
interface Plan {
  readonly always: readonly FieldSchema[];
}
const plans = new WeakMap<ObjectSchema, Plan>();

function planOf(schema: ObjectSchema): Plan {
  let plan = plans.get(schema);
  if (!plan) {
    const always = [...schema.fields.values()].filter(
      (field) => !field.nullable && hasZero(field),
    );
    plan = { always };
    plans.set(schema, plan);
  }
  return plan;
}

/** Does an unset field of that kind show in JSON, other than as null? Objects do even with omitEmpty. */
function hasZero({ schema, omitEmpty }: FieldSchema): boolean {
  switch (schema.type) {
    case "object":
    case "quantity":
    case "int-or-string":
    case "duration":
      return true;
    case "string":
    case "boolean":
    case "int32":
    case "int64":
    case "double":
      return !omitEmpty;
    default:
      return false;
  }
}

/** An empty list here is no omission: it takes the fields from every manager. The managed-fields code removes it. */
const managedFieldsReset = "managedFields";

class Conforming {
  keys = 0;
  readonly problems: StrictProblem[] = [];
  readonly #strict: boolean;
  readonly #path: Step[] = [];
  readonly #structs: string[] = [];

  constructor(strict: boolean) {
    this.#strict = strict;
  }

  /** The conformed value, or undefined for null. */
  value(value: unknown, schema: TypeSchema): unknown {
    if (value === null || value === undefined) return undefined;
    switch (schema.type) {
      case "object":
        return this.#object(value, schema);
      case "list":
        return this.#list(value, schema.items);
      case "map":
        return this.#map(value, schema.values);
      case "string":
        return typeof value === "string"
          ? value
          : this.#mismatch(value, this.#stringType());
      case "boolean":
        return typeof value === "boolean"
          ? value
          : this.#mismatch(value, "bool");
      case "int32":
        if (typeof value === "number" && (value | 0) === value) return value;
        return integerOf(value, 32) ?? this.#mismatch(value, "int32");
      case "int64":
        return integerOf(value, 64) ?? this.#mismatch(value, "int64");
      case "double": {
        const number = value instanceof ExactNumber ? value.valueOf() : value;
        return typeof number === "number" && Number.isFinite(number)
          ? number
          : this.#mismatch(value, "float64");
      }
      case "bytes":
        return this.#bytes(value);
      case "quantity":
        return this.#quantity(value);
      case "int-or-string":
        if (typeof value === "string") return value;
        return integerOf(value, 32) ?? this.#mismatch(value, "int32", "own");
      case "time":
        return this.#time(value, false);
      case "micro-time":
        return this.#time(value, true);
      case "duration":
        return this.#duration(value);
      case "fields-v1":
        return isKnownDocument(value) ? value : this.#tree(value);
      case "raw-extension":
      case "json":
        return this.#tree(value);
      case "object-or-boolean":
        return typeof value === "boolean"
          ? value
          : this.#object(value, schema.object);
      case "object-or-list":
        return Array.isArray(value)
          ? this.#list(value, schema.object)
          : this.#object(value, schema.object);
      case "object-or-strings":
        return Array.isArray(value)
          ? this.#list(value, { type: "string" })
          : this.#object(value, schema.object);
    }
  }

  /** What an unset value that is always written looks like. */
  zero(schema: TypeSchema): unknown {
    switch (schema.type) {
      case "object": {
        const object: Record<string, unknown> = {};
        for (const field of planOf(schema).always)
          object[field.name] = this.zero(field.schema);
        return object;
      }
      case "string":
        return "";
      case "boolean":
        return false;
      case "quantity":
        return "0";
      case "duration":
        return "0s";
      default:
        return 0;
    }
  }

  #tree(value: unknown): unknown {
    this.keys += countKeys(value);
    return plainNumbers(value);
  }

  #object(value: unknown, schema: ObjectSchema): Record<string, unknown> {
    if (!isJsonObject(value)) this.#mismatch(value, goType(schema), "struct");
    const source = value as Record<string, unknown>;
    const result: Record<string, unknown> = {};
    const { fields } = schema;
    this.#structs.push(schema.shortName);
    for (const key in source) {
      this.keys++;
      const inner = source[key];
      const field = fields.get(key);
      if (field === undefined) {
        this.keys += countKeys(inner);
        if (schema.preserveUnknownFields)
          setOwn(result, key, plainNumbers(inner));
        else this.#unknown(key);
        continue;
      }
      if (inner === null) continue;
      this.#path.push(key);
      const keysBefore = this.keys;
      const conformed = this.value(inner, field.schema);
      this.#path.pop();
      if (
        conformed === undefined ||
        (field.omitEmpty &&
          !field.nullable &&
          (field.schema.type === "map"
            ? this.keys === keysBefore
            : isEmpty(conformed, field.schema)) &&
          key !== managedFieldsReset)
      )
        continue;
      result[key] = conformed;
    }
    this.#structs.pop();
    for (const field of planOf(schema).always) {
      if (result[field.name] === undefined)
        result[field.name] = this.zero(field.schema);
    }
    return result;
  }

  #list(value: unknown, items: TypeSchema): unknown[] {
    if (!Array.isArray(value))
      this.#mismatch(value, `[]${goType(items)}`, "slice");
    const list = value as unknown[];
    for (let index = 0; index < list.length; index++) {
      this.#path.push(index);
      list[index] = this.value(list[index], items) ?? this.#emptyElement(items);
      this.#path.pop();
    }
    return list;
  }

  #map(value: unknown, values: TypeSchema): Record<string, unknown> {
    if (!isJsonObject(value))
      this.#mismatch(value, goType({ type: "map", values }), "map");
    const map = value as Record<string, unknown>;
    for (const key in map) {
      this.keys++;
      const inner = map[key];
      if (typeof inner === "string" && values.type === "string") continue;
      this.#path.push([key]);
      // The key exists as an own property, so even "__proto__" is assigned as data.
      map[key] = this.value(inner, values) ?? this.#emptyElement(values);
      this.#path.pop();
    }
    return map;
  }

  /** null inside a list or a map is the zero value of its elements. */
  #emptyElement(schema: TypeSchema): unknown {
    switch (schema.type) {
      case "list":
        return [];
      case "map":
      case "object-or-list":
      case "object-or-strings":
      case "object-or-boolean":
        return {};
      case "json":
      case "time":
      case "micro-time":
      case "raw-extension":
      case "fields-v1":
        return null;
      case "bytes":
        return "";
      default:
        return this.zero(schema);
    }
  }

  #bytes(value: unknown): string {
    if (typeof value !== "string") this.#mismatch(value, "[]uint8", "slice");
    // Lines may be broken.
    const text = (value as string).replace(/[\r\n]/g, "");
    if (!isBase64(text)) {
      const bad = firstBadBase64(text);
      throw new TypeMismatch(`illegal base64 data at input byte ${bad}`);
    }
    return text;
  }

  #quantity(value: unknown): string {
    if (
      typeof value !== "string" &&
      typeof value !== "number" &&
      !(value instanceof ExactNumber)
    )
      throw new TypeMismatch(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      );
    try {
      return normaliseQuantity(
        value instanceof ExactNumber ? value.text : String(value).trim(),
      );
    } catch (error) {
      throw new TypeMismatch((error as Error).message);
    }
  }

  #time(value: unknown, micro: boolean): string | undefined {
    if (typeof value !== "string") this.#mismatch(value, "string");
    if (!micro && isPlainTime(value)) return value;
    const layout = `2006-01-02T15:04:05${micro ? ".000000" : ""}Z07:00`;
    const parts = micro ? microTimeParts : timeParts;
    let rest = value;
    for (const [shown, part] of parts) {
      const found = part.exec(rest);
      if (!found)
        throw new TypeMismatch(
          `parsing time ${JSON.stringify(value)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(shown)}`,
        );
      rest = rest.slice(found[0].length);
    }
    const text = rest === "" ? normaliseTime(value, micro) : undefined;
    if (text === undefined)
      throw new TypeMismatch(
        `parsing time ${JSON.stringify(value)}${rest === "" ? ": day out of range" : `: extra text: ${JSON.stringify(rest)}`}`,
      );
    return text;
  }

  #duration(value: unknown): string {
    if (typeof value !== "string") this.#mismatch(value, "string");
    try {
      return formatDuration(parseDurationMs(value));
    } catch {
      throw new TypeMismatch(`time: invalid duration ${JSON.stringify(value)}`);
    }
  }

  #unknown(key: string): void {
    if (!this.#strict || this.problems.length >= MAX_PROBLEMS) return;
    let path = "";
    for (const step of this.#path)
      path = joinPath(path, typeof step === "object" ? step[0]! : step);
    this.problems.push({ kind: "unknown", path: joinPath(path, key) });
  }

  /** A map's or list's elements have no name of their own: the path then ends in a key or an index. */
  #stringType(): string {
    const last = this.#path.at(-1);
    return typeof last === "string"
      ? stringTypeName(this.#structs.at(-1), last)
      : "string";
  }

  /** `own`: the type's own reader, which knows of no field. */
  #mismatch(
    value: unknown,
    type: string,
    shape: "struct" | "slice" | "map" | "scalar" | "own" = "scalar",
  ): never {
    const struct = this.#structs.at(-1);
    const what =
      /^(int|float)/.test(type) && jsonKind(value) === "number"
        ? `number ${value instanceof ExactNumber ? value.text : String(value)}`
        : jsonKind(value);
    const where =
      struct === undefined
        ? "value"
        : `struct field ${struct}.${this.#path.filter((step) => typeof step === "string").join(".")}`;
    throw new TypeMismatch(
      `json: cannot unmarshal ${what} into Go ${where} of type ${type}`,
      value,
      type,
      shape === "own" ? undefined : shape,
    );
  }
}

/** How the reference's language would print the type. */
function goType(schema: TypeSchema): string {
  switch (schema.type) {
    case "list":
      return `[]${goType(schema.items)}`;
    case "map":
      return schema.values.type === "quantity"
        ? "v1.ResourceList"
        : `map[string]${goType(schema.values)}`;
    case "boolean":
      return "bool";
    case "double":
      return "float64";
    case "bytes":
      return "[]uint8";
    case "object": {
      const parts = schema.name.split(".");
      return parts.length > 1 ? parts.slice(-2).join(".") : schema.name;
    }
    default:
      return "name" in schema && schema.name
        ? schema.name.split(".").slice(-2).join(".")
        : schema.type;
  }
}

function isEmpty(value: unknown, schema: TypeSchema): boolean {
  switch (schema.type) {
    case "string":
    case "bytes":
      return value === "";
    case "boolean":
      return value === false;
    case "int32":
    case "int64":
    case "double":
      return value === 0;
    case "list":
      return (value as unknown[]).length === 0;
    default:
      return false;
  }
}

export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function firstBadBase64(text: string): number {
  const bad = text.search(/[^A-Za-z0-9+/]/);
  return bad < 0 ? Math.floor(text.length / 4) * 4 : bad;
}

/** Short numbers are canonical as they are: they need no parsing. */
const SHORT_QUANTITY = /^(?:0|[1-9][0-9]{0,2}(?:m|k|[KMGT]i|[MGT])?)$/;

/** The canonical text of a quantity. Throws the reference's error. */
export function normaliseQuantity(text: string): string {
  return SHORT_QUANTITY.test(text) ? text : canonicalQuantity(text);
}

/** What a time is read by, part by part, each with its place in the reference's layout. */
const timeParts: readonly (readonly [shown: string, part: RegExp])[] = [
  ["2006", /^\d{4}/],
  ["-", /^-/],
  ["01", /^\d\d/],
  ["-", /^-/],
  ["02", /^\d\d/],
  ["T", /^T/],
  ["15", /^\d\d?/],
  [":", /^:/],
  ["04", /^\d\d/],
  [":", /^:/],
  ["05", /^\d\d([.,]\d+)?/],
  ["Z07:00", /^(Z|[+-]\d\d:\d\d)/],
];
/** Exactly six digits of a second. */
const microTimeParts = timeParts.flatMap((part) =>
  part[0] === "05"
    ? [["05", /^\d\d/] as const, [".000000", /^\.\d{6}/] as const]
    : [part],
);
