// Jobs: selector and labels are made from the job's uid unless the user manages them; the template never changes.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { humanDuration } from "../../../api/duration.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { Job, JobSpec } from "../../../api/types/batch-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import {
  containerColumns,
  selectorColumn,
} from "../apps/workload-validation.ts";
import { validatePodTemplate } from "../core/pod-spec-validation.ts";
import {
  agreeBut,
  immutable,
  labelSelector,
  nonNegative,
  oneOf,
} from "../field-checks.ts";

const asJob = (object: Readonly<AnyObject>): Job => object as unknown as Job;
const uidLabel = "batch.kubernetes.io/controller-uid";

export function validateJobSpec(field: string, spec: JobSpec): FieldError[] {
  const names = [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
  ] as const;
  const problems = names.flatMap((name) =>
    nonNegative(`${field}.${name}`, spec[name]),
  );
  problems.push(
    ...oneOf(`${field}.completionMode`, spec.completionMode, [
      "Indexed",
      "NonIndexed",
    ]),
  );
  problems.push(
    ...oneOf(`${field}.podReplacementPolicy`, spec.podReplacementPolicy, [
      "Failed",
      "TerminatingOrFailed",
    ]),
  );
  if (spec.completionMode === "Indexed") {
    if (spec.completions === undefined) {
      problems.push(
        fieldErrors.required(
          `${field}.completions`,
          "when completion mode is Indexed",
        ),
      );
    }
    if ((spec.parallelism ?? 0) > 100_000) {
      problems.push(
        fieldErrors.invalid(
          `${field}.parallelism`,
          spec.parallelism,
          "must be less than or equal to 100000 when completion mode is Indexed",
        ),
      );
    }
  } else if (spec.backoffLimitPerIndex !== undefined) {
    problems.push(
      fieldErrors.invalid(
        `${field}.backoffLimitPerIndex`,
        spec.backoffLimitPerIndex,
        "requires indexed completion mode",
      ),
    );
  }
  problems.push(
    ...validatePodTemplate(`${field}.template`, spec.template ?? {}),
  );
  const policy = spec.template?.spec?.restartPolicy;
  const path = `${field}.template.spec.restartPolicy`;
  if (policy === "Always" || !policy) {
    problems.push(
      fieldErrors.required(path, 'valid values: "OnFailure", "Never"'),
    );
  } else problems.push(...oneOf(path, policy, ["Never", "OnFailure"]));
  if (spec.podFailurePolicy && policy !== "Never") {
    problems.push(
      fieldErrors.invalid(
        path,
        policy ?? "",
        'only "Never" is supported when podFailurePolicy is specified',
      ),
    );
  }
  return problems;
}

/** Labels and selector by which the job knows its pods. */
function generateSelector(job: Job): void {
  const uid = job.metadata.uid ?? "";
  const { name } = job.metadata;
  const template = job.spec!.template;
  template.metadata = {
    ...template.metadata,
    labels: {
      ...template.metadata?.labels,
      "controller-uid": uid,
      "job-name": name,
      [uidLabel]: uid,
      "batch.kubernetes.io/job-name": name,
    },
  } as typeof template.metadata;
  job.spec!.selector = {
    ...job.spec!.selector,
    matchLabels: { ...job.spec!.selector?.matchLabels, [uidLabel]: uid },
  };
}

function statusText({ status, metadata }: Job): string {
  const is = (type: string): boolean =>
    status?.conditions?.some(
      (condition) => condition.type === type && condition.status === "True",
    ) ?? false;
  if (is("Complete")) return "Complete";
  if (is("Failed")) return "Failed";
  if (metadata.deletionTimestamp) return "Terminating";
  if (is("Suspended")) return "Suspended";
  if (is("FailureTarget")) return "FailureTarget";
  return is("SuccessCriteriaMet") ? "SuccessCriteriaMet" : "Running";
}

function completionsText({ spec, status }: Job): string {
  const done = status?.succeeded ?? 0;
  if (spec?.completions !== undefined && spec.completions !== null)
    return `${done}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${done}/1 of ${parallelism}` : `${done}/1`;
}

function durationText({ status }: Job, now: number): string {
  if (!status?.startTime) return "";
  const end = status.completionTime ? Date.parse(status.completionTime) : now;
  return humanDuration(end - Date.parse(status.startTime));
}

export const jobStrategy: ResourceStrategy = {
  defaultPropagation: "Orphan",
  prepareForCreate(object) {
    const job = asJob(object);
    job.status = {};
    if (job.spec?.template && !job.spec.manualSelector) generateSelector(job);
  },
  prepareForUpdate(object, old) {
    asJob(object).status = { ...asJob(old).status };
  },
  validate(object) {
    const job = asJob(object);
    if (!job.spec) return [fieldErrors.required("spec")];
    const problems = labelSelector("spec.selector", job.spec.selector);
    if (!job.spec.selector)
      problems.push(fieldErrors.required("spec.selector"));
    return [...problems, ...validateJobSpec("spec", job.spec)];
  },
  validateUpdate(object, old) {
    const [job, was] = [asJob(object), asJob(old)];
    const [spec, oldSpec] = [job.spec!, was.spec!];
    const problems = [
      ...immutable("spec.selector", spec.selector, oldSpec.selector),
      ...immutable(
        "spec.completionMode",
        spec.completionMode,
        oldSpec.completionMode,
      ),
      ...immutable(
        "spec.podFailurePolicy",
        spec.podFailurePolicy,
        oldSpec.podFailurePolicy,
      ),
      ...immutable(
        "spec.backoffLimitPerIndex",
        spec.backoffLimitPerIndex,
        oldSpec.backoffLimitPerIndex,
      ),
      ...immutable("spec.managedBy", spec.managedBy, oldSpec.managedBy),
    ];
    // An indexed job may be resized when completions and parallelism go together.
    const elastic =
      spec.completionMode === "Indexed" &&
      spec.completions === spec.parallelism;
    if (!elastic)
      problems.push(
        ...immutable("spec.completions", spec.completions, oldSpec.completions),
      );
    // Where its pods may go can still change before a suspended job has started.
    const waiting = oldSpec.suspend === true && !was.status?.startTime;
    const free = waiting
      ? [
          "metadata.labels",
          "metadata.annotations",
          "spec.nodeSelector",
          "spec.affinity",
          "spec.tolerations",
          "spec.schedulingGates",
        ]
      : [];
    if (!agreeBut(spec.template, oldSpec.template, free)) {
      problems.push(
        fieldErrors.invalid(
          "spec.template",
          spec.template,
          "field is immutable",
        ),
      );
    }
    return problems;
  },
  status: {
    prepareForUpdate(object, old) {
      asJob(object).spec = asJob(old).spec;
    },
    validateUpdate(object) {
      const { status } = asJob(object);
      return (
        ["active", "succeeded", "failed", "terminating"] as const
      ).flatMap((name) => nonNegative(`status.${name}`, status?.[name]));
    },
  },
  selectableFields: (object) => ({
    "status.successful": String(asJob(object).status?.succeeded ?? 0),
  }),
  printRow: (object, now) => {
    const job = asJob(object);
    return [
      job.metadata.name,
      statusText(job),
      completionsText(job),
      durationText(job, now),
      formatAge(job.metadata.creationTimestamp, now),
      ...containerColumns(job.spec?.template),
      selectorColumn(job.spec?.selector),
    ];
  },
};
