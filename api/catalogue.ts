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
  /** Of a definition, which nothing below the API server knows. */
  readonly custom?: true;
  /** Unset: the kind and "List". */
  readonly listKind?: string;
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
  /** Its resources are those of definitions. */
  readonly custom?: true;
}

export class Catalogue {
  readonly #groups = new Map<string, GroupVersionInfo>();
  /** How many versions a group has. */
  readonly #groupSizes = new Map<string, number>();
  /** By version, then plural name. */
  readonly #resources = new Map<string, Map<string, ResourceInfo>>();
  readonly #byKind = new Map<string, ResourceInfo>();

  addGroupVersion(info: GroupVersionInfo): void {
    const apiVersion = apiVersionOf(info);
    if (!this.#groups.has(apiVersion)) this.#countVersions(info.group, 1);
    this.#groups.set(apiVersion, info);
  }

  #countVersions(group: string, by: number): void {
    const count = (this.#groupSizes.get(group) ?? 0) + by;
    if (count > 0) this.#groupSizes.set(group, count);
    else this.#groupSizes.delete(group);
  }

  /** The versions of a resource that is added at run time, but those that are there. A group's follow by priority. */
  addVersionsOf(infos: readonly ResourceInfo[]): void {
    const byGroup = new Map<string, GroupVersionInfo[]>();
    for (const info of infos) {
      const { group, version } = info;
      if (this.hasGroupVersion(group, version)) continue;
      const added = byGroup.get(group) ?? [];
      added.push(addedVersion(info));
      byGroup.set(group, added);
    }
    for (const [group, added] of byGroup) this.#insert(group, added);
  }

  /** Each before the first of its group that has a lower priority, or at the end. A definition may have thousands. */
  #insert(group: string, added: GroupVersionInfo[]): void {
    added.sort((a, b) => compareVersions(a.version, b.version));
    let next = 0;
    if (this.#groupSizes.get(group)) {
      const before = [...this.#groups.values()];
      this.#groups.clear();
      for (const one of before) {
        if (one.group === group)
          while (
            next < added.length &&
            compareVersions(added[next]!.version, one.version) < 0
          )
            this.#place(added[next++]!);
        this.#place(one);
      }
    }
    for (; next < added.length; next++) this.#place(added[next]!);
    this.#countVersions(group, added.length);
  }

  #place(info: GroupVersionInfo): void {
    this.#groups.set(apiVersionOf(info), info);
  }

  add(info: ResourceInfo): void {
    const apiVersion = apiVersionOf(info);
    const resources = this.#resources.get(apiVersion);
    if (resources) resources.set(info.resource, info);
    else this.#resources.set(apiVersion, new Map([[info.resource, info]]));
    // Several resources may share a kind; the one with storage is the kind's own.
    const known = this.#byKind.get(`${apiVersion}/${info.kind}`);
    if (!known || !known.etcdPrefix)
      this.#byKind.set(`${apiVersion}/${info.kind}`, info);
  }

  /** Takes a resource away, and its version with the last one. */
  remove(info: ResourceInfo): void {
    const apiVersion = apiVersionOf(info);
    const resources = this.#resources.get(apiVersion);
    const known = resources?.get(info.resource);
    if (!resources || !known) return;
    resources.delete(info.resource);
    if (this.#byKind.get(`${apiVersion}/${info.kind}`) === known)
      this.#byKind.delete(`${apiVersion}/${info.kind}`);
    if (resources.size > 0) return;
    this.#resources.delete(apiVersion);
    this.#groups.delete(apiVersion);
    this.#countVersions(info.group, -1);
  }

  /** In the reference's priority order. */
  groupVersions(): readonly GroupVersionInfo[] {
    return [...this.#groups.values()];
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.#groups.has(apiVersionOf({ group, version }));
  }

  resources(group: string, version: string): readonly ResourceInfo[] {
    const resources = this.#resources.get(apiVersionOf({ group, version }));
    return resources ? [...resources.values()] : [];
  }

  resource(
    group: string,
    version: string,
    resource: string,
  ): ResourceInfo | undefined {
    return this.#resources.get(apiVersionOf({ group, version }))?.get(resource);
  }

  kind(group: string, version: string, kind: string): ResourceInfo | undefined {
    return this.#byKind.get(`${apiVersionOf({ group, version })}/${kind}`);
  }
}

const addedVersion = ({
  group,
  version,
  custom,
}: ResourceInfo): GroupVersionInfo => ({
  group,
  version,
  stability: stabilityOf(version),
  enabledByDefault: true,
  preferred: false,
  ...(custom ? { custom } : {}),
});

const versionForm = /^v(\d{1,9})(?:(alpha|beta)(\d{1,9}))?$/;
const levels: readonly (string | undefined)[] = ["alpha", "beta", undefined];

function stabilityOf(version: string): GroupVersionInfo["stability"] {
  const level = versionForm.exec(version)?.[2];
  return level === "alpha" || level === "beta" ? level : "GA";
}

/**
 * Below 0 when `a` has the higher priority: v10, v2, v1, v11beta2, v10beta3, v3beta1, v12alpha1, v11alpha2, foo1, foo10, as
 * the reference orders the versions of custom resources.
 */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [versionForm.exec(a), versionForm.exec(b)];
  if (!first || !second) {
    if (first || second) return first ? -1 : 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  return (
    levels.indexOf(second[2]) - levels.indexOf(first[2]) ||
    Number(second[1]) - Number(first[1]) ||
    Number(second[3] ?? 0) - Number(first[3] ?? 0)
  );
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
