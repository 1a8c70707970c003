// Whether a webhook or a policy is for a request: its rules, its selectors of namespaces and objects, and with which of
// the equivalent resources it is to see it (matchPolicy). Conditions in CEL come after it.
//
// Invariant: a selector that can't be evaluated (its namespace is gone) refuses only requests that the rules are for.
import { errors } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { selectorFromObject, type Selector } from "../../../api/selectors.ts";
import type { NamedRuleWithOperations } from "../../../api/types/admissionregistration-v1.ts";
import type { LabelSelector } from "../../../api/types/meta-v1.ts";
import type { StateReader } from "../../resources/state.ts";
import type { AdmissionAttributes, ServedResource } from "../plugin.ts";
import { isNamespaces, Rules, type RuledRequest } from "./rules.ts";

interface MatchCriteria {
  readonly rules: readonly NamedRuleWithOperations[];
  /** Requests that are let pass before the rules are read; default none. */
  readonly excludeRules?: readonly NamedRuleWithOperations[] | undefined;
  /** Equivalent (default) or Exact. */
  readonly matchPolicy?: string | undefined;
  /** Default: all. */
  readonly namespaceSelector?: LabelSelector | undefined;
  /** Default: all. */
  readonly objectSelector?: LabelSelector | undefined;
  /** No rules are for every request (policies), instead of for none (webhooks). */
  readonly withoutRules?: "all" | "none";
}

export class RequestMatcher {
  readonly #rules: Rules;
  readonly #excluded: Rules;
  readonly #equivalent: boolean;
  readonly #namespaces: Selector;
  readonly #objects: Selector;
  readonly #all: boolean;

  /** Throws ApiError 400 when a selector is wrong; validation refuses such objects. */
  constructor(criteria: MatchCriteria) {
    this.#rules = new Rules(criteria.rules);
    this.#excluded = new Rules(criteria.excludeRules ?? []);
    this.#equivalent = criteria.matchPolicy !== "Exact";
    this.#namespaces = selectorFromObject(criteria.namespaceSelector ?? {});
    this.#objects = selectorFromObject(criteria.objectSelector ?? {});
    this.#all = criteria.withoutRules === "all" && this.#rules.empty;
  }

  /**
   * The resource, with its kind, that the request is to be shown as; undefined: it does not match. Throws ApiError 404
   * when the namespace whose labels are needed is not there.
   */
  match(
    attributes: AdmissionAttributes,
    state: StateReader,
  ): ServedResource | undefined {
    // The object's selector is the cheaper one, and neither of the two has an effect.
    if (!this.#selectsObject(attributes)) return undefined;
    const selected = this.#selectsNamespace(attributes, state);
    if (selected === false) return undefined;
    const request = ruledRequest(attributes);
    if (this.#matching(this.#excluded, attributes, request)) return undefined;
    const matched = this.#all
      ? ownResource(attributes)
      : this.#matching(this.#rules, attributes, request);
    if (!matched) return undefined;
    if (selected === "unknown")
      throw errors.notFound(
        { group: "", resource: "namespaces" },
        request.namespace,
      );
    return matched;
  }

  #matching(
    rules: Rules,
    attributes: AdmissionAttributes,
    request: RuledRequest,
  ): ServedResource | undefined {
    if (rules.empty) return undefined;
    if (rules.matches(request)) return ownResource(attributes);
    if (!this.#equivalent) return undefined;
    const { equivalents } = attributes.versions;
    return equivalents.length > 1
      ? rules.firstOf(equivalents.slice(1), request)
      : undefined;
  }

  #selectsObject({ object, oldObject }: AdmissionAttributes): boolean {
    const selector = this.#objects;
    return (
      selector.empty ||
      hasLabels(selector, object) ||
      hasLabels(selector, oldObject)
    );
  }

  #selectsNamespace(
    attributes: AdmissionAttributes,
    state: StateReader,
  ): boolean | "unknown" {
    const { resource, subresource, operation, object } = attributes;
    const selector = this.#namespaces;
    if (selector.empty) return true;
    const itself = resource.resource === "namespaces";
    const namespace = namespaceOf(attributes);
    if (namespace === "" && !itself) return true;
    if (
      itself &&
      subresource === "" &&
      (operation === "CREATE" || operation === "UPDATE")
    )
      return selector.matches(object?.metadata.labels);
    const found = state.read("", "namespaces", "", namespace);
    return found ? selector.matches(found.metadata.labels) : "unknown";
  }
}

function hasLabels(
  selector: Selector,
  object: Readonly<AnyObject> | undefined,
): boolean {
  // Options of a CONNECT and other bodies have no metadata.
  const metadata = (object as Partial<AnyObject> | undefined)?.metadata;
  return metadata !== undefined && selector.matches(metadata.labels);
}

function ownResource({ resource, kind }: AdmissionAttributes): ServedResource {
  return { resource, kind };
}

/** The namespace a request names; of a request for a namespace itself its name. */
export function namespaceOf({
  namespace,
  name,
  resource,
}: Pick<AdmissionAttributes, "namespace" | "name" | "resource">): string {
  return namespace === "" && isNamespaces(resource) ? name : namespace;
}

function ruledRequest(attributes: AdmissionAttributes): RuledRequest {
  const { operation, resource, subresource, name } = attributes;
  const namespace = namespaceOf(attributes);
  return { operation, resource, subresource, namespace, name };
}

const configurationKinds: ReadonlySet<string> = new Set([
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
  "MutatingWebhookConfiguration",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "ValidatingWebhookConfiguration",
]);

const exempt: ReadonlySet<string> = new Set([
  "admissionregistration.k8s.io/mutatingadmissionpolicies",
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings",
  "admissionregistration.k8s.io/validatingadmissionpolicies",
  "admissionregistration.k8s.io/validatingadmissionpolicybindings",
  "authentication.k8s.io/selfsubjectreviews",
  "authentication.k8s.io/tokenreviews",
  "authorization.k8s.io/localsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectrulesreviews",
  "authorization.k8s.io/subjectaccessreviews",
]);

/**
 * Requests that no policy is for: policies, so that a wrong one can be removed, and the reviews that the cluster works
 * by.
 */
export function exemptFromPolicies({
  resource: { group, resource },
}: AdmissionAttributes): boolean {
  return exempt.has(`${group}/${resource}`);
}

/** Objects that configure admission: no webhook is for them, so that a wrong one can be removed. */
export function configuresAdmission({
  kind,
}: Pick<AdmissionAttributes, "kind">): boolean {
  return (
    kind.group === "admissionregistration.k8s.io" &&
    configurationKinds.has(kind.kind)
  );
}
