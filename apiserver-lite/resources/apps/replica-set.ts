// ReplicaSets: an immutable selector, a template, a count, and the scale subresource.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { ReplicaSet } from "../../../api/types/apps-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { replicaSetUpgrades } from "./legacy-workloads.ts";
import { strategyOf } from "../typed.ts";
import { workloadWarnings } from "../core/template-warnings.ts";
import { immutable, nonNegative } from "../field-checks.ts";
import { scaleSubresource } from "./scale.ts";
import {
  alwaysRestarts,
  containerColumns,
  selectorColumn,
  validateSelectorAndTemplate,
} from "./workload-validation.ts";
import { validateReplicaStatus } from "./workload-status.ts";

function validateSet({ spec }: ReplicaSet): FieldError[] {
  if (!spec) return [fieldErrors.required("spec")];
  return [
    ...nonNegative("spec.replicas", spec.replicas),
    ...nonNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...validateSelectorAndTemplate(
      spec.selector,
      spec.template,
      "empty selector is invalid for deployment",
    ),
    ...alwaysRestarts(spec.template, "ReplicaSet"),
  ];
}

export const replicaSetStrategy = strategyOf<ReplicaSet>({
  upgrades: replicaSetUpgrades,
  warnings: workloadWarnings,
  prepareForCreate(object) {
    object.status = { replicas: 0 };
  },
  prepareForUpdate(object, old) {
    object.status = {
      ...(old.status ?? { replicas: 0 }),
    };
  },
  validate: (object) => validateSet(object),
  // The reference checks the spec once more.
  validateUpdate: (object, old) => [
    ...validateSet(object),
    ...immutable(
      "spec.selector",
      object.spec?.selector,
      old.spec?.selector,
      "*v1.LabelSelector",
    ),
  ],
  status: {
    validateUpdate: (object) => validateReplicaStatus(object.status),
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = object;
    return [
      metadata.name,
      spec?.replicas ?? 0,
      status?.replicas ?? 0,
      status?.readyReplicas ?? 0,
      formatAge(metadata.creationTimestamp, now),
      ...containerColumns(spec?.template),
      selectorColumn(spec?.selector),
    ];
  },
  subresources: {
    scale: scaleSubresource({ group: "apps", resource: "replicasets" }),
  },
});
