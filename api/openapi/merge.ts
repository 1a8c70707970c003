// OpenAPI v2 documents of several servers as one. What two documents call by one name and mean differently is renamed in
// the later one; a path belongs to the first that has it.
// Worked example: `Pod` of both, of different shape: the later one's becomes `Pod_v2`, and its references follow.
import { sameJson } from "../objects/json-equality.ts";
import { finish, oneStep } from "../queueing/steps.ts";
import type { JsonObject } from "./definitions.ts";
import type { Definition } from "./fragments.ts";

type Kinds = "definitions" | "parameters";

const prefixes: Readonly<Record<Kinds, string>> = {
  definitions: "#/definitions/",
  parameters: "#/parameters/",
};
/** Deeper ones are no schemas that a server has. */
const maxDepth = 200;

/** The document's paths below `prefix`, and what they refer to. Never changes its argument. Throws for what is none. */
export function documentBelow(
  document: JsonObject,
  prefix: string,
): JsonObject {
  const paths: JsonObject = {};
  for (const [path, item] of Object.entries(partOf(document, "paths")))
    if (`${path}/`.startsWith(prefix)) setOwn(paths, path, item);
  const found: Record<Kinds, JsonObject> = { definitions: {}, parameters: {} };
  const open: unknown[] = [paths];
  for (let at = 0; at < open.length; at++)
    eachReference(open[at], (kind, name) => {
      const all = partOf(document, kind);
      if (Object.hasOwn(found[kind], name) || !Object.hasOwn(all, name)) return;
      setOwn(found[kind], name, all[name]);
      open.push(all[name]);
    });
  return { ...document, paths, ...found };
}

/** The maps of a document that others are added to. */
export interface MergedMaps {
  readonly paths: Map<string, unknown>;
  readonly definitions: Map<string, Definition>;
  readonly parameters: Map<string, JsonObject>;
}

/** Adds what `other` has to `document`; `other` is not changed. */
export function addDocument(document: MergedMaps, other: JsonObject): void {
  const renamed: Record<Kinds, Map<string, string>> = {
    definitions: new Map(),
    parameters: new Map(),
  };
  const added: Record<Kinds, Map<string, JsonObject>> = {
    definitions: new Map(),
    parameters: new Map(),
  };
  const present = (kind: Kinds, name: string) =>
    added[kind].get(name) ??
    (kind === "parameters"
      ? document.parameters.get(name)
      : schemaOf(document.definitions.get(name)));
  for (const kind of ["definitions", "parameters"] as const)
    for (const [name, value] of Object.entries(partOf(other, kind))) {
      let free = name;
      let known = present(kind, free);
      for (let number = 2; known && !sameJson(known, value); number++) {
        free = `${name}_v${number}`;
        known = present(kind, free);
      }
      if (free !== name) renamed[kind].set(name, free);
      if (!known) added[kind].set(free, value as JsonObject);
    }
  // Values that stay the same are found again in the next document.
  const same = renamed.definitions.size + renamed.parameters.size === 0;
  const pass = (value: unknown): JsonObject =>
    (same ? value : rewritten(value, renamed)) as JsonObject;
  for (const [name, value] of added.definitions)
    document.definitions.set(name, definitionOf(pass(value)));
  for (const [name, value] of added.parameters)
    document.parameters.set(name, pass(value));
  for (const [path, item] of Object.entries(partOf(other, "paths")))
    if (!document.paths.has(path)) document.paths.set(path, pass(item));
}

const schemaOf = (definition: Definition | undefined) =>
  definition && finish(definition());

const definitions = new WeakMap<JsonObject, Definition>();

/** The same function for the same schema. */
function definitionOf(schema: JsonObject): Definition {
  let definition = definitions.get(schema);
  if (!definition) {
    definition = () => oneStep(() => schema);
    definitions.set(schema, definition);
  }
  return definition;
}

function partOf(document: JsonObject, part: string): JsonObject {
  const value = document[part] ?? {};
  if (isObject(value)) return value;
  throw new Error(`${part} is no object`);
}

/** Also for names that every object has. */
function setOwn(object: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(object, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function eachReference(
  value: unknown,
  found: (kind: Kinds, name: string) => void,
  depth = 0,
): void {
  if (depth > maxDepth) throw new Error("the document is too deep");
  if (Array.isArray(value))
    for (const one of value) eachReference(one, found, depth + 1);
  else if (isObject(value))
    for (const [key, one] of Object.entries(value))
      if (key === "$ref" && typeof one === "string") {
        const [kind, name] = referenceOf(one);
        if (kind) found(kind, name);
      } else eachReference(one, found, depth + 1);
}

function rewritten(
  value: unknown,
  renamed: Readonly<Record<Kinds, ReadonlyMap<string, string>>>,
): unknown {
  if (Array.isArray(value)) return value.map((one) => rewritten(one, renamed));
  if (!isObject(value)) return value;
  const copy: JsonObject = {};
  for (const [key, one] of Object.entries(value)) {
    let next = one;
    if (key === "$ref" && typeof one === "string") {
      const [kind, name] = referenceOf(one);
      const to = kind && renamed[kind].get(name);
      if (to !== undefined) next = prefixes[kind!] + to;
    } else next = rewritten(one, renamed);
    setOwn(copy, key, next);
  }
  return copy;
}

function referenceOf(text: string): [Kinds | undefined, string] {
  for (const kind of ["definitions", "parameters"] as const)
    if (text.startsWith(prefixes[kind]))
      return [kind, text.slice(prefixes[kind].length)];
  return [undefined, ""];
}
