// PodDisruptionBudgets: one of two bounds.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import type { PodDisruptionBudget } from "../../../api/types/policy-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";
import {
  conditions,
  intOrPercent,
  labelSelector,
  nonNegative,
  percentOf,
} from "../field-checks.ts";

const shown = (value: number | string | undefined | null): string =>
  value === undefined || value === null ? "N/A" : String(value);

const evictionPolicies = ["AlwaysAllow", "IfHealthyBudget"];

export const podDisruptionBudgetStrategy = strategyOf<PodDisruptionBudget>({
  // The reference looks at the spec only.
  validateName: () => [],
  allowUnconditionalUpdate: false,
  anyFinalizer: true,
  prepareForCreate(object) {
    object.status = {
      disruptionsAllowed: 0,
      currentHealthy: 0,
      desiredHealthy: 0,
      expectedPods: 0,
    } as PodDisruptionBudget["status"];
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
  },
  validate(object) {
    const spec = object.spec ?? {};
    const problems: FieldError[] = [];
    if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
      problems.push(
        fieldErrors.invalid(
          "spec",
          asGo("policy.PodDisruptionBudgetSpec", spec),
          "minAvailable and maxUnavailable cannot be both set",
        ),
      );
    }
    for (const name of ["minAvailable", "maxUnavailable"] as const) {
      problems.push(...intOrPercent(`spec.${name}`, spec[name]));
      if ((percentOf(spec[name]) ?? 0) > 100) {
        problems.push(
          fieldErrors.invalid(
            `spec.${name}`,
            asGo("intstr.IntOrString", spec[name]),
            "must not be greater than 100%",
          ),
        );
      }
    }
    problems.push(...labelSelector("spec.selector", spec.selector));
    return [
      ...problems,
      ...(spec.unhealthyPodEvictionPolicy === undefined ||
      evictionPolicies.includes(spec.unhealthyPodEvictionPolicy)
        ? []
        : [
            fieldErrors.notSupported(
              "spec.unhealthyPodEvictionPolicy",
              spec.unhealthyPodEvictionPolicy,
              evictionPolicies,
            ),
          ]),
    ];
  },
  status: {
    prepareForUpdate(object, old) {
      object.spec = { ...old.spec };
    },
    validateUpdate(object) {
      const { status } = object;
      return [
        ...conditions("status.conditions", status?.conditions),
        ...(
          [
            "disruptionsAllowed",
            "currentHealthy",
            "desiredHealthy",
            "expectedPods",
          ] as const
        ).flatMap((name) => nonNegative(`status.${name}`, status?.[name])),
      ];
    },
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = object;
    return [
      metadata.name,
      shown(spec?.minAvailable),
      shown(spec?.maxUnavailable),
      status?.disruptionsAllowed ?? 0,
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});
