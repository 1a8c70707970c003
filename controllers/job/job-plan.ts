// What a sync of a Job does, as a function of the Job, its pods and the time: which pods to make and to end, the events,
// and the two states of its status. Nothing here writes.
//
// Order of the writes: pods first; then, when pods have ended, the status with their uids (`pending`); then their
// finalizers go; then the status with their number. So a pod is counted exactly once, whenever the controller is cut off.
import { clockToleranceMs, formatTime } from "../../api/clock.ts";
import { isPodReady, isPodTerminal } from "../../api/objects/pod-state.ts";
import { backoffMs } from "../../api/queueing/backoff.ts";
import type { Job, JobStatus } from "../../api/types/batch-v1.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { PlannedEvent } from "../workloads/planned-event.ts";
import type { PodWrites } from "../workloads/pod-writes.ts";
import { completionIndex, formatIndexes } from "./completion-indexes.ts";
import { hasCondition, withJobCondition } from "./job-conditions.ts";
import { deadlineInMs, outcomeOf } from "./job-outcome.ts";
import type { Outcome } from "./job-outcome.ts";
import { allFailures } from "./index-failures.ts";
import { jobPod, trackingFinalizer } from "./job-pod.ts";
import { endMs, hasWantedIndex, isIndexed, tallyOf } from "./job-tally.ts";
import type { Tally } from "./job-tally.ts";
import { surplusPods } from "./surplus-pods.ts";

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
  /** Pods that are ended for no fault of theirs: their finalizer goes before them, so that they are never counted. */
  readonly forget: readonly Pod[];
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
  const begun = begunStatus(job, nowMs);
  const outcome = outcomeOf(job, begun, tally, nowMs);
  const ending = outcome.failure !== undefined || outcome.success !== undefined;
  // A Job that ends is neither suspended nor resumed any more.
  const { status: started, events } =
    ending || !mayManage
      ? { status: begun, events: [] }
      : suspension(job, begun, nowMs);
  const writes = mayManage
    ? podWrites(job, tally, ending, nowMs)
    : { create: [], remove: [], waitMs: 0 };
  const { waitMs } = writes;
  const deadlineMs =
    ending || job.spec.suspend ? undefined : deadlineInMs(job, started, nowMs);
  const waits = [
    ...(waitMs > 0 ? [waitMs] : []),
    ...(deadlineMs === undefined ? [] : [Math.max(0, deadlineMs) + slackMs]),
  ];
  return {
    create: writes.create,
    remove: writes.remove,
    forget: ending ? [] : writes.remove,
    events,
    policyActions: tally.policyActions,
    ...statusWrites(job, withOutcome(started, outcome, nowMs), tally, {
      outcome,
      nowMs,
      given: mayManage && ending ? givenUp(owned, tally) : [],
    }),
    requeueAfterMs: waits.length > 0 ? Math.min(...waits) : undefined,
  };
}

/** Of a Job that ends: pods that still run, or are deleted and have not ended. They are not waited for to be counted. */
function givenUp(owned: readonly Pod[], { uncounted, named }: Tally): Pod[] {
  const known = new Set([...uncounted.failed, ...uncounted.ignored, ...named]);
  return owned.filter(
    (pod) =>
      !isPodTerminal(pod) &&
      !known.has(pod) &&
      pod.metadata.finalizers?.includes(trackingFinalizer),
  );
}

/** The status with its start time. */
function begunStatus({ status, spec }: Job, nowMs: number): JobStatus {
  return status?.startTime || spec.suspend === true
    ? { ...status }
    : { ...status, startTime: formatTime(nowMs) };
}

