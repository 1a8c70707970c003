// Admission policies and their bindings: rows, status and validation. The language of their expressions is loaded with the
// first policy that is written.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "../../../api/types/admissionregistration-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";
import type { PolicyExpressions } from "./policy-expressions.ts";
import { validateBinding, validatePolicy } from "./policy-validation.ts";

/** Loads the language once; validation itself can't wait. */
export class ExpressionLoader {
  #expressions: typeof PolicyExpressions | undefined;

  async load(): Promise<void> {
    this.#expressions ??= (
      await import("./policy-expressions.ts")
    ).PolicyExpressions;
  }

  readonly create = (
    withVariables: boolean,
    hasParams: boolean,
  ): PolicyExpressions => new this.#expressions!(withVariables, hasParams);
}

export const createAdmissionPolicyStrategy = (
  loader: ExpressionLoader,
): ReturnType<typeof strategyOf> =>
  strategyOf<ValidatingAdmissionPolicy>({
    allowUnconditionalUpdate: false,
    prepareForCreate: () => loader.load(),
    prepareForUpdate: () => loader.load(),
    validateCreate: (object) =>
      validatePolicy(object, undefined, loader.create),
    validateUpdate: (object, old) => validatePolicy(object, old, loader.create),
    status: {
      validateUpdate: ({ status }) =>
        (status?.typeChecking?.expressionWarnings ?? []).flatMap(
          ({ warning, fieldRef }, index): FieldError[] => {
            const field = `status.typeChecking.expressionWarnings[${index}]`;
            return [
              ...(warning ? [] : [fieldErrors.required(`${field}.warning`)]),
              ...(fieldRef?.trim()
                ? []
                : [fieldErrors.required(`${field}.fieldRef`)]),
            ];
          },
        ),
    },
    printRow: (object, now) => {
      const { metadata, spec } = object;
      const kind = spec?.paramKind
        ? `${spec.paramKind.apiVersion}/${spec.paramKind.kind}`
        : "<unset>";
      return [
        metadata.name,
        spec?.validations?.length ?? 0,
        kind,
        formatAge(metadata.creationTimestamp, now),
      ];
    },
  });

export const admissionPolicyBindingStrategy =
  strategyOf<ValidatingAdmissionPolicyBinding>({
    allowUnconditionalUpdate: false,
    validate: validateBinding,
    printRow: (object, now) => {
      const { metadata, spec } = object;
      const reference = spec?.paramRef;
      const name = reference
        ? reference.namespace
          ? `${reference.namespace}/${reference.name}`
          : `*/${reference.name}`
        : "<unset>";
      return [
        metadata.name,
        spec?.policyName ?? "",
        name,
        formatAge(metadata.creationTimestamp, now),
      ];
    },
  });

/** For policies and bindings that change requests: they have no effect yet, so none is taken. */
export const mutatingPolicyStrategy = strategyOf({
  allowUnconditionalUpdate: false,
  validateCreate: () => [
    fieldErrors.forbidden(
      "spec",
      "mutating admission policies are not implemented yet, and what changes requests is never ignored",
    ),
  ],
});
