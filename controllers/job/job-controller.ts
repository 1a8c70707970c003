// Runs the pods of a Job until enough succeed or too many fail: NonIndexed and Indexed completion, parallelism, suspend,
// deadline, back-off limits (also per index), pod failure policy, success policy. What a sync does is planned in
// job-plan.ts; here are the informers and the writes.
import { isNotFound } from "../../api/errors.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import { controllerOf } from "../../api/objects/owner-references.ts";
import { isPodActive } from "../../api/objects/pod-state.ts";
import { selectorFromObject } from "../../api/selectors.ts";
import type { Job, JobStatus } from "../../api/types/batch-v1.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { Informer } from "../../client/informer.ts";
import { jobs, pods } from "../../client/resources.ts";
import type { EventWriter } from "../../client/event-recorder.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import { candidatesOf, claimObjects } from "../workloads/adoption.ts";
import { Expectations } from "../workloads/expectations.ts";
import { controllerIndex } from "../workloads/informer-indexes.ts";
import { recordAll } from "../workloads/planned-event.ts";
import { createPodControl, type PodControl } from "../workloads/pod-control.ts";
import { PodWriter } from "../workloads/pod-writes.ts";
import { sameStatus } from "../workloads/status-equality.ts";
import { isFinished } from "./job-conditions.ts";
import { JobMetrics } from "./job-metrics.ts";
import { planJob } from "./job-plan.ts";
import { trackingFinalizer } from "./job-pod.ts";

const ownName = "kubernetes.io/job-controller";

export function createJobController(context: ControllerContext): Controller {
  return new JobController(context).reconciler;
}

class JobController {
  readonly reconciler: Reconciler;
  readonly #context: ControllerContext;
  readonly #jobs: Informer<Job>;
  readonly #pods: Informer<Pod>;
  readonly #recorder: EventWriter;
  readonly #expectations: Expectations;
  readonly #podWriter: PodWriter;
  readonly #metrics: JobMetrics;

