// The resource catalogue: which resources exist, under which names, with which verbs and subresources. Filled from
// facts/resources.json (Kubernetes 1.32); custom and aggregated resources are added at run time.
import facts from "./facts/resources.json";
import { apiVersionOf } from "./object.ts";

export interface SubresourceInfo {
  readonly name: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  /** Only when it differs from the parent's. */
  readonly apiVersion?: string;
  /** An alpha gate, off by default: absent from discovery unless on. */
  readonly featureGate?: string;
}

export interface ResourceInfo {
  readonly group: string;
  readonly version: string;
  /** Plural, as in URLs. */
  readonly resource: string;
  readonly kind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly storageVersion?: string;
  readonly storageVersionHash?: string;
  /** e.g. /registry/pods */
  readonly etcdPrefix?: string;
  readonly subresources: readonly SubresourceInfo[];
  readonly featureGate?: string;
}

export interface GroupVersionInfo {
  readonly group: string;
  readonly version: string;
  readonly stability: "GA" | "beta" | "alpha";
  readonly enabledByDefault: boolean;
  readonly preferred: boolean;
}

export class Catalogue {
  readonly #groups = new Map<string, GroupVersionInfo>();
  readonly #byResource = new Map<string, ResourceInfo>();
  readonly #byKind = new Map<string, ResourceInfo>();

  addGroupVersion(info: GroupVersionInfo): void {
    this.#groups.set(apiVersionOf(info), info);
  }

  add(info: ResourceInfo): void {
    const apiVersion = apiVersionOf(info);
    this.#byResource.set(`${apiVersion}/${info.resource}`, info);
    // Several resources may share a kind; the one with storage is the kind's own.
    const known = this.#byKind.get(`${apiVersion}/${info.kind}`);
    if (!known || !known.etcdPrefix)
      this.#byKind.set(`${apiVersion}/${info.kind}`, info);
  }

  remove(info: ResourceInfo): void {
    const apiVersion = apiVersionOf(info);
    this.#byResource.delete(`${apiVersion}/${info.resource}`);
    this.#byKind.delete(`${apiVersion}/${info.kind}`);
  }

  /** In the reference's priority order. */
  groupVersions(): readonly GroupVersionInfo[] {
    return [...this.#groups.values()];
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.#groups.has(apiVersionOf({ group, version }));
  }

  resources(group: string, version: string): readonly ResourceInfo[] {
    return [...this.#byResource.values()].filter(
      (info) => info.group === group && info.version === version,
    );
  }

  resource(
    group: string,
    version: string,
    resource: string,
  ): ResourceInfo | undefined {
    return this.#byResource.get(
      `${apiVersionOf({ group, version })}/${resource}`,
    );
  }

  kind(group: string, version: string, kind: string): ResourceInfo | undefined {
    return this.#byKind.get(`${apiVersionOf({ group, version })}/${kind}`);
  }
}

/** All there are, in the reference's priority order, with their resources' plural names. */
export const builtinGroupVersions: readonly (GroupVersionInfo & {
  readonly resources: readonly string[];
})[] = facts.groupVersions.map(
  ({ resources, group, version, stability, enabledByDefault, preferred }) => ({
    group,
    version,
    stability: stability as GroupVersionInfo["stability"],
    enabledByDefault,
    preferred,
    resources: resources.map(({ resource }) => resource),
  }),
);

/** @param serves which resources are served, as --runtime-config says; a version without any is not there */
export function builtinCatalogue(
  serves: (info: GroupVersionInfo, resource: string) => boolean = (info) =>
    info.enabledByDefault,
): Catalogue {
  const catalogue = new Catalogue();
  for (const { resources, apiVersion: _, ...info } of facts.groupVersions) {
    const groupVersion = info as GroupVersionInfo;
    const served = resources.filter(({ resource }) =>
      serves(groupVersion, resource),
    );
    if (served.length === 0) continue;
    catalogue.addGroupVersion(groupVersion);
    for (const resource of served as unknown as (ResourceInfo & {
      subresources?: SubresourceInfo[];
    })[]) {
      catalogue.add({
        ...resource,
        group: info.group,
        version: info.version,
        subresources: resource.subresources ?? [],
      });
    }
  }
  return catalogue;
}
