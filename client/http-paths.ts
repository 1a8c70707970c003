// Where a resource lives in the URL space of a Kubernetes API server.
import { apiVersionOf } from "../api/object.ts";
import type { GroupVersionResource } from "../api/object.ts";

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
