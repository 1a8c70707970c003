// What a job's status may say, and how it may go on. Most rules are asked only when what they are about has changed, so
// that a status that broke one before can still be written.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import type { Job, JobStatus } from "../../../api/types/batch-v1.ts";
import { nonNegative } from "../field-checks.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";
import {
  IndexError,
  indexesProblem,
  parseIndexes,
  sharedIndex,
} from "./job-indexes.ts";

type Aspect =
  | "finished"
  | "complete"
  | "failed"
  | "failureTarget"
  | "successCriteriaMet"
  | keyof JobStatus;

interface View {
  readonly spec: NonNullable<Job["spec"]>;
  readonly status: JobStatus;
  is(condition: string): boolean;
  readonly finished: boolean;
}

function viewOf(job: Job): View {
  const status = job.status ?? {};
  const is = (condition: string, value = "True"): boolean =>
    status.conditions?.some(
      (one) => one.type === condition && one.status === value,
    ) ?? false;
  return {
    spec: job.spec!,
    status,
    is,
    finished: is("Complete") || is("Failed"),
  };
}

const aspectOf = (view: View, aspect: Aspect): unknown => {
  switch (aspect) {
    case "finished":
      return view.finished;
    case "complete":
      return view.is("Complete");
    case "failed":
      // As a condition: the counter is asked for by the rules themselves.
      return view.is("Failed");
    case "failureTarget":
      return view.is("FailureTarget");
    case "successCriteriaMet":
      return view.is("SuccessCriteriaMet");
    default:
      return view.status[aspect];
  }
};

/** A problem when `broken`, asked when one of `of` changed; without `of` always. */
interface Rule {
  readonly of?: readonly Aspect[];
  readonly field: string;
  broken(now: View, was: View): boolean;
  /** The text, or what makes it. */
  readonly text: string | ((now: View) => string);
  /** Default: the error names no value. */
  value?(now: View): unknown;
  readonly required?: true;
}

const before = (left: string | undefined, right: string | undefined): boolean =>
  left !== undefined &&
  right !== undefined &&
  Date.parse(left) < Date.parse(right);
const timeText = (time: string | undefined): unknown =>
  time === undefined ? undefined : asGo("Stringer", time);
const indexed = ({ spec }: View): boolean => spec.completionMode === "Indexed";

function together(first: string, second: string, of: Aspect[]): Rule {
  const shown = (type: string): string =>
    `${type}=${type === "Complete" ? "True" : "true"}`;
  return {
    of,
    field: "conditions",
    broken: (now) => now.is(first) && now.is(second),
    text: `cannot set ${shown(first)} and ${shown(second)} conditions`,
  };
}

function overlap({ spec, status }: View): number | undefined {
  if (spec.completions === undefined || status.failedIndexes === undefined)
    return undefined;
  try {
    return sharedIndex(
      parseIndexes(status.completedIndexes ?? "", spec.completions),
      parseIndexes(status.failedIndexes, spec.completions),
    );
  } catch (error) {
    if (error instanceof IndexError) return undefined;
    throw error;
  }
}

