// OpenAPI v3 documents: one a group version, small ones for the roots, and the index that names them with their hash.
import type { Catalogue } from "../catalogue.ts";
import {
  closure,
  definitionOf,
  KIND_EXTENSION,
  reference,
  sortedKind,
  sortKeys,
  type JsonObject,
} from "./definitions.ts";
import {
  pathsOf,
  rootPaths,
  type FeatureGates,
  type Operation,
  type Parameter,
  type PathItem,
} from "./operations.ts";
import type { Steps } from "../queueing/steps.ts";
import { DESCRIPTIONS, type CustomSchemas } from "./v2.ts";

/** `api/v1`, `apis/apps/v1`: the document's name in the index. */
export function documentName({
  group,
  version,
}: {
  group: string;
  version: string;
}): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

/** The document of one group version. */
export function* openApiV3(
  catalogue: Catalogue,
  group: string,
  version: string,
  custom: CustomSchemas = () => undefined,
  gates: FeatureGates = {},
): Steps<JsonObject> {
  const items = yield* pathsOf(catalogue, group, version, gates);
  return yield* document(items, custom);
}

/** The documents of the roots: `api`, `apis`, `apis/<group>`, `version`. */
export function rootDocuments(
  catalogue: Catalogue,
): Map<string, () => Steps<JsonObject>> {
  return new Map(
    rootPaths(catalogue).map((item) => [
      item.path.slice(1, -1),
      () => document([item], () => undefined),
    ]),
  );
}

function* document(
  items: readonly PathItem[],
  custom: CustomSchemas,
): Steps<JsonObject> {
  const types = new Set<string>();
  const paths: JsonObject = {};
  for (const item of items) {
    paths[item.path] = pathItem(item, types);
    yield;
  }
  const schemas = yield* closure(
    types,
    3,
    (name) => custom(name) ?? definitionOf(name, 3),
  );
  for (const name of types) schemas[name] ??= { type: "object" };
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "1.32" },
    paths: sortKeys(paths),
    components: {
      schemas: sortKeys(schemas),
      securitySchemes: {
        BearerToken: { type: "apiKey", name: "authorization", in: "header" },
      },
    },
  };
}

function pathItem(item: PathItem, types: Set<string>): JsonObject {
  const rendered: JsonObject = {};
  for (const entry of item.operations)
    rendered[entry.method] = operation(entry, types);
  if (item.parameters.length)
    rendered["parameters"] = item.parameters.map(parameter);
  return rendered;
}

function operation(entry: Operation, types: Set<string>): JsonObject {
  if (entry.body) types.add(entry.body);
  if (entry.answer) types.add(entry.answer);
  const schema = entry.answer ? reference(entry.answer, 3) : { type: "string" };
  const content = (
    mediaTypes: readonly string[],
    value: JsonObject,
  ): JsonObject =>
    Object.fromEntries(
      mediaTypes.map((mediaType) => [mediaType, { schema: value }]),
    );
  const responses: JsonObject = {};
  for (const code of entry.codes)
    responses[code] = {
      description: DESCRIPTIONS[code],
      content: content(entry.produces, schema),
    };
  responses["401"] = { description: "Unauthorized" };
  return {
    tags: [entry.tag],
    operationId: entry.id,
    ...(entry.parameters.length
      ? { parameters: entry.parameters.map(parameter) }
      : {}),
    ...(entry.body
      ? {
          requestBody: {
            content: content(entry.consumes, reference(entry.body, 3)),
            ...(entry.bodyRequired ? { required: true } : {}),
          },
        }
      : {}),
    responses,
    ...(entry.action ? { "x-kubernetes-action": entry.action } : {}),
    ...(entry.kind ? { [KIND_EXTENSION]: sortedKind(entry.kind) } : {}),
  };
}

function parameter(entry: Parameter): JsonObject {
  return {
    name: entry.name,
    in: entry.in,
    ...(entry.in === "path" ? { required: true } : {}),
    schema: { type: entry.type, uniqueItems: true },
  };
}
