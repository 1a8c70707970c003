// What aggregated servers say about their resources, in the form of aggregated discovery: read from their own such document,
// or made from the older lists of resources. Only what discovery has is taken over, so that a server that answers nonsense
// puts none into the merged document.
import { apiVersionOf } from "../../api/object.ts";

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface Subresource {
  readonly subresource: string;
  readonly responseKind: GroupVersionKind;
  readonly verbs: readonly string[];
}

export interface DiscoveredResource {
  readonly resource: string;
  readonly responseKind: GroupVersionKind;
  readonly scope: string;
  readonly singularResource: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly Subresource[];
}

type Fields = Readonly<Record<string, unknown>>;

/** By apiVersion. Throws an Error for what is no such document. */
export function resourcesByVersion(
  document: unknown,
): Map<string, readonly DiscoveredResource[]> {
  const found = new Map<string, readonly DiscoveredResource[]>();
  const list = fieldsOf(document, "the document");
  if (list["kind"] !== "APIGroupDiscoveryList")
    throw new Error("the document is no APIGroupDiscoveryList");
  for (const item of listOf(list["items"])) {
    const { metadata, versions } = fieldsOf(item, "a group");
    const group = textOf(fieldsOf(metadata ?? {}, "metadata")["name"]);
    for (const one of listOf(versions)) {
      const { version, resources } = fieldsOf(one, "a version");
      found.set(
        apiVersionOf({ group, version: textOf(version) }),
        listOf(resources).map(resourceOf),
      );
    }
  }
  return found;
}

function resourceOf(item: unknown): DiscoveredResource {
  const fields = fieldsOf(item, "a resource");
  const subresources = listOf(fields["subresources"]).map((one) => {
    const { subresource, responseKind, verbs } = fieldsOf(one, "a subresource");
    return {
      subresource: textOf(subresource),
      responseKind: kindOf(responseKind),
      verbs: listOf(verbs).map(textOf),
    };
  });
  return {
    ...commonOf(fields),
    resource: textOf(fields["resource"]),
    responseKind: kindOf(fields["responseKind"]),
    scope: textOf(fields["scope"]),
    singularResource: textOf(fields["singularResource"]),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}

/** From an APIResourceList. Throws an Error for what is none. */
export function resourcesOfList(document: unknown): DiscoveredResource[] {
  const list = fieldsOf(document, "the document");
  if (list["kind"] !== "APIResourceList")
    throw new Error("the document is no APIResourceList");
  const all = listOf(list["resources"]).map((one) => {
    const fields = fieldsOf(one, "a resource");
    const [resource = "", ...rest] = textOf(fields["name"]).split("/");
    const scope = fields["namespaced"] === true ? "Namespaced" : "Cluster";
    return { fields, resource, subresource: rest.join("/"), scope };
  });
  type Made = DiscoveredResource & { subresources?: Subresource[] };
  const resources = new Map<string, Made>();
  for (const { fields, resource, subresource, scope } of all)
    if (subresource === "")
      resources.set(resource, {
        resource,
        ...commonOf(fields),
        responseKind: kindOf(fields),
        scope,
        singularResource: textOf(fields["singularName"]),
      });
  for (const { fields, resource, subresource, scope } of all) {
    if (subresource === "") continue;
    let parent = resources.get(resource);
    if (!parent)
      resources.set(
        resource,
        (parent = {
          resource,
          responseKind: kindOf({}),
          scope,
          singularResource: "",
          verbs: [],
        }),
      );
    if (parent.scope !== scope)
      throw new Error(
        `Error: Parent ${resource} (scope: ${parent.scope}) and subresource ${subresource} (scope: ${scope}) scope do not match`,
      );
    const kind = textOf(fields["kind"]);
    (parent.subresources ??= []).push({
      subresource,
      responseKind: kindOf(kind === "" ? {} : fields),
      verbs: listOf(fields["verbs"]).map(textOf),
    });
  }
  return [...resources.values()];
}

function commonOf(fields: Fields): {
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
} {
  const shortNames = listOf(fields["shortNames"]).map(textOf);
  const categories = listOf(fields["categories"]).map(textOf);
  return {
    verbs: listOf(fields["verbs"]).map(textOf),
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
  };
}

/** Empty where there is none. */
function kindOf(value: unknown): GroupVersionKind {
  const { group, version, kind } = fieldsOf(value ?? {}, "a kind");
  return { group: textOf(group), version: textOf(version), kind: textOf(kind) };
}

function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Fields;
  throw new Error(`${what} is no object`);
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new Error("a list is something else");
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  throw new Error("a text is something else");
}
