// ValidatingAdmissionPolicy: expressions decide about requests. What evaluates them is loaded with the first binding; until
// then a request costs one look.
import { exemptFromPolicies } from "../matching/request-matcher.ts";
import type { AdmissionPlugin } from "../plugin.ts";
import { PolicyIndex } from "./policy-index.ts";
import type { PolicyPluginOptions } from "./plugin-options.ts";
import type { dispatchValidating } from "./validating-dispatch.ts";

export function createValidatingAdmissionPolicy(
  options: PolicyPluginOptions,
): AdmissionPlugin {
  const index: Parameters<typeof dispatchValidating>[0] = new PolicyIndex({
    state: options.state,
    policies: "validatingadmissionpolicies",
    bindings: "validatingadmissionpolicybindings",
  });
  let dispatch: typeof dispatchValidating | undefined;
  return {
    name: "ValidatingAdmissionPolicy",
    validate(attributes, context) {
      if (index.empty || exemptFromPolicies(attributes)) return undefined;
      if (dispatch) return dispatch(index, options, attributes, context);
      return import("./validating-dispatch.ts").then((loaded) => {
        dispatch = loaded.dispatchValidating;
        return dispatch(index, options, attributes, context);
      });
    },
  };
}
