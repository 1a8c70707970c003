// DaemonSets: an immutable selector and a rolling update that either takes down first or adds first, not both.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { DaemonSet } from "../../../api/types/apps-v1.ts";
import { formatAge, formatLabels } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import { immutable, nonNegative, oneOf, percentOf } from "../field-checks.ts";
import {
  alwaysRestarts,
  containerColumns,
  selectorColumn,
  validateRollingUpdate,
  validateSelectorAndTemplate,
} from "./workload-validation.ts";

const asSet = (object: Readonly<AnyObject>): DaemonSet =>
  object as unknown as DaemonSet;
const emptyStatus = (): DaemonSet["status"] => ({
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
});

function validateSet({ spec }: DaemonSet): FieldError[] {
  if (!spec) return [fieldErrors.required("spec")];
  const problems = validateSelectorAndTemplate(
    spec.selector,
    spec.template,
    "empty selector is invalid for daemonset",
  );
  problems.push(
    ...alwaysRestarts(spec.template),
    ...nonNegative("spec.minReadySeconds", spec.minReadySeconds),
  );
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  problems.push(
    ...oneOf(
      "spec.updateStrategy.type",
      type,
      ["OnDelete", "RollingUpdate"],
      true,
    ),
  );
  if (type === "RollingUpdate") {
    const field = "spec.updateStrategy.rollingUpdate";
    if (!rollingUpdate) problems.push(fieldErrors.required(field));
    problems.push(...validateRollingUpdate(field, rollingUpdate));
    const both = [rollingUpdate?.maxUnavailable, rollingUpdate?.maxSurge].every(
      (value) => value !== undefined && value !== 0 && percentOf(value) !== 0,
    );
    if (both) {
      problems.push(
        fieldErrors.invalid(
          `${field}.maxSurge`,
          rollingUpdate?.maxSurge,
          "may not be set when maxUnavailable is non-zero",
        ),
      );
    }
  }
  problems.push(
    ...nonNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit),
  );
  return problems;
}

export const daemonSetStrategy: ResourceStrategy = {
  prepareForCreate(object) {
    asSet(object).status = emptyStatus();
  },
  prepareForUpdate(object, old) {
    asSet(object).status = {
      ...(asSet(old).status ?? emptyStatus()),
    } as DaemonSet["status"];
  },
  validate: (object) => validateSet(asSet(object)),
  validateUpdate: (object, old) =>
    immutable(
      "spec.selector",
      asSet(object).spec?.selector,
      asSet(old).spec?.selector,
      "*v1.LabelSelector",
    ),
  status: {
    prepareForUpdate(object, old) {
      asSet(object).spec = asSet(old).spec;
    },
    validateUpdate(object) {
      const status = asSet(object).status;
      const names = [
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
      ] as const;
      return names.flatMap((name) =>
        nonNegative(`status.${name}`, status?.[name]),
      );
    },
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asSet(object);
    return [
      metadata.name,
      status?.desiredNumberScheduled ?? 0,
      status?.currentNumberScheduled ?? 0,
      status?.numberReady ?? 0,
      status?.updatedNumberScheduled ?? 0,
      status?.numberAvailable ?? 0,
      formatLabels(spec?.template?.spec?.nodeSelector),
      formatAge(metadata.creationTimestamp, now),
      ...containerColumns(spec?.template),
      selectorColumn(spec?.selector),
    ];
  },
};
