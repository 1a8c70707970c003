// Runs the pods of a Job until enough succeed or too many fail: NonIndexed and Indexed completion, parallelism, suspend,
// deadline, back-off limits (also per index), pod failure policy, success policy.
//
// Each pod carries a finalizer until its end is counted: first its uid goes into status.uncountedTerminatedPods, then the
// finalizer goes, then the count goes up. So a pod is counted exactly once, whenever the controller is cut off.
import { formatTime } from "../../api/clock.ts";
import { isNotFound } from "../../api/errors.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import { selectorFromObject } from "../../api/selectors.ts";
import type { Job, JobStatus } from "../../api/types/batch-v1.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { controllerOf } from "../../api/objects/owner-references.ts";
import { isPodActive, isPodReady } from "../../api/objects/pod-state.ts";
import { jobs, pods } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Expectations } from "../workloads/expectations.ts";
import { claimObjects } from "../workloads/adoption.ts";
import { controllerIndex, orphansOf } from "../workloads/informer-indexes.ts";
import {
  createPodControl,
  isNamespaceTerminating,
  slowStartBatch,
} from "../workloads/pod-control.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import { failureVerdict } from "./failure-policy.ts";
import {
  completionIndex,
  formatIndexes,
  parseIndexes,
} from "./completion-indexes.ts";
import { jobPod, trackingFinalizer } from "./job-pod.ts";
import {
  hasCondition,
  isFinished,
  verdictOf,
  withJobCondition,
  type Verdict,
} from "./job-conditions.ts";
import { metSuccessPolicy } from "./success-policy.ts";

const burst = 500;
const failureBackoffMs = 10_000;
const maxFailureBackoffMs = 600_000;

interface Tally {
  active: Pod[];
  /** Those that are deleted and have not ended. */
  terminating: Pod[];
  succeeded: number;
  failed: number;
  succeededIndexes: Set<number>;
  failedIndexes: Set<number>;
  /** Ended pods that still carry the finalizer. */
  uncounted: { succeeded: Pod[]; failed: Pod[]; ignored: Pod[] };
  policyFailure: string | undefined;
  lastFailureMs: number;
}

