// The OpenAPI v2 document of everything a catalogue serves, and its two forms.
import { encodeDefinition, encodeGnostic, encodePath } from "./gnostic-v2.ts";
import type { Catalogue } from "../catalogue.ts";
import {
  KIND_EXTENSION,
  reference,
  sortedKind,
  type JsonObject,
} from "./definitions.ts";
import { DocumentMaps, jsonEntry, jsonObject } from "./document.ts";
import {
  Fragment,
  Fragments,
  type Definitions,
  type PathContext,
} from "./fragments.ts";
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

/** Parameters that tools look for in place are written there; the rest are references. */
const IN_PLACE = new Set(["dryRun", "fieldValidation", "name"]);

const head = {
  swagger: "2.0",
  info: { title: "Kubernetes", version: "1.32" },
};
const tail = {
  securityDefinitions: {
    BearerToken: { in: "header", name: "authorization", type: "apiKey" },
  },
  security: [{ BearerToken: [] }],
};

/** What is kept of the documents in JSON. */
export const jsonFragments = (): Fragments =>
  new Fragments({ render: pathItem, path: jsonEntry, definition: jsonEntry });

/** What is kept of those in protobuf. */
export const gnosticFragments = (): Fragments =>
  new Fragments({
    render: pathItem,
    path: encodePath,
    definition: encodeDefinition,
  });

/** @param fragments of the form that the document will be written in */
export function* openApiV2(
  catalogue: Catalogue,
  definitionOf: Definitions,
  gates: FeatureGates,
  fragments: Fragments,
): Steps<DocumentMaps> {
  const maps = new DocumentMaps(fragments);
  for (const item of rootPaths(catalogue)) {
    maps.addPaths([item]);
    yield;
  }
  for (const { group, version } of catalogue.groupVersions()) {
    maps.addPaths(discoveryPaths(group, version, gates));
    for (const resource of catalogue.resources(group, version)) {
      maps.addResource(resource, () => resourcePaths(resource, gates));
      yield;
    }
  }
  yield* maps.define(definitionOf);
  return maps;
}

export function* writeJson(maps: DocumentMaps): Steps<Fragment[]> {
  const { paths, definitions, parameters } = yield* maps.entries();
  return [
    ...jsonObject(`${JSON.stringify(head).slice(0, -1)},"paths":`, paths),
    ...jsonObject(`,"definitions":`, definitions),
    new Fragment(
      `,"parameters":${JSON.stringify(parameters)},${JSON.stringify(tail).slice(1)}`,
    ),
  ];
}

export function* writeProtobuf(maps: DocumentMaps): Steps<Fragment[]> {
  const { parameters, ...entries } = yield* maps.entries();
  return encodeGnostic({ ...head, parameters, ...tail }, entries);
}

function pathItem(item: PathItem, context: PathContext): JsonObject {
  const rendered: JsonObject = {};
  for (const entry of item.operations)
    rendered[entry.method] = operation(entry, context);
  if (item.parameters.length)
    rendered["parameters"] = item.parameters.map((entry) =>
      parameter(entry, context),
    );
  return rendered;
}

function operation(entry: Operation, context: PathContext): JsonObject {
  const { types } = context;
  const parameters: JsonObject[] = [];
  if (entry.body) {
    types.add(entry.body);
    parameters.push({
      in: "body",
      name: "body",
      ...(entry.bodyRequired ? { required: true } : {}),
      schema: reference(entry.body, 2),
    });
  }
  for (const one of entry.parameters) parameters.push(parameter(one, context));
  if (entry.answer) types.add(entry.answer);
  const schema = entry.answer ? reference(entry.answer, 2) : { type: "string" };
  const responses: JsonObject = {};
  for (const code of entry.codes)
    responses[code] = { description: DESCRIPTIONS[code], schema };
  responses["401"] = { description: "Unauthorized" };
  return {
    consumes: entry.consumes,
    operationId: entry.id,
    ...(parameters.length ? { parameters } : {}),
    produces: entry.produces,
    responses,
    schemes: ["https"],
    tags: [entry.tag],
    ...(entry.action ? { "x-kubernetes-action": entry.action } : {}),
    ...(entry.kind ? { [KIND_EXTENSION]: sortedKind(entry.kind) } : {}),
  };
}

export const DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
};

function parameter(entry: Parameter, { parameters }: PathContext): JsonObject {
  const rendered = {
    in: entry.in,
    name: entry.name,
    ...(entry.in === "path" ? { required: true } : {}),
    type: entry.type,
    uniqueItems: true,
  };
  if (IN_PLACE.has(entry.name)) return rendered;
  const key = entry.in === "path" ? `${entry.name}-path` : entry.name;
  if (!parameters.has(key)) parameters.set(key, rendered);
  return { $ref: `#/parameters/${key}` };
}
