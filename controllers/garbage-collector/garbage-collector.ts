// Deletes objects whose owners are all gone, and carries out foreground and orphan deletion, over every resource that
// can be listed, watched and deleted. What is done with an object is planned in collection-plan.ts.
//
// Safety: an object is only deleted after a live read of the object itself (its present owner references) and of every
// owner that the graph does not show alive; deletes carry the uid as a precondition. Liveness: every removal, and every
// change of owner references, puts the objects concerned into the queue.
import { LRUCache } from "lru-cache";
import type { KubeObject } from "../../api/object.ts";
import type { OwnerReference } from "../../api/types/meta-v1.ts";
import type { ResourceRef } from "../../client/client.ts";
import type { EventWriter } from "../../client/event-recorder.ts";
import type { Controller, ControllerContext } from "../context.ts";
import type { Discovery } from "../discovery/resource-discovery.ts";
import { Reconciler, RetryLater } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import { planCollection } from "./collection-plan.ts";
import type { OwnerState } from "./collection-plan.ts";
import { foregroundFinalizer, orphanFinalizer, OwnerGraph } from "./graph.ts";
import type { GraphNode } from "./graph.ts";
import { ObjectEdits } from "./object-edits.ts";
import { ResourceMonitors } from "./resource-monitors.ts";

const controllerName = "garbage-collector-controller";
const orphanKey = "orphan:";
/** For a kind that the server does not have (yet). */
const unknownKindMs = 30_000;

export function createGarbageCollector(
  context: ControllerContext,
  discovery: Discovery,
): Controller {
  return new GarbageCollector(context, discovery);
}

class GarbageCollector implements Controller {
  /**
   * Where no owner of that uid is, as a read or a removal showed: a uid never comes back. Not the uid alone: a reference
   * with a wrong name or namespace says nothing about the others.
   */
  readonly #absent = new LRUCache<string, true>({ max: 5000 });
  readonly #discovery: Discovery;
  readonly #edits: ObjectEdits;
  readonly #reconciler: Reconciler;
  readonly #graph: OwnerGraph;
  readonly #recorder: EventWriter;
  readonly #monitors: ResourceMonitors;

