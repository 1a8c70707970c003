// StatefulSets: most of the spec never changes; pods are named after the set, so its name is a DNS label.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import { dnsLabelProblems, nameRule } from "../../../api/names.ts";
import type { StatefulSet } from "../../../api/types/apps-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { statefulSetUpgrades } from "./legacy-workloads.ts";
import { strategyOf } from "../typed.ts";
import {
  isNewGeneration,
  templateWarnings,
} from "../core/template-warnings.ts";
import { claimSpecWarnings } from "../core/volume/persistent-volume-claim.ts";
import { agreeBut, labels, nonNegative, oneOf } from "../field-checks.ts";
import { validateAnnotations } from "../object-meta.ts";
import { scaleSubresource } from "./scale.ts";
import {
  alwaysRestarts,
  containerColumns,
  validateMatch,
  validateSelector,
} from "./workload-validation.ts";
import {
  validateCollisions,
  validateCounters,
  withinReplicas,
} from "./workload-status.ts";

const changeable = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];

function validateSet({ spec }: StatefulSet): FieldError[] {
  if (!spec) return [fieldErrors.required("spec")];
  const problems: FieldError[] = [];
  const policy = spec.podManagementPolicy;
  if (!policy) problems.push(fieldErrors.required("spec.podManagementPolicy"));
  else if (policy !== "OrderedReady" && policy !== "Parallel") {
    problems.push(
      fieldErrors.invalid(
        "spec.podManagementPolicy",
        policy,
        "must be 'OrderedReady' or 'Parallel'",
      ),
    );
  }
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  if (!type) problems.push(fieldErrors.required("spec.updateStrategy"));
  else if (type === "OnDelete") {
    if (rollingUpdate) {
      problems.push(
        fieldErrors.invalid(
          "spec.updateStrategy.rollingUpdate",
          asGo("apps.RollingUpdateStatefulSetStrategy", rollingUpdate),
          "only allowed for updateStrategy 'RollingUpdate'",
        ),
      );
    }
  } else if (type === "RollingUpdate") {
    problems.push(
      ...nonNegative(
        "spec.updateStrategy.rollingUpdate.partition",
        rollingUpdate?.partition,
      ),
    );
  } else {
    problems.push(
      fieldErrors.invalid(
        "spec.updateStrategy",
        asGo("apps.StatefulSetUpdateStrategy", spec.updateStrategy),
        "must be 'RollingUpdate' or 'OnDelete'",
      ),
    );
  }
  const retention = spec.persistentVolumeClaimRetentionPolicy;
  for (const name of ["whenDeleted", "whenScaled"] as const) {
    problems.push(
      ...oneOf(
        `spec.persistentVolumeClaimRetentionPolicy.${name}`,
        retention?.[name],
        ["Retain", "Delete"],
      ),
    );
  }
  return [
    ...problems,
    ...nonNegative("spec.replicas", spec.replicas),
    ...nonNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...nonNegative("spec.ordinals.start", spec.ordinals?.start),
    ...(spec.selector ? [] : [fieldErrors.required("spec.selector")]),
    ...validateSelector(
      spec.selector,
      "empty selector is invalid for statefulset",
    ),
    ...validateMatch(spec.selector, spec.template, ""),
    // The reference leaves the pods' spec to the creation of the pods.
    ...labels("spec.template.labels", spec.template?.metadata?.labels),
    ...validateAnnotations(
      spec.template?.metadata?.annotations,
      "spec.template.annotations",
    ),
    ...alwaysRestarts(spec.template, "StatefulSet"),
  ];
}

const emptyStatus = (): NonNullable<StatefulSet["status"]> => ({
  replicas: 0,
  availableReplicas: 0,
});

/** Fields of features that are off. */
function dropGated(object: StatefulSet): void {
  delete object.spec?.updateStrategy?.rollingUpdate?.maxUnavailable;
}

export const statefulSetStrategy = strategyOf<StatefulSet>({
  upgrades: statefulSetUpgrades,
  validateName: nameRule(dnsLabelProblems),
  setDefaults(object) {
    for (const claim of object.spec?.volumeClaimTemplates ?? [])
      Object.assign(claim, { kind: "PersistentVolumeClaim", apiVersion: "v1" });
  },
  *warnings(object, old) {
    const { template, volumeClaimTemplates = [] } = object.spec ?? {};
    if (isNewGeneration(object, old))
      yield* templateWarnings("spec.template", template);
    // An update names the place as the reference does.
    for (const [index, { spec }] of volumeClaimTemplates.entries())
      yield* claimSpecWarnings(
        `spec.volumeClaimTemplates[${index}]${old ? ".Spec" : ""}`,
        spec,
      );
  },
  prepareForCreate(object) {
    object.status = emptyStatus();
    dropGated(object);
  },
  prepareForUpdate(object, old) {
    object.status = { ...(old.status ?? emptyStatus()) };
    if (old.spec?.updateStrategy?.rollingUpdate?.maxUnavailable === undefined)
      dropGated(object);
  },
  validate: (object) => validateSet(object),
  validateUpdate(object, old) {
    const [now, was] = [object.spec, old.spec];
    if (!now || !was || agreeBut(now, was, changeable)) return [];
    return [
      fieldErrors.forbidden(
        "spec",
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      ),
    ];
  },
  status: {
    validateUpdate(object, old) {
      const [now, was] = [object.status, old.status];
      return [
        ...validateCounters(
          now,
          [
            "replicas",
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
            "observedGeneration",
            "collisionCount",
          ],
          [
            ...withinReplicas(
              "readyReplicas",
              "currentReplicas",
              "updatedReplicas",
              "availableReplicas",
            ),
            ["availableReplicas", "readyReplicas", "status.readyReplicas"],
          ],
        ),
        ...validateCollisions(now?.collisionCount, was?.collisionCount),
      ];
    },
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = object;
    return [
      metadata.name,
      `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
      formatAge(metadata.creationTimestamp, now),
      ...containerColumns(spec?.template),
    ];
  },
  subresources: {
    scale: scaleSubresource({ group: "apps", resource: "statefulsets" }),
  },
});
