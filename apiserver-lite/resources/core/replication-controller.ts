// ReplicationControllers: a plain-map selector that the template must match.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { selectorFromMap } from "../../../api/selectors.ts";
import type { ReplicationController } from "../../../api/types/core-v1.ts";
import { formatAge, formatLabels } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import { scaleSubresource } from "../apps/scale.ts";
import { validateReplicaStatus } from "../apps/workload-status.ts";
import {
  alwaysRestarts,
  containerColumns,
} from "../apps/workload-validation.ts";
import { labels, nonNegative } from "../field-checks.ts";
import { validatePodTemplate } from "./pod-spec-validation.ts";

const asController = (object: Readonly<AnyObject>): ReplicationController =>
  object as unknown as ReplicationController;

function validateController({ spec }: ReplicationController): FieldError[] {
  if (!spec) return [fieldErrors.required("spec")];
  const problems = [
    ...nonNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...labels("spec.selector", spec.selector),
    ...nonNegative("spec.replicas", spec.replicas),
  ];
  if (Object.keys(spec.selector ?? {}).length === 0)
    problems.push(fieldErrors.required("spec.selector"));
  if (!spec.template)
    return [...problems, fieldErrors.required("spec.template")];
  if (
    problems.length === 0 &&
    !selectorFromMap(spec.selector).matches(spec.template.metadata?.labels)
  ) {
    problems.push(
      fieldErrors.invalid(
        "spec.template.metadata.labels",
        spec.template.metadata?.labels ?? {},
        "`selector` does not match template `labels`",
      ),
    );
  }
  return [
    ...problems,
    ...validatePodTemplate("spec.template", spec.template),
    ...alwaysRestarts(spec.template, "ReplicationController"),
  ];
}

export const replicationControllerStrategy: ResourceStrategy = {
  // Older than garbage collection: clients that say nothing expect the pods to stay.
  defaultPropagation: "Orphan",
  prepareForCreate(object) {
    asController(object).status = { replicas: 0 };
  },
  prepareForUpdate(object, old) {
    asController(object).status = {
      ...(asController(old).status ?? { replicas: 0 }),
    };
  },
  validate: (object) => validateController(asController(object)),
  status: {
    prepareForUpdate(object, old) {
      asController(object).spec = { ...asController(old).spec };
    },
    validateUpdate: (object) =>
      validateReplicaStatus(asController(object).status),
  },
  selectableFields: (object) => ({
    "status.replicas": String(asController(object).status?.replicas ?? 0),
  }),
  printRow: (object, now) => {
    const { metadata, spec, status } = asController(object);
    return [
      metadata.name,
      spec?.replicas ?? 0,
      status?.replicas ?? 0,
      status?.readyReplicas ?? 0,
      formatAge(metadata.creationTimestamp, now),
      ...containerColumns(spec?.template),
      formatLabels(spec?.selector),
    ];
  },
  subresources: {
    scale: scaleSubresource({ group: "", resource: "replicationcontrollers" }),
  },
};
