// Deletes pods from nodes with NoExecute taints they do not tolerate: at once, or when the shortest tolerationSeconds is
// over, counted from when the taint was first seen beside the pod. Taken back when the taint goes in time.
import { disruptionTarget } from "../../api/objects/pod-state.ts";
import { isNotFound } from "../../api/errors.ts";
import { Counters, Histograms } from "../../api/metrics/counted.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import type { Pod, Taint } from "../../api/types/core-v1.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { nodes, pods } from "../../client/resources.ts";
import { tolerates } from "../../api/objects/taints.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { nodeNameIndex } from "../workloads/informer-indexes.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";

function evictionMetrics({ metrics }: ControllerContext) {
  const deletions = new Counters({
    name: "taint_eviction_controller_pod_deletions_total",
    help: "Pods deleted for taints of their nodes.",
  });
  const waits = new Histograms(
    {
      name: "taint_eviction_controller_pod_deletion_duration_seconds",
      help: "How long after a taint's time was over a pod was deleted.",
    },
    [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240],
  );
  metrics?.add("taint-eviction", () => [deletions.family(), waits.family()]);
  return { deletions, waits };
}

export function createTaintEvictionController(
  context: ControllerContext,
): Controller {
  const { client, clock } = context;
  const nodeInformer = client.informer(nodes);
  const podInformer = client.informer(pods, {
    indexes: { node: nodeNameIndex },
  });
  const recorder = context.recorder("taint-eviction-controller");
  /** Pod uid → monotonic ms since when it is under a taint. */
  const since = new Map<string, number>();
  const reconciler = new Reconciler({
    name: "taint-eviction-controller",
    context,
    concurrency: 8,
    reconcile,
  });
  const { queue } = reconciler;

  const { deletions, waits } = evictionMetrics(context);

  async function reconcile(key: string): Promise<ReconcileResult> {
    const { namespace, name } = splitKey(key);
    const pod = podInformer.lister.get(name, namespace);
    if (!pod?.spec.nodeName || pod.metadata.deletionTimestamp) return;
    const taints = noExecute(
      nodeInformer.lister.get(pod.spec.nodeName)?.spec.taints,
    );
    const uid = pod.metadata.uid ?? "";
    const delayMs = graceOf(pod, taints);
    if (delayMs === undefined) {
      if (since.delete(uid))
        recorder.event(
          pod,
          "Normal",
          "TaintManagerEviction",
          `Cancelling deletion of Pod ${key}`,
        );
      return;
    }
    const nowMs = clock.monotonic();
    let dueMs = nowMs;
    if (delayMs > 0) {
      if (!since.has(uid)) since.set(uid, nowMs);
      dueMs = since.get(uid)! + delayMs;
      const leftMs = dueMs - nowMs;
      if (leftMs > 0) return { requeueAfterMs: leftMs };
    }
    since.delete(uid);
    await evict(pod);
    deletions.count();
    waits.observe((clock.monotonic() - dueMs) / 1000);
  }

  async function evict(pod: Pod): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    recorder.event(
      pod,
      "Normal",
      "TaintManagerEviction",
      `Marking for deletion Pod ${objectKey(pod)}`,
    );
    const resource = client.resource(pods);
    try {
      await resource.patch(
        name,
        namespace,
        {
          type: "strategic",
          body: disruption(uid, clock.now()),
        },
        { subresource: "status" },
      );
      await resource.delete(
        name,
        namespace,
        uid ? { preconditions: { uid } } : {},
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  function lookAtPods(nodeName: string): void {
    for (const pod of podInformer.lister.byIndex("node", nodeName))
      queue.add(objectKey(pod));
  }

  return reconciler
    .watch(podInformer, {
      onAdd: (pod) => {
        if (pod.spec.nodeName) queue.add(objectKey(pod));
      },
      onUpdate: (old, pod) => {
        if (
          old.spec.nodeName !== pod.spec.nodeName ||
          !sameJson(old.spec.tolerations, pod.spec.tolerations)
        )
          queue.add(objectKey(pod));
      },
      onDelete: (pod) => since.delete(pod.metadata.uid ?? ""),
    })
    .watch(nodeInformer, {
      // One that comes back under its name may find pods on it.
      onAdd: (node) => lookAtPods(node.metadata.name),
      onUpdate: (old, node) => {
        const [before, after] = [
          noExecute(old.spec.taints),
          noExecute(node.spec.taints),
        ];
        if (!sameJson(before, after)) lookAtPods(node.metadata.name);
      },
    });
}

function noExecute(taints: readonly Taint[] | undefined): readonly Taint[] {
  return (taints ?? []).filter(({ effect }) => effect === "NoExecute");
}

/** Milliseconds the pod may stay under the taints; undefined: for ever; 0: not at all. */
function graceOf(pod: Pod, taints: readonly Taint[]): number | undefined {
  let graceMs: number | undefined;
  for (const taint of taints) {
    // Of several tolerations of one taint the first one says.
    const toleration = pod.spec.tolerations?.find((one) =>
      tolerates(one, taint),
    );
    if (!toleration) return 0;
    const { tolerationSeconds } = toleration;
    if (tolerationSeconds !== undefined)
      graceMs = Math.min(
        graceMs ?? Infinity,
        Math.max(0, tolerationSeconds * 1000),
      );
  }
  return graceMs;
}

/** What is written of the pod before it is deleted. */
const disruption = (uid: string | undefined, nowMs: number): object => ({
  metadata: { uid },
  status: {
    conditions: [
      disruptionTarget(
        "DeletionByTaintManager",
        "Taint manager: deleting due to NoExecute taint",
        nowMs,
      ),
    ],
  },
});
