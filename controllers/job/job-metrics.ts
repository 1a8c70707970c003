// What the Job controller counts, with the reference's names.
import type { Clock } from "../../api/clock.ts";
import {
  Counters,
  exponentialBounds,
  Histograms,
} from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";
import type { Job, JobStatus } from "../../api/types/batch-v1.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { isPodTerminal } from "../../api/objects/pod-state.ts";
import { parseIndexes } from "./completion-indexes.ts";
import { trackingFinalizer } from "./job-pod.ts";
import { isIndexed } from "./job-tally.ts";

type SyncAction = "reconciling" | "tracking" | "pods_created" | "pods_deleted";

const modeOf = (job: Job): string =>
  isIndexed(job) ? "Indexed" : "NonIndexed";
const syncLabels = ["completion_mode", "result", "action"];

export class JobMetrics {
  readonly #syncs = new Counters({
    name: "job_controller_job_syncs_total",
    help: "Syncs of Jobs.",
    labels: syncLabels,
  });
  readonly #syncTimes = new Histograms(
    {
      name: "job_controller_job_sync_duration_seconds",
      help: "How long syncs of Jobs took.",
      labels: syncLabels,
    },
    exponentialBounds(0.004, 2, 15),
  );
  readonly #finished = new Counters({
    name: "job_controller_jobs_finished_total",
    help: "Jobs that have ended.",
    labels: ["completion_mode", "result", "reason"],
  });
  readonly #podsFinished = new Counters({
    name: "job_controller_job_pods_finished_total",
    help: "Pods that have ended and were counted in their Job's status.",
    labels: ["completion_mode", "result"],
  });
  readonly #indexesFinished = new Counters({
    name: "job_controller_job_finished_indexes_total",
    help: "Indexes that have ended, by the kind of their back-off limit.",
    labels: ["status", "backoffLimit"],
  });
  readonly #podsMade = new Counters({
    name: "job_controller_job_pods_creation_total",
    help: "Pods made for Jobs, by why they were made and whether that went well.",
    labels: ["reason", "status"],
  });
  readonly #policyActions = new Counters({
    name: "job_controller_pod_failures_handled_by_failure_policy_total",
    help: "Pods whose failure a rule of their Job's policy matched, by the rule's action.",
    labels: ["action"],
  });
  readonly #tracked = new Counters({
    name: "job_controller_terminated_pods_tracking_finalizer_total",
    help: "Ended pods that have the finalizer of Jobs: that came to be so, and that are so no more.",
    labels: ["event"],
  });
  readonly #external = new Counters({
    name: "job_controller_jobs_by_external_controller_total",
    help: "Jobs that another controller looks after, by its name.",
    labels: ["controller_name"],
  });

  constructor(private readonly clock: Clock) {}

  /** Counts the sync by what it turns out to do. */
  async timed<T>(
    job: Job,
    sync: (does: (action: SyncAction) => void) => Promise<T>,
  ): Promise<T> {
    let action: SyncAction = "reconciling";
    const startMs = this.clock.monotonic();
    const ended = (result: string): void => {
      const labels = [modeOf(job), result, action];
      this.#syncs.count(...labels);
      const seconds = (this.clock.monotonic() - startMs) / 1000;
      this.#syncTimes.observe(seconds, ...labels);
    };
    try {
      const result = await sync((does) => (action = does));
      ended("success");
      return result;
    } catch (error) {
      ended("error");
      throw error;
    }
  }

  /** The status with the pods' numbers was written. @param before the one that held when the sync began */
  counted(job: Job, before: JobStatus | undefined, now: JobStatus): void {
    const mode = modeOf(job);
    const perIndex = job.spec.backoffLimitPerIndex !== undefined;
    const more = (field: "completedIndexes" | "failedIndexes"): number =>
      parseIndexes(now[field]).size - parseIndexes(before?.[field]).size;
    let succeeded = (now.succeeded ?? 0) - (before?.succeeded ?? 0);
    if (isIndexed(job)) {
      succeeded = Math.max(0, more("completedIndexes"));
      const limit = perIndex ? "perIndex" : "global";
      this.#indexesFinished.add(succeeded, "succeeded", limit);
      const failed = perIndex ? more("failedIndexes") : 0;
      if (failed > 0) this.#indexesFinished.add(failed, "failed", limit);
    }
    const failed = (now.failed ?? 0) - (before?.failed ?? 0);
    this.#podsFinished.add(Math.max(0, succeeded), mode, "succeeded");
    this.#podsFinished.add(Math.max(0, failed), mode, "failed");
  }

  finished(job: Job, { conditions = [] }: JobStatus): void {
    const last = conditions.find(
      ({ type, status }) =>
        (type === "Complete" || type === "Failed") && status === "True",
    );
    if (!last) return;
    const result = last.type === "Complete" ? "succeeded" : "failed";
    this.#finished.count(modeOf(job), result, last.reason ?? "");
  }

  made({ spec, status }: Job, ok: boolean): void {
    const { failed = 0, terminating = 0 } = status ?? {};
    let reason = "new";
    if (spec.podReplacementPolicy === "Failed" && failed > 0)
      reason = "recreate_failed";
    else if (failed > 0 || terminating > 0)
      reason = "recreate_terminating_or_failed";
    this.#podsMade.count(reason, ok ? "succeeded" : "failed");
  }

  handled(action: string): void {
    this.#policyActions.count(action);
  }

  /** Undefined: the pod comes, or goes. */
  podChanged(old: Pod | undefined, pod: Pod | undefined): void {
    const was = isTracked(old);
    const is = isTracked(pod);
    if (was !== is) this.#tracked.count(is ? "add" : "delete");
  }

  managedElsewhere(name: string): void {
    this.#external.count(name);
  }

  families(): Family[] {
    return [
      this.#syncs.family(),
      this.#syncTimes.family(),
      this.#finished.family(),
      this.#podsFinished.family(),
      this.#indexesFinished.family(),
      this.#podsMade.family(),
      this.#policyActions.family(),
      this.#tracked.family(),
      this.#external.family(),
    ];
  }
}

const isTracked = (pod: Pod | undefined): boolean =>
  pod !== undefined &&
  isPodTerminal(pod) &&
  (pod.metadata.finalizers?.includes(trackingFinalizer) ?? false);
