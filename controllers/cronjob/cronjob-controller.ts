// Makes Jobs at the times of a CronJob's schedule, under its concurrency policy and starting deadline; follows the Jobs it
// made; keeps the wanted number of finished ones. One delayed key a CronJob, due at its next time. Due Jobs are planned
// in cronjob-plan.ts; here are the informers and the writes.
import { exponentialBounds, Histograms } from "../../api/metrics/counted.ts";
import { formatTime } from "../../api/clock.ts";
import { isAlreadyExists, isNotFound } from "../../api/errors.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import {
  controllerOf,
  controllerReference,
} from "../../api/objects/owner-references.ts";
import { copyJson } from "../../api/patch/json-value.ts";
import type { CronJob, CronJobStatus, Job } from "../../api/types/batch-v1.ts";
import { objectReference } from "../../client/event-recorder.ts";
import type { EventWriter } from "../../client/event-recorder.ts";
import type { Informer } from "../../client/informer.ts";
import { cronJobs, jobs } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { isFinished } from "../job/job-conditions.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import { controllerIndex } from "../workloads/informer-indexes.ts";
import { recordAll } from "../workloads/planned-event.ts";
import { errorText, isNamespaceTerminating } from "../workloads/pod-control.ts";
import {
  dueFromMs,
  followJobs,
  planDue,
  surplusJobs,
  unexpectedJobs,
  unseenJobs,
  wasSetBack,
} from "./cronjob-plan.ts";
import {
  latestBefore,
  parseSchedule,
  timeIn,
  UnknownTimeZone,
} from "./schedule.ts";
import type { Schedule } from "./schedule.ts";

const scheduledAnnotation = "batch.kubernetes.io/cronjob-scheduled-timestamp";
/** Clocks are read a little late rather than early. */
const slackMs = 100;

export function createCronJobController(
  context: ControllerContext,
): Controller {
  return new CronJobController(context).reconciler;
}

class CronJobController {
  readonly reconciler: Reconciler;
  readonly #context: ControllerContext;
  readonly #cronJobs: Informer<CronJob>;
  readonly #jobs: Informer<Job>;
  readonly #recorder: EventWriter;

  /** When it was noticed, by uid, that the clock was set back to before the CronJob's last time. */
  readonly #setBack = new Map<string, number>();

