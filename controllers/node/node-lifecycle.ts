// Watches over nodes: taints that follow their conditions, nodes that fall silent (neither Lease nor status renewed for
// the grace period) marked Unknown, pods on those marked not ready. A NoExecute taint, which evicts, is given at a limited
// rate (zone-eviction.ts), and taken from all nodes when none is ready any more.
//
// Event-driven: one reconcile a node, run again when its grace would end; heartbeats only move a time stamp.
import { formatTime } from "../../api/clock.ts";
import { isNotFound } from "../../api/errors.ts";
import { findCondition } from "../../api/objects/conditions.ts";
import { isPodReady } from "../../api/objects/pod-state.ts";
import type { Lease } from "../../api/types/coordination-v1.ts";
import type { Node, Pod } from "../../api/types/core-v1.ts";
import type { EventWriter } from "../../client/event-recorder.ts";
import type { Informer } from "../../client/informer.ts";
import { leases, nodes, pods } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import { nodeNameIndex } from "../workloads/informer-indexes.ts";
import {
  isEvicted,
  readyStatus,
  silentConditions,
  wantedTaints,
} from "./node-conditions.ts";
import { labelsOfConcern, olderLabels } from "./node-labels.ts";
import { NodeMetrics } from "./node-metrics.ts";
import { isMasterDisruption, ZoneEvictions } from "./zone-eviction.ts";

const leaseNamespace = "kube-node-lease";

export function createNodeLifecycleController(
  context: ControllerContext,
): Controller {
  return new NodeLifecycle(context).reconciler;
}

class NodeLifecycle {
  readonly reconciler: Reconciler;
  readonly #context: ControllerContext;
  readonly #nodes: Informer<Node>;
  readonly #leases: Informer<Lease>;
  readonly #pods: Informer<Pod>;
  readonly #recorder: EventWriter;
  readonly #evictions: ZoneEvictions;
  readonly #metrics: NodeMetrics;
  /** Node → monotonic ms of its last sign of life. */
  readonly #heard = new Map<string, number>();

