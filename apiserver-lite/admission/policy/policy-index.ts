// The policies of one kind with their bindings, as requests need them. They are compiled when the first request after a
// change needs them, so that a policy is in effect for the request after its write was acknowledged; what did not change
// stays compiled. Without bound policies there is nothing to look at.
import type { MatchResources } from "../../../api/types/admissionregistration-v1.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { ClusterState } from "../../resources/state.ts";
import { typed } from "../../resources/typed.ts";
import { RequestMatcher } from "../matching/request-matcher.ts";

export interface BoundPolicy<P, B, C> {
  readonly policy: P;
  readonly name: string;
  readonly matcher: RequestMatcher;
  readonly compiled: C;
  readonly bindings: readonly PolicyBinding<B>[];
}

export interface PolicyBinding<B> {
  readonly binding: B;
  readonly name: string;
  /** Undefined: it adds nothing to the policy's rules. */
  readonly matcher: RequestMatcher | undefined;
}

interface PolicyLike {
  readonly metadata: { readonly name?: string };
  readonly spec?: { readonly matchConstraints?: MatchResources };
}
interface BindingLike {
  readonly metadata: { readonly name?: string };
  readonly spec?: {
    readonly policyName?: string;
    readonly matchResources?: MatchResources;
  };
}

interface PolicyIndexOptions {
  readonly state: ClusterState;
  /** Resources of admissionregistration.k8s.io. */
  readonly policies: string;
  readonly bindings: string;
}

const group = "admissionregistration.k8s.io";

export class PolicyIndex<P extends PolicyLike, B extends BindingLike, C> {
  readonly #options: PolicyIndexOptions;
  /** By what the policy is in the state: a new version is another object. */
  readonly #compiled = new WeakMap<
    object,
    Pick<BoundPolicy<P, B, C>, "compiled" | "matcher">
  >();
  readonly #bindings = new WeakMap<object, PolicyBinding<B>>();
  #bound: readonly BoundPolicy<P, B, C>[] | undefined;
  #empty: boolean | undefined;

  constructor(options: PolicyIndexOptions) {
    this.#options = options;
    const { state, policies, bindings } = options;
    const changed = (): void => {
      this.#bound = undefined;
      this.#empty = undefined;
    };
    for (const resource of [policies, bindings])
      state.onChange(group, resource, changed);
  }

  /** No policy has a binding, as there is none. */
  get empty(): boolean {
    const { state, bindings } = this.#options;
    return (this.#empty ??= state.list(group, bindings).length === 0);
  }

  /** Those with a binding, by name. @param compile of each version of a policy called once */
  bound(compile: (policy: P) => C): readonly BoundPolicy<P, B, C>[] {
    return (this.#bound ??= this.#read(compile));
  }

  #read(compile: (policy: P) => C): readonly BoundPolicy<P, B, C>[] {
    const { state, policies, bindings } = this.#options;
    const byPolicy = new Map<string, PolicyBinding<B>[]>();
    for (const object of state.list(group, bindings)) {
      const bound = this.#bindingOf(object);
      const name = bound.binding.spec?.policyName ?? "";
      byPolicy.set(name, [...(byPolicy.get(name) ?? []), bound]);
    }
    if (byPolicy.size === 0) return [];
    return [...byPolicy].sort(byName).flatMap(([name, bound]) => {
      const object = state.read(group, policies, "", name);
      return object ? [this.#policyOf(object, name, bound, compile)] : [];
    });
  }

  #policyOf(
    object: Readonly<AnyObject>,
    name: string,
    bindings: readonly PolicyBinding<B>[],
    compile: (policy: P) => C,
  ): BoundPolicy<P, B, C> {
    const policy = typed<P>(object);
    let made = this.#compiled.get(object);
    if (!made) {
      made = {
        compiled: compile(policy),
        matcher: matcherOf(policy.spec?.matchConstraints ?? {}),
      };
      this.#compiled.set(object, made);
    }
    return { policy, name, bindings, ...made };
  }

  #bindingOf(object: Readonly<AnyObject>): PolicyBinding<B> {
    let made = this.#bindings.get(object);
    if (!made) {
      const binding = typed<B>(object);
      const resources = binding.spec?.matchResources;
      made = {
        binding,
        name: binding.metadata.name ?? "",
        matcher: resources && matcherOf(resources),
      };
      this.#bindings.set(object, made);
    }
    return made;
  }
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number =>
  a < b ? -1 : 1;

const matcherOf = (resources: MatchResources): RequestMatcher =>
  new RequestMatcher({
    rules: resources.resourceRules ?? [],
    excludeRules: resources.excludeResourceRules,
    matchPolicy: resources.matchPolicy,
    namespaceSelector: resources.namespaceSelector,
    objectSelector: resources.objectSelector,
    withoutRules: "all",
  });
