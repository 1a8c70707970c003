// The roles and bindings every cluster has, brought up to date at start: missing objects are made, missing rules and
// subjects are added to those that still carry autoupdate=true, nothing is removed. When all is there, nothing is written.
import type { Logger } from "pino";
import { isAlreadyExists, isConflict, isNotFound } from "../../api/errors.ts";
import facts from "../../api/facts/rbac-bootstrap.json";
import type { AnyObject, GroupVersionResource } from "../../api/object.ts";
import type { PolicyRule, RoleRef, Subject } from "../../api/types/rbac-v1.ts";
import type { Transport } from "../../client/transport.ts";
import type { StateReader } from "../resources/state.ts";
import { gatedPolicies } from "./gated-policy.ts";
import { uncoveredRules } from "./policy-rule.ts";

const GROUP = "rbac.authorization.k8s.io";
const AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate";
const PARALLEL_WRITES = 64;

interface RoleFact {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Record<string, string>;
  readonly rules?: readonly PolicyRule[];
  readonly aggregate?: readonly Record<string, string>[];
}

interface BindingFact {
  readonly name: string;
  readonly namespace?: string;
  /** Kind/name */
  readonly role: string;
  /** user:name, group:name or sa:namespace/name */
  readonly subjects: readonly string[];
}

interface Wanted {
  readonly resource: string;
  readonly object: AnyObject;
}

type Gates = Readonly<Record<string, boolean>>;

/** Those of controllers whose gates are on. */
function gatedFacts(gates: Gates): {
  roles: RoleFact[];
  bindings: BindingFact[];
} {
  const controllers = gatedPolicies
    .filter(({ gate }) => gates[gate])
    .flatMap((policy) => Object.entries(policy.controllers));
  return {
    roles: controllers.map(([name, rules]) => ({
      name: `system:controller:${name}`,
      rules,
    })),
    bindings: controllers.map(([name]) => ({
      name: `system:controller:${name}`,
      role: `ClusterRole/system:controller:${name}`,
      subjects: [`sa:kube-system/${name}`],
    })),
  };
}

/** A role with what gates that are on add to it. */
function withGatedRules(fact: RoleFact, gates: Gates): RoleFact {
  const more = gatedPolicies
    .filter(({ gate }) => gates[gate])
    .flatMap(({ rules }) => rules[fact.name] ?? []);
  return more.length > 0
    ? { ...fact, rules: [...(fact.rules ?? []), ...more] }
    : fact;
}

/** Objects as they are written, in an order in which they may be. */
export function bootstrapPolicy(gates: Gates = {}): Wanted[] {
  const { clusterRoles, clusterRoleBindings, roles, roleBindings } = facts;
  const gated = gatedFacts(gates);
  return [
    ...[...(clusterRoles as RoleFact[]), ...gated.roles].map((fact) => ({
      resource: "clusterroles",
      object: roleOf(withGatedRules(fact, gates)),
    })),
    ...(roles as RoleFact[]).map((fact) => ({
      resource: "roles",
      object: roleOf(fact),
    })),
    ...[...(clusterRoleBindings as BindingFact[]), ...gated.bindings].map(
      (fact) => ({
        resource: "clusterrolebindings",
        object: bindingOf(fact),
      }),
    ),
    ...(roleBindings as BindingFact[]).map((fact) => ({
      resource: "rolebindings",
      object: bindingOf(fact),
    })),
  ];
}

function metadataOf({
  name,
  namespace,
  labels,
}: {
  name: string;
  namespace?: string;
  labels?: object;
}): AnyObject["metadata"] {
  return {
    name,
    ...(namespace ? { namespace } : {}),
    annotations: { [AUTOUPDATE]: "true" },
    labels: { ...labels, "kubernetes.io/bootstrapping": "rbac-defaults" },
  };
}

function roleOf(fact: RoleFact): AnyObject {
  const { aggregate } = fact;
  return {
    apiVersion: `${GROUP}/v1`,
    kind: fact.namespace ? "Role" : "ClusterRole",
    metadata: metadataOf(fact),
    ...(aggregate
      ? {
          aggregationRule: {
            clusterRoleSelectors: aggregate.map((matchLabels) => ({
              matchLabels,
            })),
          },
        }
      : {}),
    rules: aggregate ? aggregatedFacts(aggregate) : fact.rules,
  };
}

