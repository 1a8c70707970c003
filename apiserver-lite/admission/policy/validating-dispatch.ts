// A request before the policies that are bound for it: which match, with which parameters each is evaluated, and what
// follows from what they decide: a refusal, warnings, audit annotations.
import { ApiError, errors } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { started, type Pause } from "../../../api/queueing/steps.ts";
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "../../../api/types/admissionregistration-v1.ts";
import type { StrategyContext } from "../../resources/strategy.ts";
import { namespaceOf } from "../matching/request-matcher.ts";
import { nameOf } from "../request-name.ts";
import type { AdmissionAttributes, ServedResource } from "../plugin.ts";
import { PolicyAnnotations } from "./audit-annotations.ts";
import { compilePolicy, type CompiledPolicy } from "./compiled-policy.ts";
import {
  evaluatePolicy,
  type Decision,
  type PolicyResult,
} from "./decisions.ts";
import { collectParams, ConfigurationError, paramObjects } from "./params.ts";
import type {
  BoundPolicy,
  PolicyBinding,
  PolicyIndex,
} from "./policy-index.ts";
import { errorType } from "./policy-metrics.ts";
import { RequestAuthorizer } from "../expressions/request-authorizer.ts";
import { RequestVariables } from "../expressions/request-variables.ts";
import type { PolicyPluginOptions } from "./plugin-options.ts";

type Binding = ValidatingAdmissionPolicyBinding;
type Bound = BoundPolicy<ValidatingAdmissionPolicy, Binding, CompiledPolicy>;
type ValidatingIndex = PolicyIndex<
  ValidatingAdmissionPolicy,
  Binding,
  CompiledPolicy
>;

const codes: Readonly<Record<string, number>> = {
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
};

interface Denial {
  readonly policy: string;
  /** "" where the policy itself can't be used. */
  readonly binding: string;
  readonly message: string;
  readonly reason: string;
}

/** Throws ApiError with the policy's reason when a policy denies the request. */
export async function dispatchValidating(
  index: ValidatingIndex,
  options: PolicyPluginOptions,
  attributes: AdmissionAttributes,
  context: StrategyContext,
): Promise<void> {
  const run = new Dispatch(options, attributes, context);
  for (const bound of index.bound(({ spec = {} }) => compilePolicy(spec)))
    await run.policy(bound);
  run.finish();
}

class Dispatch {
  readonly #denials: Denial[] = [];
  readonly #annotations: PolicyAnnotations;
  readonly #authorizer: RequestAuthorizer;
  readonly #pause: Pause;

  constructor(
    private readonly options: PolicyPluginOptions,
    private readonly attributes: AdmissionAttributes,
    private readonly context: StrategyContext,
  ) {
    this.#annotations = new PolicyAnnotations(context);
    this.#authorizer = new RequestAuthorizer(options.authorizer);
    this.#pause = context.pauses();
  }

  async policy(bound: Bound): Promise<void> {
    const { attributes, context } = this;
    let matched: ServedResource | undefined;
    try {
      matched = bound.matcher.match(attributes, context);
    } catch (error) {
      this.#misconfigured(bound, undefined, error);
      return;
    }
    if (!matched) return;
    let objects: ReturnType<typeof paramObjects>;
    try {
      objects = paramObjects(bound.policy.spec?.paramKind, this.options.params);
    } catch (error) {
      this.#misconfigured(bound, undefined, error);
      return;
    }
    const request = new LazyRequest(
      attributes,
      context,
      matched,
      this.#authorizer,
    );
    for (const binding of bound.bindings) {
      let params: Awaited<ReturnType<typeof collectParams>>;
      try {
        const { matcher } = binding;
        if (matcher && !matcher.match(attributes, context)) continue;
        params = await collectParams(
          objects,
          binding.binding.spec?.paramRef,
          namespaceOf(attributes),
        );
        if (params.length > 0) await request.convert();
      } catch (error) {
        this.#misconfigured(bound, binding, error);
        continue;
      }
      for (const each of params)
        await this.#evaluate(bound, binding, () => request.variables(each));
    }
    this.#annotations.publish(bound.name);
  }

  /** Throws the first denial. */
  finish(): void {
    const [first] = this.#denials;
    if (!first) return;
    const { attributes } = this;
    const by = first.binding === "" ? "" : ` with binding '${first.binding}'`;
    const message = `ValidatingAdmissionPolicy '${first.policy}'${by} denied request: ${first.message}`;
    const { status } = errors.forbidden(
      attributes.resource,
      nameOf(attributes),
      message,
    );
    const reason = first.reason || "Invalid";
    throw new ApiError({
      ...status,
      reason,
      details: { ...status.details, causes: [{ message }] },
      code: codes[reason] ?? 422,
    });
  }