const rules: readonly Rule[] = [
  together("Complete", "Failed", ["complete", "failed"]),
  together("Complete", "FailureTarget", ["complete", "failureTarget"]),
  {
    of: ["complete", "completionTime"],
    field: "completionTime",
    broken: (now) =>
      now.status.completionTime !== undefined && !now.is("Complete"),
    text: "cannot set completionTime when there is no Complete=True condition",
    value: ({ status }) => timeText(status.completionTime),
  },
  {
    of: ["complete", "completionTime"],
    field: "completionTime",
    broken: (now) =>
      now.status.completionTime === undefined && now.is("Complete"),
    text: "completionTime is required for Complete jobs",
    required: true,
  },
  {
    of: ["startTime", "completionTime"],
    field: "completionTime",
    broken: ({ status }) => before(status.completionTime, status.startTime),
    text: "completionTime cannot be set before startTime",
    value: ({ status }) => timeText(status.completionTime),
  },
  {
    of: ["failed", "failedIndexes"],
    field: "conditions",
    broken: (now) => now.is("Failed") && !now.is("FailureTarget"),
    text: "cannot set Failed=True condition without the FailureTarget=true condition",
  },
  {
    of: ["complete", "successCriteriaMet"],
    field: "conditions",
    broken: (now) => now.is("Complete") && !now.is("SuccessCriteriaMet"),
    text: "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
  },
  {
    of: ["finished", "active"],
    field: "active",
    broken: (now) => now.finished && (now.status.active ?? 0) > 0,
    text: "active>0 is invalid for finished job",
    value: ({ status }) => status.active,
  },
  {
    of: ["finished", "startTime"],
    field: "startTime",
    broken: ({ finished, spec, status }) =>
      finished &&
      status.startTime === undefined &&
      !(spec.suspend === true && spec.completions === 0),
    text: "startTime is required for finished job",
    required: true,
  },
  {
    of: ["finished", "uncountedTerminatedPods"],
    field: "uncountedTerminatedPods",
    broken: ({ finished, status: { uncountedTerminatedPods: pods } }) =>
      finished &&
      (pods?.failed?.length ?? 0) + (pods?.succeeded?.length ?? 0) > 0,
    text: "uncountedTerminatedPods needs to be empty for finished job",
    value: ({ status }) =>
      asGo("*batch.UncountedTerminatedPods", status.uncountedTerminatedPods),
  },
  ...(["completedIndexes", "failedIndexes"] as const).map((field): Rule => ({
    of: [field],
    field,
    broken: (now) => indexesText(now, field) !== undefined,
    text: (now) => `error parsing ${field}: ${indexesText(now, field)}`,
    value: ({ status }) => status[field],
  })),
  {
    of: ["completedIndexes"],
    field: "completedIndexes",
    broken: (now) => Boolean(now.status.completedIndexes) && !indexed(now),
    text: "cannot set non-empty completedIndexes when non-indexed completion mode",
    value: ({ status }) => status.completedIndexes,
  },
  {
    of: ["failedIndexes"],
    field: "failedIndexes",
    broken: ({ spec, status }) =>
      spec.backoffLimitPerIndex === undefined &&
      status.failedIndexes !== undefined,
    text: "cannot set non-null failedIndexes when backoffLimitPerIndex is null",
    value: ({ status }) => status.failedIndexes,
  },
  {
    of: ["failedIndexes", "completedIndexes"],
    field: "failedIndexes",
    broken: (now) => overlap(now) !== undefined,
    text: (now) =>
      `failedIndexes and completedIndexes overlap at index: ${overlap(now)}`,
    value: ({ status }) => status.failedIndexes,
  },
  {
    of: ["finished", "terminating"],
    field: "terminating",
    broken: (now) => now.finished && (now.status.terminating ?? 0) > 0,
    text: "terminating>0 is invalid for finished job",
    value: ({ status }) => status.terminating,
  },
  {
    of: ["ready", "active"],
    field: "ready",
    broken: ({ status }) =>
      status.ready !== undefined && status.ready > (status.active ?? 0),
    text: "cannot set more ready pods than active",
    value: ({ status }) => status.ready,
  },
  {
    field: "conditions",
    broken: (now) => now.is("SuccessCriteriaMet") && now.is("Failed"),
    text: "cannot set SuccessCriteriaMet=True and Failed=true conditions",
  },
  {
    field: "conditions",
    broken: (now) => now.is("SuccessCriteriaMet") && now.is("FailureTarget"),
    text: "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
  },
  {
    field: "conditions",
    broken: (now) =>
      now.spec.successPolicy !== undefined &&
      !now.is("SuccessCriteriaMet") &&
      now.is("Complete"),
    text: "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
  },
  ...["Failed", "Complete", "FailureTarget"].map((type): Rule => ({
    field: "conditions",
    broken: (now, was) => was.is(type) && !now.is(type),
    text: `cannot disable the terminal ${type}=True condition`,
  })),
  {
    field: "failed",
    broken: (now, was) => (now.status.failed ?? 0) < (was.status.failed ?? 0),
    text: "cannot decrease the failed counter",
    value: ({ status }) => status.failed ?? 0,
  },
  {
    field: "succeeded",
    // An indexed job that is resized may lose some.
    broken: (now, was) =>
      (now.status.succeeded ?? 0) < (was.status.succeeded ?? 0) &&
      !(indexed(now) && now.spec.completions === now.spec.parallelism),
    text: "cannot decrease the succeeded counter",
    value: ({ status }) => status.succeeded ?? 0,
  },
  {
    field: "completionTime",
    broken: (now, was) =>
      now.status.completionTime !== undefined &&
      was.status.completionTime !== undefined &&
      now.status.completionTime !== was.status.completionTime,
    text: "completionTime cannot be mutated",
    value: ({ status }) => timeText(status.completionTime),
  },
  {
    field: "startTime",
    broken: (now, was) =>
      was.status.startTime !== undefined &&
      was.status.startTime !== now.status.startTime &&
      now.spec.suspend !== true &&
      !resuming(now, was),
    text: "startTime cannot be removed for unsuspended job",
    required: true,
  },
  {
    field: "conditions",
    broken: (now, was) =>
      was.is("SuccessCriteriaMet") && !now.is("SuccessCriteriaMet"),
    text: "cannot disable the SuccessCriteriaMet=True condition",
  },
  {
    field: "conditions",
    broken: (now, was) =>
      was.is("Complete") &&
      !was.is("SuccessCriteriaMet") &&
      now.is("SuccessCriteriaMet"),
    text: "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions",
  },
];

