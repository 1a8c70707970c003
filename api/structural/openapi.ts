// A kind of custom resources in the OpenAPI documents, as the reference publishes it. Version 3 has the whole schema but
// for what describes no value (examples, external documentation); version 2 has what it can say and what its readers can
// cope with: no alternatives, no defaults, no type where null is allowed, nothing inside of what keeps unknown fields.
import { isJsonObject, type JsonObject } from "../patch/json-value.ts";
import type { Steps } from "../queueing/steps.ts";
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
export function* publishedSchema(
  schema: Structural | undefined,
  kind: PublishedKind,
  version: Version,
): Steps<JsonObject> {
  const { preserveUnknownFields } = kind;
  if (
    !schema ||
    (version === 2 && (schema.preserveUnknown || preserveUnknownFields))
  )
    return { type: "object", ...extensions(kind, kind.kind) };
  const published = yield* new Publication(version).of(schema.source);
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

/** Nodes of a schema that are published in one step. */
const nodesPerStep = 64;

const isSaid = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  value !== "" &&
  !(Array.isArray(value) && value.length === 0);

/** Of one schema and those inside it. */
class Publication {
  #nodes = 0;

  constructor(private readonly version: Version) {}

  *of(schema: JSONSchemaProps): Steps<JsonObject> {
    const { version } = this;
    if (++this.#nodes % nodesPerStep === 0) yield;
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
    if (!closed) yield* this.#addInside(published, schema);
    yield* this.#addValues(published, schema);
    const required =
      version === 2 ? requiredOf(schema, closed) : (schema.required ?? []);
    if (required.length > 0) published["required"] = required;
    if (version === 3) yield* this.#addVersion3(published, schema);
    if (schema["x-kubernetes-embedded-resource"] && !(version === 2 && keeps))
      addEnvelope(published, version);
    return published;
  }

  *#addInside(
    published: JsonObject,
    { properties = {}, items }: JSONSchemaProps,
  ): Steps<void> {
    if (isJsonObject(items)) published["items"] = yield* this.of(items);
    const names = Object.keys(properties);
    if (names.length === 0) return;
    const fields: [string, JsonObject][] = [];
    for (const name of names)
      fields.push([name, yield* this.of(properties[name]!)]);
    published["properties"] = Object.fromEntries(fields);
  }

  *#addValues(
    published: JsonObject,
    { additionalProperties: values }: JSONSchemaProps,
  ): Steps<void> {
    if (typeof values === "boolean") published["additionalProperties"] = values;
    else if (isJsonObject(values))
      published["additionalProperties"] = yield* this.of(values);
  }

  *#addVersion3(published: JsonObject, schema: JSONSchemaProps): Steps<void> {
    if (schema.nullable) published["nullable"] = true;
    if (schema.default !== undefined && schema.default !== null)
      published["default"] = schema.default;
    for (const key of ["allOf", "anyOf", "oneOf"] as const) {
      const all: JsonObject[] = [];
      for (const each of schema[key] ?? []) all.push(yield* this.#nested(each));
      if (all.length > 0) published[key] = all;
    }
    if (schema.not) published["not"] = yield* this.#nested(schema.not);
    if (schema["x-kubernetes-int-or-string"]) addIntOrString(published, schema);
  }

  /** Inside of alternatives only what restricts values is published. */
  *#nested(schema: JSONSchemaProps): Steps<JsonObject> {
    const published = yield* this.of(schema);
    delete published["additionalProperties"];
    if (isJsonObject(schema.items))
      published["items"] = yield* this.#nested(schema.items);
    const { properties = {} } = schema;
    const names = Object.keys(properties);
    if (names.length === 0) return published;
    const fields: [string, JsonObject][] = [];
    for (const name of names)
      fields.push([name, yield* this.#nested(properties[name]!)]);
    published["properties"] = Object.fromEntries(fields);
    return published;
  }
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
