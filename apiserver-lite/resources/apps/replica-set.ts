// ReplicaSets: an immutable selector, a template, a count, and the scale subresource.
import type { AnyObject } from "../../../api/object.ts";
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { ReplicaSet } from "../../../api/types/apps-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../strategy.ts";
import { immutable, nonNegative } from "../field-checks.ts";
import { scaleSubresource } from "./scale.ts";
import {
  alwaysRestarts,
  containerColumns,
  selectorColumn,
  validateSelectorAndTemplate,
  podNameWarnings,
} from "./workload-validation.ts";
import { validateReplicaStatus } from "./workload-status.ts";

const asReplicaSet = (object: Readonly<AnyObject>): ReplicaSet =>
  object as unknown as ReplicaSet;

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

export const replicaSetStrategy: ResourceStrategy = {
  warnings: podNameWarnings,
  prepareForCreate(object) {
    asReplicaSet(object).status = { replicas: 0 };
  },
  prepareForUpdate(object, old) {
    asReplicaSet(object).status = {
      ...(asReplicaSet(old).status ?? { replicas: 0 }),
    };
  },
  validate: (object) => validateSet(asReplicaSet(object)),
  // The reference checks the spec once more.
  validateUpdate: (object, old) => [
    ...validateSet(asReplicaSet(object)),
    ...immutable(
      "spec.selector",
      asReplicaSet(object).spec?.selector,
      asReplicaSet(old).spec?.selector,
      "*v1.LabelSelector",
    ),
  ],
  status: {
    prepareForUpdate(object, old) {
      asReplicaSet(object).spec = asReplicaSet(old).spec;
    },
    validateUpdate: (object) =>
      validateReplicaStatus(asReplicaSet(object).status),
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asReplicaSet(object);
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
};
