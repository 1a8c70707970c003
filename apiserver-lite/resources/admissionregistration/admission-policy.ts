// Admission policies and their bindings: rows, status and validation. The language of their expressions is loaded with the
// first policy that is written.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type {
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "../../../api/types/admissionregistration-v1.ts";
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
} from "../../../api/types/admissionregistration-v1alpha1.ts";
import { formatAge } from "../../printing/age.ts";
import type { LabelSelector } from "../../../api/types/meta-v1.ts";
import { strategyOf } from "../typed.ts";
import {
  validateMutatingBinding,
  validateMutatingPolicy,
} from "./mutating-policy-validation.ts";
import type { PolicyExpressions } from "./policy-expressions.ts";
import { validateBinding, validatePolicy } from "./policy-validation.ts";
import { keepMetadata, keptBesideStatus } from "../status-metadata.ts";

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
    anyFinalizer: true,
    prepareForCreate: () => loader.load(),
    prepareForUpdate: () => loader.load(),
    validateCreate: (object) =>
      validatePolicy(object, undefined, loader.create),
    validateUpdate: (object, old) => validatePolicy(object, old, loader.create),
    status: {
      resetPaths: keptBesideStatus,
      prepareForUpdate: keepMetadata,
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
      return [
        metadata.name,
        spec?.validations?.length ?? 0,
        shownKind(spec?.paramKind),
        formatAge(metadata.creationTimestamp, now),
      ];
    },
  });

export const admissionPolicyBindingStrategy =
  strategyOf<ValidatingAdmissionPolicyBinding>({
    allowUnconditionalUpdate: false,
    anyFinalizer: true,
    validate: validateBinding,
    printRow: (object, now) => {
      const { metadata, spec } = object;
      return [
        metadata.name,
        spec?.policyName ?? "",
        shownReference(spec?.paramRef),
        formatAge(metadata.creationTimestamp, now),
      ];
    },
  });

export const createMutatingPolicyStrategy = (
  loader: ExpressionLoader,
): ReturnType<typeof strategyOf> =>
  strategyOf<MutatingAdmissionPolicy>({
    allowUnconditionalUpdate: false,
    anyFinalizer: true,
    prepareForCreate: () => loader.load(),
    prepareForUpdate: () => loader.load(),
    validateCreate: (object) =>
      validateMutatingPolicy(object, undefined, loader.create),
    validateUpdate: (object, old) =>
      validateMutatingPolicy(object, old, loader.create),
    printRow: ({ metadata, spec }, now) => [
      metadata.name,
      spec.mutations?.length ?? 0,
      shownKind(spec.paramKind),
      formatAge(metadata.creationTimestamp, now),
    ],
  });

export const mutatingPolicyBindingStrategy =
  strategyOf<MutatingAdmissionPolicyBinding>({
    allowUnconditionalUpdate: false,
    anyFinalizer: true,
    validate: validateMutatingBinding,
    printRow: ({ metadata, spec }, now) => [
      metadata.name,
      spec.policyName ?? "",
      shownReference(spec.paramRef),
      formatAge(metadata.creationTimestamp, now),
    ],
  });

const shownKind = (kind: ParamKind | undefined): string =>
  kind ? `${kind.apiVersion}/${kind.kind}` : "<unset>";

function shownReference(reference: ParamRef | undefined): string {
  if (!reference) return "<unset>";
  const { name, namespace, selector } = reference;
  if (name) return `${namespace || "*"}/${name}`;
  return selector ? shownSelector(selector) : "<unset>";
}

/** As the reference prints the type. */
function shownSelector({
  matchLabels = {},
  matchExpressions = [],
}: LabelSelector): string {
  const labels = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key]},`);
  const requirements = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join("")}},MatchExpressions:[]LabelSelectorRequirement{${requirements.join("")}},}`;
}