/** So that a new cluster's admin, edit and view are complete from their first version on. */
function aggregatedFacts(
  selectors: readonly Record<string, string>[],
): PolicyRule[] {
  const selected = (facts.clusterRoles as RoleFact[])
    .filter(({ labels = {} }) =>
      selectors.some((wanted) =>
        Object.entries(wanted).every(([key, value]) => labels[key] === value),
      ),
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return selected.flatMap(
    ({ rules, aggregate }) =>
      rules ?? (aggregate ? aggregatedFacts(aggregate) : []),
  );
}

function bindingOf(fact: BindingFact): AnyObject {
  const [kind = "", name = ""] = fact.role.split(/\/(.*)/);
  const roleRef: RoleRef = { apiGroup: GROUP, kind, name };
  return {
    apiVersion: `${GROUP}/v1`,
    kind: fact.namespace ? "RoleBinding" : "ClusterRoleBinding",
    metadata: metadataOf(fact),
    roleRef,
    subjects: fact.subjects.map(subjectOf),
  };
}

function subjectOf(text: string): Subject {
  const [kind, name = ""] = text.split(/:(.*)/);
  if (kind === "user") return { apiGroup: GROUP, kind: "User", name };
  if (kind === "group") return { apiGroup: GROUP, kind: "Group", name };
  const [namespace = "", account = ""] = name.split("/");
  return { kind: "ServiceAccount", name: account, namespace };
}

interface BootstrapPolicyOptions {
  readonly state: StateReader;
  /** Of a superuser. */
  readonly transport: Pick<Transport, "request">;
  readonly logger: Logger;
  readonly featureGates?: Gates;
}

/** Resolves when all is as it should be. The namespaces kube-system and kube-public exist. */
export async function reconcileBootstrapPolicy(
  options: BootstrapPolicyOptions,
): Promise<void> {
  const todo = bootstrapPolicy(options.featureGates).flatMap((wanted) =>
    plannedWrite(wanted, options.state),
  );
  for (let from = 0; from < todo.length; from += PARALLEL_WRITES) {
    const results = await Promise.allSettled(
      todo
        .slice(from, from + PARALLEL_WRITES)
        .map((write) => options.transport.request(write)),
    );
    for (const result of results) {
      if (result.status === "fulfilled") continue;
      const error: unknown = result.reason;
      // Another writer (such as another server on the same store) was faster.
      if (isAlreadyExists(error) || isConflict(error)) continue;
      if (!isNotFound(error)) throw error;
      options.logger.warn(
        { err: error },
        "a namespace of the bootstrap policy is missing",
      );
    }
  }
  if (todo.length > 0)
    options.logger.info(
      { objects: todo.length },
      "brought the bootstrap policy up to date",
    );
}

type Write = Parameters<Transport["request"]>[0];

function plannedWrite(
  { resource, object }: Wanted,
  state: StateReader,
): Write[] {
  const { name, namespace = "" } = object.metadata;
  const gvr: GroupVersionResource = { group: GROUP, version: "v1", resource };
  const place = { resource: gvr, ...(namespace === "" ? {} : { namespace }) };
  const present = state.read(GROUP, resource, namespace, name);
  if (!present) return [{ verb: "create", ...place, body: object }];
  if (present.metadata.annotations?.[AUTOUPDATE] !== "true") return [];
  const updated = merged(object, present);
  return updated ? [{ verb: "update", ...place, name, body: updated }] : [];
}

/** The present object with what is missing added; undefined when nothing is. */
function merged(
  wanted: AnyObject,
  present: Readonly<AnyObject>,
): AnyObject | undefined {
  if (wanted["roleRef"]) {
    // A binding to another role is an administrator's decision; the reference recreates it, we leave it.
    if (
      JSON.stringify(wanted["roleRef"]) !== JSON.stringify(present["roleRef"])
    )
      return undefined;
    const subjects = (present["subjects"] ?? []) as Subject[];
    const missing = (wanted["subjects"] as Subject[]).filter(
      (subject) =>
        !subjects.some(
          ({ kind, name, namespace }) =>
            kind === subject.kind &&
            name === subject.name &&
            namespace === subject.namespace,
        ),
    );
    return missing.length > 0
      ? { ...present, subjects: [...subjects, ...missing] }
      : undefined;
  }
  // Aggregated rules are kept by the aggregator.
  if (wanted["aggregationRule"]) return undefined;
  const rules = (present["rules"] ?? []) as PolicyRule[];
  const missing = uncoveredRules(rules, wanted["rules"] as PolicyRule[]);
  return missing.length > 0
    ? { ...present, rules: [...rules, ...missing] }
    : undefined;
}
