// StatefulSets: most of the spec never changes; pods are named after the set, so its name is a DNS label.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { dnsLabelProblems, nameRule } from "../../../api/names.ts";
import type { StatefulSet } from "../../../api/types/apps-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import { agreeBut, nonNegative, oneOf } from "../field-checks.ts";
import { scaleSubresource } from "./scale.ts";
import {
  alwaysRestarts,
  containerColumns,
  validateSelectorAndTemplate,
} from "./workload-validation.ts";

const asSet = (object: Readonly<AnyObject>): StatefulSet =>
  object as unknown as StatefulSet;

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
          rollingUpdate,
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
        spec.updateStrategy,
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
        ["Delete", "Retain"],
      ),
    );
  }
  return [
    ...problems,
    ...nonNegative("spec.replicas", spec.replicas),
    ...nonNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...nonNegative("spec.ordinals.start", spec.ordinals?.start),
    ...validateSelectorAndTemplate(
      spec.selector,
      spec.template,
      "empty selector is invalid for statefulset",
    ),
    ...alwaysRestarts(spec.template),
  ];
}

export const statefulSetStrategy: ResourceStrategy = {
  validateName: nameRule(dnsLabelProblems),
  prepareForCreate(object) {
    asSet(object).status = { replicas: 0 };
  },
  prepareForUpdate(object, old) {
    asSet(object).status = { ...(asSet(old).status ?? { replicas: 0 }) };
  },
  validate: (object) => validateSet(asSet(object)),
  validateUpdate(object, old) {
    const [now, was] = [asSet(object).spec, asSet(old).spec];
    if (!now || !was || agreeBut(now, was, changeable)) return [];
    return [
      fieldErrors.forbidden(
        "spec",
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      ),
    ];
  },
  status: {
    prepareForUpdate(object, old) {
      asSet(object).spec = asSet(old).spec;
    },
    validateUpdate(object) {
      const status = asSet(object).status;
      const names = [
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
      ] as const;
      const problems = names.flatMap((name) =>
        nonNegative(`status.${name}`, status?.[name]),
      );
      for (const name of [
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
      ] as const) {
        if ((status?.[name] ?? 0) > (status?.replicas ?? 0)) {
          problems.push(
            fieldErrors.invalid(
              `status.${name}`,
              status?.[name],
              "cannot be greater than status.replicas",
            ),
          );
        }
      }
      return problems;
    },
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asSet(object);
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
};