  constructor(context: ControllerContext, discovery: Discovery) {
    const { client, clock, logger, options } = context;
    this.#discovery = discovery;
    this.#recorder = context.recorder("garbage-collector-controller");
    this.#edits = new ObjectEdits(client, discovery);
    this.#reconciler = new Reconciler({
      name: controllerName,
      context,
      concurrency: options.concurrentGcSyncs,
      maxBackoffMs: 60_000,
      reconcile: (key) =>
        key.startsWith(orphanKey)
          ? this.#orphanDependents(key.slice(orphanKey.length))
          : this.#examine(key),
    });
    const { queue } = this.#reconciler;
    this.#graph = new OwnerGraph({
      examine: (node) => queue.add(node.uid),
      orphan: (node) => queue.add(orphanKey + node.uid),
    });
    this.#monitors = new ResourceMonitors({
      client,
      clock,
      logger: logger.child({ controller: controllerName }),
      discovery,
      observe: (ref, object) => this.#graph.observe(ref, object),
      removed: ({ metadata }) => this.#gone(metadata.uid ?? ""),
      moved: (from, to) => this.#graph.move(from, to),
      ready: () => queue.start(),
    });
  }

  start(): void {
    this.#monitors.start();
  }

  async stop(): Promise<void> {
    this.#monitors.stop();
    await this.#reconciler.stop();
  }

  #gone(uid: string): void {
    const node = this.#graph.get(uid);
    if (node) this.#absent.set(absentKey(node, node.namespace), true);
    this.#graph.remove(uid);
  }

  /** A virtual node's object is not there: nor is it for those that name it so. */
  #missing(node: GraphNode, ref: ResourceRef): void {
    const namespace = ref.namespaced ? node.namespace : "";
    this.#absent.set(absentKey(node, namespace), true);
    if (this.#graph.missing(node.uid))
      throw new RetryLater(`${node.kind} ${node.uid} is named otherwise, too`);
  }

  async #examine(uid: string): Promise<ReconcileResult> {
    const node = this.#graph.get(uid);
    if (!node || (node.deleting && !node.deletingDependents)) return;
    const ref = node.ref ?? (await this.#refOf(node));
    if (!ref)
      // Its objects are neither present nor known to be absent.
      return node.virtual ? { requeueAfterMs: unknownKindMs } : undefined;
    if (isUnreachable(ref, node)) return;
    const latest = await this.#edits.read(ref, node);
    if (latest?.metadata.uid !== uid)
      return node.virtual ? this.#missing(node, ref) : this.#gone(uid);
    // Its kind may be one that is not followed: no event says when it goes.
    if (node.virtual)
      throw new RetryLater(`${node.kind} ${node.name} is not seen yet`);
    if (node.deletingDependents)
      return this.#finishForeground(node, ref, latest);
    await this.#collect(node, ref, latest);
  }

  async #collect(
    node: GraphNode,
    ref: ResourceRef,
    latest: KubeObject,
  ): Promise<void> {
    const states: [OwnerReference, OwnerState][] = [];
    for (const owner of latest.metadata.ownerReferences ?? []) {
      const state = await this.#stateOf(node, owner);
      if (state === "unreachable") return;
      states.push([owner, state]);
    }
    const plan = planCollection(latest, states, {
      any: node.dependents.size > 0,
      waiting: [...node.dependents].some((other) => other.deletingDependents),
    });
    switch (plan.action) {
      case "keep":
        return;
      case "drop-owners":
        return this.#edits.dropOwners(ref, latest, plan.owners);
      case "delete":
        if (plan.unblockOwners) await this.#edits.unblockOwners(ref, latest);
        return this.#edits.delete(ref, node, plan.policy);
    }
  }

  /** unreachable: a cluster-scoped object can't be owned by a namespaced one; what such a reference means is unknown. */
  async #stateOf(
    node: GraphNode,
    owner: OwnerReference,
  ): Promise<OwnerState | "unreachable"> {
    const known = this.#graph.get(owner.uid);
    const isElsewhere =
      known?.virtual === false &&
      known.namespace !== "" &&
      known.namespace !== node.namespace;
    if (
      known?.virtual === false &&
      !isElsewhere &&
      known.name === owner.name &&
      known.kind === owner.kind
    )
      return known.deleting && known.deletingDependents ? "waiting" : "solid";
    if (
      this.#absent.has(absentKey(owner, "")) ||
      this.#absent.has(absentKey(owner, node.namespace))
    )
      return "dangling";
    const ref = await this.#refOf(owner);
    if (!ref)
      throw new Error(
        `owner ${owner.kind} ${owner.name} is of a kind that is not served`,
      );
    if (isElsewhere) this.#reportNamespace(node, owner);
    if (isUnreachable(ref, node)) return "unreachable";
    const found = await this.#edits.read(ref, {
      name: owner.name,
      namespace: node.namespace,
    });
    if (found?.metadata.uid !== owner.uid) {
      const namespace = ref.namespaced ? node.namespace : "";
      this.#absent.set(absentKey(owner, namespace), true);
      return "dangling";
    }
    const { deletionTimestamp, finalizers } = found.metadata;
    return deletionTimestamp && finalizers?.includes(foregroundFinalizer)
      ? "waiting"
      : "solid";
  }

  /** The object's owner is there, in a namespace that no reference can mean. */
  #reportNamespace(node: GraphNode, owner: OwnerReference): void {
    const { apiVersion, kind, name, namespace, uid } = node;
    const reference = `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`;
    this.#recorder.event(
      { apiVersion, kind, metadata: { name, namespace, uid } },
      "Warning",
      "OwnerRefInvalidNamespace",
      `ownerRef ${reference} does not exist in namespace ${JSON.stringify(namespace)}`,
    );
  }

  /** Lets a foreground-deleted object go when nothing holds it up, else sees to what does. */
  async #finishForeground(
    node: GraphNode,
    ref: ResourceRef,
    latest: KubeObject,
  ): Promise<void> {
    const blocking = [...node.dependents].filter((dependent) =>
      dependent.owners.some(
        (owner) => owner.uid === node.uid && owner.blockOwnerDeletion,
      ),
    );
    if (blocking.length === 0)
      return this.#edits.removeFinalizer(ref, latest, foregroundFinalizer);
    for (const dependent of blocking)
      if (!dependent.deletingDependents)
        this.#reconciler.queue.add(dependent.uid);
  }

  async #orphanDependents(uid: string): Promise<void> {
    const node = this.#graph.get(uid);
    if (!node?.ref) return;
    for (const dependent of node.dependents) {
      if (!dependent.ref) continue;
      const latest = await this.#edits.read(dependent.ref, dependent);
      if (latest?.metadata.uid !== dependent.uid) continue;
      const owner = latest.metadata.ownerReferences?.find(
        (reference) => reference.uid === uid,
      );
      if (owner) await this.#edits.dropOwners(dependent.ref, latest, [owner]);
    }
    const latest = await this.#edits.read(node.ref, node);
    if (latest?.metadata.uid === uid)
      await this.#edits.removeFinalizer(node.ref, latest, orphanFinalizer);
  }

  #refOf({
    apiVersion,
    kind,
  }: Pick<GraphNode, "apiVersion" | "kind">): Promise<ResourceRef | undefined> {
    return this.#discovery.resourceOf(apiVersion, kind);
  }
}

const absentKey = (
  { uid, apiVersion, kind, name }: OwnerReference | GraphNode,
  namespace: string,
): string => [uid, apiVersion, kind, name, namespace].join("\0");

/** A cluster-scoped object named an owner of this kind, and with it no namespace. */
const isUnreachable = (ref: ResourceRef, node: GraphNode): boolean =>
  ref.namespaced && node.namespace === "";