const resuming = (now: View, was: View): boolean =>
  was.is("Suspended") &&
  (now.status.conditions?.some(
    ({ type, status }) => type === "Suspended" && status === "False",
  ) ??
    false);

function indexesText(
  { spec, status }: View,
  field: "completedIndexes" | "failedIndexes",
): string | undefined {
  const text = status[field];
  if (spec.completions === undefined || text === undefined) return undefined;
  if (field === "failedIndexes" && spec.backoffLimitPerIndex === undefined)
    return undefined;
  return indexesProblem(text, spec.completions);
}

function uncountedProblems({ uncountedTerminatedPods }: JobStatus) {
  const problems: FieldError[] = [];
  const seen = new Set<string>();
  for (const part of ["succeeded", "failed"] as const)
    for (const [index, uid] of (
      uncountedTerminatedPods?.[part] ?? []
    ).entries()) {
      const field = `status.uncountedTerminatedPods.${part}[${index}]`;
      if (uid === "")
        problems.push(fieldErrors.invalid(field, uid, "must not be empty"));
      else if (seen.has(uid)) problems.push(fieldErrors.duplicate(field, uid));
      seen.add(uid);
    }
  return problems;
}

const counters = [
  "active",
  "succeeded",
  "failed",
  "ready",
  "terminating",
] as const;

export function validateJobStatus(job: Job, old: Job): FieldError[] {
  const [now, was] = [viewOf(job), viewOf(old)];
  const changed = (aspect: Aspect): boolean =>
    !sameValue(aspectOf(now, aspect), aspectOf(was, aspect));
  return [
    ...counters.flatMap((name) =>
      nonNegative(`status.${name}`, now.status[name]),
    ),
    ...uncountedProblems(now.status),
    ...rules
      .filter((rule) => rule.of?.some(changed) ?? true)
      .filter((rule) => rule.broken(now, was))
      .map((rule) => {
        const field = `status.${rule.field}`;
        const text = typeof rule.text === "string" ? rule.text : rule.text(now);
        if (rule.required) return fieldErrors.required(field, text);
        return rule.value
          ? fieldErrors.invalid(field, rule.value(now), text)
          : fieldErrors.invalidWithoutValue(field, text);
      }),
  ];
}