  constructor(context: ControllerContext) {
    const { client, clock, options } = context;
    this.#context = context;
    this.#nodes = client.informer(nodes);
    this.#leases = client.informer(leases, { namespace: leaseNamespace });
    this.#pods = client.informer(pods, { indexes: { node: nodeNameIndex } });
    this.#recorder = context.recorder("node-controller");
    this.#evictions = new ZoneEvictions(clock, options);
    this.#metrics = new NodeMetrics(() => this.#nodes.lister.list());
    context.metrics?.add("node", () => this.#metrics.families());
    this.reconciler = new Reconciler({
      name: "node-lifecycle-controller",
      context,
      concurrency: 8,
      reconcile: (name) => this.#reconcile(name),
    });
    this.#watch();
  }

  async #reconcile(name: string): Promise<ReconcileResult> {
    const found = this.#nodes.lister.get(name);
    if (!found) return;
    const observed = await this.#writeLabels(found);
    const { clock, options } = this.#context;
    const graceMs =
      readyStatus(observed) === undefined
        ? options.nodeStartupGracePeriodMs
        : options.nodeMonitorGracePeriodMs;
    const silentMs = clock.monotonic() - (this.#heard.get(name) ?? 0);
    const isSilent = silentMs >= graceMs;
    const startMs = clock.monotonic();
    const node = isSilent ? await this.#markSilent(observed) : observed;
    this.#metrics.updated((clock.monotonic() - startMs) / 1000);
    const status = readyStatus(node);
    const isDown = status !== undefined && status !== "True";
    // An agent that answers says itself which pods are ready.
    if (status === "Unknown") await this.#markPods(name);
    const waitMs = isDown ? this.#evictionWaitMs(node) : undefined;
    await this.#writeTaints(node, waitMs === 0);
    if (!isDown) this.#evictions.forget(name);
    if (waitMs) return { requeueAfterMs: waitMs };
    return {
      requeueAfterMs: isSilent ? graceMs : Math.max(10, graceMs - silentMs),
    };
  }

  async #writeLabels(node: Node): Promise<Node> {
    const labels = olderLabels(node);
    if (!labels) return node;
    const { name, resourceVersion } = node.metadata;
    return await this.#context.client.resource(nodes).patch(name, undefined, {
      type: "merge",
      body: { metadata: { resourceVersion, labels } },
    });
  }

  async #markSilent(node: Node): Promise<Node> {
    const { client, clock } = this.#context;
    const conditions = silentConditions(node, clock.now());
    if (!conditions) return node;
    const { name } = node.metadata;
    if (readyStatus(node) === "True")
      this.#report(
        node,
        "NodeNotReady",
        `Node ${name} status is now: NodeNotReady`,
      );
    return client.resource(nodes).updateStatus({
      ...node,
      status: { ...node.status, conditions },
    });
  }

  #report(node: Node, reason: string, message: string): void {
    this.#recorder.event(node, "Normal", reason, message);
  }

  /** No traffic may be sent to pods whose node is not ready. */
  async #markPods(nodeName: string): Promise<void> {
    for (const pod of this.#pods.lister.byIndex("node", nodeName)) {
      if (!isPodReady(pod)) continue;
      await this.#markPod(pod);
      this.#recorder.event(pod, "Warning", "NodeNotReady", "Node is not ready");
    }
  }

  async #markPod({ metadata }: Pod): Promise<void> {
    const { client, clock } = this.#context;
    const { name, namespace, uid } = metadata;
    const notReady = {
      type: "Ready",
      status: "False",
      lastTransitionTime: formatTime(clock.now()),
    };
    try {
      await client.resource(pods).patch(
        name,
        namespace,
        {
          type: "strategic",
          body: { metadata: { uid }, status: { conditions: [notReady] } },
        },
        { subresource: "status" },
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** 0: it is to be evicted (taking a turn of the zone's rate, where it was not yet); else when to look again. */
  #evictionWaitMs(node: Node): number {
    const all = this.#nodes.lister.list();
    if (isEvicted(node) && !isMasterDisruption(all)) return 0;
    const waitMs = this.#evictions.takeOrWaitMs(node, all);
    if (waitMs === 0) this.#metrics.evicted(node);
    return waitMs;
  }

  async #writeTaints(node: Node, evict: boolean): Promise<void> {
    const { client, clock } = this.#context;
    const taints = wantedTaints(node, evict, clock.now());
    if (taints === node.spec.taints) return;
    if (!node.spec.taints && taints.length === 0) return;
    const { name, resourceVersion } = node.metadata;
    await client.resource(nodes).patch(name, undefined, {
      type: "merge",
      body: {
        metadata: { resourceVersion },
        spec: { taints: taints.length > 0 ? taints : null },
      },
    });
  }

  #watch(): void {
    this.reconciler
      .watch(this.#nodes, {
        onAdd: (node) => this.#nodeAdded(node),
        onUpdate: (old, node) => this.#nodeUpdated(old, node),
        onDelete: (node) => this.#nodeRemoved(node),
      })
      .watch(this.#leases, {
        onAdd: ({ metadata }) => this.#leaseRenewed(metadata.name),
        onUpdate: (old, lease) => {
          if (old.spec?.renewTime !== lease.spec?.renewTime)
            this.#leaseRenewed(lease.metadata.name);
        },
      })
      .watch(this.#pods, {
        // A pod bound to a node that is down already.
        onAdd: ({ spec }) => {
          const node = spec.nodeName && this.#nodes.lister.get(spec.nodeName);
          if (node && readyStatus(node) !== "True")
            this.reconciler.queue.add(node.metadata.name);
        },
      });
  }

  #nodeAdded(node: Node): void {
    const { name } = node.metadata;
    this.#hear(name);
    this.reconciler.queue.add(name);
    this.#report(
      node,
      "RegisteredNode",
      `Node ${name} event: Registered Node ${name} in Controller`,
    );
  }

  #nodeUpdated(old: Node, node: Node): void {
    const { name } = node.metadata;
    if (heartbeatOf(old) !== heartbeatOf(node)) this.#hear(name);
    if (readyStatus(old) === "True" && readyStatus(node) !== "True")
      this.#checkDisruption();
    if (concerns(old) !== concerns(node)) this.reconciler.queue.add(name);
  }

  #nodeRemoved(node: Node): void {
    const { name } = node.metadata;
    this.#heard.delete(name);
    this.#evictions.forget(name);
    this.#checkDisruption();
    this.#report(
      node,
      "RemovingNode",
      `Node ${name} event: Removing Node ${name} from Controller`,
    );
  }

  /** Where no node is ready any more those that were evicted are so no longer. */
  #checkDisruption(): void {
    const all = this.#nodes.lister.list();
    if (!isMasterDisruption(all)) return;
    for (const { metadata } of all) this.reconciler.queue.add(metadata.name);
  }

  #leaseRenewed(name: string): void {
    if (this.#nodes.lister.get(name)) this.#hear(name);
  }

  #hear(name: string): void {
    this.#heard.set(name, this.#context.clock.monotonic());
  }
}

/** Of the agent's own reports, not of what this controller writes. */
function heartbeatOf({ status }: Node): string | undefined {
  return findCondition(status?.conditions, "Ready")?.lastHeartbeatTime;
}

/** What a reconcile looks at, as a text to be compared. */
function concerns({ metadata, spec, status }: Node): string {
  return JSON.stringify([
    labelsOfConcern({ metadata }),
    spec.taints,
    spec.unschedulable,
    metadata.deletionTimestamp,
    status?.conditions?.map((condition) => [condition.type, condition.status]),
  ]);
}
