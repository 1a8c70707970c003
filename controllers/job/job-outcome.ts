// Whether a Job is over, and how: its failure (policy, back-off limits, deadline, failed indexes) or its success. An
// outcome that was decided once stays decided, whatever the pods that are ended do; the conditions FailureTarget and
// SuccessCriteriaMet record it until no pod runs any more.
import type { Job, JobStatus } from "../../api/types/batch-v1.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { verdictOf } from "./job-conditions.ts";
import type { Verdict } from "./job-conditions.ts";
import type { Tally } from "./job-tally.ts";
import { metSuccessPolicy } from "./success-policy.ts";

export interface Outcome {
  readonly failure?: Verdict;
  readonly success?: Verdict;
}

/** @param status with the start time that holds now */
export function outcomeOf(
  job: Job,
  status: JobStatus,
  tally: Tally,
  nowMs: number,
): Outcome {
  const decided = verdictOf(status, "SuccessCriteriaMet");
  if (decided) return { success: decided };
  const failure =
    verdictOf(status, "FailureTarget") ??
    policyFailure(tally) ??
    limitFailure(job, tally) ??
    deadlineFailure(job, status, nowMs) ??
    indexFailure(job, tally);
  if (failure) return { failure };
  const success = metSuccessPolicy(job, tally.succeededIndexes);
  if (success) return { success };
  return isComplete(job, tally)
    ? {
        success: {
          reason: "CompletionsReached",
          message: "Reached expected number of succeeded pods",
        },
      }
    : {};
}

/** Milliseconds until the Job's deadline; undefined: it has none, or has not started. */
export function deadlineInMs(
  { spec }: Job,
  { startTime }: JobStatus,
  nowMs: number,
): number | undefined {
  if (spec.activeDeadlineSeconds === undefined || !startTime) return undefined;
  return Date.parse(startTime) + spec.activeDeadlineSeconds * 1000 - nowMs;
}

function isComplete({ spec }: Job, tally: Tally): boolean {
  return spec.completions === undefined
    ? tally.succeeded > 0 && tally.active.length === 0
    : tally.succeeded >= spec.completions;
}

function policyFailure({ policyFailure }: Tally): Verdict | undefined {
  return policyFailure
    ? { reason: "PodFailurePolicy", message: policyFailure }
    : undefined;
}

function limitFailure({ spec }: Job, tally: Tally): Verdict | undefined {
  if (
    spec.backoffLimitPerIndex !== undefined &&
    spec.backoffLimit === undefined
  )
    return undefined;
  const limit = spec.backoffLimit ?? 6;
  const restarts =
    spec.template.spec?.restartPolicy === "OnFailure"
      ? [...tally.active, ...tally.terminating].reduce(
          (sum, pod) => sum + restartsOf(pod),
          0,
        )
      : 0;
  return tally.failed > limit ||
    (restarts > 0 && restarts >= Math.max(1, limit))
    ? {
        reason: "BackoffLimitExceeded",
        message: "Job has reached the specified backoff limit",
      }
    : undefined;
}

function deadlineFailure(
  job: Job,
  status: JobStatus,
  nowMs: number,
): Verdict | undefined {
  const leftMs = deadlineInMs(job, status, nowMs);
  return leftMs !== undefined && leftMs <= 0 && !job.spec.suspend
    ? {
        reason: "DeadlineExceeded",
        message: "Job was active longer than specified deadline",
      }
    : undefined;
}

function indexFailure({ spec }: Job, tally: Tally): Verdict | undefined {
  const { backoffLimitPerIndex, maxFailedIndexes, completions = 0 } = spec;
  if (backoffLimitPerIndex === undefined) return undefined;
  const { failedIndexes, succeededIndexes } = tally;
  if (maxFailedIndexes !== undefined && failedIndexes.size > maxFailedIndexes)
    return {
      reason: "MaxFailedIndexesExceeded",
      message:
        "Job has exceeded the specified maximal number of failed indexes",
    };
  const done = failedIndexes.size + succeededIndexes.size;
  return failedIndexes.size > 0 && done >= completions
    ? { reason: "FailedIndexes", message: "Job has failed indexes" }
    : undefined;
}

function restartsOf({ status }: Pod): number {
  return [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []),
  ].reduce((sum, { restartCount }) => sum + restartCount, 0);
}
