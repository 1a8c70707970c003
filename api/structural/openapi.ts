// A kind of custom resources in the OpenAPI documents, as the reference publishes it. Version 3 has the whole schema but
// for what describes no value (examples, external documentation); version 2 has what it can say and what its readers can
// cope with: no alternatives, no defaults, no type where null is allowed, nothing inside of what keeps unknown fields.
import { isJsonObject, type JsonObject } from "../patch/json-value.ts";
import type { JSONSchemaProps } from "../types/apiextensions-v1.ts";
import { definitionName, type KindNames } from "./object-schema.ts";
import type { Structural } from "./structural.ts";
import { isIntOrString } from "./structural-check.ts";

interface PublishedKind extends KindNames {
  readonly listKind: string;
  readonly plural: string;
  /** `spec.size`, … */
  readonly selectableFields: readonly string[];
  /** `spec.preserveUnknownFields` of the definition. */
  readonly preserveUnknownFields: boolean;
}

type Version = 2 | 3;

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const conventions =
  "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
const texts = {
  apiVersion: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. ${conventions}#resources`,
  kind: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. ${conventions}#types-kinds`,
  embeddedApiVersion: `apiVersion defines the versioned schema of this representation of an object. ${conventions}#resources`,
  embeddedKind: `kind is a string value representing the type of this object. In CamelCase. ${conventions}#types-kinds`,
  metadata: `Standard object's metadata. ${conventions}#metadata`,
  listMetadata: `Standard list metadata. ${conventions}#types-kinds`,
};

const text = (description: string): JsonObject => ({
  description,
  type: "string",
});

/** @param schema undefined: the version has none that is structural */
export function publishedSchema(
  schema: Structural | undefined,
  kind: PublishedKind,
  version: Version,
): JsonObject {
  const { preserveUnknownFields } = kind;
  if (
    !schema ||
    (version === 2 && (schema.preserveUnknown || preserveUnknownFields))
  )
    return { type: "object", ...extensions(kind, kind.kind) };
  const published = schemaIn(schema.source, version);
  published["properties"] = {
    ...(published["properties"] as JsonObject | undefined),
    apiVersion: text(texts.apiVersion),
    kind: text(texts.kind),
    metadata: described(texts.metadata, "ObjectMeta", version),
  };
  return { ...published, ...extensions(kind, kind.kind) };
}

export function publishedListSchema(
  kind: PublishedKind,
  version: Version,
): JsonObject {
  return {
    description: `${kind.listKind} is a list of ${kind.kind}`,
    type: "object",
    required: ["items"],
    properties: {
      apiVersion: text(texts.apiVersion),
      items: {
        description: `List of ${kind.plural}. ${conventions}`,
        type: "array",
        items: reference(definitionName(kind), version),
      },
      kind: text(texts.kind),
      metadata: described(texts.listMetadata, "ListMeta", version),
    },
    ...extensions(kind, kind.listKind),
  };
}

function reference(name: string, version: Version): JsonObject {
  return {
    $ref: `#/${version === 2 ? "definitions" : "components/schemas"}/${name}`,
  };
}

/** Beside a reference version 3 allows nothing. */
function described(
  description: string,
  type: string,
  version: Version,
): JsonObject {
  const to = reference(`${META}.${type}`, version);
  return version === 2 ? { description, ...to } : { description, allOf: [to] };
}

function extensions(
  { group, version, selectableFields }: PublishedKind,
  kind: string,
): JsonObject {
  return {
    "x-kubernetes-group-version-kind": [{ group, kind, version }],
    "x-kubernetes-selectable-fields": selectableFields.map((fieldPath) => ({
      fieldPath,
    })),
  };
}

/** Kept as they are, in both versions. */
const plainKeys = [
  "description",
  "title",
  "format",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "pattern",
  "maxItems",
  "minItems",
  "uniqueItems",
  "multipleOf",
  "maxProperties",
  "minProperties",
  "enum",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-list-type",
  "x-kubernetes-map-type",
  "x-kubernetes-validations",
] as const;

const isSaid = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  value !== "" &&
  !(Array.isArray(value) && value.length === 0);

