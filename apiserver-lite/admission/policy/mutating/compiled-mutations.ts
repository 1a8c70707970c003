// A mutating policy with its expressions compiled, made once a version of the policy. An expression that can't be compiled
// (the policy was stored by another version) fails when it is evaluated.
import {
  wantsObject,
  wantsPatch,
} from "../../../../api/admission-expressions/patch-types.ts";
import type {
  MutatingAdmissionPolicySpec,
  Mutation,
} from "../../../../api/types/admissionregistration-v1alpha1.ts";
import type { PolicyExpression } from "../../expressions/expression-list.ts";
import type { CompiledCondition } from "../../expressions/match-conditions.ts";
import { compileConditions, compileVariables } from "../compiled-variables.ts";

export interface CompiledMutation {
  readonly kind: "apply" | "json-patch";
  readonly expression: PolicyExpression;
}

export interface CompiledMutations {
  readonly variables: ReadonlyMap<string, PolicyExpression>;
  readonly conditions: readonly CompiledCondition[];
  /** In the policy's order. */
  readonly mutations: readonly CompiledMutation[];
  readonly failurePolicy: string;
  /** Evaluated once more when something changed the object after it. */
  readonly reinvocable: boolean;
}

export function compileMutations(
  spec: Readonly<MutatingAdmissionPolicySpec>,
): CompiledMutations {
  const compiled = compileVariables(
    spec.variables ?? [],
    spec.paramKind !== undefined,
  );
  const compile = (
    text: string,
    wanted: typeof wantsObject,
  ): PolicyExpression => compiled.compile(text, wanted, { makesPatches: true });
  const mutationOf = (mutation: Mutation): CompiledMutation[] => {
    const { patchType, applyConfiguration, jsonPatch } = mutation;
    if (patchType === "JSONPatch" && jsonPatch) {
      const expression = compile(jsonPatch.expression ?? "", wantsPatch);
      return [{ kind: "json-patch", expression }];
    }
    if (patchType !== "ApplyConfiguration" || !applyConfiguration) return [];
    const text = applyConfiguration.expression ?? "";
    return [{ kind: "apply", expression: compile(text, wantsObject) }];
  };
  return {
    variables: compiled.variables,
    conditions: compileConditions(spec.matchConditions ?? [], compiled),
    mutations: (spec.mutations ?? []).flatMap(mutationOf),
    failurePolicy: spec.failurePolicy ?? "Fail",
    reinvocable: spec.reinvocationPolicy === "IfNeeded",
  };
}
