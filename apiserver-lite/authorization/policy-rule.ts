// One RBAC rule made ready for questions, and the question whether rules cover other rules. Compiled once a version of
// a role: the compiled form hangs on the role's frozen object.
import type { AccessAttributes } from "../../api/contracts.ts";
import type { PolicyRule } from "../../api/types/rbac-v1.ts";

interface CompiledRule {
  readonly verbs: ReadonlySet<string> | "all";
  readonly groups: ReadonlySet<string> | "all";
  readonly resources: ReadonlySet<string> | "all";
  /** From "*\/scale": this subresource of everything. */
  readonly anySubresource: ReadonlySet<string>;
  /** Undefined: every name. */
  readonly names: ReadonlySet<string> | undefined;
  readonly paths: ReadonlySet<string>;
  /** From "/healthz/*"; "" stands for every path. */
  readonly pathPrefixes: readonly string[];
}

const compiled = new WeakMap<readonly PolicyRule[], readonly CompiledRule[]>();

/** Do these rules allow it? The array must not change afterwards. */
export function rulesAllow(
  rules: readonly PolicyRule[],
  attributes: AccessAttributes,
): boolean {
  let ready = compiled.get(rules);
  if (!ready) {
    ready = rules.map(compileRule);
    compiled.set(rules, ready);
  }
  for (const rule of ready) {
    if (
      attributes.resourceRequest
        ? allowsResource(rule, attributes)
        : allowsPath(rule, attributes)
    )
      return true;
  }
  return false;
}

function allOr(
  values: readonly string[] | undefined,
): ReadonlySet<string> | "all" {
  return values?.includes("*") ? "all" : new Set(values);
}

function compileRule(rule: PolicyRule): CompiledRule {
  const { resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  return {
    verbs: allOr(rule.verbs),
    groups: allOr(rule.apiGroups),
    resources: allOr(resources),
    anySubresource: new Set(
      resources
        .filter((name) => name.startsWith("*/"))
        .map((name) => name.slice(2)),
    ),
    names: resourceNames.length > 0 ? new Set(resourceNames) : undefined,
    paths: new Set(nonResourceURLs),
    pathPrefixes: nonResourceURLs
      .filter((path) => path.endsWith("*"))
      .map((path) => path.slice(0, -1)),
  };
}

function has(set: ReadonlySet<string> | "all", value: string): boolean {
  return set === "all" || set.has(value);
}

function allowsResource(
  rule: CompiledRule,
  { verb, group, resource, subresource, name }: AccessAttributes,
): boolean {
  if (!has(rule.verbs, verb) || !has(rule.groups, group)) return false;
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  if (
    !has(rule.resources, full) &&
    !(subresource !== "" && rule.anySubresource.has(subresource))
  )
    return false;
  return !rule.names || rule.names.has(name);
}

function allowsPath(
  rule: CompiledRule,
  { verb, path }: AccessAttributes,
): boolean {
  if (!has(rule.verbs, verb)) return false;
  return (
    rule.paths.has(path) ||
    rule.pathPrefixes.some((prefix) => path.startsWith(prefix))
  );
}

/** The parts of `wanted` that `held` does not cover: what would be an escalation. Empty: all covered. */
export function uncoveredRules(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): PolicyRule[] {
  return wanted
    .flatMap(splitRule)
    .filter((part) => !held.some((rule) => covers(rule, part)));
}

/** Into rules with one verb and one resource (or path) each. */
function splitRule(rule: PolicyRule): PolicyRule[] {
  const parts: PolicyRule[] = [];
  const { resourceNames = [] } = rule;
  for (const verb of rule.verbs) {
    for (const group of rule.apiGroups ?? []) {
      for (const resource of rule.resources ?? []) {
        const part = {
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
        };
        if (resourceNames.length === 0) parts.push(part);
        else
          for (const name of resourceNames)
            parts.push({ ...part, resourceNames: [name] });
      }
    }
    for (const url of rule.nonResourceURLs ?? [])
      parts.push({ verbs: [verb], nonResourceURLs: [url] });
  }
  return parts;
}

function covers(held: PolicyRule, part: PolicyRule): boolean {
  const includes = (
    list: readonly string[] | undefined,
    value: string | undefined,
  ): boolean =>
    list !== undefined && (list.includes("*") || list.includes(value!));
  if (!includes(held.verbs, part.verbs[0])) return false;
  const url = part.nonResourceURLs?.[0];
  if (url !== undefined) {
    return (held.nonResourceURLs ?? []).some(
      (own) =>
        own === url ||
        own === "*" ||
        (own.endsWith("*") && url.startsWith(own.slice(0, -1))),
    );
  }
  if (!includes(held.apiGroups, part.apiGroups?.[0])) return false;
  const resource = part.resources![0]!;
  const slash = resource.indexOf("/");
  const coversResource =
    includes(held.resources, resource) ||
    (slash > 0 && held.resources!.includes(`*${resource.slice(slash)}`));
  if (!coversResource) return false;
  const names = held.resourceNames ?? [];
  return (
    names.length === 0 ||
    (part.resourceNames?.[0] !== undefined &&
      names.includes(part.resourceNames[0]))
  );
}

/** Rules by one line each, in the form of the reference's messages. */
export function describeRule(rule: PolicyRule): string {
  const list = (values: readonly string[]): string =>
    `[${values.map((value) => JSON.stringify(value)).join(", ")}]`;
  const parts = (
    [
      ["APIGroups", rule.apiGroups],
      ["Resources", rule.resources],
      ["ResourceNames", rule.resourceNames],
      ["NonResourceURLs", rule.nonResourceURLs],
      ["Verbs", rule.verbs],
    ] as const
  )
    .filter(([, values]) => values && values.length > 0)
    .map(([name, values]) => `${name}:${list(values!)}`);
  return `{${parts.join(", ")}}`;
}
