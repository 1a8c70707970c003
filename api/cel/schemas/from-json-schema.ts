// Types of a JSON schema as definitions carry it. Parts without a type (unknown fields that are kept, lists and maps
// of such) are not seen by expressions; sizes of what has no limit are estimated from the largest request.
import {
  boolDeclared,
  doubleDeclared,
  intDeclared,
  isRecord,
  listDeclared,
  mapDeclared,
  maxRequestBytes,
  objectDeclared,
  stringDeclared,
  type DeclaredField,
  type DeclaredType,
} from "./declared-type.ts";
import { finish, type Steps } from "../../queueing/steps.ts";
import { escapeName } from "./escaping.ts";
import { readFormatted, type StringFormat } from "./formats.ts";
import {
  bytesType,
  dynType,
  durationType,
  timestampType,
} from "../checking/types.ts";
import { dynReader, JsonKeyedList, JsonSet } from "../values/json.ts";
import { Failure } from "../values/value.ts";

/** The parts of a schema that types are made from; a definition's JSON is one. */
export interface JsonSchema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly maxProperties?: number;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
}

/** Parts of a schema whose types are made in one step. */
const partsPerStep = 128;

interface Made {
  parts: number;
}

/**
 * The type of a schema, undefined where expressions do not see it. Object types get the name, their parts
 * `name.field`, `name.@idx` and `name.@elem`. `isRoot` adds apiVersion, kind and the two names of metadata.
 */
export function typeOfSchema(
  schema: JsonSchema,
  name: string,
  isRoot = false,
): DeclaredType | undefined {
  return finish(typingSchema(schema, name, isRoot));
}

/** The same in steps, for a large schema. */
export function* typingSchema(
  schema: JsonSchema,
  name: string,
  isRoot = false,
  made: Made = { parts: 0 },
): Steps<DeclaredType | undefined> {
  if (++made.parts % partsPerStep === 0) yield;
  const declared =
    scalarOf(schema) ?? (yield* madeOf(schema, name, isRoot, made));
  if (!declared) return undefined;
  const { read } = declared;
  const nullable = schema.nullable === true;
  return {
    ...declared,
    read: (raw) => (raw === null ? (nullable ? null : nullRefused) : read(raw)),
  };
}

const nullRefused = new Failure(
  "invalid data, got null for schema with nullable=false",
);

function* madeOf(
  schema: JsonSchema,
  name: string,
  isRoot: boolean,
  made: Made,
): Steps<DeclaredType | undefined> {
  switch (schema.type) {
    case "array":
      return yield* listOf(schema, name, made);
    case "object":
      return yield* objectOf(
        isRoot ? withObjectMeta(schema) : schema,
        name,
        made,
      );
    default:
      return undefined;
  }
}

function scalarOf(schema: JsonSchema): DeclaredType | undefined {
  if (schema["x-kubernetes-int-or-string"]) return intOrString;
  switch (schema.type) {
    case "string":
      return stringOf(schema);
    case "boolean":
      return boolDeclared;
    case "number":
      return doubleDeclared;
    case "integer":
      return intDeclared;
    default:
      return undefined;
  }
}

const intOrString: DeclaredType = {
  type: dynType,
  maxElements: maxRequestBytes - 2,
  minSerializedSize: 1,
  read(raw) {
    const value = dynReader.read(raw);
    return typeof value === "string" || typeof value === "bigint"
      ? value
      : new Failure(
          "invalid data, expected XIntOrString value to be either a string or integer",
        );
  },
};

const part = (
  schema: JsonSchema,
  name: string,
  made: Made,
): Steps<DeclaredType | undefined> =>
  typingSchema(
    schema,
    name,
    schema["x-kubernetes-embedded-resource"] === true,
    made,
  );

const limit = (value: number): number => Math.max(0, value);

