// From what users write (po, deploy/web, deployments.apps) to resource types: the built-in catalogue first, then the
// server's discovery for custom resources.
import { builtinCatalogue, type Catalogue } from "../../api/catalogue.ts";
import {
  apiVersionsOf,
  apiVersionOf,
  parseApiVersion,
  type DescribedGroup,
} from "../../api/object.ts";
import { UsageError } from "../options/table.ts";
import type { CtlHttp } from "./http.ts";

export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly builtin: boolean;
}

interface DiscoveredResource {
  name: string;
  singularName?: string;
  namespaced: boolean;
  kind: string;
  verbs?: string[];
  shortNames?: string[];
  categories?: string[];
}

export class ResourceNames {
  #catalogue: Catalogue | undefined;
  #discovered: Promise<ResourceType[]> | undefined;

  constructor(private readonly http: CtlHttp | undefined) {}

  /** Those of the project's own catalogue; no server is asked. */
  builtin(): readonly ResourceType[] {
    this.#catalogue ??= builtinCatalogue();
    const catalogue = this.#catalogue;
    return [...catalogue.groupVersions()]
      .flatMap(({ group, version }) => catalogue.resources(group, version))
      .filter(({ verbs }) => verbs.includes("get") || verbs.includes("create"))
      .map((info) => ({ ...info, builtin: true }));
  }

  /** Everything the server says it serves, in its order. */
  discovered(): Promise<ResourceType[]> {
    this.#discovered ??= this.#discover();
    return this.#discovered;
  }

  async #discover(): Promise<ResourceType[]> {
    if (!this.http) return [];
    const http = this.http;
    const { groups } = await http.json<{ groups: DescribedGroup[] }>({
      path: "/apis",
    });
    const lists = await Promise.all(
      ["v1", ...groups.flatMap(apiVersionsOf)].map(async (groupVersion) => {
        const path =
          groupVersion === "v1" ? "/api/v1" : `/apis/${groupVersion}`;
        const { resources } = await http
          .json<{ resources: DiscoveredResource[] }>({ path })
          .catch(() => ({ resources: [] as DiscoveredResource[] }));
        return resources
          .filter(({ name }) => !name.includes("/"))
          .map((each): ResourceType => ({
            ...parseApiVersion(groupVersion),
            resource: each.name,
            kind: each.kind,
            namespaced: each.namespaced,
            singular: each.singularName || each.kind.toLowerCase(),
            shortNames: each.shortNames ?? [],
            categories: each.categories ?? [],
            verbs: each.verbs ?? [],
            builtin:
              this.#catalogue?.resource(
                ...(Object.values(parseApiVersion(groupVersion)) as [
                  string,
                  string,
                ]),
                each.name,
              ) !== undefined,
          }));
      }),
    );
    const first = new Map<string, ResourceType>();
    for (const each of lists.flat()) {
      const key = `${each.group}/${each.resource}`;
      if (!first.has(key)) first.set(key, each);
    }
    return [...first.values()];
  }

  /** A type by a word: plural, singular, short name or kind, each with an optional .group or .version.group. */
  async byWord(word: string): Promise<ResourceType> {
    const found =
      match(this.builtin(), word) ??
      match(await this.discovered().catch(() => []), word);
    if (!found)
      throw new UsageError(`the server doesn't have a resource type "${word}"`);
    return found;
  }

  /** The types of a word that may be a category (all) or a comma-separated list. */
  async byWords(words: string): Promise<ResourceType[]> {
    const types: ResourceType[] = [];
    for (const word of words.split(",")) {
      const category = this.builtin().filter(({ categories }) =>
        categories.includes(word),
      );
      types.push(
        ...(category.length > 0 ? category : [await this.byWord(word)]),
      );
    }
    return types;
  }

  async byKind(apiVersion: string, kind: string): Promise<ResourceType> {
    const same = (type: ResourceType): boolean =>
      type.kind === kind && apiVersionOf(type) === apiVersion;
    const found =
      this.builtin().find(same) ??
      (await this.discovered().catch(() => [])).find(same);
    if (!found)
      throw new UsageError(
        `no matches for kind "${kind}" in version "${apiVersion}"`,
      );
    return found;
  }
}

function match(
  types: readonly ResourceType[],
  word: string,
): ResourceType | undefined {
  const lower = word.toLowerCase();
  const dot = lower.indexOf(".");
  const name = dot < 0 ? lower : lower.slice(0, dot);
  const rest = dot < 0 ? undefined : lower.slice(dot + 1);
  return types.find(
    (type) =>
      (type.resource === name ||
        type.singular === name ||
        type.shortNames.includes(name) ||
        type.kind.toLowerCase() === name) &&
      (rest === undefined ||
        rest === type.group ||
        rest === `${type.version}.${type.group}` ||
        rest === type.version),
  );
}

/** `/apis/apps/v1/namespaces/x/deployments/y`; an empty namespace means all. */
export function pathOf(
  type: ResourceType,
  namespace: string,
  name = "",
  subresource = "",
): string {
  const root =
    type.group === ""
      ? `/api/${type.version}`
      : `/apis/${type.group}/${type.version}`;
  const scope =
    type.namespaced && namespace !== ""
      ? `/namespaces/${encodeURIComponent(namespace)}`
      : "";
  return `${root}${scope}/${type.resource}${name ? `/${encodeURIComponent(name)}` : ""}${subresource ? `/${subresource}` : ""}`;
}

/** `deployment.apps/web` as commands print it. */
export function shownName(type: ResourceType, name: string): string {
  return `${type.singular || type.kind.toLowerCase()}${type.group ? `.${type.group}` : ""}/${name}`;
}
