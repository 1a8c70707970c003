// The JSON shape of every kind: one tree of plain data that decoding, defaulting, strategic merge, server-side apply
// and OpenAPI share. Built-in kinds come from the reference's table, lazily type by type; a custom resource's
// structural schema is turned into the same nodes (only the interfaces below matter, not who made the nodes).
// Nodes are shared and never changed. Recursive types (JSONSchemaProps) make the tree a graph.
import { apiVersionOf } from "./object.ts";
import {
  messageNamed,
  messageNameOfKind,
  type Message,
  type MessageField,
} from "./type-table.ts";

/** Scalars, and the types with a JSON form of their own. */
type ScalarKind =
  | "string"
  | "boolean"
  | "int32"
  | "int64"
  | "double"
  /** base64 text */
  | "bytes"
  | "quantity"
  | "int-or-string"
  /** Text, a number or a boolean. */
  | "scalar"
  /** RFC 3339, whole seconds, UTC */
  | "time"
  /** RFC 3339 with six digits of fraction, UTC */
  | "micro-time"
  /** Go's notation, "1m30s" */
  | "duration"
  /** Any object, kept as it is. */
  | "raw-extension"
  | "fields-v1"
  /** Any JSON value. */
  | "json";

interface ScalarSchema {
  readonly type: ScalarKind;
  /** Set where the type has a name in the reference: `io.k8s.apimachinery.pkg.apis.meta.v1.Time`. */
  readonly name?: string;
}

interface ListSchema {
  readonly type: "list";
  readonly items: TypeSchema;
  readonly name?: string;
}

interface MapSchema {
  readonly type: "map";
  readonly values: TypeSchema;
}

/** A problem that strict reading of a document reports. */
export interface StrictProblem {
  readonly kind: "unknown" | "duplicate";
  /** `spec.containers[0].imag` */
  readonly path: string;
}

/** A document that was brought into the shape of its type. */
export interface Conformed {
  object: Record<string, unknown>;
  /** Keys met in the tree, dropped ones included. */
  keys: number;
  problems: StrictProblem[];
}

export interface ObjectSchema {
  readonly type: "object";
  /** Full name, e.g. io.k8s.api.core.v1.PodSpec; custom resources have a name of their own. */
  readonly name: string;
  /** The last part of the name, as texts of errors use it. */
  readonly shortName: string;
  /** By JSON name; apiVersion and kind are among them for kinds. */
  readonly fields: ReadonlyMap<string, FieldSchema>;
  /** Replaced as a whole by server-side apply. */
  readonly mapType?: "atomic" | "granular";
  /** Unknown fields are kept (custom resources). */
  readonly preserveUnknownFields?: boolean;
  /** Has apiVersion, kind and metadata. */
  readonly isKind?: boolean;
  /**
   * Of custom resources: brings a tree, which is used up, into the shape of its schema. Throws TypeMismatch, as `conform`
   * of codec/conform.ts does for built-in types. @param nulls those where none may be are "dropped" (the default), or
   * "kept" for validation to refuse, as in what was applied
   */
  conform?(
    value: unknown,
    strict: boolean,
    nulls?: "dropped" | "kept",
  ): Conformed;
}

/** The three unions of JSON Schema: an object, or `true`/`false`, or a list of objects, or a list of strings. */
interface UnionSchema {
  readonly type: "object-or-boolean" | "object-or-list" | "object-or-strings";
  readonly object: ObjectSchema;
  readonly name: string;
}

export type TypeSchema =
  ScalarSchema | ListSchema | MapSchema | ObjectSchema | UnionSchema;

export interface FieldSchema {
  readonly name: string;
  readonly schema: TypeSchema;
  readonly required: boolean;
  /** Unset is distinct from the zero value (a pointer in the reference). */
  readonly nullable: boolean;
  /** Left out when empty or zero; an object that is not nullable is always present all the same. */
  readonly omitEmpty: boolean;
  /** No list type on a list means atomic. */
  readonly listType?: "map" | "set" | "atomic";
  readonly listMapKeys?: readonly string[];
  readonly mapType?: "atomic" | "granular";
  /** Strategic merge: "merge", "retainKeys", "replace"; absent: replaced. */
  readonly patchStrategy?: readonly string[];
  readonly patchMergeKey?: string;
  /** Declared in the schema (as CRDs' `default`, and OpenAPI v3's); api/defaults.ts holds the built-ins' rules. */
  readonly default?: unknown;
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const APIEXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions";
const JSON_TYPES = [`${APIEXTENSIONS}.v1`, `${APIEXTENSIONS}.v1beta1`];

const SPECIAL = new Map<string, ScalarKind>([
  [`${META}.Time`, "time"],
  [`${META}.MicroTime`, "micro-time"],
  [`${META}.Duration`, "duration"],
  [`${META}.FieldsV1`, "fields-v1"],
  ["io.k8s.apimachinery.pkg.api.resource.Quantity", "quantity"],
  ["io.k8s.apimachinery.pkg.api.resource.QuantityValue", "quantity"],
  ["io.k8s.apimachinery.pkg.util.intstr.IntOrString", "int-or-string"],
  ["io.k8s.apimachinery.pkg.runtime.RawExtension", "raw-extension"],
  ...JSON_TYPES.map((name) => [`${name}.JSON`, "json"] as [string, ScalarKind]),
]);
const UNIONS = new Map<string, UnionSchema["type"]>(
  JSON_TYPES.flatMap((name) => [
    [`${name}.JSONSchemaPropsOrBool`, "object-or-boolean"],
    [`${name}.JSONSchemaPropsOrArray`, "object-or-list"],
    [`${name}.JSONSchemaPropsOrStringArray`, "object-or-strings"],
  ]),
);
const SCALARS: Record<string, ScalarSchema> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  bytes: { type: "bytes" },
  int32: { type: "int32" },
  int64: { type: "int64" },
  double: { type: "double" },
};

