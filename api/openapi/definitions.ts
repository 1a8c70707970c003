// OpenAPI schemas of the types in the table, for both versions of the document, without descriptions (descriptions.ts
// adds them). Version 3 also says the defaults that fields have by their type (zero values of required scalars, empty
// objects), as the reference's documents do.
import enumFacts from "../facts/enums.json";
import {
  everyVersion,
  messageNamed,
  versionOfPackage,
  type Message,
  type MessageField,
} from "../type-table.ts";
import { parseApiVersion, type GroupVersionKind } from "../object.ts";

/** By type and field: the values that strings may have. */
const enums: Readonly<
  Record<string, Readonly<Record<string, readonly string[]>>>
> = enumFacts;

export type JsonObject = Record<string, unknown>;
type OpenApiVersion = 2 | 3;

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const APIEXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions";
export const PATCH = `${META}.Patch`;

const SCALARS: Readonly<Record<string, JsonObject>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  bytes: { format: "byte", type: "string" },
  int32: { format: "int32", type: "integer" },
  int64: { format: "int64", type: "integer" },
  double: { format: "double", type: "number" },
};
const ZEROS: Readonly<Record<string, unknown>> = {
  string: "",
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
};

/** Types with a JSON form of their own. */
function specialSchema(
  name: string,
  version: OpenApiVersion,
): JsonObject | undefined {
  switch (name) {
    case "io.k8s.apimachinery.pkg.api.resource.Quantity":
      return version === 2
        ? { type: "string" }
        : { oneOf: [{ type: "string" }, { type: "number" }] };
    case "io.k8s.apimachinery.pkg.util.intstr.IntOrString":
      return version === 2
        ? { format: "int-or-string", type: "string" }
        : {
            format: "int-or-string",
            oneOf: [{ type: "integer" }, { type: "string" }],
          };
    case `${META}.Time`:
    case `${META}.MicroTime`:
      return { format: "date-time", type: "string" };
    case `${META}.Duration`:
      return { type: "string" };
    case `${META}.FieldsV1`:
    case PATCH:
    case "io.k8s.apimachinery.pkg.runtime.RawExtension":
      return { type: "object" };
    default:
      return ["v1", "v1beta1"].some(
        (version) =>
          name === `${APIEXTENSIONS}.${version}.JSON` ||
          name.startsWith(`${APIEXTENSIONS}.${version}.JSONSchemaPropsOr`),
      )
        ? {}
        : undefined;
  }
}

function isStringList(name: string): boolean {
  return name.endsWith(".ExtraValue") || name === `${META}.Verbs`;
}

export function reference(name: string, version: OpenApiVersion): JsonObject {
  return {
    $ref:
      version === 2 ? `#/definitions/${name}` : `#/components/schemas/${name}`,
  };
}

/** The group, version and kind entries of a definition; empty for types that are no kind. */
function kindsOf(message: Message): GroupVersionKind[] {
  const { name, fullName } = message;
  if (
    fullName === `${META}.WatchEvent` ||
    (fullName.startsWith(`${META}.`) &&
      name.endsWith("Options") &&
      message.isKind)
  ) {
    if (name === "TableOptions") return [];
    return everyVersion
      .map((apiVersion) => ({ ...parseApiVersion(apiVersion), kind: name }))
      .map(sortedKind);
  }
  if (!message.isKind) return [];
  const packageName = fullName.slice(0, fullName.lastIndexOf("."));
  const apiVersion =
    packageName === META ? "v1" : versionOfPackage(packageName);
  return [sortedKind({ ...parseApiVersion(apiVersion), kind: name })];
}

/** Keys in the documents' alphabetical order. */
export function sortedKind({
  group,
  version,
  kind,
}: GroupVersionKind): GroupVersionKind {
  return { group, kind, version };
}

export const KIND_EXTENSION = "x-kubernetes-group-version-kind";

/** The schema of a named type; undefined for names that are not in the table. */
export function definitionOf(
  name: string,
  version: OpenApiVersion,
): JsonObject | undefined {
  const special = specialSchema(name, version);
  if (special) return special;
  const message = messageNamed(name);
  if (!message) return undefined;
  const properties: JsonObject = {};
  const required: string[] = [];
  addProperties(message, version, properties, required);
  const kinds = kindsOf(message);
  return {
    ...(Object.keys(properties).length
      ? { properties: sortKeys(properties) }
      : {}),
    ...(required.length ? { required } : {}),
    type: "object",
    ...(kinds.length ? { [KIND_EXTENSION]: kinds } : {}),
    ...(message.atomic ? { "x-kubernetes-map-type": "atomic" } : {}),
  };
}

