// Deletes finished Jobs when their ttlSecondsAfterFinished is over.
import { isNotFound } from "../../api/errors.ts";
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

  async function reconcile(key: string): Promise<ReconcileResult> {
    const { name, namespace } = splitKey(key);
    const job = informer.lister.get(name, namespace);
    const ttlSeconds = job?.spec.ttlSecondsAfterFinished;
    if (!job || ttlSeconds === undefined || job.metadata.deletionTimestamp)
      return;
    const endedMs = finishedMs(job);
    if (endedMs === undefined) return;
    const leftMs = endedMs + ttlSeconds * 1000 - clock.now();
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    const { uid } = job.metadata;
    try {
      await client.resource(jobs).delete(name, namespace, {
        propagationPolicy: "Foreground",
        ...(uid ? { preconditions: { uid } } : {}),
      });
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
