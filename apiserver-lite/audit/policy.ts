// The audit policy (audit.k8s.io/v1 Policy): the first rule that matches a request says how much of it is recorded.
import type { UserInfo } from "../../api/contracts.ts";
import type { RequestInfo } from "../http/request-info.ts";

export type AuditStage =
  "RequestReceived" | "ResponseStarted" | "ResponseComplete";

const levels = ["None", "Metadata", "Request", "RequestResponse"] as const;
export type AuditLevel = (typeof levels)[number];
const stages = [
  "RequestReceived",
  "ResponseStarted",
  "ResponseComplete",
  "Panic",
];

export interface AuditRule {
  readonly level: AuditLevel;
  readonly users?: readonly string[];
  readonly userGroups?: readonly string[];
  readonly verbs?: readonly string[];
  readonly resources?: readonly {
    readonly group?: string;
    readonly resources?: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
  readonly namespaces?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly omitStages?: readonly string[];
}

export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
  readonly omitStages?: readonly string[];
}

/** @param document the parsed file. Throws an Error that says what is wrong with it. */
export function checkAuditPolicy(document: unknown): AuditPolicy {
  const policy = document as Partial<AuditPolicy> & {
    kind?: unknown;
    apiVersion?: unknown;
  };
  if (
    typeof document !== "object" ||
    policy?.kind !== "Policy" ||
    !/^audit\.(k8s|orbit)\.io\/v1$/.test(String(policy.apiVersion))
  )
    throw new Error("it is not an audit.k8s.io/v1 Policy");
  if (!Array.isArray(policy.rules) || policy.rules.length === 0)
    throw new Error("loaded illegal policy with 0 rules");
  for (const [index, rule] of (policy.rules as AuditRule[]).entries()) {
    const at = `rules[${index}]`;
    if (!levels.includes(rule?.level))
      throw new Error(
        `${at}.level: Unsupported value: ${JSON.stringify(rule?.level)}: supported values: "Metadata", "None", "Request", "RequestResponse"`,
      );
    if (
      rule.nonResourceURLs?.length &&
      (rule.resources?.length || rule.namespaces?.length)
    )
      throw new Error(
        `${at}.nonResourceURLs: Invalid value: rules cannot apply to both regular resources and non-resource URLs`,
      );
  }
  for (const stage of [
    ...(policy.omitStages ?? []),
    ...policy.rules.flatMap((rule) => rule.omitStages ?? []),
  ])
    if (!stages.includes(stage))
      throw new Error(
        `omitStages: Unsupported value: ${JSON.stringify(stage)}`,
      );
  return policy as AuditPolicy;
}

/** How a request is recorded; level None when no rule speaks of it. */
export function auditDecision(
  policy: AuditPolicy,
  info: RequestInfo,
  user: UserInfo,
): { level: AuditLevel; omits(stage: AuditStage): boolean } {
  const rule = policy.rules.find((each) => matches(each, info, user));
  return {
    level: rule?.level ?? "None",
    omits: (stage) =>
      policy.omitStages?.includes(stage) === true ||
      rule?.omitStages?.includes(stage) === true,
  };
}

function matches(rule: AuditRule, info: RequestInfo, user: UserInfo): boolean {
  if (rule.users?.length && !rule.users.includes(user.name)) return false;
  if (
    rule.userGroups?.length &&
    !rule.userGroups.some((group) => user.groups.includes(group))
  )
    return false;
  if (
    rule.verbs?.length &&
    !rule.verbs.includes("*") &&
    !rule.verbs.includes(info.verb)
  )
    return false;
  const aboutResources = rule.resources?.length || rule.namespaces?.length;
  if (!aboutResources && !rule.nonResourceURLs?.length) return true;
  if (!info.resourceRequest)
    return (rule.nonResourceURLs ?? []).some((pattern) =>
      pattern.endsWith("*")
        ? info.path.startsWith(pattern.slice(0, -1))
        : pattern === info.path,
    );
  if (!aboutResources) return false;
  if (rule.namespaces?.length && !rule.namespaces.includes(info.namespace))
    return false;
  return !rule.resources?.length || rule.resources.some(matchesResource, info);
}

function matchesResource(
  this: RequestInfo,
  {
    group = "",
    resources = [],
    resourceNames = [],
  }: NonNullable<AuditRule["resources"]>[number],
): boolean {
  if (group !== this.group) return false;
  if (resourceNames.length > 0 && !resourceNames.includes(this.name))
    return false;
  if (resources.length === 0) return true;
  const { resource, subresource } = this;
  const full = subresource ? `${resource}/${subresource}` : resource;
  return resources.some(
    (wanted) =>
      wanted === "*" ||
      wanted === full ||
      (subresource !== "" &&
        (wanted === `${resource}/*` || wanted === `*/${subresource}`)),
  );
}
