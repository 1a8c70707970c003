// What a CronJob wants at a moment, as functions of it, its Jobs and the time: its status, the Jobs that are beyond the
// history limits, and whether a Job is due. Nothing here writes.
import { clockToleranceMs } from "../../api/clock.ts";
import type { CronJob, CronJobStatus, Job } from "../../api/types/batch-v1.ts";
import type { ObjectReference } from "../../api/types/core-v1.ts";
import { hasCondition, isFinished } from "../job/job-conditions.ts";
import type { PlannedEvent } from "../workloads/planned-event.ts";
import { latestBefore } from "./schedule.ts";
import type { Schedule } from "./schedule.ts";

const tooManyMissed = 100;

const normal = (reason: string, message: string): PlannedEvent => ({
  type: "Normal",
  reason,
  message,
});
const warning = (reason: string, message: string): PlannedEvent => ({
  type: "Warning",
  reason,
  message,
});

const activeUids = ({ status }: CronJob): ReadonlySet<string | undefined> =>
  new Set((status?.active ?? []).map(({ uid }) => uid));

/**
 * Jobs that run and that the status does not know: made by another client (`kubectl create job --from`), or the status
 * could not be written, or is not the newest.
 */
export function unexpectedJobs(
  cronJob: CronJob,
  owned: readonly Job[],
): readonly Job[] {
  const known = activeUids(cronJob);
  return owned.filter(
    (job) => !known.has(job.metadata.uid) && !isFinished(job),
  );
}

/** Names and uids in the status of Jobs that are not among those observed: they are gone, or were not seen yet. */
export function unseenJobs(
  { status }: CronJob,
  owned: readonly Job[],
): readonly ObjectReference[] {
  const seen = new Set(owned.map(({ metadata }) => metadata.uid));
  return (status?.active ?? []).filter(({ uid }) => !seen.has(uid));
}

/**
 * The status with its active list and its last success brought up to date.
 * @param owned its Jobs, with those that only the server knows yet
 */
export function followJobs(
  cronJob: CronJob,
  owned: readonly Job[],
): { status: CronJobStatus; events: PlannedEvent[] } {
  const status: CronJobStatus = { ...cronJob.status };
  const events: PlannedEvent[] = [];
  const byUid = new Map(owned.map((job) => [job.metadata.uid, job]));
  status.active = (status.active ?? []).filter(({ uid, name }) => {
    const job = byUid.get(uid);
    if (job && !isFinished(job)) return true;
    const condition = hasCondition(job?.status, "Complete")
      ? "Complete"
      : "Failed";
    events.push(
      job
        ? normal(
            "SawCompletedJob",
            `Saw completed job: ${name}, condition: ${condition}`,
          )
        : normal("MissingJob", `Active job went missing: ${name}`),
    );
    return false;
  });
  for (const { metadata } of unexpectedJobs(cronJob, owned))
    events.push(
      warning(
        "UnexpectedJob",
        `Saw a job that the controller did not create or forgot: ${metadata.name}`,
      ),
    );
  for (const job of owned) {
    const { completionTime } = job.status ?? {};
    if (
      completionTime &&
      hasCondition(job.status, "Complete") &&
      completionTime > (status.lastSuccessfulTime ?? "")
    )
      status.lastSuccessfulTime = completionTime;
  }
  return { status, events };
}

/** The oldest finished Jobs beyond what is to be kept of each kind. */
export function surplusJobs({ spec }: CronJob, owned: readonly Job[]): Job[] {
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = spec;
  const limits = [
    ["Complete", successfulJobsHistoryLimit],
    ["Failed", failedJobsHistoryLimit],
  ] as const;
  return limits.flatMap(([type, limit]) => {
    const finished = owned
      .filter((job) => hasCondition(job.status, type))
      .sort((a, b) =>
        (a.status?.startTime ?? "") < (b.status?.startTime ?? "") ? -1 : 1,
      );
    return finished.slice(0, Math.max(0, finished.length - limit));
  });
}

