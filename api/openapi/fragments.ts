// What documents are put together of: the bytes of their paths and definitions, each kept with its digest from one document to
// the next for as long as what it was made of does not change. So a document that is made again costs what has changed in
// it, and documents share their bytes; the trees that bytes are made of are not kept.
import { createHash } from "node:crypto";
import type { ResourceInfo } from "../catalogue.ts";
import { referencesIn, type JsonObject } from "./definitions.ts";
import type { Steps } from "../queueing/steps.ts";
import type { PathItem } from "./operations.ts";

/** Bytes of a document. */
export class Fragment {
  readonly bytes: Uint8Array;
  /** SHA-512 in base64. */
  readonly digest: string;

  constructor(content: Uint8Array | string) {
    this.bytes = typeof content === "string" ? Buffer.from(content) : content;
    this.digest = createHash("sha512").update(this.bytes).digest("base64");
  }
}

/** Makes the schema of one type; the same function for as long as the schema does not change. */
export type Definition = () => Steps<Readonly<JsonObject>>;

/** The definition of a type; undefined: it has none. */
export type Definitions = (typeName: string) => Definition | undefined;

/** What rendering a path finds beside it. */
export interface PathContext {
  /** Names of types. */
  readonly types: Set<string>;
  /** Of the whole document, in version 2. */
  readonly parameters: Map<string, JsonObject>;
}

/** A version of the documents in an encoding. */
interface Form {
  /** The path's value in the document. */
  render(item: PathItem, context: PathContext): JsonObject;
  /** As an entry of the map of paths. */
  path(path: string, value: JsonObject): Uint8Array | string;
  /** As an entry of the map of definitions. */
  definition(name: string, schema: JsonObject): Uint8Array | string;
}

/** What a resource adds to a document. */
export interface ResourceParts extends PathContext {
  readonly paths: readonly (readonly [path: string, fragment: Fragment])[];
}

interface DefinitionParts {
  readonly fragment: Fragment;
  /** Names of the types that it refers to. */
  readonly references: readonly string[];
}

export class Fragments {
  readonly #resources = new WeakMap<ResourceInfo, ResourceParts>();
  readonly #definitions = new WeakMap<Definition, DefinitionParts>();
  readonly #values = new WeakMap<JsonObject, Fragment>();

  constructor(private readonly form: Form) {}

  /** @param items of the resource; called when they are not known */
  resource(
    resource: ResourceInfo,
    items: () => readonly PathItem[],
  ): ResourceParts {
    let parts = this.#resources.get(resource);
    if (!parts) this.#resources.set(resource, (parts = this.paths(items())));
    return parts;
  }

  paths(items: readonly PathItem[]): ResourceParts {
    const context = { types: new Set<string>(), parameters: new Map() };
    const paths = items.map((item) => {
      const value = this.form.render(item, context);
      const fragment = new Fragment(this.form.path(item.path, value));
      return [item.path, fragment] as const;
    });
    return { ...context, paths };
  }

  *definition(name: string, definition: Definition): Steps<DefinitionParts> {
    let parts = this.#definitions.get(definition);
    if (!parts) {
      const schema = yield* definition();
      parts = {
        fragment: new Fragment(this.form.definition(name, schema)),
        references: referencesIn(schema),
      };
      this.#definitions.set(definition, parts);
    }
    return parts;
  }

  *fragment(name: string, definition: Definition): Steps<Fragment> {
    return (yield* this.definition(name, definition)).fragment;
  }

  /** A path's value that another server made. It never changes. */
  path(path: string, value: JsonObject): Fragment {
    let fragment = this.#values.get(value);
    if (!fragment)
      this.#values.set(
        value,
        (fragment = new Fragment(this.form.path(path, value))),
      );
    return fragment;
  }
}
