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
import { encodeDocument, encodePath, encodeSchema } from "./gnostic-v3.ts";
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

const head = {
  openapi: "3.0.0",
  info: { title: "Kubernetes", version: "1.32" },
};
const components = {
  securitySchemes: {
    BearerToken: { type: "apiKey", name: "authorization", in: "header" },
  },
};

/** How documents are written. */
export interface DocumentForm {
  /** An entry of the map of paths. */
  path(path: string, value: JsonObject): Uint8Array | string;
  /** An entry of the map of schemas. */
  definition(name: string, schema: JsonObject): Uint8Array | string;
  /** @param head `openapi` and `info` @param others of the components, beside the schemas */
  document(
    head: JsonObject,
    paths: readonly Fragment[],
    schemas: readonly Fragment[],
    others: JsonObject,
  ): Fragment[];
}

export const jsonForm: DocumentForm = {
  path: jsonEntry,
  definition: jsonEntry,
  document: (head, paths, schemas, others) => [
    ...jsonObject(`${JSON.stringify(head).slice(0, -1)},"paths":`, paths),
    ...jsonObject(`,"components":{"schemas":`, schemas),
    new Fragment(
      Object.keys(others).length > 0
        ? `,${JSON.stringify(others).slice(1)}}`
        : "}}",
    ),
  ],
};

export const protobufForm: DocumentForm = {
  path: encodePath,
  definition: encodeSchema,
  document: encodeDocument,
};

/** What is kept of the documents in a form. */
export class V3Fragments extends Fragments {
  constructor(readonly written: DocumentForm) {
    super({
      render: (item, { types }) => pathItem(item, types),
      path: written.path,
      definition: written.definition,
    });
  }
}

/** The document of one group version. */
export function* openApiV3(
  catalogue: Catalogue,
  { group, version }: { group: string; version: string },
  definitionOf: Definitions,
  gates: FeatureGates,
  fragments: V3Fragments,
): Steps<Fragment[]> {
  const maps = new DocumentMaps(fragments);
  maps.addPaths(discoveryPaths(group, version, gates));
  for (const resource of catalogue.resources(group, version)) {
    maps.addResource(resource, () => resourcePaths(resource, gates));
    yield;
  }
  return yield* written(maps, definitionOf, fragments);
}

/** The documents of the roots: `api`, `apis`, `apis/<group>`, `version`. */
export function rootDocuments(
  catalogue: Catalogue,
  definitionOf: Definitions,
  fragments: V3Fragments,
): Map<string, () => Steps<Fragment[]>> {
  const document = (item: PathItem): Steps<Fragment[]> => {
    const maps = new DocumentMaps(fragments);
    maps.addPaths([item]);
    return written(maps, definitionOf, fragments);
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
  fragments: V3Fragments,
): Steps<Fragment[]> {
  yield* maps.define(definitionOf);
  const { paths, definitions } = yield* maps.entries();
  return fragments.written.document(head, paths, definitions, components);
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
