// What the service accounts of controllers may do by the roles that every cluster has, in front of the memory API: with it
// each test of a controller also shows that its own role is enough for it.
import facts from "../../api/facts/rbac-bootstrap.json";
import type { AccessAttributes } from "../../api/contracts.ts";
import { errors } from "../../api/errors.ts";
import type { PolicyRule } from "../../api/types/rbac-v1.ts";
import { gatedPolicies } from "../../apiserver-lite/authorization/gated-policy.ts";
import { rulesAllow } from "../../apiserver-lite/authorization/policy-rule.ts";
import type { ApiRequest, Transport } from "../../client/transport.ts";

interface Grant {
  /** "": in all. */
  readonly namespace: string;
  readonly rules: readonly PolicyRule[];
}

/** The subjects by which a service account of kube-system gets roles. */
function grantsOf(account: string): Grant[] {
  const subjects = [
    `sa:kube-system/${account}`,
    "group:system:serviceaccounts",
    "group:system:serviceaccounts:kube-system",
    "group:system:authenticated",
  ];
  const isOf = (binding: { subjects: string[] }): boolean =>
    binding.subjects.some((subject) => subjects.includes(subject));
  const everywhere = facts.clusterRoleBindings.filter(isOf).map(({ role }) => ({
    namespace: "",
    rules: (facts.clusterRoles.find(
      ({ name }) => `ClusterRole/${name}` === role,
    )?.rules ?? []) as PolicyRule[],
  }));
  const inNamespaces = facts.roleBindings
    .filter(isOf)
    .map(({ role, namespace }) => ({
      namespace,
      rules: (facts.roles.find(
        (each) => each.namespace === namespace && `Role/${each.name}` === role,
      )?.rules ?? []) as PolicyRule[],
    }));
  const gated = gatedPolicies.map(({ controllers }) => ({
    namespace: "",
    rules: controllers[account] ?? [],
  }));
  return [...everywhere, ...inNamespaces, ...gated];
}

/** @param denied what was refused is put there */
export function accountTransport(
  transport: Transport,
  account: string,
  denied: string[],
): Transport {
  const grants = grantsOf(account);
  const check = (attributes: AccessAttributes): void => {
    const allowed = grants.some(
      ({ namespace, rules }) =>
        (namespace === "" || namespace === attributes.namespace) &&
        rulesAllow(rules, attributes),
    );
    if (allowed) return;
    const { verb, group, resource, subresource, path } = attributes;
    const what = resource
      ? `${group}/${resource}${subresource ? `/${subresource}` : ""}`
      : path;
    denied.push(`${account}: ${verb} ${what}`);
    throw errors.forbidden(attributes, attributes.name, `role of ${account}`);
  };
  const user = {
    name: `system:serviceaccount:kube-system:${account}`,
    groups: [],
    extra: {},
  };
  return {
    request: async (request: ApiRequest) => {
      const { verb, resource, namespace, name, subresource } = request;
      check({
        user,
        verb,
        resourceRequest: true,
        group: resource.group,
        version: resource.version,
        resource: resource.resource,
        namespace: namespace ?? "",
        name: name ?? "",
        subresource: subresource ?? "",
        path: "",
      });
      return transport.request(request);
    },
    watch: transport.watch.bind(transport),
    raw: (method, path, body) => transport.raw(method, path, body),
    ...(transport.cache ? { cache: transport.cache.bind(transport) } : {}),
    close: () => Promise.resolve(),
  };
}
