// CronJobs: a schedule that parses, a time zone that exists, and names short enough for the jobs made from them.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import { tooLongProblem } from "../../../api/names.ts";
import type { CronJob, JobSpec } from "../../../api/types/batch-v1.ts";
import { formatAge, orNone } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";
import {
  containerColumns,
  selectorColumn,
} from "../apps/workload-validation.ts";
import { isNewGeneration, nameWarnings } from "../core/template-warnings.ts";
import { nonNegative, oneOf } from "../field-checks.ts";
import { scheduleProblem } from "./cron-schedule.ts";
import { jobWarnings } from "./job-warnings.ts";
import { validateJobSpec } from "./job-validation.ts";

/** A job's name gets up to eleven characters more. */
const maxNameLength = 52;

function zoneProblems(zone: string | undefined): FieldError[] {
  if (zone === undefined || zone === null) return [];
  const invalid = (text: string): FieldError =>
    fieldErrors.invalid("spec.timeZone", zone, text);
  if (zone === "") return [invalid("timeZone must be nil or non-empty string")];
  const problems: FieldError[] = [];
  if (zone.toLowerCase() === "local")
    problems.push(
      invalid(
        "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
      ),
    );
  if (zone !== "Local" && !isZone(zone))
    problems.push(invalid(`unknown time zone ${zone}`));
  return problems;
}

/** Names of zones are those of files: their case matters. */
function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return /^[A-Z]/.test(zone);
  } catch {
    return false;
  }
}

function scheduleProblems(schedule: string, oldSchedule = ""): FieldError[] {
  if (!schedule) return [fieldErrors.required("spec.schedule")];
  if (schedule.includes("TZ")) {
    // Schedules that have it from older versions may keep it.
    if (oldSchedule.includes("TZ")) return [];
    return [
      fieldErrors.invalid(
        "spec.schedule",
        schedule,
        "cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
      ),
    ];
  }
  const problem = scheduleProblem(schedule);
  return problem
    ? [fieldErrors.invalid("spec.schedule", schedule, problem)]
    : [];
}

function validateTemplate(spec: JobSpec | undefined): FieldError[] {
  const field = "spec.jobTemplate.spec";
  const problems = validateJobSpec(field, spec ?? ({} as JobSpec));
  if (spec?.manualSelector)
    problems.push(
      fieldErrors.notSupported(`${field}.manualSelector`, true, [
        "nil",
        "false",
      ]),
    );
  if (spec?.selector)
    problems.push(
      fieldErrors.invalid(
        `${field}.selector`,
        asGo("v1.LabelSelector", spec.selector),
        "`selector` will be auto-generated",
      ),
    );
  return problems;
}

function validateSpec({ spec }: CronJob, old?: CronJob): FieldError[] {
  if (!spec) return [fieldErrors.required("spec")];
  return [
    ...scheduleProblems(spec.schedule, old?.spec?.schedule),
    ...nonNegative(
      "spec.startingDeadlineSeconds",
      spec.startingDeadlineSeconds,
    ),
    ...(old && old.spec?.timeZone === spec.timeZone
      ? []
      : zoneProblems(spec.timeZone)),
    ...oneOf(
      "spec.concurrencyPolicy",
      spec.concurrencyPolicy,
      ["Allow", "Forbid", "Replace"],
      true,
    ),
    ...validateTemplate(spec.jobTemplate?.spec),
    ...nonNegative(
      "spec.successfulJobsHistoryLimit",
      spec.successfulJobsHistoryLimit,
    ),
    ...nonNegative("spec.failedJobsHistoryLimit", spec.failedJobsHistoryLimit),
  ];
}

export const cronJobStrategy = strategyOf<CronJob>({
  *warnings(object, old) {
    yield* nameWarnings(object, old);
    if (isNewGeneration(object, old))
      yield* jobWarnings(
        "spec.jobTemplate.spec",
        object.spec?.jobTemplate.spec,
      );
    if (old && object.spec?.schedule.includes("TZ"))
      yield "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";
  },
  prepareForCreate(object) {
    object.status = {};
  },
  prepareForUpdate(object, old) {
    object.status = { ...old.status };
  },
  validateCreate(object) {
    const { metadata } = object;
    return [
      ...validateSpec(object),
      ...(metadata.name.length > maxNameLength
        ? [
            fieldErrors.invalid(
              "metadata.name",
              metadata.name,
              tooLongProblem(maxNameLength),
            ),
          ]
        : []),
    ];
  },
  validateUpdate: (object, old) => validateSpec(object, old),
  status: {},
  printRow: (object, now) => {
    const { metadata, spec, status } = object;
    return [
      metadata.name,
      spec?.schedule ?? "",
      orNone(spec?.timeZone),
      spec?.suspend === undefined ? "<unset>" : spec.suspend ? "True" : "False",
      status?.active?.length ?? 0,
      status?.lastScheduleTime
        ? formatAge(status.lastScheduleTime, now)
        : "<none>",
      formatAge(metadata.creationTimestamp, now),
      ...containerColumns(spec?.jobTemplate?.spec?.template),
      selectorColumn(spec?.jobTemplate?.spec?.selector),
    ];
  },
});
