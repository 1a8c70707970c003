// Where a resource lives in the URL space of a Kubernetes API server.
import { errors } from "../api/errors.ts";
import { apiVersionOf } from "../api/object.ts";
import type { GroupVersionResource } from "../api/object.ts";

/** Verbs on one object. */
const namedVerbs = new Set(["get", "update", "patch", "delete"]);

/**
 * What has no path, or another request's: an object without a name is its collection, and a name with a slash the
 * subresource of another object. Throws ApiError 400.
 */
export function checkRequest(request: {
  verb: string;
  name?: string;
  namespace?: string;
  subresource?: string;
}): void {
  const { verb, name = "", namespace = "", subresource = "" } = request;
  if (name === "" && (namedVerbs.has(verb) || subresource !== ""))
    throw errors.badRequest("resource name may not be empty");
  for (const [what, text] of [
    ["resource name", name],
    ["namespace", namespace],
  ])
    if (text!.includes("/"))
      throw errors.badRequest(
        `invalid ${what} ${JSON.stringify(text)}: may not contain '/'`,
      );
}

/** `/api/v1/namespaces/default/pods/a/log`, `/apis/apps/v1/deployments` …; each part is escaped. */
export function resourcePath(target: {
  resource: GroupVersionResource;
  namespace?: string;
  name?: string;
  subresource?: string;
}): string {
  const { resource, namespace, name, subresource } = target;
  const root = resource.group === "" ? "/api" : "/apis";
  const parts = [`${root}/${apiVersionOf(resource)}`];
  if (namespace) parts.push("namespaces", encodeURIComponent(namespace));
  parts.push(resource.resource);
  if (name) parts.push(encodeURIComponent(name));
  if (name && subresource)
    parts.push(...subresource.split("/").map(encodeURIComponent));
  return parts.join("/");
}
