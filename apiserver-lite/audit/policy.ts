// The audit policy (audit.k8s.io/v1 Policy): the first rule that matches a request says how much of it is recorded.
import { dnsSubdomainProblems } from "../../api/names.ts";
import type { UserInfo } from "../../api/contracts.ts";
import type { RequestInfo } from "../request/request-info.ts";

const stages = [
  "RequestReceived",
  "ResponseStarted",
  "ResponseComplete",
  "Panic",
] as const;
export type AuditStage = (typeof stages)[number];

/** Each records what those before it do. */
const levels = ["None", "Metadata", "Request", "RequestResponse"] as const;
type AuditLevel = (typeof levels)[number];

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
  readonly omitManagedFields?: boolean;
}

export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
  readonly omitStages?: readonly string[];
  readonly omitManagedFields?: boolean;
}

/** @param document the parsed file. Throws an Error that says all that is wrong with it. */
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
  const rules = (policy.rules ?? []) as AuditRule[];
  if (!Array.isArray(rules)) throw new Error("rules is not a list");
  const problems = [
    ...stageProblems("omitStages", policy.omitStages),
    ...rules.flatMap((rule, index) => ruleProblems(rule, `rules[${index}]`)),
  ];
  if (problems.length > 0)
    throw new Error(
      problems.length > 1 ? `[${problems.join(", ")}]` : problems[0],
    );
  if (rules.length === 0) throw new Error("loaded illegal policy with 0 rules");
  return policy as AuditPolicy;
}

function ruleProblems(rule: AuditRule, at: string): string[] {
  const problems: string[] = [];
  const invalid = (field: string, value: unknown, text: string): void =>
    void problems.push(
      `${at}.${field}: Invalid value: ${JSON.stringify(value)}: ${text}`,
    );
  if (!rule?.level) problems.push(`${at}.level: Required value`);
  else if (!levels.includes(rule.level))
    problems.push(
      `${at}.level: Unsupported value: ${JSON.stringify(rule.level)}: supported values: "Metadata", "None", "Request", "RequestResponse"`,
    );
  const { nonResourceURLs = [], resources = [], namespaces = [] } = rule ?? {};
  for (const [index, url] of nonResourceURLs.entries()) {
    const field = `nonResourceURLs[${index}]`;
    if (url === "*") continue;
    if (!url.startsWith("/"))
      invalid(
        field,
        url,
        "non-resource URL rules must begin with a '/' character",
      );
    if (url.slice(0, -1).includes("*"))
      invalid(
        field,
        url,
        "non-resource URL wildcards '*' must be the final character of the rule",
      );
  }
  for (const { group, resources: names, resourceNames } of resources) {
    const wrong = group ? dnsSubdomainProblems(group) : [];
    if (wrong.length > 0) invalid("resources.group", group, wrong.join(","));
    if (resourceNames?.length && !names?.length)
      invalid(
        "resources.resourceNames",
        resourceNames,
        "using resourceNames requires at least one resource",
      );
  }
  problems.push(...stageProblems(`${at}.omitStages`, rule?.omitStages));
  if (nonResourceURLs.length > 0 && resources.length + namespaces.length > 0)
    invalid(
      "nonResourceURLs",
      nonResourceURLs,
      "rules cannot apply to both regular resources and non-resource URLs",
    );
  return problems;
}

function stageProblems(at: string, omitted: readonly string[] = []): string[] {
  return omitted.flatMap((stage, index) =>
    (stages as readonly string[]).includes(stage)
      ? []
      : [
          `${at}[${index}]: Invalid value: ${JSON.stringify(stage)}: allowed stages are ${stages.join(",")}`,
        ],
  );
}

export interface AuditDecision {
  readonly level: AuditLevel;
  readonly omitManagedFields: boolean;
  omits(stage: AuditStage): boolean;
}

/** How a request is recorded; level None when no rule speaks of it. `user`: undefined when it is not known who asks. */
export function auditDecision(
  policy: AuditPolicy,
  info: RequestInfo,
  user: UserInfo | undefined,
): AuditDecision {
  const rule = policy.rules.find((each) => matches(each, info, user));
  return {
    level: rule?.level ?? "None",
    omitManagedFields:
      rule?.omitManagedFields ?? policy.omitManagedFields ?? false,
    omits: (stage) =>
      policy.omitStages?.includes(stage) === true ||
      rule?.omitStages?.includes(stage) === true,
  };
}

/** Is this level, or more, recorded? */
export function reaches(level: AuditLevel, wanted: AuditLevel): boolean {
  return levels.indexOf(level) >= levels.indexOf(wanted);
}

function matches(
  rule: AuditRule,
  info: RequestInfo,
  user: UserInfo | undefined,
): boolean {
  if (rule.users?.length && !(user && rule.users.includes(user.name)))
    return false;
  if (
    rule.userGroups?.length &&
    !rule.userGroups.some((group) => user?.groups.includes(group))
  )
    return false;
  if (rule.verbs?.length && !rule.verbs.includes(info.verb)) return false;
  if (rule.resources?.length || rule.namespaces?.length) {
    if (!info.resourceRequest) return false;
    if (rule.namespaces?.length && !rule.namespaces.includes(info.namespace))
      return false;
    return (
      !rule.resources?.length || rule.resources.some(matchesResource, info)
    );
  }
  if (!rule.nonResourceURLs?.length) return true;
  if (info.resourceRequest) return false;
  return rule.nonResourceURLs.some((pattern) =>
    pattern.endsWith("*")
      ? info.path.startsWith(pattern.slice(0, -1))
      : pattern === info.path,
  );
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
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(this.objectName))
    return false;
  const { resource, subresource } = this;
  const full = subresource ? `${resource}/${subresource}` : resource;
  return resources.some(
    (wanted) =>
      wanted === "*" ||
      wanted === full ||
      wanted === `${resource}/*` ||
      (subresource !== "" && wanted === `*/${subresource}`),
  );
}
