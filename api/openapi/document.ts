// A document before it is written: its maps, whose entries are fragments or become fragments, and their text as JSON.
import type { ResourceInfo } from "../catalogue.ts";
import { oneStep, type Steps } from "../queueing/steps.ts";
import { sortKeys, type JsonObject } from "./definitions.ts";
import {
  Fragment,
  type Definition,
  type Definitions,
  type Fragments,
  type ResourceParts,
} from "./fragments.ts";
import type { PathItem } from "./operations.ts";

/** Entries that are looked at in one step. */
const entriesPerStep = 64;

/** In the order of their keys. */
interface DocumentEntries {
  readonly paths: readonly Fragment[];
  readonly definitions: readonly Fragment[];
  readonly parameters: JsonObject;
}

export class DocumentMaps {
  /** Those of other servers are the paths' values. */
  readonly paths = new Map<string, Fragment | JsonObject>();
  readonly definitions = new Map<string, Definition>();
  readonly parameters = new Map<string, JsonObject>();
  /** Those that paths name. */
  readonly #types = new Set<string>();

  /** @param fragments of the form that the document will be written in */
  constructor(private readonly fragments: Fragments) {}

  addPaths(items: readonly PathItem[]): void {
    this.#add(this.fragments.paths(items));
  }

  /** @param items the resource's paths; called when they are not known */
  addResource(resource: ResourceInfo, items: () => readonly PathItem[]): void {
    this.#add(this.fragments.resource(resource, items));
  }

  #add(added: ResourceParts): void {
    for (const [path, fragment] of added.paths) this.paths.set(path, fragment);
    for (const [name, value] of added.parameters)
      this.parameters.set(name, value);
    for (const type of added.types) this.#types.add(type);
  }

  /** Adds the definitions of the types that paths name, and of all that these refer to. */
  *define(definitionOf: Definitions): Steps<void> {
    const open = [...this.#types];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      if (this.definitions.has(name)) continue;
      const definition =
        definitionOf(name) ?? (this.#types.has(name) ? anyObject : undefined);
      if (!definition) continue;
      this.definitions.set(name, definition);
      const { references } = yield* this.fragments.definition(name, definition);
      open.push(...references);
      yield;
    }
  }

  *entries(): Steps<DocumentEntries> {
    const { fragments } = this;
    return {
      paths: yield* sorted(this.paths, (path, value) =>
        value instanceof Fragment ? value : fragments.path(path, value),
      ),
      definitions: yield* sorted(this.definitions, (name, definition) =>
        fragments.fragment(name, definition),
      ),
      parameters: sortKeys(Object.fromEntries(this.parameters)),
    };
  }
}

/** Of a type without a definition. */
const anyObject: Definition = () => oneStep(() => ({ type: "object" }));

function* sorted<T>(
  map: ReadonlyMap<string, T>,
  fragmentOf: (key: string, value: T) => Fragment | Steps<Fragment>,
): Steps<Fragment[]> {
  const fragments: Fragment[] = [];
  for (const key of [...map.keys()].sort()) {
    const made = fragmentOf(key, map.get(key)!);
    fragments.push(made instanceof Fragment ? made : yield* made);
    if (fragments.length % entriesPerStep === 0) yield;
  }
  return fragments;
}

/** An entry of an object in JSON, behind another one. */
export const jsonEntry = (key: string, value: JsonObject): string =>
  `,${JSON.stringify(key)}:${JSON.stringify(value)}`;

/** An object of entries that `jsonEntry` wrote, behind the text that comes before it. */
export function jsonObject(
  before: string,
  [first, ...others]: readonly Fragment[],
): Fragment[] {
  if (!first) return [new Fragment(`${before}{}`)];
  return [
    new Fragment(`${before}{`),
    new Fragment(first.bytes.subarray(1)),
    ...others,
    new Fragment("}"),
  ];
}
