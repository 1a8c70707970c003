// Deployments: a selector that never changes, a rolling update that can move, and the scale subresource.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import type {
  Deployment,
  DeploymentStatus,
} from "../../../api/types/apps-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { deploymentUpgrades } from "./legacy-workloads.ts";
import { strategyOf } from "../typed.ts";
import { workloadWarnings } from "../core/template-warnings.ts";
import { immutable, nonNegative } from "../field-checks.ts";
import { scaleSubresource } from "./scale.ts";
import {
  alwaysRestarts,
  containerColumns,
  selectorColumn,
  validateRollingUpdate,
  validateSelectorAndTemplate,
} from "./workload-validation.ts";
import {
  validateCollisions,
  validateCounters,
  withinReplicas,
} from "./workload-status.ts";

function validateDeployment({ spec }: Deployment): FieldError[] {
  if (!spec) return [fieldErrors.required("spec")];
  const problems = nonNegative("spec.replicas", spec.replicas);
  problems.push(
    ...validateSelectorAndTemplate(
      spec.selector,
      spec.template,
      "empty selector is invalid for deployment",
    ),
    ...alwaysRestarts(spec.template, "ReplicaSet"),
  );
  const { type, rollingUpdate } = spec.strategy ?? {};
  if (type === "Recreate" && rollingUpdate) {
    problems.push(
      fieldErrors.forbidden(
        "spec.strategy.rollingUpdate",
        "may not be specified when strategy `type` is 'Recreate'",
      ),
    );
  } else if (type === "RollingUpdate") {
    problems.push(
      ...validateRollingUpdate("spec.strategy.rollingUpdate", rollingUpdate),
    );
  } else if (type !== "Recreate") {
    problems.push(
      fieldErrors.notSupported(
        "spec.strategy",
        asGo("apps.DeploymentStrategy", spec.strategy),
        ["Recreate", "RollingUpdate"],
      ),
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

const validateStatus = (status: DeploymentStatus | undefined): FieldError[] =>
  validateCounters(
    status,
    [
      "observedGeneration",
      "replicas",
      "updatedReplicas",
      "readyReplicas",
      "availableReplicas",
      "unavailableReplicas",
      "collisionCount",
    ],
    [
      ...withinReplicas(
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
      ),
      ["availableReplicas", "readyReplicas", "readyReplicas"],
    ],
  );

export const deploymentStrategy = strategyOf<Deployment>({
  upgrades: deploymentUpgrades,
  countsMetadata: "annotations",
  warnings: workloadWarnings,
  prepareForCreate(object) {
    object.status = {};
  },
  prepareForUpdate(object, old) {
    object.status = { ...old.status };
  },
  validate: (object) => validateDeployment(object),
  validateUpdate: (object, old) =>
    immutable(
      "spec.selector",
      object.spec?.selector,
      old.spec?.selector,
      "*v1.LabelSelector",
    ),
  status: {
    resetPaths: [["spec"], ["metadata", "labels"]],
    prepareForUpdate(object, old) {
      if (old.metadata.labels)
        object.metadata.labels = { ...old.metadata.labels };
      else delete object.metadata.labels;
    },
    validateUpdate(object, old) {
      const [now, was] = [object.status, old.status];
      return [
        ...validateStatus(now),
        ...validateCollisions(now?.collisionCount, was?.collisionCount),
      ];
    },
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = object;
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
});
