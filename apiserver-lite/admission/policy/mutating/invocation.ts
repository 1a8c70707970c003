// What is evaluated for a request: a policy with one of its bindings and one parameter.
import type { AnyObject } from "../../../../api/object.ts";
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
} from "../../../../api/types/admissionregistration-v1alpha1.ts";
import type { ServedResource } from "../../plugin.ts";
import type { BoundPolicy, PolicyIndex } from "../policy-index.ts";
import type { CompiledMutations } from "./compiled-mutations.ts";

export type MutationIndex = PolicyIndex<
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  CompiledMutations
>;

export type BoundMutations = BoundPolicy<
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  CompiledMutations
>;

export interface Invocation {
  readonly bound: BoundMutations;
  readonly binding: string;
  readonly params: Readonly<AnyObject> | undefined;
  /** What the policy is shown the request as. */
  readonly matched: ServedResource;
  /** The same in both rounds. */
  readonly id: string;
}

export function invocationOf(
  bound: BoundMutations,
  binding: string,
  params: Readonly<AnyObject> | undefined,
  matched: ServedResource,
): Invocation {
  const { namespace = "", name = "" } = params?.metadata ?? {};
  const id = `${bound.name}/${binding}/${namespace}/${name}`;
  return { bound, binding, params, matched, id };
}
