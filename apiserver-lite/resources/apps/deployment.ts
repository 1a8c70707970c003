// Deployments: a selector that never changes, a rolling update that can move, and the scale subresource.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type {
  Deployment,
  DeploymentStatus,
} from "../../../api/types/apps-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import { immutable, nonNegative, oneOf } from "../field-checks.ts";
import { scaleSubresource } from "./scale.ts";
import {
  alwaysRestarts,
  containerColumns,
  selectorColumn,
  validateRollingUpdate,
  validateSelectorAndTemplate,
} from "./workload-validation.ts";

const asDeployment = (object: Readonly<AnyObject>): Deployment =>
  object as unknown as Deployment;

function validateDeployment({ spec }: Deployment): FieldError[] {
  if (!spec) return [fieldErrors.required("spec")];
  const problems = nonNegative("spec.replicas", spec.replicas);
  problems.push(
    ...validateSelectorAndTemplate(
      spec.selector,
      spec.template,
      "empty selector is invalid for deployment",
    ),
    ...alwaysRestarts(spec.template),
  );
  const { type, rollingUpdate } = spec.strategy ?? {};
  problems.push(
    ...oneOf("spec.strategy.type", type, ["Recreate", "RollingUpdate"], true),
  );
  if (type === "Recreate" && rollingUpdate) {
    problems.push(
      fieldErrors.forbidden(
        "spec.strategy.rollingUpdate",
        "may not be specified when strategy `type` is 'Recreate'",
      ),
    );
  } else if (type === "RollingUpdate") {
    if (!rollingUpdate) {
      problems.push(
        fieldErrors.required(
          "spec.strategy.rollingUpdate",
          "this should be defaulted and never be nil",
        ),
      );
    }
    problems.push(
      ...validateRollingUpdate("spec.strategy.rollingUpdate", rollingUpdate),
    );
  }
  problems.push(...nonNegative("spec.minReadySeconds", spec.minReadySeconds));
  problems.push(
    ...nonNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit),
  );
  if (spec.progressDeadlineSeconds !== undefined) {
    problems.push(
      ...nonNegative(
        "spec.progressDeadlineSeconds",
        spec.progressDeadlineSeconds,
      ),
    );
    if (spec.progressDeadlineSeconds <= (spec.minReadySeconds ?? 0)) {
      problems.push(
        fieldErrors.invalid(
          "spec.progressDeadlineSeconds",
          spec.progressDeadlineSeconds,
          "must be greater than minReadySeconds",
        ),
      );
    }
  }
  return problems;
}

function validateStatus(status: DeploymentStatus = {}): FieldError[] {
  const problems: FieldError[] = [];
  const counts = [
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "collisionCount",
  ] as const;
  for (const name of counts)
    problems.push(...nonNegative(`status.${name}`, status[name]));
  const total = status.replicas ?? 0;
  for (const name of [
    "updatedReplicas",
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

export const deploymentStrategy: ResourceStrategy = {
  prepareForCreate(object) {
    asDeployment(object).status = {};
  },
  prepareForUpdate(object, old) {
    asDeployment(object).status = { ...asDeployment(old).status };
  },
  validate: (object) => validateDeployment(asDeployment(object)),
  validateUpdate: (object, old) =>
    immutable(
      "spec.selector",
      asDeployment(object).spec?.selector,
      asDeployment(old).spec?.selector,
      "*v1.LabelSelector",
    ),
  status: {
    prepareForUpdate(object, old) {
      asDeployment(object).spec = asDeployment(old).spec;
      if (old.metadata.labels)
        object.metadata.labels = { ...old.metadata.labels };
      else delete object.metadata.labels;
    },
    validateUpdate(object, old) {
      const problems = validateStatus(asDeployment(object).status);
      const [now, was] = [
        asDeployment(object).status?.collisionCount ?? 0,
        asDeployment(old).status?.collisionCount ?? 0,
      ];
      if (now < was) {
        problems.push(
          fieldErrors.invalid(
            "status.collisionCount",
            now,
            "cannot be decremented",
          ),
        );
      }
      return problems;
    },
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asDeployment(object);
    return [
      metadata.name,
      `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
      status?.updatedReplicas ?? 0,
      status?.availableReplicas ?? 0,
      formatAge(metadata.creationTimestamp, now),
      ...containerColumns(spec?.template),
      selectorColumn(spec?.selector),
    ];
  },
  subresources: {
    scale: scaleSubresource({ group: "apps", resource: "deployments" }),
  },
};
