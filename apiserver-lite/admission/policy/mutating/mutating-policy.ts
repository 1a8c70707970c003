// MutatingAdmissionPolicy: expressions change requests. What evaluates them is loaded with the first binding; until then
// a request costs one look. There is nothing to change in a deletion.
import { exemptFromPolicies } from "../../matching/request-matcher.ts";
import type { AdmissionPlugin } from "../../plugin.ts";
import type { PolicyPluginOptions } from "../plugin-options.ts";
import { PolicyIndex } from "../policy-index.ts";
import type { MutationIndex } from "./invocation.ts";
import type { MutatingDispatch } from "./mutating-dispatch.ts";

export function createMutatingAdmissionPolicy(
  options: PolicyPluginOptions,
): AdmissionPlugin {
  const index: MutationIndex = new PolicyIndex({
    state: options.state,
    policies: "mutatingadmissionpolicies",
    bindings: "mutatingadmissionpolicybindings",
  });
  let dispatch: MutatingDispatch | undefined;
  return {
    name: "MutatingAdmissionPolicy",
    // Mutated objects get all defaults here.
    writesWhole: true,
    admit(attributes, context) {
      if (index.empty || attributes.operation === "DELETE") return undefined;
      if (exemptFromPolicies(attributes)) return undefined;
      if (dispatch) return dispatch.admit(attributes, context);
      return import("./mutating-dispatch.ts").then((loaded) => {
        dispatch ??= new loaded.MutatingDispatch(index, options);
        return dispatch.admit(attributes, context);
      });
    },
  };
}