  async #evaluate(
    bound: Bound,
    { name, binding }: PolicyBinding<Binding>,
    request: () => RequestVariables,
  ): Promise<void> {
    const { metrics } = this.options;
    const { clock } = this.context;
    const startedMs = clock.monotonic();
    const missed = (failures: number): void => {
      const { operation } = this.attributes;
      metrics.conditions.evaluated(
        { name: bound.name, kind: "policy", type: "validate", operation },
        (clock.monotonic() - startedMs) / 1000,
        failures,
      );
    };
    const run = (): PolicyResult | Promise<PolicyResult> =>
      started(evaluatePolicy(bound.compiled, request(), missed), this.#pause);
    let result = run();
    if (result instanceof Promise) result = await result;
    while (this.#authorizer.waits) {
      await this.#authorizer.settle();
      result = await run();
    }
    const { decisions, annotations } = result;
    const seconds =
      (clock.monotonic() - startedMs) / 1000 / Math.max(decisions.length, 1);
    for (const [index, decision] of decisions.entries()) {
      const observe = (action: string): void =>
        metrics.observe(bound.name, name, errorType(decision), action, seconds);
      if (decision.action === "deny")
        for (const action of binding.spec?.validationActions ?? []) {
          this.#act(action, bound.name, binding, name, index, decision);
          observe(action.toLowerCase());
        }
      else if (decision.evaluation === "error") observe("allow");
    }
    for (const { key, value, error } of annotations) {
      if (value !== undefined) this.#annotations.add(key, value);
      if (error === undefined) continue;
      const denial = { policy: bound.name, binding: name, reason: "" };
      this.#denials.push({ ...denial, message: error });
      const kind = errorType({ evaluation: "error", message: error });
      metrics.observe(bound.name, name, kind, "deny", seconds);
    }
  }

  #act(
    action: string,
    policy: string,
    { spec = {} }: Binding,
    binding: string,
    expressionIndex: number,
    { message, reason }: Decision,
  ): void {
    switch (action) {
      case "Deny":
        this.#denials.push({ policy, binding, message, reason });
        break;
      case "Warn":
        this.context.warn(
          `Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${binding}': ${message}`,
        );
        break;
      case "Audit":
        this.#annotations.failure({
          message,
          policy: spec.policyName ?? "",
          binding,
          expressionIndex,
          validationActions: spec.validationActions ?? [],
        });
    }
  }

  #misconfigured(
    { name, compiled }: Bound,
    binding: PolicyBinding<Binding> | undefined,
    error: unknown,
  ): void {
    if (!(error instanceof ConfigurationError || error instanceof ApiError))
      throw error;
    if (compiled.failurePolicy === "Ignore") return;
    this.#denials.push({
      policy: name,
      binding: binding?.name ?? "",
      message: `failed to configure ${binding ? "binding" : "policy"}: ${error.message}`,
      reason: "",
    });
  }
}

/** The request's objects in the version that the policy matched, made once for all of its bindings. */
class LazyRequest {
  #object: Readonly<AnyObject> | undefined;
  #oldObject: Readonly<AnyObject> | undefined;
  #namespace: Readonly<AnyObject> | undefined;
  #converted = false;

  constructor(
    private readonly attributes: AdmissionAttributes,
    private readonly context: StrategyContext,
    private readonly matched: ServedResource,
    private readonly authorizer: RequestAuthorizer,
  ) {}

  /** Throws ConfigurationError; ApiError 404 of the request itself when its namespace is not there. */
  async convert(): Promise<void> {
    if (this.#converted) return;
    const { attributes, context, matched } = this;
    const { object, oldObject, versions, namespace, kind } = attributes;
    const convert = async (
      given: Readonly<AnyObject> | undefined,
    ): Promise<Readonly<AnyObject> | undefined> => {
      if (!given) return undefined;
      try {
        const made = versions.to(given, matched.kind);
        return made instanceof Promise ? await made : made;
      } catch (error) {
        throw new ConfigurationError(
          `failed to convert object version: ${(error as Error).message}`,
        );
      }
    };
    this.#object = await convert(object);
    this.#oldObject = await convert(oldObject);
    const isNamespace = kind.group === "" && kind.kind === "Namespace";
    if (namespace !== "" && !isNamespace)
      this.#namespace = context.read("", "namespaces", "", namespace);
    this.#converted = true;
  }

  variables(params: Readonly<AnyObject> | undefined): RequestVariables {
    return new RequestVariables({
      attributes: this.attributes,
      matched: this.matched,
      object: this.#object,
      oldObject: this.#oldObject,
      namespaceObject: this.#namespace,
      params,
      authorizer: this.authorizer,
    });
  }
}
