// The OpenAPI v2 document of everything a catalogue serves.
import type { Catalogue } from "../catalogue.ts";
import { apiVersionOf } from "../object.ts";
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

/** Schemas of kinds that are not built in, by type name (see `typeNameOf`); version 2 or 3 form is the caller's. */
export type CustomSchemas = (typeName: string) => JsonObject | undefined;

/** Parameters that tools look for in place are written there; the rest are references. */
const IN_PLACE = new Set(["dryRun", "fieldValidation", "name"]);

/** What a group version adds to the document. */
interface V2Part {
  readonly paths: JsonObject;
  readonly parameters: JsonObject;
  readonly types: ReadonlySet<string>;
}

/**
 * What is kept between two documents: as long as a group version does not change, its part is the same object, and so is
 * every definition, so that what is made of them can be kept too.
 */
export class V2Parts {
  /** By apiVersion; "" for the roots. */
  readonly parts = new Map<string, V2Part>();
  readonly definitions = new Map<string, JsonObject>();

  drop(apiVersion: string): void {
    this.parts.delete(apiVersion);
    this.parts.delete("");
  }
}

export function* openApiV2(
  catalogue: Catalogue,
  custom: CustomSchemas = () => undefined,
  gates: FeatureGates = {},
  kept = new V2Parts(),
): Steps<JsonObject> {
  const parts = [yield* partOf(kept, "", () => rootPaths(catalogue))];
  for (const info of catalogue.groupVersions()) {
    const { group, version } = info;
    const made = kept.parts.get(apiVersionOf(info));
    const items = made ? [] : yield* pathsOf(catalogue, group, version, gates);
    parts.push(yield* partOf(kept, apiVersionOf(info), () => items));
  }
  const shared: JsonObject = {};
  const types = new Set<string>();
  const paths: JsonObject = {};
  for (const part of parts) {
    Object.assign(paths, part.paths);
    Object.assign(shared, part.parameters);
    for (const type of part.types) types.add(type);
    yield;
  }
  const builtin = (name: string): JsonObject | undefined => {
    const known = kept.definitions.get(name) ?? definitionOf(name, 2);
    if (known) kept.definitions.set(name, known);
    return known;
  };
  const definitions = yield* closure(
    types,
    2,
    (name) => custom(name) ?? builtin(name),
  );
  for (const name of types) definitions[name] ??= { type: "object" };
  return {
    swagger: "2.0",
    info: { title: "Kubernetes", version: "1.32" },
    paths: sortKeys(paths),
    definitions: sortKeys(definitions),
    parameters: sortKeys(shared),
    securityDefinitions: {
      BearerToken: { in: "header", name: "authorization", type: "apiKey" },
    },
    security: [{ BearerToken: [] }],
  };
}

function* partOf(
  { parts }: V2Parts,
  apiVersion: string,
  items: () => readonly PathItem[],
): Steps<V2Part> {
  const known = parts.get(apiVersion);
  if (known) return known;
  const paths: JsonObject = {};
  const parameters: JsonObject = {};
  const types = new Set<string>();
  for (const item of items()) {
    paths[item.path] = pathItem(item, parameters, types);
    yield;
  }
  const part = { paths, parameters, types };
  parts.set(apiVersion, part);
  return part;
}

function pathItem(
  item: PathItem,
  shared: JsonObject,
  types: Set<string>,
): JsonObject {
  const rendered: JsonObject = {};
  for (const entry of item.operations)
    rendered[entry.method] = operation(entry, shared, types);
  if (item.parameters.length)
    rendered["parameters"] = item.parameters.map((entry) =>
      parameter(entry, shared),
    );
  return rendered;
}

function operation(
  entry: Operation,
  shared: JsonObject,
  types: Set<string>,
): JsonObject {
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
  for (const one of entry.parameters) parameters.push(parameter(one, shared));
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

function parameter(entry: Parameter, shared: JsonObject): JsonObject {
  const rendered = {
    in: entry.in,
    name: entry.name,
    ...(entry.in === "path" ? { required: true } : {}),
    type: entry.type,
    uniqueItems: true,
  };
  if (IN_PLACE.has(entry.name)) return rendered;
  const key = entry.in === "path" ? `${entry.name}-path` : entry.name;
  shared[key] ??= rendered;
  return { $ref: `#/parameters/${key}` };
}
