// What a request at the agent's port asks for, in the authorizer's terms: verbs on the node's subresources proxy, stats,
// metrics, log and checkpoint, by path and method as the kubelet maps them.
import type { AccessAttributes, UserInfo } from "../api/contracts.ts";

const verbs: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

const subresources: readonly (readonly [
  prefix: string,
  subresource: string,
])[] = [
  ["/stats", "stats"],
  ["/metrics", "metrics"],
  ["/logs", "log"],
  ["/checkpoint", "checkpoint"],
];

/** `path` is without the query. */
export function requestAttributes(
  user: UserInfo,
  method: string,
  path: string,
  nodeName: string,
): AccessAttributes {
  const found = subresources.find(
    ([prefix]) => path === prefix || path.startsWith(`${prefix}/`),
  );
  return {
    user,
    verb: verbs[method] ?? "",
    path,
    resourceRequest: true,
    group: "",
    version: "v1",
    resource: "nodes",
    subresource: found?.[1] ?? "proxy",
    namespace: "",
    name: nodeName,
  };
}

export function forbiddenText({
  user,
  verb,
  resource,
  subresource,
}: AccessAttributes): string {
  return `Forbidden (user=${user.name}, verb=${verb}, resource=${resource}, subresource=${subresource})`;
}
