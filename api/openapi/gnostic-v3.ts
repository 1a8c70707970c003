// An OpenAPI v3 document in the protobuf form that clients ask for as
// application/com.github.proto-openapi.spec.v3@v1.0+protobuf: the public message layout of openapi.v3.Document.
import { WireWriter as Writer } from "../codec/wire-writer.ts";
import type { JsonObject } from "./definitions.ts";
import { Fragment } from "./fragments.ts";
import {
  alternative,
  each,
  entries,
  message,
  named,
  nested,
  objectIn,
  type Encode,
} from "./gnostic.ts";

/** The layout's maps are messages whose first field is the pairs. */
const map = <T>(encode: (writer: Writer, value: T) => void): Encode =>
  entries(1, encode);

const referenceMessage = message({
  fields: {
    $ref: [1, "string"],
    summary: [2, "string"],
    description: [3, "string"],
  },
});

/** The thing itself, or where it is. */
const orReference =
  (encode: (writer: Writer, value: JsonObject) => void) =>
  (writer: Writer, value: JsonObject): void => {
    if (objectIn(value)["$ref"] === undefined) nested(writer, 1, encode, value);
    else nested(writer, 2, referenceMessage, value);
  };

const schema = (writer: Writer, value: JsonObject): void =>
  schemaMessage(writer, value);
const schemaOrReference = orReference(schema);

/** Values of other types have no place in the layout: their message is empty, as the reference's is. */
function defaultType(writer: Writer, value: unknown): void {
  if (typeof value === "number") writer.uint32(9).double(value);
  else if (typeof value === "boolean") writer.uint32(16).bool(value);
  else if (typeof value === "string") writer.uint32(26).string(value);
}

const schemaMessage = message({
  fields: {
    nullable: [1, "bool"],
    readOnly: [3, "bool"],
    writeOnly: [4, "bool"],
    example: [7, "any"],
    deprecated: [8, "bool"],
    title: [9, "string"],
    multipleOf: [10, "double"],
    maximum: [11, "double"],
    exclusiveMaximum: [12, "bool"],
    minimum: [13, "double"],
    exclusiveMinimum: [14, "bool"],
    maxLength: [15, "integer"],
    minLength: [16, "integer"],
    pattern: [17, "string"],
    maxItems: [18, "integer"],
    minItems: [19, "integer"],
    uniqueItems: [20, "bool"],
    maxProperties: [21, "integer"],
    minProperties: [22, "integer"],
    required: [23, "strings"],
    enum: [24, "anys"],
    type: [25, "string"],
    allOf: [26, each(schemaOrReference)],
    oneOf: [27, each(schemaOrReference)],
    anyOf: [28, each(schemaOrReference)],
    not: [29, schema as Encode],
    items: [30, alternative(1, schemaOrReference) as Encode],
    properties: [31, map(schemaOrReference)],
    additionalProperties: [
      32,
      ((writer: Writer, value: JsonObject | boolean) => {
        if (typeof value === "boolean") writer.uint32(16).bool(value);
        else nested(writer, 1, schemaOrReference, value);
      }) as Encode,
    ],
    default: [33, defaultType as Encode],
    description: [34, "string"],
    format: [35, "string"],
  },
  extensions: 36,
});

const content = map(
  message({ fields: { schema: [1, schemaOrReference as Encode] } }),
);

const parameterMessage = message({
  fields: {
    name: [1, "string"],
    in: [2, "string"],
    description: [3, "string"],
    required: [4, "bool"],
    deprecated: [5, "bool"],
    schema: [10, schemaOrReference as Encode],
  },
  extensions: 14,
});
const parameter = orReference(parameterMessage);

const requestBody = message({
  fields: {
    description: [1, "string"],
    content: [2, content],
    required: [3, "bool"],
  },
});

const response = orReference(
  message({ fields: { description: [1, "string"], content: [3, content] } }),
);

function responses(writer: Writer, value: Record<string, JsonObject>): void {
  const { default: other, ...byCode } = objectIn(value) as typeof value;
  if (other) nested(writer, 1, response, other);
  for (const [code, value] of Object.entries(byCode))
    named(writer, 2, code, response, value);
}

const operation = message({
  fields: {
    tags: [1, "strings"],
    summary: [2, "string"],
    description: [3, "string"],
    operationId: [5, "string"],
    parameters: [6, each(parameter)],
    requestBody: [7, orReference(requestBody) as Encode],
    responses: [8, responses as Encode],
    deprecated: [10, "bool"],
  },
  extensions: 13,
});
const pathItem = message({
  fields: {
    summary: [2, "string"],
    description: [3, "string"],
    get: [4, operation as Encode],
    put: [5, operation as Encode],
    post: [6, operation as Encode],
    delete: [7, operation as Encode],
    options: [8, operation as Encode],
    head: [9, operation as Encode],
    patch: [10, operation as Encode],
    trace: [11, operation as Encode],
    parameters: [13, each(parameter)],
  },
  extensions: 14,
});
const documentHead = message({
  fields: {
    openapi: [1, "string"],
    info: [
      2,
      message({
        fields: {
          title: [1, "string"],
          description: [2, "string"],
          version: [6, "string"],
        },
      }) as Encode,
    ],
  },
});

const securitySchemes = message({
  fields: {
    securitySchemes: [
      7,
      map(
        orReference(
          message({
            fields: {
              type: [1, "string"],
              description: [2, "string"],
              name: [3, "string"],
              in: [4, "string"],
            },
          }),
        ),
      ),
    ],
  },
});

function entry(
  name: string,
  encode: (writer: Writer, value: JsonObject) => void,
  value: JsonObject,
): Uint8Array {
  const writer = Writer.create();
  named(writer, 1, name, encode, value);
  return writer.finish();
}

/** An entry of the map of paths. */
export const encodePath = (path: string, value: JsonObject): Uint8Array =>
  entry(path, pathItem, value);

/** An entry of the map of schemas. */
export const encodeSchema = (name: string, value: JsonObject): Uint8Array =>
  entry(name, schemaOrReference, value);

const lengthOf = (fragments: readonly { bytes: Uint8Array }[]): number =>
  fragments.reduce((sum, { bytes }) => sum + bytes.length, 0);

/** The head of a message of this many bytes. */
function headOf(number: number, bytes: number): Fragment {
  const head = Writer.create().uint32((number << 3) | 2);
  return new Fragment(head.uint32(bytes).finish());
}

/**
 * @param head `openapi` and `info`
 * @param paths what `encodePath` returned @param schemas what `encodeSchema` returned
 * @param components beside the schemas
 */
export function encodeDocument(
  head: JsonObject,
  paths: readonly Fragment[],
  schemas: readonly Fragment[],
  components: JsonObject,
): Fragment[] {
  const front = Writer.create();
  documentHead(front, head);
  const behind = Writer.create();
  securitySchemes(behind, components);
  const rest = new Fragment(behind.finish());
  const schemasHead = headOf(1, lengthOf(schemas));
  const all = [schemasHead, ...schemas, rest];
  return [
    new Fragment(front.finish()),
    headOf(4, lengthOf(paths)),
    ...paths,
    headOf(5, lengthOf(all)),
    ...all,
  ];
}
