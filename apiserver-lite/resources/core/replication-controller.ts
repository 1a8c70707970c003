// ReplicationControllers: a plain-map selector that the template must match.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import type { ReplicationController } from "../../../api/types/core-v1.ts";
import { formatAge, formatLabels } from "../../printing/age.ts";
import type { ResourceStrategy } from "../strategy.ts";
import { strategyOf } from "../typed.ts";
import { scaleSubresource } from "../apps/scale.ts";
import { validateReplicaStatus } from "../apps/workload-status.ts";
import {
  alwaysRestarts,
  containerColumns,
} from "../apps/workload-validation.ts";
import { nonNegative } from "../field-checks.ts";
import { workloadWarnings } from "./template-warnings.ts";
import { validatePodTemplate } from "./pod/pod-spec-validation.ts";

function validateController({ spec }: ReplicationController): FieldError[] {
  const { selector, template } = spec ?? {};
  const given = template?.metadata?.labels;
  const problems = nonNegative("spec.minReadySeconds", spec?.minReadySeconds);
  if (Object.keys(selector ?? {}).length === 0)
    problems.push(fieldErrors.required("spec.selector"));
  problems.push(...nonNegative("spec.replicas", spec?.replicas));
  if (!template) return [...problems, fieldErrors.required("spec.template")];
  if (
    Object.entries(selector ?? {}).some(
      ([key, value]) => given?.[key] !== value,
    )
  )
    problems.push(
      fieldErrors.invalid(
        "spec.template.metadata.labels",
        asGo("map[string]string", given),
        "`selector` does not match template `labels`",
      ),
    );
  return [
    ...problems,
    ...validatePodTemplate("spec.template", template),
    ...alwaysRestarts(template, "ReplicationController"),
  ];
}

export const replicationControllerStrategy: ResourceStrategy =
  strategyOf<ReplicationController>({
    // Older than garbage collection: clients that say nothing expect the pods to stay.
    defaultPropagation: "Orphan",
    prepareForCreate(object) {
      object.status = { replicas: 0 };
    },
    prepareForUpdate(object, old) {
      object.status = {
        ...(old.status ?? { replicas: 0 }),
      };
    },
    validate: (object) => validateController(object),
    // The changed object is validated again, as in the reference, which reports its causes twice.
    validateUpdate: (object) => validateController(object),
    warnings: workloadWarnings,
    status: {
      prepareForUpdate(object, old) {
        object.spec = { ...old.spec };
      },
      validateUpdate: (object) => validateReplicaStatus(object.status),
    },
    selectableFields: (object) => ({
      "status.replicas": String(object.status?.replicas ?? 0),
    }),
    printRow: (object, now) => {
      const { metadata, spec, status } = object;
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
      scale: scaleSubresource({
        group: "",
        resource: "replicationcontrollers",
      }),
    },
  });
