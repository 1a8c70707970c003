// RBAC on the watch cache: bindings indexed by subject, rules compiled once a role's version. A decision looks only at
// the bindings of the user and of its groups.
import type {
  AccessAttributes,
  AccessDecision,
  Authorizer,
  UserInfo,
} from "../../api/contracts.ts";
import type { AnyObject } from "../../api/object.ts";
import type { PolicyRule, RoleRef, Subject } from "../../api/types/rbac-v1.ts";
import type { ClusterState } from "../resources/state.ts";
import { rulesAllow } from "./policy-rule.ts";

const RBAC = "rbac.authorization.k8s.io";
const NO_RULES: readonly PolicyRule[] = [];

interface IndexedBinding {
  /** "" for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly name: string;
  readonly roleRef: RoleRef;
  readonly subject: Subject;
}

/** Bindings of one scope (a namespace, or the cluster), by subject. */
type Scope = Map<string, IndexedBinding[]>;

export class RbacAuthorizer implements Authorizer {
  readonly #state: ClusterState;
  /** By namespace; "" holds the ClusterRoleBindings. */
  readonly #scopes = new Map<string, Scope>();
  readonly #stops: (() => void)[] = [];

  constructor(state: ClusterState) {
    this.#state = state;
  }

  /** Reads the present bindings and follows them. The state has been loaded. */
  start(): void {
    for (const resource of ["clusterrolebindings", "rolebindings"]) {
      for (const binding of this.#state.list(RBAC, resource))
        this.#add(binding);
      this.#stops.push(
        this.#state.onChange(RBAC, resource, ({ object, previous }) => {
          if (previous) this.#remove(previous);
          if (object) this.#add(object);
        }),
      );
    }
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
    this.#scopes.clear();
  }

  authorize(attributes: AccessAttributes): AccessDecision {
    const missing: string[] = [];
    const scopes =
      attributes.resourceRequest && attributes.namespace !== ""
        ? ["", attributes.namespace]
        : [""];
    for (const namespace of scopes) {
      const scope = this.#scopes.get(namespace);
      if (!scope) continue;
      for (const key of subjectKeys(attributes.user)) {
        for (const binding of scope.get(key) ?? []) {
          const rules = this.#rulesOf(binding);
          if (!rules) missing.push(describeRole(binding.roleRef));
          else if (rulesAllow(rules, attributes))
            return { decision: "allow", reason: allowedBy(binding) };
        }
      }
    }
    // The same role may be bound more than once.
    const reason = [...new Set(missing)]
      .map((role) => `${role} not found`)
      .join(", ");
    return {
      decision: "no-opinion",
      reason: reason === "" ? "" : `RBAC: ${reason}`,
    };
  }

  /** Every rule the user has in the namespace, cluster-wide ones first. */
  rulesFor(user: UserInfo, namespace: string): PolicyRule[] {
    const rules: PolicyRule[] = [];
    for (const inNamespace of namespace === "" ? [""] : ["", namespace]) {
      const scope = this.#scopes.get(inNamespace);
      if (!scope) continue;
      for (const key of subjectKeys(user)) {
        for (const binding of scope.get(key) ?? [])
          rules.push(...(this.#rulesOf(binding) ?? []));
      }
    }
    return rules;
  }

  /** The rules of a role; undefined when there is no such role. */
  roleRules(
    roleRef: RoleRef,
    namespace: string,
  ): readonly PolicyRule[] | undefined {
    const role =
      roleRef.kind === "ClusterRole"
        ? this.#state.read(RBAC, "clusterroles", "", roleRef.name)
        : this.#state.read(RBAC, "roles", namespace, roleRef.name);
    return (
      role && ((role["rules"] as PolicyRule[] | null | undefined) ?? NO_RULES)
    );
  }

  #rulesOf({
    roleRef,
    namespace,
  }: IndexedBinding): readonly PolicyRule[] | undefined {
    return this.roleRules(roleRef, namespace);
  }

  #add(binding: Readonly<AnyObject>): void {
    const { name, namespace = "" } = binding.metadata;
    let scope = this.#scopes.get(namespace);
    if (!scope) this.#scopes.set(namespace, (scope = new Map()));
    const roleRef = binding["roleRef"] as RoleRef;
    for (const subject of subjectsOf(binding)) {
      const key = subjectKey(subject, namespace);
      const indexed = { namespace, name, roleRef, subject };
      const known = scope.get(key);
      if (known) known.push(indexed);
      else scope.set(key, [indexed]);
    }
  }

  #remove(binding: Readonly<AnyObject>): void {
    const { name, namespace = "" } = binding.metadata;
    const scope = this.#scopes.get(namespace);
    if (!scope) return;
    for (const subject of subjectsOf(binding)) {
      const key = subjectKey(subject, namespace);
      const rest = (scope.get(key) ?? []).filter(
        (indexed) => indexed.name !== name,
      );
      if (rest.length > 0) scope.set(key, rest);
      else scope.delete(key);
    }
    if (scope.size === 0) this.#scopes.delete(namespace);
  }
}

function subjectsOf(binding: Readonly<AnyObject>): readonly Subject[] {
  return (binding["subjects"] as Subject[] | null | undefined) ?? [];
}

function subjectKey(subject: Subject, bindingNamespace: string): string {
  switch (subject.kind) {
    case "Group":
      return `g:${subject.name}`;
    case "ServiceAccount":
      return `u:system:serviceaccount:${subject.namespace || bindingNamespace}:${subject.name}`;
    default:
      return `u:${subject.name}`;
  }
}

function* subjectKeys(user: UserInfo): Generator<string> {
  yield `u:${user.name}`;
  for (const group of user.groups) yield `g:${group}`;
}

function describeRole({ kind, name }: RoleRef): string {
  return `${kind.toLowerCase()}.${RBAC} ${JSON.stringify(name)}`;
}

function allowedBy({
  namespace,
  name,
  roleRef,
  subject,
}: IndexedBinding): string {
  const binding =
    namespace === ""
      ? `ClusterRoleBinding "${name}"`
      : `RoleBinding "${name}/${namespace}"`;
  const who =
    subject.kind === "ServiceAccount"
      ? `ServiceAccount "${subject.name}/${subject.namespace || namespace}"`
      : `${subject.kind} "${subject.name}"`;
  return `RBAC: allowed by ${binding} of ${roleRef.kind} "${roleRef.name}" to ${who}`;
}
