// A custom resource's schema in the form that built-in kinds have theirs in (api/schema.ts): what decoding, server-side
// apply and field ownership ask for. Fields are made from the structural schema when they are first asked for.
import type {
  Conformed,
  FieldSchema,
  ObjectSchema,
  TypeSchema,
} from "../schema.ts";
import { coerceObject, objectMetaSchema } from "./coercion.ts";
import type { Structural } from "./structural.ts";

const text: TypeSchema = { type: "string" };
const anything: TypeSchema = { type: "json" };
const scalar: TypeSchema = { type: "scalar" };
const scalars: Readonly<Record<string, TypeSchema>> = {
  string: text,
  boolean: { type: "boolean" },
  integer: { type: "int64" },
  number: { type: "double" },
};

/** An object of a custom resource, or one inside it. */
class CustomObject implements ObjectSchema {
  readonly type = "object";
  readonly preserveUnknownFields: boolean;
  readonly mapType?: "atomic" | "granular";
  /** Of the fields without a name: free keys beside named ones. */
  readonly values?: TypeSchema;
  #fields: ReadonlyMap<string, FieldSchema> | undefined;

  constructor(
    readonly name: string,
    readonly shortName: string,
    private readonly schema: Structural,
    keepsUnknown: boolean,
  ) {
    this.preserveUnknownFields = keepsUnknown || schema.preserveUnknown;
    if (schema.mapType) this.mapType = schema.mapType;
    const { values } = schema;
    if (values) this.values = typeOf(values, this.preserveUnknownFields);
  }

  get fields(): ReadonlyMap<string, FieldSchema> {
    return (this.#fields ??= this.makeFields());
  }

  protected makeFields(): Map<string, FieldSchema> {
    const fields = new Map<string, FieldSchema>();
    for (const [name, field] of this.schema.properties ?? [])
      fields.set(name, fieldOf(name, field, this.preserveUnknownFields));
    return this.schema.embedded ? withEnvelope(fields) : fields;
  }
}

/** The kind itself. */
class CustomKind extends CustomObject {
  readonly isKind = true;

  constructor(
    names: KindNames,
    private readonly structural: Structural,
    private readonly pruned: boolean,
  ) {
    super(definitionName(names), names.kind, structural, false);
  }

  conform(
    value: unknown,
    strict: boolean,
    nulls: "dropped" | "kept" = "dropped",
  ): Conformed {
    const { structural, pruned } = this;
    const dropsNulls = pruned && nulls === "dropped";
    return coerceObject(value, structural, { strict, pruned, dropsNulls });
  }

  protected override makeFields(): Map<string, FieldSchema> {
    return withEnvelope(super.makeFields());
  }
}

export interface KindNames {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** com.example.stable.v1.CronTab */
export function definitionName({ group, version, kind }: KindNames): string {
  return [...group.split(".").reverse(), version, kind].join(".");
}

/** @param pruned false: unknown fields are kept (`spec.preserveUnknownFields` of earlier definitions) */
export function objectSchemaOf(
  schema: Structural,
  names: KindNames,
  pruned: boolean,
): ObjectSchema {
  return new CustomKind(names, schema, pruned);
}

/** Whatever the schema says of them, these are what they are everywhere. */
function withEnvelope(
  fields: Map<string, FieldSchema>,
): Map<string, FieldSchema> {
  for (const name of ["apiVersion", "kind"])
    fields.set(name, fieldNamed(name, text));
  return fields.set("metadata", fieldNamed("metadata", objectMetaSchema));
}

function fieldNamed(name: string, schema: TypeSchema): FieldSchema {
  return { name, schema, required: false, nullable: true, omitEmpty: true };
}

function fieldOf(
  name: string,
  node: Structural,
  keepsUnknown: boolean,
): FieldSchema {
  const { listType, listMapKeys, mapType } = node;
  return {
    ...fieldNamed(name, typeOf(node, keepsUnknown)),
    ...(listType ? { listType } : {}),
    ...(listType === "map" ? { listMapKeys } : {}),
    ...(mapType ? { mapType } : {}),
    ...(node.default === undefined ? {} : { default: node.default }),
  };
}

const types = new WeakMap<Structural, TypeSchema>();
const typesThatKeep = new WeakMap<Structural, TypeSchema>();

/** @param keepsUnknown an object around it does: to server-side apply all objects below it do, though pruning begins again */
function typeOf(node: Structural, keepsUnknown: boolean): TypeSchema {
  const made = keepsUnknown ? typesThatKeep : types;
  let type = made.get(node);
  if (!type) made.set(node, (type = makeType(node, keepsUnknown)));
  return type;
}

function makeType(node: Structural, above: boolean): TypeSchema {
  if (node.intOrString) return { type: "int-or-string" };
  const { format } = node.source;
  if (node.type === "string" && format && format !== "byte") return scalar;
  const simple = scalars[node.type];
  if (simple) return simple;
  const keepsUnknown = above || node.preserveUnknown;
  if (node.type === "array")
    return {
      type: "list",
      items: node.items ? typeOf(node.items, keepsUnknown) : anything,
    };
  if (node.type !== "object") return anything;
  const { properties, values, additional, preserveUnknown } = node;
  if (!properties && values && !node.embedded)
    return { type: "map", values: typeOf(values, keepsUnknown) };
  // To server-side apply an object that says nothing of its fields takes all; what is unknown is dropped afterwards.
  const saysNothing = !node.embedded && !preserveUnknown;
  if (!properties && (additional !== undefined || saysNothing))
    return { type: "map", values: anything };
  return new CustomObject("", "", node, above);
}