function* listOf(
  schema: JsonSchema,
  name: string,
  made: Made,
): Steps<DeclaredType | undefined> {
  const items =
    schema.items && (yield* part(schema.items, `${name}.@idx`, made));
  if (!items) return undefined;
  const most =
    schema.maxItems === undefined
      ? Math.floor((maxRequestBytes - 2) / (items.minSerializedSize + 1))
      : limit(schema.maxItems);
  const declared = listDeclared(items, most);
  const kind = schema["x-kubernetes-list-type"];
  if (kind !== "set" && kind !== "map") return declared;
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  return {
    ...declared,
    read: (raw) =>
      !Array.isArray(raw)
        ? declared.read(raw)
        : kind === "set"
          ? new JsonSet(raw, items)
          : new JsonKeyedList(raw, items, keys),
  };
}

function* objectOf(
  schema: JsonSchema,
  name: string,
  made: Made,
): Steps<DeclaredType | undefined> {
  const { additionalProperties: values } = schema;
  if (isRecord(values)) {
    const elements = yield* part(values, `${name}.@elem`, made);
    if (!elements) return undefined;
    // A pair takes the value, two quotes, a colon, a comma and two bytes of key.
    const most =
      schema.maxProperties === undefined
        ? Math.floor((maxRequestBytes - 2) / (elements.minSerializedSize + 6))
        : limit(schema.maxProperties);
    return mapDeclared(elements, most);
  }
  const required = new Set(schema.required);
  const fields = new Map<string, DeclaredField>();
  let size = 2;
  for (const [jsonName, property] of Object.entries(schema.properties ?? {})) {
    const escaped = escapeName(jsonName);
    const reader = yield* part(
      property,
      `${name}.${escaped ?? jsonName}`,
      made,
    );
    if (escaped !== undefined) fields.set(escaped, { jsonName, reader });
    if (reader && required.has(jsonName) && property.default === undefined)
      size += jsonName.length + reader.minSerializedSize + 4;
  }
  return objectDeclared(name, fields, size);
}

const text: JsonSchema = { type: "string" };

const isText = (schema: JsonSchema | undefined): boolean =>
  schema?.type === "string";

/** A schema that declares all of them is taken as it is: metadata with more than the two names, or their limits. */
function withObjectMeta(schema: JsonSchema): JsonSchema {
  const { kind, apiVersion, metadata } = schema.properties ?? {};
  const { name, generateName } = metadata?.properties ?? {};
  if (
    metadata?.type === "object" &&
    [kind, apiVersion, name, generateName].every((each) => isText(each))
  )
    return schema;
  return {
    ...schema,
    properties: {
      ...schema.properties,
      kind: text,
      apiVersion: text,
      metadata: {
        type: "object",
        properties: { name: text, generateName: text },
      },
    },
  };
}

/** Type, greatest and least size of strings that are read as something else. */
const formatted: Record<
  string,
  Pick<DeclaredType, "type" | "maxElements" | "minSerializedSize">
> = {
  byte: {
    type: bytesType,
    maxElements: maxRequestBytes - 2,
    minSerializedSize: 2,
  },
  duration: { type: durationType, maxElements: 32, minSerializedSize: 3 },
  date: { type: timestampType, maxElements: 12, minSerializedSize: 12 },
  "date-time": { type: timestampType, maxElements: 32, minSerializedSize: 21 },
};

function stringOf(schema: JsonSchema): DeclaredType {
  const { maxLength, enum: values } = schema;
  const format = Object.hasOwn(formatted, schema.format ?? "")
    ? (schema.format as StringFormat)
    : undefined;
  if (format !== undefined) {
    const sizes = formatted[format]!;
    return {
      ...sizes,
      maxElements:
        format === "byte" && maxLength !== undefined
          ? limit(maxLength)
          : sizes.maxElements,
      read: (raw) =>
        typeof raw === "string"
          ? readFormatted(format, raw)
          : stringDeclared().read(raw),
    };
  }
  // A schema counts code points, of up to four bytes each.
  if (maxLength !== undefined) return stringDeclared(limit(maxLength) * 4);
  if (values && values.length > 0)
    return stringDeclared(
      Math.max(
        ...values.map((value) =>
          typeof value === "string" ? Buffer.byteLength(value) : 0,
        ),
      ),
    );
  return stringDeclared();
}
