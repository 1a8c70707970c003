// PodDisruptionBudgets: one of two bounds.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import type { PodDisruptionBudget } from "../../../api/types/policy-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../strategy.ts";
import {
  conditions,
  intOrPercent,
  labelSelector,
  nonNegative,
  percentOf,
} from "../field-checks.ts";

const asBudget = (object: Readonly<AnyObject>): PodDisruptionBudget =>
  object as unknown as PodDisruptionBudget;
const shown = (value: number | string | undefined | null): string =>
  value === undefined || value === null ? "N/A" : String(value);

const evictionPolicies = ["AlwaysAllow", "IfHealthyBudget"];

export const podDisruptionBudgetStrategy: ResourceStrategy = {
  // The reference looks at the spec only.
  validateName: () => [],
  allowUnconditionalUpdate: false,
  prepareForCreate(object) {
    asBudget(object).status = {
      disruptionsAllowed: 0,
      currentHealthy: 0,
      desiredHealthy: 0,
      expectedPods: 0,
    } as PodDisruptionBudget["status"];
  },
  prepareForUpdate(object, old) {
    asBudget(object).status = asBudget(old).status;
  },
  validate(object) {
    const spec = asBudget(object).spec ?? {};
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
      asBudget(object).spec = { ...asBudget(old).spec };
    },
    validateUpdate(object) {
      const { status } = asBudget(object);
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
    const { metadata, spec, status } = asBudget(object);
    return [
      metadata.name,
      shown(spec?.minAvailable),
      shown(spec?.maxUnavailable),
      status?.disruptionsAllowed ?? 0,
      formatAge(metadata.creationTimestamp, now),
    ];
  },
};
