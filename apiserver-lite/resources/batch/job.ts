// Jobs: selector and labels are made from the job's uid unless the user manages them; the template never changes.
import type { FieldError } from "../../../api/errors.ts";
import { humanDuration } from "../../../api/duration.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import { isDnsLabel } from "../../../api/names.ts";
import type { Job, JobSpec } from "../../../api/types/batch-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";
import {
  containerColumns,
  selectorColumn,
  validateMatch,
} from "../apps/workload-validation.ts";
import { agreeBut, immutable, labelSelector } from "../field-checks.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";
import { isNewGeneration, nameWarnings } from "../core/template-warnings.ts";
import { jobWarnings } from "./job-warnings.ts";
import { validateJobStatus } from "./job-status-validation.ts";
import { validateJobSpec } from "./job-validation.ts";

const uidLabel = "batch.kubernetes.io/controller-uid";

/** Labels by which the job knows its pods; those that the user gave stay. */
const generatedLabels = (job: Job): Record<string, string> => ({
  "controller-uid": job.metadata.uid ?? "",
  "job-name": job.metadata.name,
  [uidLabel]: job.metadata.uid ?? "",
  "batch.kubernetes.io/job-name": job.metadata.name,
});

function generateSelector(job: Job): void {
  const { template, selector } = job.spec!;
  template.metadata = {
    ...template.metadata,
    labels: { ...generatedLabels(job), ...template.metadata?.labels },
  } as typeof template.metadata;
  job.spec!.selector = {
    ...selector,
    matchLabels: {
      ...selector?.matchLabels,
      [uidLabel]: job.metadata.uid ?? "",
    },
  };
}

/** The server makes the selector, unless the job says that it has its own. */
function validateGenerated(job: Job): FieldError[] {
  const { selector, template, manualSelector } = job.spec!;
  if (manualSelector || !selector) return [];
  const problems: FieldError[] = [];
  const labels = template?.metadata?.labels ?? {};
  for (const [name, value] of Object.entries(generatedLabels(job)))
    if (labels[name] !== value)
      problems.push(
        fieldErrors.invalid(
          `spec.template.metadata.labels[${name}]`,
          labels,
          `must be '${value}'`,
        ),
      );
  const expected = { matchLabels: { [uidLabel]: job.metadata.uid ?? "" } };
  if (!sameValue(selector, expected))
    problems.push(
      fieldErrors.invalid(
        "spec.selector",
        asGo("v1.LabelSelector", selector),
        "`selector` not auto-generated",
      ),
    );
  return problems;
}

/** The spec of a job that is there or about to be. */
function validateOwnSpec({ spec }: Job): FieldError[] {
  return [
    ...(spec!.selector
      ? labelSelector("spec.selector", spec!.selector)
      : [fieldErrors.required("spec.selector")]),
    ...validateJobSpec("spec", spec!),
    ...validateMatch(spec!.selector, spec!.template, undefined),
  ];
}

/** Each index is part of a pod's host name. */
function validateHostNames({ metadata, spec }: Job): FieldError[] {
  if (spec?.completionMode !== "Indexed" || !((spec.completions ?? 0) > 0))
    return [];
  const last = `${metadata.name}-${spec.completions! - 1}`;
  return isDnsLabel(last)
    ? []
    : [
        fieldErrors.invalid(
          "metadata.name",
          metadata.name,
          `will not able to create pod with invalid DNS label: ${last}`,
        ),
      ];
}

function validateJob(job: Job): FieldError[] {
  if (!job.spec) return [fieldErrors.required("spec")];
  return [
    ...validateGenerated(job),
    ...validateOwnSpec(job),
    ...validateHostNames(job),
  ];
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
  return status.completionTime
    ? humanDuration(
        Date.parse(status.completionTime) - Date.parse(status.startTime),
      )
    : formatAge(status.startTime, now);
}

/** In the order of the reference's checks; of what is neither text nor number the type. */
const settled = [
  ["completionMode", undefined],
  ["podFailurePolicy", "*batch.PodFailurePolicy"],
  ["backoffLimitPerIndex", undefined],
  ["managedBy", undefined],
  ["successPolicy", "*batch.SuccessPolicy"],
] as const;

/** An indexed job may be resized when completions and parallelism go together. */
function validateCompletions(spec: JobSpec, old: JobSpec): FieldError[] {
  if (spec.completionMode !== "Indexed")
    return immutable("spec.completions", spec.completions, old.completions);
  const { completions, parallelism } = spec;
  if (
    completions === undefined ||
    completions === old.completions ||
    completions === parallelism
  )
    return [];
  return [
    fieldErrors.invalid(
      "spec.completions",
      completions,
      "can only be modified in tandem with spec.parallelism",
    ),
  ];
}

/** Where its pods may go can still change before a suspended job has started. */
function validateTemplateUpdate(job: Job, old: Job): FieldError[] {
  const waiting = old.spec!.suspend === true && !old.status?.startTime;
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
  const { template } = job.spec!;
  if (agreeBut(template, old.spec!.template, free)) return [];
  return [
    fieldErrors.invalid(
      "spec.template",
      asGo("core.PodTemplateSpec", template),
      "field is immutable",
    ),
  ];
}

export const jobStrategy = strategyOf<Job>({
  defaultPropagation: "Orphan",
  *warnings(object, old) {
    yield* nameWarnings(object, old);
    if (isNewGeneration(object, old)) yield* jobWarnings("spec", object.spec);
  },
  orphanWarning:
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
  prepareForCreate(job) {
    job.status = {};
    if (job.spec?.template && !job.spec.manualSelector) generateSelector(job);
  },
  prepareForUpdate(object, old) {
    object.status = { ...old.status };
  },
  validate: (object) => validateJob(object),
  validateUpdate(job, was) {
    const [spec, oldSpec] = [job.spec!, was.spec!];
    return [
      // The reference checks the spec once more.
      ...validateOwnSpec(job),
      ...validateCompletions(spec, oldSpec),
      ...immutable(
        "spec.selector",
        spec.selector,
        oldSpec.selector,
        "*v1.LabelSelector",
      ),
      ...validateTemplateUpdate(job, was),
      ...settled.flatMap(([name, type]) =>
        immutable(`spec.${name}`, spec[name], oldSpec[name], type),
      ),
    ];
  },
  status: {
    validateUpdate: (object, old) => validateJobStatus(object, old),
  },
  selectableFields: (object) => ({
    "status.successful": String(object.status?.succeeded ?? 0),
  }),
  refuseField: (field) =>
    `field label ${JSON.stringify(field)} not supported for Job`,
  printRow: (job, now) => {
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
});