export function createJobController(context: ControllerContext): Controller {
  const { client, clock } = context;
  const informer = client.informer(jobs);
  const podInformer = client.informer(pods, {
    indexes: { controller: controllerIndex },
  });
  const recorder = context.recorder("job-controller");
  const control = createPodControl(client, recorder);
  const expectations = new Expectations(clock);
  const reconciler = new Reconciler({
    name: "job-controller",
    context,
    concurrency: context.options.concurrentJobSyncs,
    reconcile,
  });
  const { queue } = reconciler;

  async function reconcile(key: string): Promise<ReconcileResult> {
    const { name, namespace } = splitKey(key);
    const job = informer.lister.get(name, namespace);
    if (!job) return expectations.forget(key);
    if (
      job.spec.managedBy &&
      job.spec.managedBy !== "kubernetes.io/job-controller"
    )
      return;
    const referring = podInformer.lister.byIndex(
      "controller",
      job.metadata.uid ?? "",
    );
    if (isFinished(job) || job.metadata.deletionTimestamp) {
      await releaseAll(referring);
      return;
    }
    const owned = await claim(job, referring);
    const mayManage = expectations.satisfied(key);
    const tally = tallyOf(job, owned);
    const nowMs = clock.now();
    let status: JobStatus = { ...job.status };
    let requeueAfterMs: number | undefined;
    const suspended = job.spec.suspend === true;
    if (!status.startTime && !suspended) status.startTime = formatTime(nowMs);
    status = noteSuspend(job, status, suspended);

    // What was decided stays decided, whatever the pods that are ended do.
    const decided = verdictOf(status, "SuccessCriteriaMet");
    const failure = decided ? undefined : failureOf(job, tally, status);
    const success = decided ?? (failure ? undefined : successOf(job, tally));
    const ending = failure !== undefined || success !== undefined;
    if (failure && !hasCondition(status, "FailureTarget"))
      status = withJobCondition(
        status,
        { type: "FailureTarget", status: "True", ...failure },
        nowMs,
      );
    if (success && !decided)
      status = withJobCondition(
        status,
        { type: "SuccessCriteriaMet", status: "True", ...success },
        nowMs,
      );
    let problem: unknown;
    if (mayManage) {
      if (ending || suspended)
        problem = await removePods(key, job, tally.active);
      else {
        const waitMs = failureWait(tally, nowMs);
        problem = await managePods(key, job, tally, waitMs <= 0);
        if (waitMs > 0) requeueAfterMs = waitMs;
      }
    }
    const { startTime } = status;
    const { activeDeadlineSeconds } = job.spec;
    if (startTime && activeDeadlineSeconds !== undefined && !ending)
      requeueAfterMs = Math.min(
        requeueAfterMs ?? Infinity,
        Math.max(
          0,
          Date.parse(startTime) + activeDeadlineSeconds * 1000 - nowMs,
        ) + 10,
      );
    await count(job, status, tally, owned, failure, success);
    if (problem !== undefined) throw problem;
    return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
  }

  function tallyOf(job: Job, owned: readonly Pod[]): Tally {
    const { uncountedTerminatedPods: pending } = job.status ?? {};
    const counted = new Set([
      ...(pending?.succeeded ?? []),
      ...(pending?.failed ?? []),
    ]);
    const tally: Tally = {
      active: owned.filter(isPodActive),
      terminating: owned.filter(
        ({ metadata, status }) =>
          metadata.deletionTimestamp !== undefined &&
          status?.phase !== "Succeeded" &&
          status?.phase !== "Failed",
      ),
      succeeded:
        (job.status?.succeeded ?? 0) + (pending?.succeeded?.length ?? 0),
      failed: (job.status?.failed ?? 0) + (pending?.failed?.length ?? 0),
      succeededIndexes: parseIndexes(job.status?.completedIndexes),
      failedIndexes: parseIndexes(job.status?.failedIndexes),
      uncounted: { succeeded: [], failed: [], ignored: [] },
      policyFailure: undefined,
      lastFailureMs: 0,
    };
    const indexed = job.spec.completionMode === "Indexed";
    const failuresByIndex = new Map<number, number>();
    for (const pod of owned) {
      const { phase } = pod.status ?? {};
      const ended =
        phase === "Succeeded" ||
        phase === "Failed" ||
        // One that is deleted counts as failed, unless only those that have ended do; without a node it never will.
        (pod.metadata.deletionTimestamp !== undefined &&
          (job.spec.podReplacementPolicy !== "Failed" || !pod.spec.nodeName));
      if (!ended) continue;
      const tracked = pod.metadata.finalizers?.includes(trackingFinalizer);
      const isNew = tracked && !counted.has(pod.metadata.uid ?? "");
      const index = completionIndex(pod);
      if (phase === "Succeeded") {
        if (indexed) {
          const useful =
            index >= 0 &&
            index < (job.spec.completions ?? 0) &&
            !tally.succeededIndexes.has(index);
          if (useful) tally.succeededIndexes.add(index);
          if (isNew) tally.uncounted.succeeded.push(pod);
        } else if (isNew) {
          tally.succeeded++;
          tally.uncounted.succeeded.push(pod);
        }
        continue;
      }
      tally.lastFailureMs = Math.max(tally.lastFailureMs, endMs(pod));
      const verdict = failureVerdict(job, pod);
      if (verdict.action === "FailJob") tally.policyFailure ??= verdict.message;
      if (verdict.action === "FailIndex" && index >= 0)
        tally.failedIndexes.add(index);
      if (verdict.action === "Ignore") {
        if (isNew) tally.uncounted.ignored.push(pod);
        continue;
      }
      failuresByIndex.set(index, (failuresByIndex.get(index) ?? 0) + 1);
      if (isNew) {
        tally.failed++;
        tally.uncounted.failed.push(pod);
      }
    }
    const { backoffLimitPerIndex } = job.spec;
    if (indexed) {
      tally.succeeded = tally.succeededIndexes.size;
      if (backoffLimitPerIndex !== undefined)
        for (const [index, failures] of failuresByIndex)
          if (index >= 0 && failures > backoffLimitPerIndex)
            tally.failedIndexes.add(index);
    }
    return tally;
  }

  function failureOf(
    job: Job,
    tally: Tally,
    status: JobStatus,
  ): Verdict | undefined {
    const target = verdictOf(status, "FailureTarget");
    if (target) return target;
    if (tally.policyFailure)
      return { reason: "PodFailurePolicy", message: tally.policyFailure };
    const {
      backoffLimit = 6,
      backoffLimitPerIndex,
      maxFailedIndexes,
    } = job.spec;
    if (
      backoffLimitPerIndex === undefined ||
      job.spec.backoffLimit !== undefined
    ) {
      const restarts =
        job.spec.template.spec?.restartPolicy === "OnFailure"
          ? tally.active.reduce((sum, pod) => sum + restartsOf(pod), 0)
          : 0;
      if (
        tally.failed > backoffLimit ||
        (restarts > 0 && restarts >= Math.max(1, backoffLimit))
      )
        return {
          reason: "BackoffLimitExceeded",
          message: "Job has reached the specified backoff limit",
        };
    }
    const { activeDeadlineSeconds } = job.spec;
    if (
      activeDeadlineSeconds !== undefined &&
      status.startTime &&
      !job.spec.suspend &&
      clock.now() - Date.parse(status.startTime) >= activeDeadlineSeconds * 1000
    )
      return {
        reason: "DeadlineExceeded",
        message: "Job was active longer than specified deadline",
      };
    if (backoffLimitPerIndex !== undefined) {
      if (
        maxFailedIndexes !== undefined &&
        tally.failedIndexes.size > maxFailedIndexes
      )
        return {
          reason: "MaxFailedIndexesExceeded",
          message:
            "Job has exceeded the specified maximal number of failed indexes",
        };
      const done = tally.failedIndexes.size + tally.succeededIndexes.size;
      if (tally.failedIndexes.size > 0 && done >= (job.spec.completions ?? 0))
        return { reason: "FailedIndexes", message: "Job has failed indexes" };
    }
    return undefined;
  }

  function successOf(job: Job, tally: Tally): Verdict | undefined {
    const byPolicy = metSuccessPolicy(job, tally.succeededIndexes);
    if (byPolicy) return byPolicy;
    const { completions } = job.spec;
    const reached =
      completions === undefined
        ? tally.succeeded > 0 && tally.active.length === 0
        : tally.succeeded >= completions;
    return reached
      ? {
          reason: "CompletionsReached",
          message: "Reached expected number of succeeded pods",
        }
      : undefined;
  }

  function noteSuspend(
    job: Job,
    status: JobStatus,
    suspended: boolean,
  ): JobStatus {
    const was = hasCondition(status, "Suspended");
    if (suspended === was) return status;
    const known = status.conditions?.some(({ type }) => type === "Suspended");
    if (!suspended && !known) return status;
    const reason = suspended ? "JobSuspended" : "JobResumed";
    const message = suspended ? "Job suspended" : "Job resumed";
    recorder.event(job, "Normal", suspended ? "Suspended" : "Resumed", message);
    const { startTime: _, ...rest } = status;
    return withJobCondition(
      suspended ? rest : { ...rest, startTime: formatTime(clock.now()) },
      {
        type: "Suspended",
        status: suspended ? "True" : "False",
        reason,
        message,
      },
      clock.now(),
    );
  }

  /** Milliseconds until a failed pod may be replaced: 10 s, 20 s … 10 min after the last failure. */
  function failureWait(tally: Tally, nowMs: number): number {
    const recent = tally.uncounted.failed.length;
    const failures =
      recent > 0 ? tally.failed : tally.lastFailureMs > 0 ? tally.failed : 0;
    if (failures === 0 || tally.lastFailureMs === 0) return 0;
    const delayMs = Math.min(
      maxFailureBackoffMs,
      failureBackoffMs * 2 ** (failures - 1),
    );
    return tally.lastFailureMs + delayMs - nowMs;
  }

  async function managePods(
    key: string,
    job: Job,
    tally: Tally,
    mayCreate: boolean,
  ): Promise<unknown> {
    const { completions, parallelism = 1 } = job.spec;
    const { active } = tally;
    const indexed = job.spec.completionMode === "Indexed";
    const wanted =
      completions === undefined
        ? tally.succeeded > 0
          ? Math.min(active.length, parallelism)
          : parallelism
        : Math.min(
            completions -
              tally.succeeded -
              (indexed ? tally.failedIndexes.size : 0),
            parallelism,
          );
    if (active.length > wanted) {
      const surplus = [...active]
        .sort((a, b) => Number(isPodReady(a)) - Number(isPodReady(b)))
        .slice(0, active.length - Math.max(0, wanted));
      return removePods(key, job, surplus);
    }
    const missing = Math.min(
      wanted - active.length - keptPlaces(job, tally).length,
      burst,
    );
    if (missing <= 0 || !mayCreate) return undefined;
    const indexes = indexed ? freeIndexes(job, tally, missing) : [];
    const count = indexed ? indexes.length : missing;
    if (count === 0) return undefined;
    expectations.expectCreations(key, count);
    const { successes, error } = await slowStartBatch(count, async (number) => {
      try {
        await control.create(jobPod(job, indexes[number]), job);
      } catch (caught) {
        if (!isNamespaceTerminating(caught)) throw caught;
        expectations.creationObserved(key);
      }
    });
    for (let lost = successes; lost < count; lost++)
      expectations.creationObserved(key);
    return error;
  }

  /** Where only what has ended is replaced, a pod keeps its place until it has. */
  function keptPlaces({ spec }: Job, { terminating }: Tally): readonly Pod[] {
    return spec.podReplacementPolicy === "Failed" ? terminating : [];
  }

  function freeIndexes(job: Job, tally: Tally, count: number): number[] {
    const taken = new Set(
      [...tally.active, ...keptPlaces(job, tally)].map(completionIndex),
    );
    const free: number[] = [];
    for (
      let index = 0;
      index < (job.spec.completions ?? 0) && free.length < count;
      index++
    )
      if (
        !taken.has(index) &&
        !tally.succeededIndexes.has(index) &&
        !tally.failedIndexes.has(index)
      )
        free.push(index);
    return free;
  }

  async function removePods(
    key: string,
    job: Job,
    doomed: readonly Pod[],
  ): Promise<unknown> {
    if (doomed.length === 0) return undefined;
    expectations.expectDeletions(
      key,
      doomed.map((pod) => pod.metadata.uid ?? ""),
    );
    const results = await Promise.allSettled(
      doomed.map(async (pod) => {
        try {
          await control.delete(pod, job);
        } catch (error) {
          expectations.deletionObserved(key, pod.metadata.uid ?? "");
          throw error;
        }
      }),
    );
    const failed = results.find((result) => result.status === "rejected");
    return failed && (failed.reason as unknown);
  }

  /** Counts ended pods in the order that loses none and counts none twice, and writes the final conditions. */
  async function count(
    job: Job,
    status: JobStatus,
    tally: Tally,
    owned: readonly Pod[],
    failure: Verdict | undefined,
    success: Verdict | undefined,
  ): Promise<void> {
    const { uncounted } = tally;
    const indexed = job.spec.completionMode === "Indexed";
    const uids = (list: readonly Pod[]): string[] =>
      list.map((pod) => pod.metadata.uid ?? "");
    const pending = job.status?.uncountedTerminatedPods;
    let next: JobStatus = {
      ...status,
      active: tally.active.length,
      ready: tally.active.filter(isPodReady).length,
      terminating: tally.terminating.length,
      uncountedTerminatedPods: {
        succeeded: [
          ...(pending?.succeeded ?? []),
          ...(indexed ? [] : uids(uncounted.succeeded)),
        ],
        failed: [...(pending?.failed ?? []), ...uids(uncounted.failed)],
      },
    };
    if (indexed) {
      next.completedIndexes = formatIndexes(tally.succeededIndexes);
      next.succeeded = tally.succeededIndexes.size;
      if (job.spec.backoffLimitPerIndex !== undefined)
        next.failedIndexes = formatIndexes(tally.failedIndexes);
    }
    let current = job;
    const newlyEnded =
      uncounted.succeeded.length + uncounted.failed.length > 0 ||
      (pending?.succeeded?.length ?? 0) + (pending?.failed?.length ?? 0) > 0;
    if (newlyEnded) {
      current = await writeStatus(current, next);
      await releaseAll([...uncounted.succeeded, ...uncounted.failed]);
      const left = next.uncountedTerminatedPods!;
      next = {
        ...next,
        succeeded: indexed
          ? (next.succeeded ?? 0)
          : (next.succeeded ?? 0) + (left.succeeded?.length ?? 0),
        failed: (next.failed ?? 0) + (left.failed?.length ?? 0),
      };
    }
    await releaseAll(uncounted.ignored);
    next = { ...next, uncountedTerminatedPods: {} };
    const nothingRuns =
      tally.active.length === 0 && (next.terminating ?? 0) === 0;
    if (failure && nothingRuns) {
      next = withJobCondition(
        next,
        { type: "Failed", status: "True", ...failure },
        clock.now(),
      );
      recorder.event(job, "Warning", failure.reason, failure.message);
    } else if (success && nothingRuns) {
      next = withJobCondition(
        { ...next, completionTime: formatTime(clock.now()) },
        { type: "Complete", status: "True", ...success },
        clock.now(),
      );
      recorder.event(job, "Normal", "Completed", "Job completed");
    }
    await writeStatus(current, next);
  }

  /** Adopts what matches and releases what does not. A Job without a selector (the API server makes one) keeps all. */
  async function claim(job: Job, referring: readonly Pod[]): Promise<Pod[]> {
    if (!job.spec.selector) return [...referring];
    const orphans = podInformer.lister.byIndex(
      "controller",
      orphansOf(job.metadata.namespace),
    );
    return claimObjects({
      client,
      ownerRef: jobs,
      owner: job,
      selector: selectorFromObject(job.spec.selector),
      ref: pods,
      candidates: [...referring, ...orphans.filter(isPodActive)],
      finalizer: trackingFinalizer,
    });
  }

  async function writeStatus(job: Job, status: JobStatus): Promise<Job> {
    if (sameJson(compact(job.status), compact(status))) return job;
    return client.resource(jobs).updateStatus({ ...job, status });
  }

  async function releaseAll(list: readonly Pod[]): Promise<void> {
    await Promise.all(
      list.map(async (pod) => {
        const { name, namespace, uid, finalizers = [] } = pod.metadata;
        if (!finalizers.includes(trackingFinalizer)) return;
        try {
          await client.resource(pods).patch(name, namespace, {
            type: "strategic",
            body: {
              metadata: {
                uid,
                "$deleteFromPrimitiveList/finalizers": [trackingFinalizer],
              },
            },
          });
        } catch (error) {
          if (!isNotFound(error)) throw error;
        }
      }),
    );
  }

  function look(pod: Pod, then?: (key: string) => void): void {
    const controller = controllerOf(pod);
    if (!controller) return lookForAdopter(pod);
    if (controller.kind !== "Job") return;
    const key = `${pod.metadata.namespace}/${controller.name}`;
    const job = informer.lister.get(controller.name, pod.metadata.namespace);
    if (job?.metadata.uid !== controller.uid) {
      // Its Job is gone: nobody will count it any more.
      void releaseAll([pod]).catch((error: unknown) =>
        reconciler.logger.debug({ err: error }, "could not release a pod"),
      );
      return;
    }
    then?.(key);
    queue.add(key);
  }

  function lookForAdopter(pod: Pod): void {
    if (pod.metadata.deletionTimestamp) return;
    for (const job of informer.lister.list(pod.metadata.namespace))
      if (selectorFromObject(job.spec.selector).matches(pod.metadata.labels))
        queue.add(objectKey(job));
  }

  return reconciler
    .watch(informer, {
      onAdd: (job) => queue.add(objectKey(job)),
      onUpdate: (_, job) => queue.add(objectKey(job)),
      onDelete: (job) => {
        for (const pod of podInformer.lister.byIndex(
          "controller",
          job.metadata.uid ?? "",
        ))
          look(pod);
      },
    })
    .watch(podInformer, {
      onAdd: (pod) => look(pod, (key) => expectations.creationObserved(key)),
      onUpdate: (old, pod) => {
        if (controllerOf(old)?.uid !== controllerOf(pod)?.uid) look(old);
        look(pod, (key) => {
          if (pod.metadata.deletionTimestamp)
            expectations.deletionObserved(key, pod.metadata.uid ?? "");
        });
      },
      onDelete: (pod) =>
        look(pod, (key) =>
          expectations.deletionObserved(key, pod.metadata.uid ?? ""),
        ),
    });
}

function restartsOf(pod: Pod): number {
  return [
    ...(pod.status?.containerStatuses ?? []),
    ...(pod.status?.initContainerStatuses ?? []),
  ].reduce((sum, { restartCount }) => sum + restartCount, 0);
}

/** When a pod's last container ended, epoch ms. */
function endMs(pod: Pod): number {
  const times = (pod.status?.containerStatuses ?? []).map(({ state }) =>
    Date.parse(state?.terminated?.finishedAt ?? ""),
  );
  const known = times.filter((time) => !Number.isNaN(time));
  return known.length > 0
    ? Math.max(...known)
    : Date.parse(
        pod.metadata.deletionTimestamp ?? pod.metadata.creationTimestamp ?? "",
      ) || 0;
}

function compact(status: JobStatus | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(status ?? {}).filter(
      ([, value]) =>
        value !== 0 &&
        value !== "" &&
        !(
          typeof value === "object" &&
          Object.values(value as object).every(
            (part) => Array.isArray(part) && part.length === 0,
          )
        ),
    ),
  );
}
