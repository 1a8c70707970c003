// Removes pods that no owner removes: ended ones beyond the threshold (oldest first), those of lost nodes (after 40 s, so
// that a node may come back), terminating ones of nodes that are not ready and that an administrator tainted as out of
// service, and terminating ones that never had a node and that finalizers still hold after 20 s.
import { isNotFound } from "../../api/errors.ts";
import { Counters } from "../../api/metrics/counted.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import type { Node, Pod } from "../../api/types/core-v1.ts";
import { isConditionTrue } from "../../api/objects/conditions.ts";
import {
  disruptionTarget,
  isPodTerminal,
} from "../../api/objects/pod-state.ts";
import { nodes, pods } from "../../client/resources.ts";
import type { Client } from "../../client/client.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { nodeNameIndex } from "../workloads/informer-indexes.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";

const nodeQuarantineMs = 40_000;
/**
 * The reference looks this often. Whose finalizer it is, a foreground deletion's the garbage collector, has time to
 * remove it before the pod counts as failed.
 */
const unscheduledMs = 20_000;
const terminatedKey = "terminated";
const nodePrefix = "node:";
const outOfServicePrefix = "out-of-service:";
const outOfServiceTaint = "node.kubernetes.io/out-of-service";

type Reason = "terminated" | "orphaned" | "out-of-service" | "unscheduled";

function deletionMetrics({ metrics }: ControllerContext) {
  const labels = ["namespace", "reason"];
  const deletions = new Counters({
    name: "pod_gc_collector_force_delete_pods_total",
    help: "Pods that were deleted without their node's agent.",
    labels,
  });
  const failures = new Counters({
    name: "pod_gc_collector_force_delete_pod_errors_total",
    help: "Pods that could not be deleted without their node's agent.",
    labels,
  });
  metrics?.add("pod-garbage-collector", () => [
    deletions.family(),
    failures.family(),
  ]);
  return { deletions, failures };
}

