// Does a rule of a FlowSchema match a request? The order of schemas is by precedence, then name.
import type { UserInfo } from "../../api/contracts.ts";
import type {
  FlowSchema,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from "../../api/types/flowcontrol-v1.ts";
import type { RequestInfo } from "../request/request-info.ts";

const defaultPrecedence = 1000;

export function inMatchingOrder(schemas: readonly FlowSchema[]): FlowSchema[] {
  const precedenceOf = ({ spec }: FlowSchema): number =>
    spec.matchingPrecedence ?? defaultPrecedence;
  return [...schemas].sort(
    (a, b) =>
      precedenceOf(a) - precedenceOf(b) ||
      (a.metadata.name! < b.metadata.name! ? -1 : 1),
  );
}

/** Is the user one of the rule's subjects? */
export function concernsUser(
  { subjects }: PolicyRulesWithSubjects,
  user: UserInfo,
): boolean {
  return subjects.some((subject) => isSubject(subject, user));
}

/** @param rule one that concerns the user */
export function matchesRequest(
  rule: PolicyRulesWithSubjects,
  info: RequestInfo,
): boolean {
  if (!info.resourceRequest)
    return (rule.nonResourceRules ?? []).some((one) => matchesPath(one, info));
  // A loop: every request comes through here, and a closure each costs as much as the comparisons.
  if (rule.resourceRules)
    for (const one of rule.resourceRules)
      if (matchesResource(one, info)) return true;
  return false;
}

const has = (list: readonly string[] | undefined, wanted: string): boolean =>
  list !== undefined &&
  (list[0] === "*" || list.includes(wanted) || list.includes("*"));

function matchesResource(
  rule: ResourcePolicyRule,
  { verb, group, resource, subresource, namespace }: RequestInfo,
): boolean {
  return (
    has(rule.verbs, verb) &&
    has(rule.apiGroups, group) &&
    has(
      rule.resources,
      subresource ? `${resource}/${subresource}` : resource,
    ) &&
    (namespace === ""
      ? rule.clusterScope === true
      : has(rule.namespaces, namespace))
  );
}

/** A path covers what lies below it. */
function matchesPath(
  { verbs, nonResourceURLs }: NonResourcePolicyRule,
  { verb, path }: RequestInfo,
): boolean {
  return (
    has(verbs, verb) &&
    nonResourceURLs.some((url) => {
      if (url === "*" || url === path) return true;
      const prefix = url.endsWith("*") ? url.slice(0, -1) : url;
      return path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
    })
  );
}

function isSubject(subject: Subject, { name, groups }: UserInfo): boolean {
  if (subject.kind === "User")
    return subject.user?.name === "*" || subject.user?.name === name;
  if (subject.kind === "Group")
    return (
      subject.group?.name === "*" || groups.includes(subject.group?.name ?? "")
    );
  const account = subject.serviceAccount;
  if (subject.kind !== "ServiceAccount" || !account) return false;
  const prefix = `system:serviceaccount:${account.namespace}:`;
  return account.name === "*"
    ? name.startsWith(prefix)
    : name === prefix + account.name;
}
