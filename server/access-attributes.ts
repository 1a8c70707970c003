// What a request at the agent's port asks for, in the authorizer's terms: verbs on the node's subresources, by path and
// method as the kubelet maps them. Any one of the attributes is enough: with the gate KubeletFineGrainedAuthz some paths
// have a subresource of their own, and nodes/proxy still opens them.
import type { AccessAttributes, UserInfo } from "../api/contracts.ts";

const verbs: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

type Subresources = readonly (readonly [prefix: string, subresource: string])[];

const coarse: Subresources = [
  ["/stats", "stats"],
  ["/metrics", "metrics"],
  ["/logs", "log"],
  ["/checkpoint", "checkpoint"],
];

const fine: Subresources = [
  ["/pods", "pods"],
  ["/healthz", "healthz"],
  ["/configz", "configz"],
  ["/runningpods", "pods"],
];

const subresourceOf = (path: string, list: Subresources): string | undefined =>
  list.find(
    ([prefix]) => path === prefix || path.startsWith(`${prefix}/`),
  )?.[1];

/** At least one, in the order in which the authorizer is asked. @param path without the query */
export function requestAttributes(
  user: UserInfo,
  method: string,
  path: string,
  nodeName: string,
  fineGrained: boolean,
): readonly AccessAttributes[] {
  const own = fineGrained ? subresourceOf(path, fine) : undefined;
  const subresources = [
    ...(own === undefined ? [] : [own]),
    subresourceOf(path, coarse) ?? "proxy",
  ];
  return subresources.map((subresource) => ({
    user,
    verb: verbs[method] ?? "",
    path,
    resourceRequest: true,
    group: "",
    version: "v1",
    resource: "nodes",
    subresource,
    namespace: "",
    name: nodeName,
  }));
}

const described = ({ user, verb, resource }: AccessAttributes): string =>
  `user=${user.name}, verb=${verb}, resource=${resource}`;

export function forbiddenText(asked: readonly AccessAttributes[]): string {
  const subresources = asked.map(({ subresource }) => subresource).join(" ");
  return `Forbidden (${described(asked[0]!)}, subresource(s)=[${subresources}])\n`;
}

/** The authorizer itself failed. */
export function authorizationErrorText(asked: AccessAttributes): string {
  return `Authorization error (${described(asked)}, subresource=${asked.subresource})`;
}