export function createPodGarbageCollector(
  context: ControllerContext,
): Controller {
  const { client, clock, options } = context;
  const threshold = options.terminatedPodGcThreshold;
  const podInformer = client.informer(pods, {
    indexes: { node: nodeNameIndex },
  });
  const nodeInformer = client.informer(nodes);
  const terminated = new Set<string>();
  const reconciler = new Reconciler({
    name: "pod-garbage-collector-controller",
    context,
    reconcile: (key) => {
      if (key === terminatedKey) return collectTerminated();
      if (key.startsWith(outOfServicePrefix))
        return collectOutOfService(key.slice(outOfServicePrefix.length));
      return key.startsWith(nodePrefix)
        ? collectOrphans(key.slice(nodePrefix.length))
        : collectUnscheduled(key);
    },
  });
  const { queue } = reconciler;
  const { deletions, failures } = deletionMetrics(context);

  async function collectTerminated(): Promise<void> {
    const surplus = terminated.size - threshold;
    if (threshold <= 0 || surplus <= 0) return;
    const candidates = [...terminated].flatMap((key) => {
      const { name, namespace } = splitKey(key);
      return podInformer.lister.get(name, namespace) ?? [];
    });
    for (const pod of candidates.sort(evictedThenOldest).slice(0, surplus))
      await remove(pod, "terminated");
  }

  async function collectOrphans(nodeName: string): Promise<ReconcileResult> {
    if (nodeInformer.lister.get(nodeName)) return;
    const orphans = podInformer.lister.byIndex("node", nodeName);
    if (orphans.length === 0) return;
    try {
      await client.resource(nodes).get(nodeName);
      return;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    for (const pod of orphans)
      await remove(
        pod,
        "orphaned",
        disruptionTarget(
          "DeletionByPodGC",
          "PodGC: node no longer exists",
          clock.now(),
        ),
      );
  }

  async function collectOutOfService(nodeName: string): Promise<void> {
    if (!isOutOfService(nodeInformer.lister.get(nodeName))) return;
    const ending = podInformer.lister
      .byIndex("node", nodeName)
      .filter((pod) => pod.metadata.deletionTimestamp && !isEnded(pod));
    for (const pod of ending) await remove(pod, "out-of-service");
  }

  async function collectUnscheduled(key: string): Promise<void> {
    const { name, namespace } = splitKey(key);
    const pod = podInformer.lister.get(name, namespace);
    if (pod?.metadata.deletionTimestamp && !pod.spec.nodeName)
      await remove(pod, "unscheduled");
  }

  async function remove(pod: Pod, reason: Reason, condition?: object) {
    const { namespace = "" } = pod.metadata;
    try {
      await end(client, pod, condition);
      deletions.count(namespace, reason);
    } catch (error) {
      failures.count(namespace, reason);
      throw error;
    }
  }

  function look(pod: Pod): void {
    const key = objectKey(pod);
    if (isPodTerminal(pod)) {
      terminated.add(key);
      if (threshold > 0 && terminated.size > threshold)
        queue.add(terminatedKey);
    } else terminated.delete(key);
    const { nodeName } = pod.spec;
    if (pod.metadata.deletionTimestamp && !nodeName)
      queue.addAfter(key, unscheduledMs);
    if (!nodeName) return;
    const node = nodeInformer.lister.get(nodeName);
    if (!node) queue.addAfter(nodePrefix + nodeName, nodeQuarantineMs);
    if (pod.metadata.deletionTimestamp && isOutOfService(node))
      queue.add(outOfServicePrefix + nodeName);
  }

  function lookAtNode(node: Node): void {
    if (isOutOfService(node))
      queue.add(outOfServicePrefix + node.metadata.name);
  }

  return reconciler
    .watch(nodeInformer, {
      onAdd: lookAtNode,
      onUpdate: (_, node) => lookAtNode(node),
      onDelete: (node) =>
        queue.addAfter(nodePrefix + node.metadata.name, nodeQuarantineMs),
    })
    .watch(podInformer, {
      onAdd: look,
      onUpdate: (_, pod) => look(pod),
      onDelete: (pod) => terminated.delete(objectKey(pod)),
    });
}

/** All was done already: only finalizers hold it. */
function isEnded(pod: Pod): boolean {
  return isPodTerminal(pod) && pod.metadata.deletionGracePeriodSeconds === 0;
}

/** Its agent does not answer, and an administrator says that nothing runs there any more. */
function isOutOfService(node: Node | undefined): boolean {
  return (
    node !== undefined &&
    !isConditionTrue(node.status?.conditions, "Ready") &&
    (node.spec.taints?.some(({ key }) => key === outOfServiceTaint) ?? false)
  );
}

function evictedThenOldest(a: Pod, b: Pod): number {
  const rank = ({ status }: Pod): number =>
    status?.phase === "Failed" && status.reason === "Evicted" ? 0 : 1;
  const order = ({ metadata }: Pod): string =>
    `${metadata.creationTimestamp ?? ""} ${metadata.name}`;
  return rank(a) - rank(b) || (order(a) < order(b) ? -1 : 1);
}

/** Ends the pod without its agent; what was not over counts as failed. */
async function end(
  client: Client,
  pod: Pod,
  condition: object | undefined,
): Promise<void> {
  const { name, namespace, uid } = pod.metadata;
  const resource = client.resource(pods);
  try {
    if (!isPodTerminal(pod))
      await resource.patch(
        name,
        namespace,
        {
          type: "strategic",
          body: {
            metadata: { uid },
            status: {
              phase: "Failed",
              ...(condition ? { conditions: [condition] } : {}),
            },
          },
        },
        { subresource: "status" },
      );
    await resource.delete(name, namespace, {
      gracePeriodSeconds: 0,
      ...(uid ? { preconditions: { uid } } : {}),
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
