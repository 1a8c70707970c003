// The shapes every API object shares, and the two ways of naming a type: by resource (URLs) and by kind (documents).
import type { APIGroup, ListMeta, ObjectMeta } from "./types/meta-v1.ts";

/** Any API object. Objects that came out of a lister or a cache are deep-frozen and shared: copy what you change. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

/** An object whose fields beyond the envelope are not known statically. */
export interface AnyObject extends KubeObject {
  [field: string]: unknown;
}

export interface KubeList<T> {
  apiVersion?: string;
  kind?: string;
  metadata: ListMeta;
  items: T[];
}

/** Names a resource type as URLs do: `{ group: "apps", version: "v1", resource: "deployments" }`; core has group "". */
export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** Names a type as documents do; apiVersion is `version` for core and `group/version` otherwise. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** `deployments.apps`, or `pods` for core. */
export function qualifiedResource({
  group,
  resource,
}: Pick<GroupVersionResource, "group" | "resource">): string {
  return group === "" ? resource : `${resource}.${group}`;
}

export function apiVersionOf(gv: { group: string; version: string }): string {
  return gv.group === "" ? gv.version : `${gv.group}/${gv.version}`;
}

/** Splits "apps/v1" or "v1". A string with more than one slash keeps the rest in version and matches nothing. */
export function parseApiVersion(apiVersion: string): {
  group: string;
  version: string;
} {
  const slash = apiVersion.indexOf("/");
  return slash < 0
    ? { group: "", version: apiVersion }
    : {
        group: apiVersion.slice(0, slash),
        version: apiVersion.slice(slash + 1),
      };
}

/** `namespace/name`, or `name` for a cluster-scoped object: the key of work queues and listers. */
export function objectKey(object: {
  metadata: { name: string; namespace?: string };
}): string {
  const { name, namespace } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}

export function splitKey(key: string): { namespace: string; name: string } {
  const slash = key.indexOf("/");
  return slash < 0
    ? { namespace: "", name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Writes only what differs: the same value again would throw where the object is shared and frozen. */
export function writeChanged(
  object: Record<string, unknown>,
  key: string,
  value: unknown,
): void {
  if (object[key] !== value) object[key] = value;
}

/** A group as discovery describes it at `/apis`; servers may leave any of it out. */
export type DescribedGroup = Partial<
  Pick<APIGroup, "versions" | "preferredVersion">
>;

/** Its apiVersions in the order in which a resource is looked for: the preferred one first, others for what it lacks. */
export function apiVersionsOf({
  versions = [],
  preferredVersion,
}: DescribedGroup): string[] {
  const all = [...(preferredVersion ? [preferredVersion] : []), ...versions];
  return [...new Set(all.map(({ groupVersion }) => groupVersion))];
}