  readonly #skews = new Histograms(
    {
      name: "cronjob_controller_job_creation_skew_duration_seconds",
      help: "How long after its time a Job was made.",
    },
    exponentialBounds(1, 2, 10),
  );

  constructor(context: ControllerContext) {
    const { client, options } = context;
    this.#context = context;
    context.metrics?.add("cronjob", () => [this.#skews.family()]);
    this.#cronJobs = client.informer(cronJobs);
    this.#jobs = client.informer(jobs, {
      indexes: { controller: controllerIndex },
    });
    this.#recorder = context.recorder("cronjob-controller");
    this.reconciler = new Reconciler({
      name: "cronjob-controller",
      context,
      concurrency: options.concurrentCronJobSyncs,
      reconcile: (key) => this.#reconcile(key),
    });
    const { queue } = this.reconciler;
    this.reconciler
      .watchAll(this.#cronJobs, (cronJob) => queue.add(objectKey(cronJob)))
      .watch(this.#cronJobs, {
        onDelete: ({ metadata }) => this.#setBack.delete(metadata.uid ?? ""),
      })
      .watchAll(this.#jobs, (job) => {
        const controller = controllerOf(job);
        if (controller?.kind === "CronJob")
          queue.add(`${job.metadata.namespace}/${controller.name}`);
      });
  }

  async #reconcile(key: string): Promise<ReconcileResult> {
    const { name, namespace } = splitKey(key);
    let observed = this.#cronJobs.lister.get(name, namespace);
    if (!observed) return;
    const owned = await this.#ownedJobs(observed);
    // The watch of Jobs may be ahead of that of CronJobs.
    if (unexpectedJobs(observed, owned).length > 0)
      observed = await orUndefined(
        this.#context.client.resource(cronJobs).get(name, namespace),
      );
    if (!observed) return;
    const { status, events } = followJobs(observed, owned);
    recordAll(this.#recorder, observed, events);
    const cronJob = await this.#writeStatus(observed, status);
    for (const { metadata } of surplusJobs(cronJob, owned))
      await this.#deleteJob(cronJob, metadata.name);
    if (cronJob.metadata.deletionTimestamp || cronJob.spec.suspend) return;
    const schedule = this.#scheduleOf(cronJob);
    if (!schedule) return;
    await this.#runDue(cronJob, schedule);
    const { clock } = this.#context;
    const nowMs = clock.now();
    // One that knows no clock goes on from the last time, however late that was noticed.
    const lastMs =
      schedule.everyMs === undefined
        ? nowMs
        : latestBefore(schedule, nowMs, this.#dueFromMs(cronJob, nowMs));
    const nextMs = schedule.next(lastMs ?? nowMs);
    return nextMs === undefined
      ? undefined
      : { requeueAfterMs: nextMs - clock.now() + slackMs };
  }

  /** Those that were observed, and those of the status that the watch of Jobs has not brought yet. */
  async #ownedJobs(cronJob: CronJob): Promise<readonly Job[]> {
    const { uid = "", namespace } = cronJob.metadata;
    const owned = this.#jobs.lister.byIndex("controller", uid);
    const late: Job[] = [];
    for (const unseen of unseenJobs(cronJob, owned)) {
      const found = await orUndefined(
        this.#context.client.resource(jobs).get(unseen.name ?? "", namespace),
      );
      if (found && found.metadata.uid === unseen.uid) late.push(found);
    }
    return late.length > 0 ? [...owned, ...late] : owned;
  }

  #scheduleOf(cronJob: CronJob): Schedule | undefined {
    const { schedule, timeZone } = cronJob.spec;
    try {
      return parseSchedule(schedule, timeZone || undefined);
    } catch (error) {
      const [reason, what] =
        error instanceof UnknownTimeZone
          ? [
              "UnknownTimeZone",
              `invalid timeZone: ${JSON.stringify(timeZone)}:`,
            ]
          : [
              "UnparseableSchedule",
              `unparseable schedule: ${JSON.stringify(schedule)} :`,
            ];
      const message = `${what} ${errorText(error)}`;
      this.#recorder.event(cronJob, "Warning", reason, message);
      return undefined;
    }
  }

  #dueFromMs(cronJob: CronJob, nowMs: number): number {
    const { uid = "" } = cronJob.metadata;
    if (!wasSetBack(cronJob, nowMs)) {
      this.#setBack.delete(uid);
      return dueFromMs(cronJob);
    }
    const noticedMs = this.#setBack.get(uid);
    if (noticedMs !== undefined && noticedMs <= nowMs) return noticedMs;
    this.#setBack.set(uid, nowMs);
    return nowMs;
  }

  /** Starts the Job of the latest time that is due, if it may start. */
  async #runDue(cronJob: CronJob, schedule: Schedule): Promise<void> {
    const { namespace } = cronJob.metadata;
    const nowMs = this.#context.clock.now();
    const { events, start } = planDue(
      cronJob,
      schedule,
      nowMs,
      (name) => this.#jobs.lister.get(name, namespace),
      this.#dueFromMs(cronJob, nowMs),
    );
    recordAll(this.#recorder, cronJob, events);
    if (!start) return;
    const { jobName, dueMs, replaces } = start;
    for (const name of replaces) await this.#deleteJob(cronJob, name);
    const job = await this.#createJob(cronJob, jobName, dueMs);
    if (!job) return;
    const active = (cronJob.status?.active ?? []).filter(
      ({ name = "" }) => !replaces.includes(name),
    );
    await this.#writeStatus(cronJob, {
      ...cronJob.status,
      active: isFinished(job) ? active : [...active, objectReference(job)],
      lastScheduleTime: formatTime(dueMs),
    });
  }

  /** Undefined: there can be none, as the namespace goes or the name is another's. */
  async #createJob(
    cronJob: CronJob,
    name: string,
    dueMs: number,
  ): Promise<Job | undefined> {
    const resource = this.#context.client.resource(jobs);
    try {
      const job = await resource.create(jobOf(cronJob, name, dueMs));
      const madeMs = Date.parse(job.metadata.creationTimestamp ?? "");
      if (!Number.isNaN(madeMs)) this.#skews.observe((madeMs - dueMs) / 1000);
      this.#recorder.event(
        cronJob,
        "Normal",
        "SuccessfulCreate",
        `Created job ${name}`,
      );
      return job;
    } catch (error) {
      if (isNamespaceTerminating(error)) return undefined;
      if (isAlreadyExists(error)) {
        const found = await resource.get(name, cronJob.metadata.namespace);
        return controllerOf(found)?.uid === cronJob.metadata.uid
          ? found
          : undefined;
      }
      this.#recorder.event(
        cronJob,
        "Warning",
        "FailedCreate",
        `Error creating job: ${errorText(error)}`,
      );
      throw error;
    }
  }

  async #deleteJob(cronJob: CronJob, name: string): Promise<void> {
    try {
      await this.#context.client
        .resource(jobs)
        .delete(name, cronJob.metadata.namespace, {
          propagationPolicy: "Background",
        });
      this.#recorder.event(
        cronJob,
        "Normal",
        "SuccessfulDelete",
        `Deleted job ${name}`,
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #writeStatus(
    cronJob: CronJob,
    status: CronJobStatus,
  ): Promise<CronJob> {
    if (sameJson(withoutEmptyList(cronJob.status), withoutEmptyList(status)))
      return cronJob;
    return this.#context.client
      .resource(cronJobs)
      .updateStatus({ ...cronJob, status: withoutEmptyList(status) });
  }
}

/** Undefined: there is no such object. */
async function orUndefined<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function jobOf(cronJob: CronJob, name: string, dueMs: number): Job {
  const { metadata, spec } = copyJson(cronJob.spec.jobTemplate);
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name,
      namespace: cronJob.metadata.namespace!,
      ...(metadata?.labels ? { labels: metadata.labels } : {}),
      annotations: {
        ...metadata?.annotations,
        [scheduledAnnotation]: timeIn(cronJob.spec.timeZone || "UTC", dueMs),
      },
      ownerReferences: [controllerReference(cronJobs, cronJob)],
    },
    spec: spec!,
  };
}

function withoutEmptyList(status: CronJobStatus | undefined): CronJobStatus {
  const { active, ...rest } = status ?? {};
  return active?.length ? { ...rest, active } : rest;
}