function schemaIn(schema: JSONSchemaProps, version: Version): JsonObject {
  const published: JsonObject = {};
  for (const key of plainKeys)
    if (isSaid(schema[key])) published[key] = schema[key];
  const keeps = schema["x-kubernetes-preserve-unknown-fields"] ?? false;
  const untyped =
    version === 2 &&
    (schema.nullable ||
      (keeps && schema.type === "object") ||
      (schema.type === "array" && (keeps || !schema.items)));
  if (schema.type && !untyped) published["type"] = schema.type;
  // Readers of version 2 would refuse what is not named.
  const closed = version === 2 && (schema.nullable === true || keeps);
  if (!closed) addInside(published, schema, version);
  addValues(published, schema, version);
  const required =
    version === 2 ? requiredOf(schema, closed) : (schema.required ?? []);
  if (required.length > 0) published["required"] = required;
  if (version === 3) addVersion3(published, schema);
  if (schema["x-kubernetes-embedded-resource"] && !(version === 2 && keeps))
    addEnvelope(published, version);
  return published;
}

function addInside(
  published: JsonObject,
  { properties, items }: JSONSchemaProps,
  version: Version,
): void {
  if (isJsonObject(items)) published["items"] = schemaIn(items, version);
  const names = Object.keys(properties ?? {});
  if (names.length > 0)
    published["properties"] = Object.fromEntries(
      names.map((name) => [name, schemaIn(properties![name]!, version)]),
    );
}

function addValues(
  published: JsonObject,
  { additionalProperties: values }: JSONSchemaProps,
  version: Version,
): void {
  if (typeof values === "boolean") published["additionalProperties"] = values;
  else if (isJsonObject(values))
    published["additionalProperties"] = schemaIn(values, version);
}

/** What may be null can't be required in version 2. */
function requiredOf(
  { required = [], properties = {}, additionalProperties }: JSONSchemaProps,
  closed: boolean,
): readonly string[] {
  if (isJsonObject(additionalProperties) && additionalProperties["nullable"])
    return [];
  return closed
    ? required
    : required.filter((name) => !properties[name]?.nullable);
}

function addVersion3(published: JsonObject, schema: JSONSchemaProps): void {
  if (schema.nullable) published["nullable"] = true;
  if (schema.default !== undefined && schema.default !== null)
    published["default"] = schema.default;
  for (const key of ["allOf", "anyOf", "oneOf"] as const) {
    const all = schema[key];
    if (all?.length) published[key] = all.map(nestedSchema);
  }
  if (schema.not) published["not"] = nestedSchema(schema.not);
  if (schema["x-kubernetes-int-or-string"]) addIntOrString(published, schema);
}

/** Inside of alternatives only what restricts values is published. */
function nestedSchema(schema: JSONSchemaProps): JsonObject {
  const published = schemaIn(schema, 3);
  delete published["additionalProperties"];
  if (isJsonObject(schema.items))
    published["items"] = nestedSchema(schema.items);
  const { properties } = schema;
  if (properties && Object.keys(properties).length > 0)
    published["properties"] = Object.fromEntries(
      Object.entries(properties).map(([name, inner]) => [
        name,
        nestedSchema(inner),
      ]),
    );
  return published;
}

/** What `x-kubernetes-int-or-string` means is said in JSON Schema too, unless the definition says it already. */
function addIntOrString(
  published: JsonObject,
  { anyOf, allOf = [] }: JSONSchemaProps,
): void {
  if (isIntOrString(anyOf) || isIntOrString(allOf[0]?.anyOf)) return;
  const either = [{ type: "integer" }, { type: "string" }];
  if (!anyOf?.length) published["anyOf"] = either;
  else
    published["allOf"] = [
      { anyOf: either },
      ...((published["allOf"] as unknown[] | undefined) ?? []),
    ];
}

function addEnvelope(published: JsonObject, version: Version): void {
  published["properties"] = {
    ...(published["properties"] as JsonObject | undefined),
    apiVersion: text(texts.embeddedApiVersion),
    kind: text(texts.embeddedKind),
    metadata: described(texts.metadata, "ObjectMeta", version),
  };
  const required = (published["required"] ?? []) as readonly string[];
  published["required"] = [
    ...required,
    ...["kind", "apiVersion"].filter((name) => !required.includes(name)),
  ];
}
