// Deletes finished Jobs when their ttlSecondsAfterFinished is over.
import { isNotFound } from "../../api/errors.ts";
import { exponentialBounds, Histograms } from "../../api/metrics/counted.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import type { Job } from "../../api/types/batch-v1.ts";
import { jobs } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";

/** When a Job ended, epoch ms; undefined while it runs. */
function finishedMs(job: Job): number | undefined {
  const condition = job.status?.conditions?.find(
    ({ type, status }) =>
      (type === "Complete" || type === "Failed") && status === "True",
  );
  return condition && Date.parse(condition.lastTransitionTime ?? "");
}

export function createTtlAfterFinishedController(
  context: ControllerContext,
): Controller {
  const { client, clock } = context;
  const informer = client.informer(jobs);
  const reconciler = new Reconciler({
    name: "ttl-after-finished-controller",
    context,
    concurrency: context.options.concurrentTtlAfterFinishedSyncs,
    reconcile,
  });

  const deletions = new Histograms(
    {
      name: "ttl_after_finished_controller_job_deletion_duration_seconds",
      help: "How long after its time was over a Job was deleted.",
    },
    exponentialBounds(0.1, 2, 14),
  );
  context.metrics?.add("ttl-after-finished", () => [deletions.family()]);

  async function reconcile(key: string): Promise<ReconcileResult> {
    const { name, namespace } = splitKey(key);
    const job = informer.lister.get(name, namespace);
    const ttlSeconds = job?.spec.ttlSecondsAfterFinished;
    if (!job || ttlSeconds === undefined || job.metadata.deletionTimestamp)
      return;
    const endedMs = finishedMs(job);
    if (endedMs === undefined) return;
    const dueMs = endedMs + ttlSeconds * 1000;
    const leftMs = dueMs - clock.now();
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    const { uid } = job.metadata;
    try {
      await client.resource(jobs).delete(name, namespace, {
        propagationPolicy: "Foreground",
        ...(uid ? { preconditions: { uid } } : {}),
      });
      deletions.observe((clock.now() - dueMs) / 1000);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  const look = (job: Job): void => {
    if (job.spec.ttlSecondsAfterFinished !== undefined && finishedMs(job))
      reconciler.queue.add(objectKey(job));
  };
  return reconciler.watch(informer, {
    onAdd: look,
    onUpdate: (_, job) => look(job),
  });
}
