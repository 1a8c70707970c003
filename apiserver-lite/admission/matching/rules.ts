// Which requests a rule of a webhook or a policy is for: operations, groups, versions, resources with subresources, scope,
// and, of policies, names.
import type { GroupVersionResource } from "../../../api/object.ts";
import type { NamedRuleWithOperations } from "../../../api/types/admissionregistration-v1.ts";

/** What rules look at. */
export interface RuledRequest {
  readonly operation: string;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  /** Of a namespace itself it may be its name. */
  readonly namespace: string;
  readonly name: string;
}

interface CompiledRule {
  readonly operations: ReadonlySet<string> | undefined;
  readonly groups: ReadonlySet<string> | undefined;
  readonly versions: ReadonlySet<string> | undefined;
  /** `[resource, subresource]`, each "*" for all; an empty subresource is the resource itself. */
  readonly resources: readonly (readonly [string, string])[];
  readonly scope: string;
  /** Empty: any. */
  readonly names: readonly string[];
}

/** Any of them. Without rules nothing matches. */
export class Rules {
  readonly #rules: readonly CompiledRule[];

  constructor(rules: readonly NamedRuleWithOperations[]) {
    this.#rules = rules.map(compile);
  }

  get empty(): boolean {
    return this.#rules.length === 0;
  }

  matches(request: RuledRequest): boolean {
    return this.#rules.some((rule) => matchesRule(rule, request));
  }

  /** The first place that the first such rule is for: earlier rules come before earlier places. */
  firstOf<T extends { readonly resource: GroupVersionResource }>(
    places: readonly T[],
    request: RuledRequest,
  ): T | undefined {
    const { operation, subresource, namespace, name } = request;
    for (const rule of this.#rules)
      for (const place of places) {
        const { resource } = place;
        const asked = { operation, resource, subresource, namespace, name };
        if (matchesRule(rule, asked)) return place;
      }
    return undefined;
  }
}

/** Undefined: any. */
function listed(
  values: readonly string[] | undefined,
): ReadonlySet<string> | undefined {
  return values?.includes("*") ? undefined : new Set(values);
}

function compile(rule: NamedRuleWithOperations): CompiledRule {
  return {
    operations: listed(rule.operations),
    groups: listed(rule.apiGroups),
    versions: listed(rule.apiVersions),
    resources: (rule.resources ?? []).map((text) => {
      const slash = text.indexOf("/");
      return slash < 0
        ? [text, ""]
        : [text.slice(0, slash), text.slice(slash + 1)];
    }),
    scope: rule.scope ?? "*",
    names: rule.resourceNames ?? [],
  };
}

function matchesRule(rule: CompiledRule, request: RuledRequest): boolean {
  const { operation, resource, subresource, name } = request;
  const has = (set: ReadonlySet<string> | undefined, value: string): boolean =>
    set === undefined || set.has(value);
  return (
    has(rule.operations, operation) &&
    has(rule.groups, resource.group) &&
    has(rule.versions, resource.version) &&
    rule.resources.some(
      ([whole, part]) =>
        (whole === "*" || whole === resource.resource) &&
        (part === "*" || part === subresource),
    ) &&
    isInScope(rule.scope, request) &&
    (rule.names.length === 0 || rule.names.includes(name))
  );
}

function isInScope(
  scope: string,
  { resource, namespace }: RuledRequest,
): boolean {
  if (scope === "*") return true;
  // A namespace is no namespaced object, although its requests name a namespace.
  const cluster = isNamespaces(resource) || namespace === "";
  return scope === "Cluster" ? cluster : scope === "Namespaced" && !cluster;
}

export function isNamespaces({
  group,
  version,
  resource,
}: GroupVersionResource): boolean {
  return group === "" && version === "v1" && resource === "namespaces";
}
