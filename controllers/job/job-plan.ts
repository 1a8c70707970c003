// What a sync of a Job does, as a function of the Job, its pods and the time: which pods to make and to end, the events,
// and the two states of its status. Nothing here writes.
//
// Order of the writes: pods first; then, when pods have ended, the status with their uids (`pending`); then their
// finalizers go; then the status with their number. So a pod is counted exactly once, whenever the controller is cut off.
import { clockToleranceMs, formatTime } from "../../api/clock.ts";
import { isPodReady } from "../../api/objects/pod-state.ts";
import { backoffMs } from "../../api/queueing/backoff.ts";
import type { Job, JobStatus } from "../../api/types/batch-v1.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { PlannedEvent } from "../workloads/planned-event.ts";
import type { PodWrites } from "../workloads/pod-writes.ts";
import { completionIndex, formatIndexes } from "./completion-indexes.ts";
import { hasCondition, withJobCondition } from "./job-conditions.ts";
import { deadlineInMs, outcomeOf } from "./job-outcome.ts";
import type { Outcome } from "./job-outcome.ts";
import { jobPod } from "./job-pod.ts";
import { isIndexed, tallyOf } from "./job-tally.ts";
import type { Tally } from "./job-tally.ts";

/** Pods made in one sync, at most. */
const burst = 500;
/** 10 s, 20 s … 10 min after the last failure. */
const failureBackoff = { baseMs: 10_000, maxMs: 600_000 };
/** Clocks are read a little late rather than early. */
const slackMs = 10;

interface JobPlan extends PodWrites {
  readonly events: readonly PlannedEvent[];
  /** Written before finalizers go; undefined: no pod has ended. */
  readonly pending: JobStatus | undefined;
  /** Pods whose finalizer goes. */
  readonly release: readonly Pod[];
  readonly status: JobStatus;
  /** Recorded when the status is written. */
  readonly finished: PlannedEvent | undefined;
  readonly requeueAfterMs: number | undefined;
  /** What rules of podFailurePolicy say of pods that are counted by this. */
  readonly policyActions: readonly string[];
}

/** @param mayManage whether all earlier creates and deletes have been seen, so that the pods can be counted on */
export function planJob(
  job: Job,
  owned: readonly Pod[],
  nowMs: number,
  mayManage: boolean,
): JobPlan {
  const tally = tallyOf(job, owned);
  const { status: started, events } = startOf(job, nowMs);
  const outcome = outcomeOf(job, started, tally, nowMs);
  const ending = outcome.failure !== undefined || outcome.success !== undefined;
  const waitMs =
    mayManage && !ending && !job.spec.suspend ? failureWaitMs(tally, nowMs) : 0;
  const deadlineMs = ending ? undefined : deadlineInMs(job, started, nowMs);
  const waits = [
    ...(waitMs > 0 ? [waitMs] : []),
    ...(deadlineMs === undefined ? [] : [Math.max(0, deadlineMs) + slackMs]),
  ];
  return {
    ...(mayManage
      ? podWrites(job, tally, ending, waitMs <= 0)
      : { create: [], remove: [] }),
    events,
    policyActions: tally.policyActions,
    ...statusWrites(job, withOutcome(started, outcome, nowMs), tally, {
      outcome,
      nowMs,
    }),
    requeueAfterMs: waits.length > 0 ? Math.min(...waits) : undefined,
  };
}

/** The status with its start time, and with the condition Suspended where that has changed. */
function startOf(
  job: Job,
  nowMs: number,
): { status: JobStatus; events: PlannedEvent[] } {
  const status: JobStatus = { ...job.status };
  const suspended = job.spec.suspend === true;
  const time = formatTime(nowMs);
  if (!status.startTime && !suspended) status.startTime = time;
  const known = status.conditions?.some(({ type }) => type === "Suspended");
  if (suspended === hasCondition(status, "Suspended") || (!suspended && !known))
    return { status, events: [] };
  const message = suspended ? "Job suspended" : "Job resumed";
  const { startTime: _, ...rest } = status;
  return {
    status: withJobCondition(
      suspended ? rest : { ...rest, startTime: time },
      {
        type: "Suspended",
        status: suspended ? "True" : "False",
        reason: suspended ? "JobSuspended" : "JobResumed",
        message,
      },
      nowMs,
    ),
    events: [
      { type: "Normal", reason: suspended ? "Suspended" : "Resumed", message },
    ],
  };
}

/** Milliseconds until a failed pod may be replaced; 0 or less: now. */
function failureWaitMs(tally: Tally, nowMs: number): number {
  // A failure in the future was before the clock was set back: it does not hold up those that came since.
  const lastFailureMs = tally.failureTimesMs.reduce(
    (last, ms) => (ms <= nowMs + clockToleranceMs ? Math.max(last, ms) : last),
    0,
  );
  if (tally.failed === 0 || lastFailureMs === 0) return 0;
  return lastFailureMs + backoffMs(failureBackoff, tally.failed - 1) - nowMs;
}