/** The status with the condition Suspended where that has changed; the time of a Job that is resumed starts again. */
function suspension(
  job: Job,
  status: JobStatus,
  nowMs: number,
): { status: JobStatus; events: PlannedEvent[] } {
  const suspended = job.spec.suspend === true;
  const time = formatTime(nowMs);
  const known = status.conditions?.some(({ type }) => type === "Suspended");
  if (suspended === hasCondition(status, "Suspended") || (!suspended && !known))
    return { status, events: [] };
  const message = suspended ? "Job suspended" : "Job resumed";
  return {
    status: withJobCondition(
      suspended ? status : { ...status, startTime: time },
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
  // A success starts the pauses again.
  const failures =
    tally.lastSuccessMs === 0
      ? tally.failed
      : tally.failureTimesMs.filter((ms) => ms > tally.lastSuccessMs).length;
  if (failures === 0) return 0;
  return lastFailureMs + backoffMs(failureBackoff, failures - 1) - nowMs;
}

/** The same for one index that has a limit of its own. */
function indexWaitMs(replaced: Pod | undefined, nowMs: number): number {
  if (!replaced) return 0;
  const pauseMs = backoffMs(failureBackoff, allFailures(replaced) - 1);
  const failedMs = endMs(replaced);
  return failedMs > nowMs + clockToleranceMs ? 0 : failedMs + pauseMs - nowMs;
}

function podWrites(
  job: Job,
  tally: Tally,
  ending: boolean,
  nowMs: number,
): PodWrites & { readonly waitMs: number } {
  const { active, replaced } = tally;
  const nothing = { create: [], remove: [], waitMs: 0 };
  if (ending || job.spec.suspend) return { ...nothing, remove: active };
  const wanted = wantedPods(job, tally);
  const surplus = active.length - Math.max(0, wanted);
  const remove = surplusPods(job, active, Math.max(0, surplus));
  if (remove.length > 0) return { ...nothing, remove: remove.slice(0, burst) };
  const missing = Math.min(
    wanted - active.length - keptPlaces(job, tally).length,
    burst,
  );
  if (missing <= 0) return nothing;
  const perIndex = job.spec.backoffLimitPerIndex !== undefined;
  const waitMs = perIndex ? 0 : failureWaitMs(tally, nowMs);
  if (waitMs > 0) return { ...nothing, waitMs };
  if (!isIndexed(job)) {
    const create = Array.from({ length: missing }, () =>
      jobPod(job, undefined),
    );
    return { ...nothing, create };
  }
  const free = freeIndexes(job, tally, missing);
  const waits = free.map((index) => indexWaitMs(replaced.get(index), nowMs));
  const create = free
    .filter((_, place) => waits[place]! <= 0)
    .map((index) => jobPod(job, index, replaced.get(index)));
  const later = waits.filter((ms) => ms > 0);
  return {
    ...nothing,
    create,
    waitMs: later.length > 0 ? Math.min(...later) : 0,
  };
}

/** How many pods should run now. */
function wantedPods(job: Job, tally: Tally): number {
  const { completions, parallelism = 1 } = job.spec;
  if (completions === undefined)
    // The first success ends the work: those that run may finish.
    return tally.succeeded > 0 ? tally.active.length : parallelism;
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
  {
    outcome,
    nowMs,
    given,
  }: { outcome: Outcome; nowMs: number; given: readonly Pod[] },
): Pick<JobPlan, "pending" | "release" | "status" | "finished"> {
  const { uncounted } = tally;
  // One that has to hand its number of failures on stays as it is until then.
  const staying = new Set(
    outcome.failure || outcome.success ? [] : tally.replaced.values(),
  );
  const isDue = (pod: Pod): boolean => !staying.has(pod);
  const newlyFailed = [
    ...uncounted.failed.filter(isDue),
    // Where it succeeds, what it still runs has not failed.
    ...(outcome.failure ? given : []).filter((pod) => hasWantedIndex(job, pod)),
  ];
  const indexed = isIndexed(job);
  const known = job.status?.uncountedTerminatedPods;
  const succeeded = [
    ...(known?.succeeded ?? []),
    ...(indexed ? [] : uids(uncounted.succeeded)),
  ];
  const failed = [...(known?.failed ?? []), ...uids(newlyFailed)];
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
      ...tally.named,
      ...uncounted.succeeded,
      ...newlyFailed,
      ...given.filter((pod) => !newlyFailed.includes(pod)),
      ...uncounted.ignored.filter(isDue),
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
