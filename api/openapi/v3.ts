// OpenAPI v3 documents: one a group version, small ones for the roots, and the index that names them with their hash.
import type { Catalogue } from "../catalogue.ts";
import {
  KIND_EXTENSION,
  reference,
  sortedKind,
  type JsonObject,
} from "./definitions.ts";
import { DocumentMaps, jsonEntry, jsonObject } from "./document.ts";
import { Fragment, Fragments, type Definitions } from "./fragments.ts";
import {
  discoveryPaths,
  resourcePaths,
  rootPaths,
  type FeatureGates,
  type Operation,
  type PathItem,
} from "./operations.ts";
import type { Parameter } from "./parameters.ts";
import type { Steps } from "../queueing/steps.ts";
import { DESCRIPTIONS } from "./v2.ts";

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

const beforePaths = `${JSON.stringify({
  openapi: "3.0.0",
  info: { title: "Kubernetes", version: "1.32" },
}).slice(0, -1)},"paths":`;
const afterSchemas = `,${JSON.stringify({
  securitySchemes: {
    BearerToken: { type: "apiKey", name: "authorization", in: "header" },
  },
}).slice(1)}}`;

/** What is kept of the documents. */
export const v3Fragments = (): Fragments =>
  new Fragments({
    render: (item, { types }) => pathItem(item, types),
    path: jsonEntry,
    definition: jsonEntry,
  });

/** The document of one group version. */
export function* openApiV3(
  catalogue: Catalogue,
  { group, version }: { group: string; version: string },
  definitionOf: Definitions,
  gates: FeatureGates,
  fragments: Fragments,
): Steps<Fragment[]> {
  const maps = new DocumentMaps(fragments);
  maps.addPaths(discoveryPaths(group, version, gates));
  for (const resource of catalogue.resources(group, version)) {
    maps.addResource(resource, () => resourcePaths(resource, gates));
    yield;
  }
  return yield* written(maps, definitionOf);
}

/** The documents of the roots: `api`, `apis`, `apis/<group>`, `version`. */
export function rootDocuments(
  catalogue: Catalogue,
  definitionOf: Definitions,
  fragments: Fragments,
): Map<string, () => Steps<Fragment[]>> {
  const document = (item: PathItem): Steps<Fragment[]> => {
    const maps = new DocumentMaps(fragments);
    maps.addPaths([item]);
    return written(maps, definitionOf);
  };
  return new Map(
    rootPaths(catalogue).map((item) => [
      item.path.slice(1, -1),
      () => document(item),
    ]),
  );
}

function* written(
  maps: DocumentMaps,
  definitionOf: Definitions,
): Steps<Fragment[]> {
  yield* maps.define(definitionOf);
  const { paths, definitions } = yield* maps.entries();
  return [
    ...jsonObject(beforePaths, paths),
    ...jsonObject(`,"components":{"schemas":`, definitions),
    new Fragment(afterSchemas),
  ];
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
