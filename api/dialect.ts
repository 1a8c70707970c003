// The two dialects of every name. The ecosystem's names are canonical: stored, advertised, used in code. The
// specification's names (`orbit` where the ecosystem writes its vendor) are accepted on every input, and an answer
// speaks the dialect it was asked in. This module is the only place that knows
// the pairs, but for names of options (cli/options/table.ts).
//
// Example: `GET /apis/rbac.authorization.orbit.io/v1/clusterroles` is served from rbac.authorization.k8s.io, and the
// documents of the answer say apiVersion rbac.authorization.orbit.io/v1.

const CANONICAL_SUFFIX = ".k8s.io";
const ALIAS_SUFFIX = ".orbit.io";

/** `apps` → apps, `storage.orbit.io` → storage.k8s.io. */
export function normaliseGroup(group: string): string {
  return group.endsWith(ALIAS_SUFFIX)
    ? group.slice(0, -ALIAS_SUFFIX.length) + CANONICAL_SUFFIX
    : group;
}

/** The specification's name of a canonical group; groups without one come back as they are. */
function aliasGroup(group: string): string {
  return group.endsWith(CANONICAL_SUFFIX)
    ? group.slice(0, -CANONICAL_SUFFIX.length) + ALIAS_SUFFIX
    : group;
}

function mapVersion(
  apiVersion: string,
  map: (group: string) => string,
): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0
    ? apiVersion
    : map(apiVersion.slice(0, slash)) + apiVersion.slice(slash);
}

/** `meta.orbit.io/v1` → meta.k8s.io/v1. */
export function normaliseApiVersion(apiVersion: string): string {
  return apiVersion.includes(ALIAS_SUFFIX)
    ? mapVersion(apiVersion, normaliseGroup)
    : apiVersion;
}

export function aliasApiVersion(apiVersion: string): string {
  return apiVersion.includes(CANONICAL_SUFFIX)
    ? mapVersion(apiVersion, aliasGroup)
    : apiVersion;
}

/** Fields whose value names a version, a group, or a list of groups, at any depth of a document. */
const VERSION_FIELDS = new Set(["apiVersion", "groupVersion"]);
const GROUP_FIELDS = new Set(["apiGroup"]);
const GROUP_LIST_FIELDS = new Set(["apiGroups"]);
/** Where namesAlias looks; "group" is that of access reviews. */
const aliasedFields = new Set([...VERSION_FIELDS, ...GROUP_FIELDS, "group"]);
/** Free text and foreign keys: nothing in there is a name of ours. */
const OPAQUE_FIELDS = new Set([
  "annotations",
  "binaryData",
  "data",
  "fieldsV1",
  "labels",
  "matchLabels",
  "nodeSelector",
  "stringData",
]);

/** Could a body hold names of the specification's dialect? Cheap, and usually false. */
export function mentionsAlias(body: Uint8Array): boolean {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes(
    ALIAS_SUFFIX,
  );
}

/** The same of one field of a document in memory. */
export function namesAlias(field: string, value: unknown): boolean {
  return (
    aliasedFields.has(field) &&
    typeof value === "string" &&
    value.includes(ALIAS_SUFFIX)
  );
}

/** Rewrites the versions and groups of a document in place to canonical names; the document is the caller's own. */
export function canonicaliseDocument<T>(document: T): T {
  rewrite(document, normaliseApiVersion, normaliseGroup);
  return document;
}

/** A copy of a document as the specification's dialect names it. */
export function aliasDocument<T>(document: T): T {
  const copy = structuredClone(document);
  rewrite(copy, aliasApiVersion, aliasGroup);
  return copy;
}

function rewrite(
  value: unknown,
  version: (text: string) => string,
  group: (text: string) => string,
): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) rewrite(item, version, group);
    return;
  }
  const object = value as Record<string, unknown>;
  for (const key of Object.keys(object)) {
    const inner = object[key];
    if (typeof inner === "string") {
      if (VERSION_FIELDS.has(key)) object[key] = version(inner);
      else if (GROUP_FIELDS.has(key)) object[key] = group(inner);
    } else if (Array.isArray(inner) && GROUP_LIST_FIELDS.has(key)) {
      object[key] = inner.map((one: unknown) =>
        typeof one === "string" ? group(one) : one,
      );
    } else if (!OPAQUE_FIELDS.has(key)) {
      if (key === "resourceAttributes" || key === "resource")
        renameGroup(inner, group);
      rewrite(inner, version, group);
    }
  }
}

/** Access reviews and admission reviews name the group in a field of that name. */
function renameGroup(
  attributes: unknown,
  group: (text: string) => string,
): void {
  if (
    typeof attributes !== "object" ||
    attributes === null ||
    Array.isArray(attributes)
  )
    return;
  const fields = attributes as Record<string, unknown>;
  if (typeof fields["group"] === "string")
    fields["group"] = group(fields["group"]);
}
