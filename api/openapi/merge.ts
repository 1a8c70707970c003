// OpenAPI v2 documents of several servers as one. What two documents call by one name and mean differently is renamed in
// the later one; a path belongs to the first that has it.
// Worked example: `Pod` of both, of different shape: the later one's becomes `Pod_v2`, and its references follow.
import { sameJson } from "../objects/json-equality.ts";
import type { JsonObject } from "./definitions.ts";

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

/** Adds what `other` has to `document`, which is changed; `other` is not. */
export function addDocument(document: JsonObject, other: JsonObject): void {
  const renamed: Record<Kinds, Map<string, string>> = {
    definitions: new Map(),
    parameters: new Map(),
  };
  for (const kind of ["definitions", "parameters"] as const) {
    const present = partOf(document, kind);
    for (const [name, value] of Object.entries(partOf(other, kind))) {
      let free = name;
      for (
        let number = 2;
        Object.hasOwn(present, free) && !sameJson(present[free], value);
        number++
      )
        free = `${name}_v${number}`;
      if (free !== name) renamed[kind].set(name, free);
    }
  }
  const pass = (value: unknown): unknown => rewritten(value, renamed);
  for (const kind of ["definitions", "parameters"] as const) {
    const present = { ...partOf(document, kind) };
    for (const [name, value] of Object.entries(partOf(other, kind)))
      addOwn(present, renamed[kind].get(name) ?? name, () => pass(value));
    document[kind] = present;
  }
  const paths = { ...partOf(document, "paths") };
  for (const [path, item] of Object.entries(partOf(other, "paths")))
    addOwn(paths, path, () => pass(item));
  document["paths"] = paths;
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

function addOwn(object: JsonObject, name: string, make: () => unknown): void {
  if (!Object.hasOwn(object, name)) setOwn(object, name, make());
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
