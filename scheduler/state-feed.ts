// Feeds the scheduler's cluster state and queue from informers: nodes and pods as they come, change and go, and the events
// that may make a waiting pod fit. Owns its handlers: stop() removes them.
import { objectKey } from "../api/object.ts";
import type { KubeObject } from "../api/object.ts";
import { sameJson } from "../api/objects/json-equality.ts";
import { reportsOtherResources } from "../api/objects/pod-resources.ts";
import { isPodTerminal } from "../api/objects/pod-state.ts";
import type { Node, Pod } from "../api/types/core-v1.ts";
import type { Client } from "../client/client.ts";
import {
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  storageClasses,
} from "../client/resources.ts";
import type { ClusterState } from "./cluster-state.ts";
import type { ClusterEvent } from "./plugin.ts";
import type { SchedulingQueue } from "./scheduling-queue.ts";

const volumeResources = [
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
];

interface StateFeedOptions {
  readonly client: Client;
  readonly state: ClusterState;
  readonly queue: SchedulingQueue;
  /** Pods that this scheduler has a profile for are queued. */
  readonly isMine: (pod: Pod) => boolean;
}

export class StateFeed {
  readonly #cleanups: (() => void)[] = [];

  constructor(private readonly options: StateFeedOptions) {}

  /** Resolves when all informers have synced. */
  async start(): Promise<void> {
    const { client, state, queue } = this.options;
    const nodeInformer = client.informer(nodes);
    const podInformer = client.informer(pods);
    this.#cleanups.push(
      nodeInformer.addHandler({
        onAdd: (node) => {
          state.setNode(node);
          queue.notify("node-added");
        },
        onUpdate: (old, node) => {
          state.setNode(node);
          for (const event of nodeEvents(old, node)) queue.notify(event);
        },
        onDelete: (node) => state.removeNode(node.metadata.name),
      }),
      podInformer.addHandler({
        onAdd: (pod) => this.#podAdded(pod),
        onUpdate: (old, pod) => this.#podUpdated(old, pod),
        onDelete: (pod) => this.#podGone(pod),
      }),
    );
    // Only read when a pod finds no node.
    client.informer(podDisruptionBudgets);
    for (const ref of volumeResources) {
      const { group, kind } = ref;
      const what = group === "" ? kind : `${group}/${kind}`;
      this.#cleanups.push(
        client.informer<KubeObject>(ref).addHandler({
          onAdd: () => queue.notify("volume", `${what}Add`),
          onUpdate: () => queue.notify("volume", `${what}Update`),
        }),
      );
    }
    await Promise.all([
      nodeInformer.synced(),
      podInformer.synced(),
      client.informer(namespaces).synced(),
      ...volumeResources.map((ref) =>
        client.informer<KubeObject>(ref).synced(),
      ),
    ]);
  }

  stop(): void {
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
  }

  #podAdded(pod: Pod): void {
    const { state, queue } = this.options;
    if (isPodTerminal(pod)) return;
    if (pod.spec.nodeName) {
      state.setPod(pod);
      queue.remove(objectKey(pod));
      queue.notify("pod-added");
    } else if (this.options.isMine(pod) && !pod.metadata.deletionTimestamp) {
      // Victims of a scheduler before this one may still be ending.
      const nodeName = pod.status?.nominatedNodeName;
      if (nodeName) state.nominate(pod, nodeName);
      queue.add(pod);
    }
  }

  #podUpdated(old: Pod, pod: Pod): void {
    if (isPodTerminal(pod))
      return isPodTerminal(old) ? undefined : this.#podGone(pod);
    if (!pod.spec.nodeName) return this.#waitingPodUpdated(old, pod);
    if (!old.spec.nodeName) return this.#podAdded(pod);
    const { state, queue } = this.options;
    state.setPod(pod);
    if (!sameJson(old.metadata.labels, pod.metadata.labels))
      queue.notify("pod-labels");
    // Asking for less makes room as an end does.
    if (
      !sameJson(old.spec, pod.spec) ||
      reportsOtherResources(pod.status, old.status)
    )
      queue.notify("pod-removed");
  }

  #waitingPodUpdated(old: Pod, pod: Pod): void {
    const { state, queue } = this.options;
    if (!this.options.isMine(pod)) return;
    const key = objectKey(pod);
    if (state.isAssumed(key)) return;
    if (pod.metadata.deletionTimestamp) return queue.remove(key);
    const nodeName = pod.status?.nominatedNodeName;
    if (nodeName) state.nominate(pod, nodeName);
    // One that is not written yet stays.
    else if (old.status?.nominatedNodeName) state.dropNomination(key);
    const claimsMade = !sameJson(
      old.status?.resourceClaimStatuses,
      pod.status?.resourceClaimStatuses,
    );
    const mayFit =
      !sameJson(old.spec, pod.spec) ||
      !sameJson(old.metadata.labels, pod.metadata.labels) ||
      claimsMade;
    queue.update(pod, mayFit);
    // It may be tried at this moment.
    if (claimsMade) queue.notify("claim");
  }

  #podGone(pod: Pod): void {
    const { state, queue } = this.options;
    const key = objectKey(pod);
    queue.remove(key);
    state.dropNomination(key);
    state.removePod(key);
    if (pod.spec.nodeName) queue.notify("pod-removed");
  }
}

/** What changed on a node, as far as it may make a pod fit. */
function nodeEvents(old: Node, node: Node): ClusterEvent[] {
  const events: ClusterEvent[] = [];
  if (
    !sameJson(old.spec.taints, node.spec.taints) ||
    old.spec.unschedulable !== node.spec.unschedulable
  )
    events.push("node-taints");
  if (!sameJson(old.metadata.labels, node.metadata.labels))
    events.push("node-labels");
  if (!sameJson(old.status?.allocatable, node.status?.allocatable))
    events.push("node-allocatable");
  return events;
}
