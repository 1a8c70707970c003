// The mutations of one request in one round: the object as the last mutation left it, and what expressions see of it.
import { errors, ApiError } from "../../../../api/errors.ts";
import type { AnyObject, GroupVersionKind } from "../../../../api/object.ts";
import { sameJson } from "../../../../api/objects/json-equality.ts";
import {
  started,
  type Pause,
  type Steps,
} from "../../../../api/queueing/steps.ts";
import type { StrategyContext } from "../../../resources/strategy.ts";
import { conditionsHold } from "../../expressions/match-conditions.ts";
import { RequestAuthorizer } from "../../expressions/request-authorizer.ts";
import { RequestVariables } from "../../expressions/request-variables.ts";
import type { AdmissionAttributes } from "../../plugin.ts";
import type { PolicyPluginOptions } from "../plugin-options.ts";
import type { CompiledMutation } from "./compiled-mutations.ts";
import type { Invocation } from "./invocation.ts";
import { evaluateMutation, mutated, MutationFailure } from "./patching.ts";

export class Mutating {
  /** As admission has it. */
  object: AnyObject | undefined;
  /** Was a mutation made, whether it changed anything or not? */
  ran = false;
  readonly #authorizer: RequestAuthorizer;
  readonly #pause: Pause;
  readonly #namespace: Readonly<AnyObject> | undefined;

  /** Throws ApiError 404 when the request's namespace is not there. */
  constructor(
    private readonly options: PolicyPluginOptions,
    private readonly attributes: AdmissionAttributes,
    private readonly context: StrategyContext,
  ) {
    this.object = attributes.object;
    this.#authorizer = new RequestAuthorizer(options.authorizer);
    this.#pause = context.pauses();
    this.#namespace = namespaceObject(attributes, context);
  }

  /** A text: why that can't be said, under the failure policy Fail. */
  async meetsConditions(invocation: Invocation): Promise<boolean | string> {
    const { compiled } = invocation.bound;
    const { conditions, variables, failurePolicy } = compiled;
    if (conditions.length === 0) return true;
    const { request } = await this.#shown(invocation);
    const { clock } = this.context;
    const startedMs = clock.monotonic();
    const missed = (failures: number): void => {
      const { operation } = this.attributes;
      this.options.metrics.conditions.evaluated(
        // The reference calls it validation for both kinds of policies.
        {
          ...{ name: invocation.bound.name, operation },
          ...{ kind: "policy", type: "validate" },
        },
        (clock.monotonic() - startedMs) / 1000,
        failures,
      );
    };
    return this.#run(() =>
      conditionsHold(
        conditions,
        request().forConditions(),
        variables,
        failurePolicy,
        missed,
      ),
    );
  }

  /** Makes the mutations in their order. Did they change the object? Throws ApiError 500. */
  async mutate(
    invocation: Invocation,
    fail: (why: string) => void,
  ): Promise<boolean> {
    if (!this.object) return false;
    const before = this.object;
    for (const mutation of invocation.bound.compiled.mutations)
      try {
        await this.#mutate(invocation, mutation);
      } catch (error) {
        if (!(error instanceof MutationFailure)) throw error;
        fail(error.message);
      }
    return !sameJson(before, this.object);
  }

  async #mutate(
    invocation: Invocation,
    mutation: CompiledMutation,
  ): Promise<void> {
    const { bound, matched } = invocation;
    const { versions } = this.attributes;
    const { request, object } = await this.#shown(invocation);
    const given = await this.#run(() =>
      evaluateMutation(mutation, bound.compiled, request()),
    );
    const { kind } = matched;
    // The options of connections are in no OpenAPI document: the reference knows no type to merge them by.
    const schema =
      this.attributes.operation === "CONNECT"
        ? undefined
        : versions.schemaOf(kind);
    const next = mutated(mutation.kind, given, object!, kind, schema);
    this.ran = true;
    if (!next) return;
    const isPatch = mutation.kind === "json-patch";
    try {
      this.object = await versions.from(next, kind, isPatch);
    } catch (error) {
      if (isPatch || !(error instanceof ApiError)) throw error;
      throw new MutationFailure(unreadable(error, kind));
    }
  }

  async #shown({ matched, params }: Invocation): Promise<{
    object: Readonly<AnyObject> | undefined;
    request: () => RequestVariables;
  }> {
    const { attributes } = this;
    const { versions, oldObject: old } = attributes;
    const { kind } = matched;
    const object = this.object && (await versions.to(this.object, kind));
    const oldObject = old && (await versions.to(old, kind));
    const request = (): RequestVariables =>
      new RequestVariables({
        ...{ attributes, matched, object, oldObject, params },
        namespaceObject: this.#namespace,
        authorizer: this.#authorizer,
      });
    return { object, request };
  }

  /** Again after the authorizer has answered what was asked. */
  async #run<T>(steps: () => Steps<T>): Promise<T> {
    for (;;) {
      let outcome: { readonly value: T } | { readonly error: unknown };
      try {
        outcome = { value: await started(steps(), this.#pause) };
      } catch (error) {
        outcome = { error };
      }
      if (this.#authorizer.waits) {
        await this.#authorizer.settle();
        continue;
      }
      if ("error" in outcome) throw outcome.error;
      return outcome.value;
    }
  }
}

function namespaceObject(
  { namespace, kind }: AdmissionAttributes,
  context: StrategyContext,
): Readonly<AnyObject> | undefined {
  if (namespace === "" || (kind.group === "" && kind.kind === "Namespace"))
    return undefined;
  const found = context.read("", "namespaces", "", namespace);
  if (found) return found;
  throw errors.notFound({ group: "", resource: "namespaces" }, namespace);
}

/** The reference converts what was merged in another way than it reads what was patched. */
function unreadable(
  { message }: ApiError,
  { group, version, kind }: GroupVersionKind,
): string {
  const why = message.replace(/^Internal error occurred: /, "");
  const [, number = "", rest = ""] =
    /^json: cannot unmarshal number (\S{1,400}) into (.*)$/.exec(why) ?? [];
  const type = rest.slice(rest.lastIndexOf(" ") + 1);
  const shown = /[.eE]/.test(number)
    ? `cannot convert float64 to ${type}`
    : why;
  return `unable to convert unstructured object to ${group}/${version}, Kind=${kind}: ${shown}`;
}
