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
  /** From "/healthz/*"; "" matches every path. */
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
  return coversPath(rule, path);
}

/** More combinations of verb, group, resource and name than any real role has; each is compared by itself. */
const maxParts = 20_000;

/** Thrown for rules of more combinations than can be compared within one request. */
export class TooManyRules extends Error {
  constructor(parts: number) {
    super(
      `the rules have ${parts} combinations of verbs, API groups, resources and names, of which at most ${maxParts} can be compared with the permissions held`,
    );
  }
}

/**
 * The parts of `wanted` that `held` does not cover: what would be an escalation. Each has one verb, and one resource with
 * at most one name, or one path. Empty: all covered. Throws TooManyRules.
 */
export function uncoveredRules(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): PolicyRule[] {
  const parts = wanted.reduce((sum, rule) => sum + countParts(rule), 0);
  if (parts > maxParts) throw new TooManyRules(parts);
  const ready = held.map(compileRule);
  const missing: PolicyRule[] = [];
  for (const rule of wanted) {
    for (const verb of rule.verbs) {
      const withVerb = ready.filter(({ verbs }) => has(verbs, verb));
      for (const group of rule.apiGroups ?? []) {
        const withGroup = withVerb.filter(({ groups }) => has(groups, group));
        for (const resource of rule.resources ?? [])
          for (const name of namesOf(rule))
            if (!withGroup.some((own) => coversResource(own, resource, name)))
              missing.push({
                verbs: [verb],
                apiGroups: [group],
                resources: [resource],
                ...(name === undefined ? {} : { resourceNames: [name] }),
              });
      }
      for (const url of rule.nonResourceURLs ?? [])
        if (!withVerb.some((own) => coversPath(own, url)))
          missing.push({ verbs: [verb], nonResourceURLs: [url] });
    }
  }
  return missing;
}

function namesOf({
  resourceNames = [],
}: PolicyRule): readonly (string | undefined)[] {
  return resourceNames.length > 0 ? resourceNames : [undefined];
}

function countParts(rule: PolicyRule): number {
  const { verbs, apiGroups = [], resources = [], nonResourceURLs = [] } = rule;
  const perVerb =
    apiGroups.length * resources.length * namesOf(rule).length +
    nonResourceURLs.length;
  return verbs.length * perVerb;
}

function coversResource(
  held: CompiledRule,
  resource: string,
  name: string | undefined,
): boolean {
  const slash = resource.indexOf("/");
  return (
    (has(held.resources, resource) ||
      (slash > 0 && held.anySubresource.has(resource.slice(slash + 1)))) &&
    (!held.names || (name !== undefined && held.names.has(name)))
  );
}

function coversPath(held: CompiledRule, path: string): boolean {
  return (
    held.paths.has(path) ||
    held.pathPrefixes.some((prefix) => path.startsWith(prefix))
  );
}

/** Rules that differ in their verb alone become one, as the reference shows them. */
export function compactRules(parts: readonly PolicyRule[]): PolicyRule[] {
  const compact = new Map<string, PolicyRule>();
  for (const part of parts) {
    const { verbs, ...rest } = part;
    const key = JSON.stringify(
      part.nonResourceURLs ? part : { ...rest, verbs: [] },
    );
    const known = compact.get(key);
    compact.set(key, {
      ...part,
      verbs: [...new Set([...(known?.verbs ?? []), ...verbs])],
    });
  }
  return [...compact.values()];
}

/** Rules by one line each, in the form of the reference's messages. */
export function describeRule(rule: PolicyRule): string {
  const list = (values: readonly string[]): string =>
    `[${values.map((value) => JSON.stringify(value)).join(" ")}]`;
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