function addProperties(
  message: Message,
  version: OpenApiVersion,
  properties: JsonObject,
  required: string[],
  owner = message.fullName,
): void {
  if (message.isKind) {
    properties["apiVersion"] = { type: "string" };
    properties["kind"] = { type: "string" };
  }
  for (const field of message.fields) {
    if (field.inlined) {
      addProperties(
        messageNamed(field.message!)!,
        version,
        properties,
        required,
        owner,
      );
      continue;
    }
    properties[field.jsonName] = withEnum(
      property(field, version),
      enums[owner]?.[field.jsonName],
    );
    if (field.required) required.push(field.jsonName);
  }
}

/** The values of a field, of a list's items or of a map's. */
function withEnum(
  schema: JsonObject,
  values: readonly string[] | undefined,
): JsonObject {
  if (!values) return schema;
  for (const inner of ["items", "additionalProperties"])
    if (schema[inner])
      return {
        ...schema,
        [inner]: { ...(schema[inner] as JsonObject), enum: values },
      };
  return { ...schema, enum: values };
}

function property(field: MessageField, version: OpenApiVersion): JsonObject {
  const extensions: JsonObject = {
    ...(field.listMapKeys
      ? { "x-kubernetes-list-map-keys": field.listMapKeys }
      : {}),
    ...(field.listType ? { "x-kubernetes-list-type": field.listType } : {}),
    ...(field.mapType ? { "x-kubernetes-map-type": field.mapType } : {}),
    ...(field.patchMergeKey
      ? { "x-kubernetes-patch-merge-key": field.patchMergeKey }
      : {}),
    ...(field.patchStrategy
      ? { "x-kubernetes-patch-strategy": field.patchStrategy.join(",") }
      : {}),
  };
  if (field.label === "list")
    return { items: element(field, version), type: "array", ...extensions };
  if (field.label === "map")
    return {
      additionalProperties: element(field, version),
      type: "object",
      ...extensions,
    };
  if (field.message && isStringList(field.message))
    return { items: { ...SCALARS["string"] }, type: "array", ...extensions };
  const fallback = version === 3 ? defaultOf(field) : undefined;
  if (field.scalar)
    return {
      ...(fallback === undefined ? {} : { default: fallback }),
      ...SCALARS[field.scalar],
      ...extensions,
    };
  const ref = reference(field.message!, version);
  if (fallback === undefined && Object.keys(extensions).length === 0)
    return ref;
  if (version === 2) return { ...ref, ...extensions };
  return {
    allOf: [ref],
    ...(fallback === undefined ? {} : { default: fallback }),
    ...extensions,
  };
}

/** Elements of lists and maps are never null, so in version 3 they have the default of their type. */
function element(field: MessageField, version: OpenApiVersion): JsonObject {
  if (field.scalar) {
    const zero =
      version === 3 && field.scalar !== "bytes"
        ? { default: ZEROS[field.scalar] }
        : {};
    return { ...zero, ...SCALARS[field.scalar] };
  }
  if (isStringList(field.message!))
    return { items: { ...SCALARS["string"] }, type: "array" };
  const ref = reference(field.message!, version);
  if (version === 2 || specialSchema(field.message!, version)) return ref;
  return { allOf: [ref], default: {} };
}

function defaultOf(field: MessageField): unknown {
  if (field.default !== undefined) return field.default;
  if (field.nullable) return undefined;
  if (field.scalar) return field.omitEmpty ? undefined : ZEROS[field.scalar];
  return specialSchema(field.message!, 3) ? undefined : {};
}

/** Names of the types that a schema refers to. */
export function referencesIn(schema: Readonly<JsonObject>): string[] {
  const names: string[] = [];
  collectReferences(schema, names);
  return names;
}

function collectReferences(value: unknown, into: string[]): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === "$ref" && typeof inner === "string")
      into.push(inner.slice(inner.lastIndexOf("/") + 1));
    else collectReferences(inner, into);
  }
}

export function sortKeys(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
  );
}