function podWrites(
  job: Job,
  tally: Tally,
  ending: boolean,
  mayCreate: boolean,
): PodWrites {
  const { active } = tally;
  if (ending || job.spec.suspend) return { create: [], remove: active };
  const wanted = wantedPods(job, tally);
  if (active.length > wanted) {
    const byReadiness = [...active].sort(
      (a, b) => Number(isPodReady(a)) - Number(isPodReady(b)),
    );
    const surplus = active.length - Math.max(0, wanted);
    return { create: [], remove: byReadiness.slice(0, surplus) };
  }
  const missing = Math.min(
    wanted - active.length - keptPlaces(job, tally).length,
    burst,
  );
  if (missing <= 0 || !mayCreate) return { create: [], remove: [] };
  const create = isIndexed(job)
    ? freeIndexes(job, tally, missing).map((index) => jobPod(job, index))
    : Array.from({ length: missing }, () => jobPod(job, undefined));
  return { create, remove: [] };
}

/** How many pods should run now. */
function wantedPods(job: Job, tally: Tally): number {
  const { completions, parallelism = 1 } = job.spec;
  if (completions === undefined)
    // The first success ends the work: those that run may finish.
    return tally.succeeded > 0
      ? Math.min(tally.active.length, parallelism)
      : parallelism;
  const failed = isIndexed(job) ? tally.failedIndexes.size : 0;
  return Math.min(completions - tally.succeeded - failed, parallelism);
}

/** Where only what has ended is replaced, a pod keeps its place until it has. */
function keptPlaces({ spec }: Job, { terminating }: Tally): readonly Pod[] {
  return spec.podReplacementPolicy === "Failed" ? terminating : [];
}

function freeIndexes(job: Job, tally: Tally, count: number): number[] {
  const { succeededIndexes, failedIndexes, active } = tally;
  const taken = new Set(
    [...active, ...keptPlaces(job, tally)].map(completionIndex),
  );
  const free: number[] = [];
  const { completions = 0 } = job.spec;
  for (let index = 0; index < completions && free.length < count; index++)
    if (
      !taken.has(index) &&
      !succeededIndexes.has(index) &&
      !failedIndexes.has(index)
    )
      free.push(index);
  return free;
}

function withOutcome(
  status: JobStatus,
  { failure, success }: Outcome,
  nowMs: number,
): JobStatus {
  const type = failure ? "FailureTarget" : "SuccessCriteriaMet";
  const verdict = failure ?? success;
  return verdict && !hasCondition(status, type)
    ? withJobCondition(status, { type, status: "True", ...verdict }, nowMs)
    : status;
}

const uids = (list: readonly Pod[]): string[] =>
  list.map((pod) => pod.metadata.uid ?? "");

function statusWrites(
  job: Job,
  status: JobStatus,
  tally: Tally,
  { outcome, nowMs }: { outcome: Outcome; nowMs: number },
): Pick<JobPlan, "pending" | "release" | "status" | "finished"> {
  const { uncounted } = tally;
  const indexed = isIndexed(job);
  const known = job.status?.uncountedTerminatedPods;
  const succeeded = [
    ...(known?.succeeded ?? []),
    ...(indexed ? [] : uids(uncounted.succeeded)),
  ];
  const failed = [...(known?.failed ?? []), ...uids(uncounted.failed)];
  const counts: JobStatus = {
    ...status,
    active: tally.active.length,
    ready: tally.active.filter(isPodReady).length,
    terminating: tally.terminating.length,
    ...(indexed ? indexCounts(job, tally) : {}),
  };
  const hasEnded =
    succeeded.length + failed.length + uncounted.succeeded.length > 0;
  const counted: JobStatus = {
    ...counts,
    uncountedTerminatedPods: {},
    ...(hasEnded
      ? {
          succeeded: (counts.succeeded ?? 0) + (indexed ? 0 : succeeded.length),
          failed: (counts.failed ?? 0) + failed.length,
        }
      : {}),
  };
  return {
    pending: hasEnded
      ? {
          ...counts,
          uncountedTerminatedPods: {
            ...(succeeded.length > 0 ? { succeeded } : {}),
            ...(failed.length > 0 ? { failed } : {}),
          },
        }
      : undefined,
    release: [
      ...uncounted.succeeded,
      ...uncounted.failed,
      ...uncounted.ignored,
    ],
    ...finishedStatus(counted, outcome, nowMs),
  };
}

function indexCounts({ spec }: Job, tally: Tally): JobStatus {
  return {
    completedIndexes: formatIndexes(tally.succeededIndexes),
    succeeded: tally.succeededIndexes.size,
    ...(spec.backoffLimitPerIndex === undefined
      ? {}
      : { failedIndexes: formatIndexes(tally.failedIndexes) }),
  };
}

/** Never before its start, which the API refuses: the clock may have been set back since. */
function completionTime({ startTime = "" }: JobStatus, nowMs: number): string {
  const time = formatTime(nowMs);
  return Date.parse(startTime) > nowMs ? startTime : time;
}

/** With the condition Failed or Complete once nothing runs any more. */
function finishedStatus(
  status: JobStatus,
  { failure, success }: Outcome,
  nowMs: number,
): Pick<JobPlan, "status" | "finished"> {
  if ((status.active ?? 0) + (status.terminating ?? 0) > 0)
    return { status, finished: undefined };
  if (failure)
    return {
      status: withJobCondition(
        status,
        { type: "Failed", status: "True", ...failure },
        nowMs,
      ),
      finished: { type: "Warning", ...failure },
    };
  if (success)
    return {
      status: withJobCondition(
        { ...status, completionTime: completionTime(status, nowMs) },
        { type: "Complete", status: "True", ...success },
        nowMs,
      ),
      finished: {
        type: "Normal",
        reason: "Completed",
        message: "Job completed",
      },
    };
  return { status, finished: undefined };
}