  constructor(context: ControllerContext) {
    const { client, clock, options } = context;
    this.#context = context;
    this.#jobs = client.informer(jobs);
    this.#pods = client.informer(pods, {
      indexes: { controller: controllerIndex },
    });
    this.#recorder = context.recorder("job-controller");
    this.#expectations = new Expectations(clock);
    this.#metrics = new JobMetrics(clock);
    context.metrics?.add("job", () => this.#metrics.families());
    this.#podWriter = new PodWriter(
      this.#counting(createPodControl(client, this.#recorder)),
      this.#expectations,
    );
    this.reconciler = new Reconciler({
      name: "job-controller",
      context,
      concurrency: options.concurrentJobSyncs,
      reconcile: (key) => this.#reconcile(key),
      baseBackoffMs: 1000,
      maxBackoffMs: 60_000,
    });
    this.#watch();
  }

  async #reconcile(key: string): Promise<ReconcileResult> {
    const { name, namespace } = splitKey(key);
    const job = this.#jobs.lister.get(name, namespace);
    if (!job) return this.#expectations.forget(key);
    if (job.spec.managedBy && job.spec.managedBy !== ownName) return;
    if (isFinished(job) || job.metadata.deletionTimestamp)
      return this.#releaseAll(this.#podsOf(job));
    return this.#metrics.timed(job, (does) => this.#sync(key, job, does));
  }

  async #sync(
    key: string,
    job: Job,
    does: (action: "tracking" | "pods_created" | "pods_deleted") => void,
  ): Promise<ReconcileResult> {
    // Asked before adoption takes its time: pods seen meanwhile are not among the pods looked at here.
    const mayManage = this.#expectations.satisfied(key);
    const owned = await this.#claim(job);
    const plan = planJob(job, owned, this.#context.clock.now(), mayManage);
    if (mayManage)
      if (plan.create.length > 0) does("pods_created");
      else does(plan.remove.length > 0 ? "pods_deleted" : "tracking");
    recordAll(this.#recorder, job, plan.events);
    await this.#releaseAll(plan.forget);
    const failure = await this.#podWriter.apply(key, job, plan);
    const counted = plan.pending
      ? await this.#writeStatus(job, plan.pending)
      : job;
    await this.#releaseAll(plan.release);
    await this.#writeStatus(counted, plan.status);
    if (plan.pending) this.#metrics.counted(job, job.status, plan.status);
    for (const action of plan.policyActions) this.#metrics.handled(action);
    if (plan.finished) {
      recordAll(this.#recorder, job, [plan.finished]);
      this.#metrics.finished(job, plan.status);
    }
    if (failure !== undefined) throw failure;
    const { requeueAfterMs } = plan;
    return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
  }

  #counting(control: PodControl): PodControl {
    return {
      create: async (pod, owner) => {
        try {
          const made = await control.create(pod, owner);
          this.#metrics.made(owner as Job, true);
          return made;
        } catch (error) {
          this.#metrics.made(owner as Job, false);
          throw error;
        }
      },
      delete: (pod, owner) => control.delete(pod, owner),
    };
  }

  #podsOf(job: Job): readonly Pod[] {
    return this.#pods.lister.byIndex("controller", job.metadata.uid ?? "");
  }

  /** Adopts what matches and releases what does not. A Job without a selector (the API server makes one) keeps all. */
  async #claim(job: Job): Promise<readonly Pod[]> {
    if (!job.spec.selector) return this.#podsOf(job);
    return claimObjects({
      client: this.#context.client,
      ownerRef: jobs,
      owner: job,
      selector: selectorFromObject(job.spec.selector),
      ref: pods,
      candidates: candidatesOf(this.#pods, job).filter(
        (pod) => controllerOf(pod) !== undefined || isPodActive(pod),
      ),
      finalizer: trackingFinalizer,
    });
  }

  async #writeStatus(job: Job, status: JobStatus): Promise<Job> {
    if (sameStatus(job.status, status)) return job;
    return this.#context.client.resource(jobs).updateStatus({ ...job, status });
  }

  async #releaseAll(list: readonly Pod[]): Promise<void> {
    await Promise.all(list.map((pod) => this.#release(pod)));
  }

  async #release({ metadata }: Pod): Promise<void> {
    const { name, namespace, uid, finalizers = [] } = metadata;
    if (!finalizers.includes(trackingFinalizer)) return;
    try {
      await this.#context.client.resource(pods).patch(name, namespace, {
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
  }

  #watch(): void {
    const { queue } = this.reconciler;
    const expectations = this.#expectations;
    this.reconciler
      .watch(this.#jobs, {
        onAdd: (job) => {
          const { managedBy } = job.spec;
          if (managedBy && managedBy !== ownName)
            this.#metrics.managedElsewhere(managedBy);
          queue.add(objectKey(job));
        },
        onUpdate: (_, job) => queue.add(objectKey(job)),
        onDelete: (job) => {
          for (const pod of this.#podsOf(job)) this.#look(pod);
        },
      })
      .watch(this.#pods, {
        onAdd: (pod) => {
          this.#metrics.podChanged(undefined, pod);
          this.#look(pod, (key) => expectations.creationObserved(key));
        },
        onUpdate: (old, pod) => {
          this.#metrics.podChanged(old, pod);
          if (controllerOf(old)?.uid !== controllerOf(pod)?.uid)
            this.#look(old);
          this.#look(pod, (key) => {
            if (pod.metadata.deletionTimestamp)
              expectations.deletionObserved(key, pod.metadata.uid ?? "");
          });
        },
        onDelete: (pod) => {
          this.#metrics.podChanged(pod, undefined);
          this.#look(pod, (key) =>
            expectations.deletionObserved(key, pod.metadata.uid ?? ""),
          );
        },
      });
  }

  #look(pod: Pod, then?: (key: string) => void): void {
    const controller = controllerOf(pod);
    if (!controller) return this.#lookForAdopter(pod);
    if (controller.kind !== "Job") return;
    const { namespace } = pod.metadata;
    const job = this.#jobs.lister.get(controller.name, namespace);
    if (job?.metadata.uid !== controller.uid) {
      // The pod's Job is gone: no controller will count the pod any more.
      void this.#releaseAll([pod]).catch((error: unknown) =>
        this.reconciler.logger.debug({ err: error }, "could not release a pod"),
      );
      return;
    }
    const key = `${namespace}/${controller.name}`;
    then?.(key);
    this.reconciler.queue.add(key);
  }

  #lookForAdopter(pod: Pod): void {
    if (pod.metadata.deletionTimestamp) return;
    for (const job of this.#jobs.lister.list(pod.metadata.namespace))
      if (selectorFromObject(job.spec.selector).matches(pod.metadata.labels))
        this.reconciler.queue.add(objectKey(job));
  }
}
