// ReplicaSets: an immutable selector, a template, a count, and the scale subresource.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type {
  ReplicaSet,
  ReplicaSetStatus,
} from "../../../api/types/apps-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import { immutable, nonNegative } from "../field-checks.ts";
import { scaleSubresource } from "./scale.ts";
import {
  alwaysRestarts,
  containerColumns,
  selectorColumn,
  validateSelectorAndTemplate,
} from "./workload-validation.ts";

const asReplicaSet = (object: Readonly<AnyObject>): ReplicaSet =>
  object as unknown as ReplicaSet;

/** The counters of replica sets and replication controllers. */
export function validateReplicaStatus(
  status: Partial<ReplicaSetStatus> = {},
): FieldError[] {
  const names = [
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
  ] as const;
  const problems = names.flatMap((name) =>
    nonNegative(`status.${name}`, status[name]),
  );
  const total = status.replicas ?? 0;
  for (const name of [
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
  ] as const) {
    if ((status[name] ?? 0) > total) {
      problems.push(
        fieldErrors.invalid(
          `status.${name}`,
          status[name],
          "cannot be greater than status.replicas",
        ),
      );
    }
  }
  if ((status.availableReplicas ?? 0) > (status.readyReplicas ?? 0)) {
    problems.push(
      fieldErrors.invalid(
        "status.availableReplicas",
        status.availableReplicas,
        "cannot be greater than readyReplicas",
      ),
    );
  }
  return problems;
}

export const replicaSetStrategy: ResourceStrategy = {
  prepareForCreate(object) {
    asReplicaSet(object).status = { replicas: 0 };
  },
  prepareForUpdate(object, old) {
    asReplicaSet(object).status = {
      ...(asReplicaSet(old).status ?? { replicas: 0 }),
    };
  },
  validate(object) {
    const { spec } = asReplicaSet(object);
    if (!spec) return [fieldErrors.required("spec")];
    return [
      ...nonNegative("spec.replicas", spec.replicas),
      ...nonNegative("spec.minReadySeconds", spec.minReadySeconds),
      ...validateSelectorAndTemplate(
        spec.selector,
        spec.template,
        "empty selector is invalid for deployment",
      ),
      ...alwaysRestarts(spec.template),
    ];
  },
  validateUpdate: (object, old) =>
    immutable(
      "spec.selector",
      asReplicaSet(object).spec?.selector,
      asReplicaSet(old).spec?.selector,
      "*v1.LabelSelector",
    ),
  status: {
    prepareForUpdate(object, old) {
      asReplicaSet(object).spec = asReplicaSet(old).spec;
    },
    validateUpdate: (object) =>
      validateReplicaStatus(asReplicaSet(object).status),
  },
  selectableFields: (object) => ({
    "status.replicas": String(asReplicaSet(object).status?.replicas ?? 0),
  }),
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
