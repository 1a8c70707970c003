// DaemonSets: an immutable selector and a rolling update that either takes down first or adds first, not both.
import { errors, type FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import type { DaemonSet } from "../../../api/types/apps-v1.ts";
import { formatAge, formatLabels } from "../../printing/age.ts";
import { daemonSetUpgrades } from "./legacy-workloads.ts";
import { strategyOf } from "../typed.ts";
import { templateWarnings } from "../core/template-warnings.ts";
import { validatePodTemplate } from "../core/pod/pod-spec-validation.ts";
import {
  immutable,
  intOrPercent,
  nonNegative,
  percentOf,
} from "../field-checks.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";
import { validateCollisions, validateCounters } from "./workload-status.ts";
import {
  alwaysRestarts,
  containerColumns,
  notAboveAll,
  selectorColumn,
  validateMatch,
  validateSelector,
} from "./workload-validation.ts";

const emptyStatus = (): DaemonSet["status"] => ({
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
});

/** How often the template changed; the first versions of the API reported it in a field. */
const generationAnnotation = "deprecated.daemonset.template.generation";

/** 0: there is none. Throws ApiError 400. */
function templateGeneration({ metadata }: Readonly<DaemonSet>): number {
  const text = metadata.annotations?.[generationAnnotation];
  if (text === undefined) return 0;
  if (/^[-+]?[0-9]+$/.test(text)) return Number(text);
  throw errors.badRequest(
    `DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
}

function setTemplateGeneration(
  { metadata }: DaemonSet,
  generation: number,
): void {
  metadata.annotations = {
    ...metadata.annotations,
    [generationAnnotation]: String(generation),
  };
}

type RollingSet = NonNullable<
  DaemonSet["spec"]["updateStrategy"]
>["rollingUpdate"];

/** Exactly one of both is above zero. */
function validateRollingSet(
  field: string,
  { maxUnavailable, maxSurge }: NonNullable<RollingSet>,
): FieldError[] {
  const problems: FieldError[] = [];
  const [down, up] = [maxUnavailable, maxSurge].map(
    (value) =>
      (typeof value === "number" ? value : (percentOf(value) ?? 0)) !== 0,
  );
  if (down && up) {
    problems.push(
      fieldErrors.invalid(
        `${field}.maxSurge`,
        asGo("intstr.IntOrString", maxSurge),
        "may not be set when maxUnavailable is non-zero",
      ),
    );
  } else if (!down && !up) {
    problems.push(
      fieldErrors.required(
        `${field}.maxUnavailable`,
        "cannot be 0 when maxSurge is 0",
      ),
    );
  }
  return [
    ...intOrPercent(`${field}.maxUnavailable`, maxUnavailable),
    ...notAboveAll(`${field}.maxUnavailable`, maxUnavailable),
    ...intOrPercent(`${field}.maxSurge`, maxSurge),
    ...notAboveAll(`${field}.maxSurge`, maxSurge),
    ...problems,
  ];
}

function validateSet({ spec }: DaemonSet): FieldError[] {
  if (!spec) return [fieldErrors.required("spec")];
  const problems = [
    ...validateSelector(
      spec.selector,
      "empty selector is invalid for daemonset",
    ),
    ...validateMatch(spec.selector, spec.template, undefined),
    ...validatePodTemplate("spec.template", spec.template ?? {}),
  ];
  problems.push(
    ...alwaysRestarts(spec.template, "DaemonSet"),
    ...nonNegative("spec.minReadySeconds", spec.minReadySeconds),
  );
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  if (type === "RollingUpdate") {
    const field = "spec.updateStrategy.rollingUpdate";
    if (rollingUpdate)
      problems.push(...validateRollingSet(field, rollingUpdate));
    else problems.push(fieldErrors.required(field));
  } else if (type !== "OnDelete") {
    problems.push(
      fieldErrors.notSupported(
        "spec.updateStrategy",
        asGo("apps.DaemonSetUpdateStrategy", spec.updateStrategy),
        ["RollingUpdate", "OnDelete"],
      ),
    );
  }
  problems.push(
    ...nonNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit),
  );
  return problems;
}

export const daemonSetStrategy = strategyOf<DaemonSet>({
  upgrades: daemonSetUpgrades,
  setDefaults(object) {
    if (object.metadata.annotations?.[generationAnnotation] === undefined)
      setTemplateGeneration(object, 0);
    const { rollingUpdate } = object.spec?.updateStrategy ?? {};
    if (!rollingUpdate) return;
    rollingUpdate.maxUnavailable ??= 0;
    rollingUpdate.maxSurge ??= 0;
  },
  prepareForCreate(object) {
    object.status = emptyStatus();
    setTemplateGeneration(object, templateGeneration(object) || 1);
  },
  prepareForUpdate(object, old) {
    templateGeneration(object);
    const same = sameValue(object.spec?.template, old.spec?.template);
    setTemplateGeneration(object, templateGeneration(old) + (same ? 0 : 1));
    object.status = {
      ...(old.status ?? emptyStatus()),
    } as DaemonSet["status"];
  },
  validate: (object) => validateSet(object),
  // Another generation alone is none of the template's.
  warnings: (object, old) =>
    old && templateGeneration(object) === templateGeneration(old)
      ? []
      : templateWarnings("spec.template", object.spec?.template),
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
    prepareForUpdate(object, old) {
      setTemplateGeneration(object, templateGeneration(old));
    },
    validateUpdate(object, old) {
      const [now, was] = [object.status, old.status];
      return [
        ...validateCounters(
          now,
          [
            "currentNumberScheduled",
            "numberMisscheduled",
            "desiredNumberScheduled",
            "numberReady",
            "observedGeneration",
            "updatedNumberScheduled",
            "numberAvailable",
            "numberUnavailable",
            "collisionCount",
          ],
          [],
        ),
        ...validateCollisions(now?.collisionCount, was?.collisionCount),
      ];
    },
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = object;
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
});