function isStringList(name: string): boolean {
  return name.endsWith(".ExtraValue") || name === `${META}.Verbs`;
}

/** A built-in type whose fields are read from the table when first asked for. */
class BuiltinObject implements ObjectSchema {
  readonly type = "object";
  readonly name: string;
  readonly shortName: string;
  readonly mapType?: "atomic";
  readonly isKind?: boolean;
  readonly #message: Message;
  #fields: ReadonlyMap<string, FieldSchema> | undefined;

  constructor(message: Message) {
    this.name = message.fullName;
    this.shortName = message.name;
    if (message.atomic) this.mapType = "atomic";
    if (message.isKind) this.isKind = true;
    this.#message = message;
  }

  get fields(): ReadonlyMap<string, FieldSchema> {
    return (this.#fields ??= fieldsOf(this.#message));
  }
}

function fieldsOf(message: Message): ReadonlyMap<string, FieldSchema> {
  const fields = new Map<string, FieldSchema>();
  if (message.isKind) {
    for (const name of ["kind", "apiVersion"])
      fields.set(name, {
        name,
        schema: SCALARS["string"]!,
        required: false,
        nullable: false,
        omitEmpty: true,
      });
  }
  for (const field of message.fields) {
    if (field.inlined) {
      for (const [name, inner] of fieldsOf(messageNamed(field.message!)!))
        fields.set(name, inner);
    } else {
      fields.set(field.jsonName, fieldSchema(field));
    }
  }
  return fields;
}

function fieldSchema(field: MessageField): FieldSchema {
  const { listType, listMapKeys, mapType, patchStrategy, patchMergeKey } =
    field;
  const element = field.scalar
    ? SCALARS[field.scalar]!
    : typeNamed(field.message!)!;
  return {
    name: field.jsonName,
    schema:
      field.label === "list"
        ? { type: "list", items: element }
        : field.label === "map"
          ? { type: "map", values: element }
          : element,
    required: field.required,
    nullable: field.nullable,
    omitEmpty: field.omitEmpty,
    ...(listType ? { listType } : {}),
    ...(listMapKeys ? { listMapKeys } : {}),
    ...(mapType ? { mapType } : {}),
    ...(patchStrategy ? { patchStrategy } : {}),
    ...(patchMergeKey ? { patchMergeKey } : {}),
    ...(field.default === undefined ? {} : { default: field.default }),
  };
}

const types = new Map<string, TypeSchema>();

/** The node of a named type (`io.k8s.api.core.v1.PodSpec`), or undefined. */
export function typeNamed(fullName: string): TypeSchema | undefined {
  const known = types.get(fullName);
  if (known) return known;
  const made = makeType(fullName);
  if (made) types.set(fullName, made);
  return made;
}

function makeType(name: string): TypeSchema | undefined {
  const special = SPECIAL.get(name);
  if (special) return { type: special, name };
  if (isStringList(name))
    return { type: "list", items: SCALARS["string"]!, name };
  const union = UNIONS.get(name);
  if (union) {
    const object = typeNamed(
      `${name.slice(0, name.lastIndexOf("."))}.JSONSchemaProps`,
    ) as ObjectSchema;
    return { type: union, object, name };
  }
  const message = messageNamed(name);
  return message && new BuiltinObject(message);
}

/** The schema of a built-in kind, served or not, lists and options among them; undefined for unknown ones. */
export function schemaFor(
  group: string,
  version: string,
  kind: string,
): ObjectSchema | undefined {
  const name = messageNameOfKind(apiVersionOf({ group, version }), kind);
  const schema = name === undefined ? undefined : typeNamed(name);
  return schema?.type === "object" ? schema : undefined;
}
