// Makes Jobs at the times of a CronJob's schedule, under its concurrency policy and starting deadline; follows the Jobs it
// made; keeps the wanted number of finished ones. One delayed key a CronJob, due at its next time.
import { formatTime } from "../../api/clock.ts";
import { isAlreadyExists, isNotFound } from "../../api/errors.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import type { CronJob, CronJobStatus, Job } from "../../api/types/batch-v1.ts";
import { copyJson } from "../../api/patch/json-value.ts";
import { objectReference } from "../../client/event-recorder.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import {
  controllerOf,
  controllerReference,
} from "../../api/objects/owner-references.ts";
import { cronJobs, jobs } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { controllerIndex } from "../workloads/informer-indexes.ts";
import { hasCondition, isFinished } from "../job/job-conditions.ts";
import { errorText, isNamespaceTerminating } from "../workloads/pod-control.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import { parseSchedule } from "./schedule.ts";
import type { Schedule } from "./schedule.ts";

const scheduledAnnotation = "batch.kubernetes.io/cronjob-scheduled-timestamp";
const tooManyMissed = 100;
/** Clocks are read a little late rather than early. */
const slackMs = 100;

export function createCronJobController(
  context: ControllerContext,
): Controller {
  const { client, clock } = context;
  const informer = client.informer(cronJobs);
  const jobInformer = client.informer(jobs, {
    indexes: { controller: controllerIndex },
  });
  const recorder = context.recorder("cronjob-controller");
  const reconciler = new Reconciler({
    name: "cronjob-controller",
    context,
    concurrency: context.options.concurrentCronJobSyncs,
    reconcile,
  });
  const { queue } = reconciler;

  async function reconcile(key: string): Promise<ReconcileResult> {
    const { name, namespace } = splitKey(key);
    let cronJob = informer.lister.get(name, namespace);
    if (!cronJob) return;
    const owned = jobInformer.lister.byIndex(
      "controller",
      cronJob.metadata.uid ?? "",
    );
    const status = followJobs(cronJob, owned);
    cronJob = await writeStatus(cronJob, status);
    await trimHistory(cronJob, owned);
    if (cronJob.metadata.deletionTimestamp || cronJob.spec.suspend) return;
    let schedule: Schedule;
    try {
      schedule = parseSchedule(
        cronJob.spec.schedule,
        cronJob.spec.timeZone || undefined,
      );
    } catch (error) {
      recorder.event(
        cronJob,
        "Warning",
        "UnparseableSchedule",
        `unparseable schedule: ${JSON.stringify(cronJob.spec.schedule)} : ${errorText(error)}`,
      );
      return;
    }
    await runDue(cronJob, schedule);
    const nextMs = schedule.next(clock.now());
    return nextMs === undefined
      ? undefined
      : { requeueAfterMs: nextMs - clock.now() + slackMs };
  }

  /** The status with its active list brought up to date. */
  function followJobs(cronJob: CronJob, owned: readonly Job[]): CronJobStatus {
    const status: CronJobStatus = { ...cronJob.status };
    const byUid = new Map(owned.map((job) => [job.metadata.uid, job]));
    status.active = (status.active ?? []).filter(({ uid, name }) => {
      const job = byUid.get(uid);
      if (!job) {
        recorder.event(
          cronJob,
          "Normal",
          "MissingJob",
          `Active job went missing: ${name}`,
        );
        return false;
      }
      if (!isFinished(job)) return true;
      const condition = hasCondition(job.status, "Complete")
        ? "Complete"
        : "Failed";
      recorder.event(
        cronJob,
        "Normal",
        "SawCompletedJob",
        `Saw completed job: ${name}, condition: ${condition}`,
      );
      return false;
    });
    for (const job of owned) {
      const { completionTime } = job.status ?? {};
      if (
        completionTime &&
        hasCondition(job.status, "Complete") &&
        completionTime > (status.lastSuccessfulTime ?? "")
      )
        status.lastSuccessfulTime = completionTime;
    }
    return status;
  }

  async function trimHistory(
    cronJob: CronJob,
    owned: readonly Job[],
  ): Promise<void> {
    const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } =
      cronJob.spec;
    for (const [type, limit] of [
      ["Complete", successfulJobsHistoryLimit],
      ["Failed", failedJobsHistoryLimit],
    ] as const) {
      const finished = owned
        .filter((job) => hasCondition(job.status, type))
        .sort((a, b) =>
          (a.status?.startTime ?? "") < (b.status?.startTime ?? "") ? -1 : 1,
        );
      for (const job of finished.slice(0, Math.max(0, finished.length - limit)))
        await deleteJob(cronJob, job.metadata.name);
    }
  }

  /** Starts the Job of the latest time that is due, if it may start. */
  async function runDue(cronJob: CronJob, schedule: Schedule): Promise<void> {
    const nowMs = clock.now();
    const dueMs = latestDue(cronJob, schedule, nowMs);
    if (dueMs === undefined) return;
    const { startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec;
    if (
      startingDeadlineSeconds !== undefined &&
      dueMs + startingDeadlineSeconds * 1000 < nowMs
    ) {
      recorder.event(
        cronJob,
        "Warning",
        "MissSchedule",
        `Missed scheduled time to start a job: ${new Date(dueMs).toUTCString()}`,
      );
      return;
    }
    const jobName = `${cronJob.metadata.name}-${Math.floor(dueMs / 60_000)}`;
    const active = cronJob.status?.active ?? [];
    // Made already, but the status could not be written.
    const made = jobInformer.lister.get(jobName, cronJob.metadata.namespace);
    if (made && active.some(({ uid }) => uid === made.metadata.uid)) return;
    if (concurrencyPolicy === "Forbid" && active.length > 0 && !made) {
      recorder.event(
        cronJob,
        "Normal",
        "JobAlreadyActive",
        "Not starting job because prior execution is running and concurrency policy is Forbid",
      );
      return;
    }
    let replaced = active;
    if (concurrencyPolicy === "Replace" && !made) {
      for (const { name = "" } of active) await deleteJob(cronJob, name);
      replaced = [];
    }
    const job = await createJob(cronJob, jobName, dueMs);
    if (!job) return;
    await writeStatus(cronJob, {
      ...cronJob.status,
      active: isFinished(job) ? replaced : [...replaced, objectReference(job)],
      lastScheduleTime: formatTime(dueMs),
    });
  }

  function latestDue(
    cronJob: CronJob,
    schedule: Schedule,
    nowMs: number,
  ): number | undefined {
    const { lastScheduleTime } = cronJob.status ?? {};
    let fromMs = Date.parse(
      lastScheduleTime ?? cronJob.metadata.creationTimestamp ?? "",
    );
    const { startingDeadlineSeconds } = cronJob.spec;
    if (startingDeadlineSeconds !== undefined)
      fromMs = Math.max(fromMs, nowMs - startingDeadlineSeconds * 1000);
    let missed = 0;
    for (
      let next = schedule.next(fromMs);
      next !== undefined && next <= nowMs && missed <= tooManyMissed;
      next = schedule.next(next)
    )
      missed++;
    if (missed > tooManyMissed)
      recorder.event(
        cronJob,
        "Warning",
        "TooManyMissedTimes",
        "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew",
      );
    return missed === 0 ? undefined : latestBefore(schedule, nowMs);
  }

  async function createJob(
    cronJob: CronJob,
    name: string,
    dueMs: number,
  ): Promise<Job | undefined> {
    const { metadata, spec } = copyJson(cronJob.spec.jobTemplate);
    const { namespace } = cronJob.metadata;
    try {
      const job = await client.resource(jobs).create({
        apiVersion: "batch/v1",
        kind: "Job",
        metadata: {
          name,
          namespace: namespace!,
          ...(metadata?.labels ? { labels: metadata.labels } : {}),
          annotations: {
            ...metadata?.annotations,
            [scheduledAnnotation]: formatTime(dueMs),
          },
          ownerReferences: [controllerReference(cronJobs, cronJob)],
        },
        spec: spec!,
      });
      recorder.event(
        cronJob,
        "Normal",
        "SuccessfulCreate",
        `Created job ${name}`,
      );
      return job;
    } catch (error) {
      if (isNamespaceTerminating(error)) return undefined;
      if (isAlreadyExists(error)) {
        const found = await client.resource(jobs).get(name, namespace);
        return controllerOf(found)?.uid === cronJob.metadata.uid
          ? found
          : undefined;
      }
      recorder.event(
        cronJob,
        "Warning",
        "FailedCreate",
        `Error creating job: ${errorText(error)}`,
      );
      throw error;
    }
  }

  async function deleteJob(cronJob: CronJob, name: string): Promise<void> {
    try {
      await client.resource(jobs).delete(name, cronJob.metadata.namespace, {
        propagationPolicy: "Background",
      });
      recorder.event(
        cronJob,
        "Normal",
        "SuccessfulDelete",
        `Deleted job ${name}`,
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async function writeStatus(
    cronJob: CronJob,
    status: CronJobStatus,
  ): Promise<CronJob> {
    const clean = (of: CronJobStatus | undefined): CronJobStatus => {
      const { active, ...rest } = of ?? {};
      return active?.length ? { ...rest, active } : rest;
    };
    if (sameJson(clean(cronJob.status), clean(status))) return cronJob;
    return client
      .resource(cronJobs)
      .updateStatus({ ...cronJob, status: clean(status) });
  }

  const lookAtOwner = (job: Job): void => {
    const controller = controllerOf(job);
    if (controller?.kind === "CronJob")
      queue.add(`${job.metadata.namespace}/${controller.name}`);
  };
  return reconciler
    .watchAll(informer, (cronJob) => queue.add(objectKey(cronJob)))
    .watchAll(jobInformer, lookAtOwner);
}

const hourMs = 3_600_000;
const lookBackMs = [1, 24, 32 * 24, 367 * 24, 5 * 367 * 24].map(
  (hours) => hours * hourMs,
);

/** The last time of a schedule that is not after nowMs: looked for in growing windows, so that few times are counted. */
function latestBefore(schedule: Schedule, nowMs: number): number | undefined {
  for (const windowMs of lookBackMs) {
    let last: number | undefined;
    for (
      let next = schedule.next(nowMs - windowMs);
      next !== undefined && next <= nowMs;
      next = schedule.next(next)
    )
      last = next;
    if (last !== undefined) return last;
  }
  return undefined;
}
