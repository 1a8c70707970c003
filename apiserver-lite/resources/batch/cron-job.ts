// CronJobs: a schedule that parses, a time zone that exists, and names short enough for the jobs made from them.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { tooLongProblem } from "../../../api/names.ts";
import type { CronJob } from "../../../api/types/batch-v1.ts";
import { formatAge, orNone } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import {
  containerColumns,
  selectorColumn,
} from "../apps/workload-validation.ts";
import { nonNegative, oneOf } from "../field-checks.ts";
import { scheduleProblem } from "./cron-schedule.ts";
import { validateJobSpec } from "./job.ts";

const asCronJob = (object: Readonly<AnyObject>): CronJob =>
  object as unknown as CronJob;
/** A job's name gets up to eleven characters more. */
const maxNameLength = 52;

function zoneProblems(zone: string | undefined): FieldError[] {
  if (zone === undefined || zone === null) return [];
  if (zone === "")
    return [
      fieldErrors.invalid(
        "spec.timeZone",
        zone,
        "timeZone must be nil or non-empty string",
      ),
    ];
  if (zone.toLowerCase() === "local") {
    return [
      fieldErrors.invalid(
        "spec.timeZone",
        zone,
        "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
      ),
    ];
  }
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return [];
  } catch {
    return [
      fieldErrors.invalid("spec.timeZone", zone, `unknown time zone ${zone}`),
    ];
  }
}

export const cronJobStrategy: ResourceStrategy = {
  prepareForCreate(object) {
    asCronJob(object).status = {};
  },
  prepareForUpdate(object, old) {
    asCronJob(object).status = { ...asCronJob(old).status };
  },
  validate(object) {
    const { metadata, spec } = asCronJob(object);
    if (!spec) return [fieldErrors.required("spec")];
    const problems: FieldError[] = [];
    if (!spec.schedule) problems.push(fieldErrors.required("spec.schedule"));
    else {
      if (/TZ/.test(spec.schedule)) {
        problems.push(
          fieldErrors.invalid(
            "spec.schedule",
            spec.schedule,
            "cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
          ),
        );
      } else {
        const problem = scheduleProblem(spec.schedule);
        if (problem)
          problems.push(
            fieldErrors.invalid("spec.schedule", spec.schedule, problem),
          );
      }
    }
    problems.push(...zoneProblems(spec.timeZone));
    problems.push(
      ...nonNegative(
        "spec.startingDeadlineSeconds",
        spec.startingDeadlineSeconds,
      ),
    );
    problems.push(
      ...oneOf(
        "spec.concurrencyPolicy",
        spec.concurrencyPolicy,
        ["Allow", "Forbid", "Replace"],
        true,
      ),
    );
    problems.push(
      ...nonNegative(
        "spec.successfulJobsHistoryLimit",
        spec.successfulJobsHistoryLimit,
      ),
    );
    problems.push(
      ...nonNegative(
        "spec.failedJobsHistoryLimit",
        spec.failedJobsHistoryLimit,
      ),
    );
    if (metadata.name.length > maxNameLength) {
      problems.push(
        fieldErrors.invalid(
          "metadata.name",
          metadata.name,
          tooLongProblem(maxNameLength),
        ),
      );
    }
    if (spec.jobTemplate?.spec)
      problems.push(
        ...validateJobSpec("spec.jobTemplate.spec", spec.jobTemplate.spec),
      );
    return problems;
  },
  status: {
    prepareForUpdate(object, old) {
      asCronJob(object).spec = asCronJob(old).spec;
    },
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asCronJob(object);
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
};