interface DuePlan {
  readonly events: readonly PlannedEvent[];
  /** Undefined: no Job is to start now. */
  readonly start:
    | {
        readonly jobName: string;
        readonly dueMs: number;
        /** Names of active Jobs that it takes the place of. */
        readonly replaces: readonly string[];
      }
    | undefined;
}

/** From when on times are due: the last one that was, or the CronJob's creation. */
export function dueFromMs({ metadata, status }: CronJob): number {
  return Date.parse(
    status?.lastScheduleTime ?? metadata.creationTimestamp ?? "",
  );
}

/** The clock was set back since then: without another start nothing would be due until it comes there again. */
export const wasSetBack = (cronJob: CronJob, nowMs: number): boolean =>
  dueFromMs(cronJob) > nowMs + clockToleranceMs;

/**
 * @param jobNamed the Job of that name in the CronJob's namespace, as observed
 * @param fromMs dueFromMs, or, where the clock was set back, when that was noticed
 */
export function planDue(
  cronJob: CronJob,
  schedule: Schedule,
  nowMs: number,
  jobNamed: (name: string) => Job | undefined,
  fromMs = dueFromMs(cronJob),
): DuePlan {
  const { dueMs, events } = latestDue(cronJob, schedule, nowMs, fromMs);
  if (dueMs === undefined) return { events, start: undefined };
  const { startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec;
  const nothing = (event?: PlannedEvent): DuePlan => ({
    events: event ? [...events, event] : events,
    start: undefined,
  });
  if (
    startingDeadlineSeconds !== undefined &&
    dueMs + startingDeadlineSeconds * 1000 < nowMs
  )
    return nothing(
      warning(
        "MissSchedule",
        `Missed scheduled time to start a job: ${new Date(dueMs).toUTCString()}`,
      ),
    );
  const jobName = `${cronJob.metadata.name}-${Math.floor(dueMs / 60_000)}`;
  const active = cronJob.status?.active ?? [];
  // Made already, but the status could not be written.
  const made = jobNamed(jobName);
  if (made && active.some(({ uid }) => uid === made.metadata.uid))
    return nothing();
  if (concurrencyPolicy === "Forbid" && active.length > 0 && !made)
    return nothing(
      normal(
        "JobAlreadyActive",
        "Not starting job because prior execution is running and concurrency policy is Forbid",
      ),
    );
  const replaces =
    concurrencyPolicy === "Replace" && !made
      ? active.map(({ name = "" }) => name)
      : [];
  return { events, start: { jobName, dueMs, replaces } };
}

/** The last time that is due and was not yet started. */
function latestDue(
  { spec }: CronJob,
  schedule: Schedule,
  nowMs: number,
  beginMs: number,
): { dueMs: number | undefined; events: readonly PlannedEvent[] } {
  let fromMs = beginMs;
  if (spec.startingDeadlineSeconds !== undefined)
    fromMs = Math.max(fromMs, nowMs - spec.startingDeadlineSeconds * 1000);
  // 31 February: the parser of the reference gives the zero time twice, hence its words.
  if (schedule.next(fromMs) === undefined)
    return {
      dueMs: undefined,
      events: [
        warning(
          "InvalidSchedule",
          `invalid schedule: ${spec.schedule} : time difference between two schedules is less than 1 second`,
        ),
      ],
    };
  let missed = 0;
  for (
    let next = schedule.next(fromMs);
    next !== undefined && next <= nowMs && missed <= tooManyMissed;
    next = schedule.next(next)
  )
    missed++;
  return {
    dueMs: missed === 0 ? undefined : latestBefore(schedule, nowMs, fromMs),
    events:
      missed > tooManyMissed
        ? [
            warning(
              "TooManyMissedTimes",
              "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew",
            ),
          ]
        : [],
  };
}
