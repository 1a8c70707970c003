// The OpenAPI v2 document in the protobuf form that clients ask for as
// application/com.github.proto-openapi.spec.v2@v1.0+protobuf: the public message layout of openapi.v2.Document.
import { WireWriter as Writer } from "../codec/wire-writer.ts";
import type { JsonObject } from "./definitions.ts";
import { Fragment } from "./fragments.ts";
import {
  alternative,
  each,
  entries,
  listIn,
  message,
  named,
  nested,
  objectIn,
  type Encode,
} from "./gnostic.ts";

const texts = (writer: Writer, values: readonly string[]): void => {
  for (const text of values) writer.uint32(10).string(text);
};

const schema = (writer: Writer, value: JsonObject): void =>
  schemaMessage(writer, value);

const schemaMessage = message({
  fields: {
    $ref: [1, "string"],
    format: [2, "string"],
    title: [3, "string"],
    description: [4, "string"],
    default: [5, "any"],
    maximum: [7, "double"],
    minimum: [9, "double"],
    pattern: [13, "string"],
    required: [19, "strings"],
    enum: [20, "anys"],
    additionalProperties: [
      21,
      ((writer: Writer, value: JsonObject | boolean) => {
        if (typeof value === "boolean") writer.uint32(16).bool(value);
        else nested(writer, 1, schema, value);
      }) as Encode,
    ],
    type: [
      22,
      ((writer: Writer, value: string | string[]) =>
        texts(writer, [value].flat())) as Encode,
    ],
    items: [23, alternative(1, schema) as Encode],
    allOf: [
      24,
      ((writer: Writer, value: JsonObject[]) =>
        schema(writer, objectIn(listIn(value)[0]))) as Encode,
    ],
    properties: [25, entries(1, schema)],
  },
  extensions: 31,
});

const bodyParameter = message({
  fields: {
    description: [1, "string"],
    name: [2, "string"],
    in: [3, "string"],
    required: [4, "bool"],
    schema: [5, schema as Encode],
  },
});
const pathParameter = message({
  fields: {
    required: [1, "bool"],
    in: [2, "string"],
    name: [4, "string"],
    type: [5, "string"],
    uniqueItems: [19, "bool"],
  },
});
const queryParameter = message({
  fields: {
    required: [1, "bool"],
    in: [2, "string"],
    name: [4, "string"],
    type: [6, "string"],
    uniqueItems: [20, "bool"],
  },
});

function parameter(writer: Writer, value: JsonObject): void {
  if (value["in"] === "body") return nested(writer, 1, bodyParameter, value);
  const encode =
    value["in"] === "path"
      ? alternative(4, pathParameter)
      : alternative(3, queryParameter);
  nested(writer, 2, encode, value);
}

const jsonReference = message({ fields: { $ref: [1, "string"] } });

function parametersItem(writer: Writer, value: JsonObject): void {
  if (value["$ref"] === undefined) nested(writer, 1, parameter, value);
  else nested(writer, 2, jsonReference, value);
}

const response = message({
  fields: {
    description: [1, "string"],
    schema: [2, alternative(1, schema) as Encode],
  },
});

const operation = message({
  fields: {
    tags: [1, "strings"],
    description: [3, "string"],
    operationId: [5, "string"],
    produces: [6, "strings"],
    consumes: [7, "strings"],
    parameters: [8, each(parametersItem)],
    responses: [9, entries(1, alternative(1, response))],
    schemes: [10, "strings"],
  },
  extensions: 13,
});
const pathItem = message({
  fields: {
    get: [2, operation as Encode],
    put: [3, operation as Encode],
    post: [4, operation as Encode],
    delete: [5, operation as Encode],
    options: [6, operation as Encode],
    head: [7, operation as Encode],
    patch: [8, operation as Encode],
    parameters: [9, each(parametersItem)],
  },
  extensions: 10,
});
const apiKey = message({
  fields: {
    type: [1, "string"],
    name: [2, "string"],
    in: [3, "string"],
    description: [4, "string"],
  },
});

const documentFields = message({
  fields: {
    swagger: [1, "string"],
    info: [
      2,
      message({
        fields: { title: [1, "string"], version: [2, "string"] },
      }) as Encode,
    ],
    parameters: [10, entries(1, parameter)],
    securityDefinitions: [13, entries(1, alternative(2, apiKey))],
  },
});

/** Field numbers of the large maps. */
const mapNumbers = { paths: 8, definitions: 9 } as const;

/** An entry of the map of paths. */
export function encodePath(path: string, value: JsonObject): Uint8Array {
  const writer = Writer.create();
  named(writer, 2, path, pathItem, value);
  return writer.finish();
}

/** An entry of the map of definitions. */
export function encodeDefinition(name: string, value: JsonObject): Uint8Array {
  const writer = Writer.create();
  named(writer, 1, name, schema, value);
  return writer.finish();
}

/** @param fields of the document beside its large maps @param large what `encodePath` and `encodeDefinition` returned */
export function encodeGnostic(
  fields: JsonObject,
  large: Readonly<Record<keyof typeof mapNumbers, readonly Fragment[]>>,
): Fragment[] {
  const part = (name: string): Fragment => {
    const writer = Writer.create();
    documentFields(writer, { [name]: fields[name] });
    return new Fragment(writer.finish());
  };
  const map = (name: keyof typeof mapNumbers): Fragment[] => {
    const bytes = large[name].reduce(
      (sum, { bytes: { length } }) => sum + length,
      0,
    );
    const head = Writer.create().uint32((mapNumbers[name] << 3) | 2);
    return [new Fragment(head.uint32(bytes).finish()), ...large[name]];
  };
  const writer = Writer.create();
  for (const requirement of fields["security"] as Record<string, string[]>[])
    nested(
      writer,
      12,
      entries(1, texts) as (writer: Writer, value: unknown) => void,
      requirement,
    );
  return [
    part("swagger"),
    part("info"),
    ...map("paths"),
    ...map("definitions"),
    part("parameters"),
    part("securityDefinitions"),
    new Fragment(writer.finish()),
  ];
}
