// A version-2 document of another server as one of version 3: bodies become requestBody, types of parameters and answers
// become schemas, and references follow. In steps of one path or definition, as documents may have megabytes. What has
// another shape than a document's is left out.
import type { JsonObject } from "./definitions.ts";
import { Fragment } from "./fragments.ts";
import type { Steps } from "../queueing/steps.ts";
import type { DocumentForm } from "./v3.ts";

/** Deeper values are no schemas that a server has. */
const maxDepth = 200;
const anyType = ["*/*"];
/** Of a parameter, what stays beside its schema. */
const parameterFields = ["name", "in", "description", "required"];

/** The fragments of the whole document in a form. Never changes its argument. */
export function* upgraded(
  document: JsonObject,
  form: DocumentForm,
): Steps<Fragment[]> {
  const info = asObject(document["info"]) ?? { title: "", version: "" };
  const paths = yield* entries(asObject(document["paths"]), (path, item) =>
    form.path(path, pathItem(item, document)),
  );
  const schemas = yield* entries(
    asObject(document["definitions"]),
    (name, schema) => form.definition(name, rewritten(schema, 0) as JsonObject),
  );
  return form.document({ openapi: "3.0.0", info }, paths, schemas, {});
}

function* entries(
  all: JsonObject | undefined,
  encode: (name: string, value: JsonObject) => Uint8Array | string,
): Steps<Fragment[]> {
  const fragments: Fragment[] = [];
  for (const [name, value] of Object.entries(all ?? {})) {
    const object = asObject(value);
    if (!object) continue;
    fragments.push(new Fragment(encode(name, object)));
    yield;
  }
  return fragments;
}

const asObject = (value: unknown): JsonObject | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;

function pathItem(item: JsonObject, document: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => {
      if (key === "parameters") return [key, parametersOf(value, document)];
      const object = asObject(value);
      return [
        key,
        object && !key.startsWith("x-") ? operation(object, document) : value,
      ];
    }),
  );
}

function operation(
  {
    consumes,
    produces,
    parameters,
    responses,
    schemes: _,
    ...kept
  }: JsonObject,
  document: JsonObject,
): JsonObject {
  const all = resolved(parameters, document);
  const body = all.find((one) => one["in"] === "body");
  const answers = Object.entries(asObject(responses) ?? {}).map(
    ([code, value]) => {
      const { schema, description = "", ...rest } = asObject(value) ?? {};
      const types = typesOf(produces, document["produces"]);
      return [
        code,
        {
          ...rest,
          description,
          ...(schema ? { content: contentOf(schema, types) } : {}),
        },
      ];
    },
  );
  const others = parametersOf(parameters, document);
  return {
    ...kept,
    ...(others.length > 0 ? { parameters: others } : {}),
    ...(body
      ? {
          requestBody: {
            ...(body["description"]
              ? { description: body["description"] }
              : {}),
            ...(body["required"] ? { required: true } : {}),
            content: contentOf(
              body["schema"] ?? {},
              typesOf(consumes, document["consumes"]),
            ),
          },
        }
      : {}),
    responses: Object.fromEntries(answers) as JsonObject,
  };
}

const typesOf = (...lists: unknown[]): readonly string[] =>
  lists.flatMap((list) =>
    Array.isArray(list) && list.length > 0 ? [list.map(String)] : [],
  )[0] ?? anyType;

const contentOf = (schema: unknown, types: readonly string[]): JsonObject =>
  Object.fromEntries(
    types.map((type) => [type, { schema: rewritten(schema, 0) }]),
  );

/** The parameters themselves, where the document names them elsewhere. */
function resolved(list: unknown, document: JsonObject): JsonObject[] {
  const named = asObject(document["parameters"]);
  return (Array.isArray(list) ? list : []).flatMap((one) => {
    const { $ref } = asObject(one) ?? {};
    const found =
      typeof $ref === "string"
        ? named?.[$ref.replace(/^#\/parameters\//, "")]
        : one;
    const object = asObject(found);
    return object ? [object] : [];
  });
}

/** All but the body. */
const parametersOf = (list: unknown, document: JsonObject): JsonObject[] =>
  resolved(list, document)
    .filter((one) => one["in"] !== "body")
    .map((one) => {
      const fields = Object.entries(one);
      const isKept = ([key]: [string, unknown]): boolean =>
        parameterFields.includes(key) || key.startsWith("x-");
      const schema = fields.filter((field) => !isKept(field));
      return {
        ...Object.fromEntries(fields.filter(isKept)),
        schema: rewritten(Object.fromEntries(schema), 0),
      };
    });

/** A value with references to where version 3 has what they name. */
function rewritten(value: unknown, depth: number): unknown {
  if (depth > maxDepth) throw new Error("the document is too deep");
  if (Array.isArray(value))
    return value.map((one) => rewritten(one, depth + 1));
  const object = asObject(value);
  if (!object) return value;
  return Object.fromEntries(
    Object.entries(object).map(([key, one]) => [
      key,
      key === "$ref" && typeof one === "string"
        ? one.replace(/^#\/definitions\//, "#/components/schemas/")
        : rewritten(one, depth + 1),
    ]),
  );
}
