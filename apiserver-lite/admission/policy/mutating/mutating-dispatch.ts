// A request before the mutating policies that are bound for it: all that match the object as it came are evaluated one
// after the other, each with the object as those before it left it. A policy that fails refuses the request by its failure
// policy, after all have been evaluated.
import { ApiError, errors } from "../../../../api/errors.ts";
import { sameJson } from "../../../../api/objects/json-equality.ts";
import type { StrategyContext } from "../../../resources/strategy.ts";
import { namespaceOf } from "../../matching/request-matcher.ts";
import type { AdmissionAttributes, ServedResource } from "../../plugin.ts";
import { nameOf } from "../../request-name.ts";
import { collectParams, ConfigurationError, paramObjects } from "../params.ts";
import type { PolicyPluginOptions } from "../plugin-options.ts";
import { compileMutations } from "./compiled-mutations.ts";
import {
  invocationOf,
  type BoundMutations,
  type Invocation,
  type MutationIndex,
} from "./invocation.ts";
import { Mutating } from "./mutating.ts";
import { Reinvocation } from "./reinvocation.ts";

interface Problem {
  readonly message: string;
  /** Default: Forbidden. */
  readonly reason?: string;
}

export class MutatingDispatch {
  readonly #requests = new WeakMap<AdmissionAttributes, Reinvocation>();

  constructor(
    private readonly index: MutationIndex,
    private readonly options: PolicyPluginOptions,
  ) {}

  /** Changes the object. Throws ApiError 403 when a policy fails, 500 when what it made can't be read. */
  async admit(
    attributes: AdmissionAttributes,
    context: StrategyContext,
  ): Promise<void> {
    const problems: Problem[] = [];
    const invocations: Invocation[] = [];
    for (const bound of this.index.bound(({ spec }) => compileMutations(spec)))
      invocations.push(
        ...(await this.#invocations(bound, attributes, context, problems)),
      );
    if (invocations.length > 0)
      await this.#invoke(invocations, attributes, context, problems);
    if (problems.length > 0) throw refusal(attributes, problems);
  }

  /** Where the policy or a binding can't be used, that is a problem by its failure policy. */
  async #invocations(
    bound: BoundMutations,
    attributes: AdmissionAttributes,
    context: StrategyContext,
    problems: Problem[],
  ): Promise<Invocation[]> {
    const found: Invocation[] = [];
    const { policy, name, compiled } = bound;
    const misconfigured = (error: unknown, binding?: string): void => {
      if (!(error instanceof ConfigurationError || error instanceof ApiError))
        throw error;
      if (compiled.failurePolicy === "Ignore") return;
      const what = binding === undefined ? "policy" : "binding";
      const who =
        binding === undefined
          ? `policy ${JSON.stringify(name)}`
          : boundName(name, binding);
      problems.push({
        message: `${who} denied request: failed to configure ${what}: ${error.message}`,
      });
    };
    let matched: ServedResource | undefined;
    let objects: ReturnType<typeof paramObjects>;
    try {
      matched = bound.matcher.match(attributes, context);
      if (!matched) return [];
      objects = paramObjects(policy.spec.paramKind, this.options.params);
    } catch (error) {
      misconfigured(error);
      return [];
    }
    for (const { binding, name: bindingName, matcher } of bound.bindings)
      try {
        if (matcher && !matcher.match(attributes, context)) continue;
        const params = await collectParams(
          objects,
          binding.spec.paramRef,
          namespaceOf(attributes),
        );
        for (const each of params)
          found.push(invocationOf(bound, bindingName, each, matched));
      } catch (error) {
        misconfigured(error, bindingName);
      }
    return found;
  }

  async #invoke(
    invocations: readonly Invocation[],
    attributes: AdmissionAttributes,
    context: StrategyContext,
    problems: Problem[],
  ): Promise<void> {
    const reinvocation = this.#requests.get(attributes) ?? new Reinvocation();
    this.#requests.set(attributes, reinvocation);
    reinvocation.begin(attributes);
    const before = attributes.object;
    const mutating = new Mutating(this.options, attributes, context);
    for (const invocation of invocations) {
      const { bound, binding, id } = invocation;
      const held = await mutating.meetsConditions(invocation);
      const fail = (why: string): void => {
        if (bound.compiled.failurePolicy === "Ignore") return;
        problems.push({
          message: `${boundName(bound.name, binding)} denied request: ${why}`,
          reason: "Invalid",
        });
      };
      if (held !== true) {
        if (held !== false) fail(held);
        continue;
      }
      if (!reinvocation.has(attributes, id)) continue;
      if (await mutating.mutate(invocation, fail)) reinvocation.changed();
      if (bound.compiled.reinvocable) reinvocation.evaluated(id);
    }
    const { object, ran } = mutating;
    // As in the reference, a policy is evaluated again after what it changed itself too.
    if (ran) reinvocation.changed();
    if (object && ran && !sameJson(before, object)) {
      attributes.object = object;
      attributes.reinvoke = true;
    }
    if (attributes.round === 0) reinvocation.end(attributes);
  }
}

const boundName = (policy: string, binding: string): string =>
  `policy '${policy}' with binding '${binding}'`;

/** All problems are causes; the first gives the message. */
function refusal(
  attributes: AdmissionAttributes,
  problems: readonly Problem[],
): ApiError {
  const [{ message, reason = "Forbidden" }] = problems as [Problem];
  const { status } = errors.forbidden(
    attributes.resource,
    nameOf(attributes),
    message,
  );
  return new ApiError({
    ...status,
    message,
    reason,
    details: {
      ...status.details,
      causes: problems.map((problem) => ({ message: problem.message })),
    },
  });
}
