// Watches over nodes: taints that follow their conditions, nodes that fall silent (neither Lease nor status renewed for
// the grace period) marked Unknown, pods on them marked not ready. A NoExecute taint, which evicts, is given at a limited
// rate, slower in a zone most of which is down, and to nobody when no node at all is ready (then the fault is ours).
//
// Event-driven: one reconcile a node, run again when its grace would end; heartbeats only move a time stamp.
import { formatTime } from "../../api/clock.ts";
import { isNotFound } from "../../api/errors.ts";
import { splitKey } from "../../api/object.ts";
import type { Node, Pod } from "../../api/types/core-v1.ts";
import { isPodReady } from "../../api/objects/pod-state.ts";
import { leases, nodes, pods } from "../../client/resources.ts";
import { TokenBucket } from "../../api/queueing/token-bucket.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { nodeNameIndex } from "../workloads/informer-indexes.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import {
  readyStatus,
  silentConditions,
  wantedTaints,
} from "./node-conditions.ts";

const leaseNamespace = "kube-node-lease";
const zoneLabel = "topology.kubernetes.io/zone";
const regionLabel = "topology.kubernetes.io/region";
/** Looked at again this soon when an eviction had to wait for its turn. */
const evictionRetryMs = 5000;

export function createNodeLifecycleController(
  context: ControllerContext,
): Controller {
  const { client, clock, options } = context;
  const nodeInformer = client.informer(nodes);
  const leaseInformer = client.informer(leases, { namespace: leaseNamespace });
  const podInformer = client.informer(pods, {
    indexes: { node: nodeNameIndex },
  });
  const recorder = context.recorder("node-controller");
  /** Node → monotonic ms of its last sign of life. */
  const heard = new Map<string, number>();
  const limits = new Map<string, TokenBucket>();
  const reconciler = new Reconciler({
    name: "node-lifecycle-controller",
    context,
    concurrency: 8,
    reconcile,
  });
  const { queue } = reconciler;

  async function reconcile(name: string): Promise<ReconcileResult> {
    let node = nodeInformer.lister.get(name);
    if (!node || node.metadata.deletionTimestamp) return;
    const everReported = readyStatus(node) !== undefined;
    const graceMs = everReported
      ? options.nodeMonitorGracePeriodMs
      : options.nodeStartupGracePeriodMs;
    const silentMs = clock.monotonic() - (heard.get(name) ?? 0);
    if (silentMs >= graceMs) node = await markSilent(node);
    const status = readyStatus(node);
    if (status !== undefined && status !== "True") await markPods(name);
    const evict = status !== undefined && status !== "True" && mayEvict(node);
    const taints = wantedTaints(node, evict, clock.now());
    const unchanged =
      taints === node.spec.taints || (!node.spec.taints && taints.length === 0);
    if (!unchanged) await writeTaints(node, taints);
    const waits = status !== undefined && status !== "True" && !evict;
    return {
      requeueAfterMs: waits
        ? evictionRetryMs
        : silentMs >= graceMs
          ? graceMs
          : Math.max(10, graceMs - silentMs),
    };
  }

  async function markSilent(node: Node): Promise<Node> {
    const conditions = silentConditions(node, clock.now());
    if (!conditions) return node;
    if (readyStatus(node) === "True") noteNotReady(node);
    return client.resource(nodes).updateStatus({
      ...node,
      status: { ...node.status, conditions },
    });
  }

  function noteNotReady(node: Node): void {
    const { name } = node.metadata;
    recorder.event(
      node,
      "Normal",
      "NodeNotReady",
      `Node ${name} status is now: NodeNotReady`,
    );
  }

  /** Nobody may be sent to pods whose node is not ready. */
  async function markPods(nodeName: string): Promise<void> {
    for (const pod of podInformer.lister.byIndex("node", nodeName)) {
      if (!isPodReady(pod)) continue;
      await markPod(pod);
      recorder.event(pod, "Warning", "NodeNotReady", "Node is not ready");
    }
  }

  async function markPod(pod: Pod): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    try {
      await client.resource(pods).patch(
        name,
        namespace,
        {
          type: "strategic",
          body: {
            metadata: { uid },
            status: {
              conditions: [
                {
                  type: "Ready",
                  status: "False",
                  lastTransitionTime: formatTime(clock.now()),
                },
              ],
            },
          },
        },
        { subresource: "status" },
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async function writeTaints(
    node: Node,
    taints: readonly unknown[],
  ): Promise<void> {
    const { name, resourceVersion } = node.metadata;
    await client.resource(nodes).patch(name, undefined, {
      type: "merge",
      body: {
        metadata: { resourceVersion },
        spec: { taints: taints.length > 0 ? taints : null },
      },
    });
  }

  /** Takes a turn of the zone's eviction rate; true also where the node has its taint already. */
  function mayEvict(node: Node): boolean {
    if (
      node.spec.taints?.some(
        ({ effect, key }) =>
          effect === "NoExecute" &&
          key ===
            (readyStatus(node) === "False"
              ? "node.kubernetes.io/not-ready"
              : "node.kubernetes.io/unreachable"),
      )
    )
      return true;
    const all = nodeInformer.lister.list();
    if (!all.some((other) => readyStatus(other) === "True")) return false;
    const zone = zoneOf(node);
    const inZone = all.filter((other) => zoneOf(other) === zone);
    const down = inZone.filter((other) => readyStatus(other) !== "True");
    const unhealthy =
      down.length > 2 &&
      down.length / inZone.length >= options.unhealthyZoneThreshold;
    const rate = !unhealthy
      ? options.nodeEvictionRate
      : inZone.length > options.largeClusterSizeThreshold
        ? options.secondaryNodeEvictionRate
        : 0;
    if (rate === 0) return false;
    const key = `${zone}/${rate}`;
    let limit = limits.get(key);
    if (!limit) limits.set(key, (limit = new TokenBucket(clock, rate, 1)));
    return limit.tryTake();
  }

  function hear(name: string): void {
    heard.set(name, clock.monotonic());
  }

  return reconciler
    .watch(nodeInformer, {
      onAdd(node) {
        const { name } = node.metadata;
        hear(name);
        queue.add(name);
        recorder.event(
          node,
          "Normal",
          "RegisteredNode",
          `Node ${name} event: Registered Node ${name} in Controller`,
        );
      },
      onUpdate(old, node) {
        if (heartbeatOf(old) !== heartbeatOf(node)) hear(node.metadata.name);
        if (readyStatus(old) === "True" && readyStatus(node) === "False")
          noteNotReady(node);
        if (concerns(old) !== concerns(node)) queue.add(node.metadata.name);
      },
      onDelete(node) {
        const { name } = node.metadata;
        heard.delete(name);
        recorder.event(
          node,
          "Normal",
          "RemovingNode",
          `Node ${name} event: Removing Node ${name} from Controller`,
        );
      },
    })
    .watch(leaseInformer, {
      onAdd: (lease) => heardFromLease(lease.metadata.name),
      onUpdate: (old, lease) => {
        if (old.spec?.renewTime !== lease.spec?.renewTime)
          heardFromLease(lease.metadata.name);
      },
    })
    .watch(podInformer, {
      // A pod bound to a node that is down already.
      onAdd: (pod) => {
        const node =
          pod.spec.nodeName && nodeInformer.lister.get(pod.spec.nodeName);
        if (node && readyStatus(node) !== "True") queue.add(node.metadata.name);
      },
    });

  function heardFromLease(key: string): void {
    const { name } = splitKey(key);
    if (nodeInformer.lister.get(name)) hear(name);
  }
}

function zoneOf(node: Node): string {
  const { labels } = node.metadata;
  return `${labels?.[regionLabel] ?? ""}/${labels?.[zoneLabel] ?? ""}`;
}

/** Of the agent's own reports, not of what this controller writes. */
function heartbeatOf(node: Node): string | undefined {
  return node.status?.conditions?.find(({ type }) => type === "Ready")
    ?.lastHeartbeatTime;
}

/** What a reconcile looks at, as a text to be compared. */
function concerns(node: Node): string {
  return JSON.stringify([
    node.spec.taints,
    node.spec.unschedulable,
    node.metadata.deletionTimestamp,
    node.status?.conditions?.map(({ type, status }) => [type, status]),
  ]);
}
