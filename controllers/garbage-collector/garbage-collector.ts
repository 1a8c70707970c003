// Deletes objects whose owners are all gone, and carries out foreground and orphan deletion, over every resource that
// can be listed, watched and deleted.
//
// Safety: an object is only deleted after a live read of the object itself (its present owner references) and of every
// owner that the graph does not show alive; deletes carry the uid as a precondition. Liveness: every removal, and every
// change of owner references, puts the objects concerned into the queue.
import { isConflict, isNotFound } from "../../api/errors.ts";
import type { KubeObject } from "../../api/object.ts";
import type { OwnerReference } from "../../api/types/meta-v1.ts";
import type { ResourceRef } from "../../client/client.ts";
import {
  apiServices,
  customResourceDefinitions,
} from "../../client/resources.ts";
import { LRUCache } from "lru-cache";
import type { Controller, ControllerContext } from "../context.ts";
import type { Discovery } from "../discovery/resource-discovery.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import { foregroundFinalizer, orphanFinalizer, OwnerGraph } from "./graph.ts";
import type { GraphNode } from "./graph.ts";

/** A resource that does not answer must not keep the others from being collected. */
const maxSyncWaitMs = 30_000;
const orphanKey = "orphan:";

export function createGarbageCollector(
  context: ControllerContext,
  discovery: Discovery,
): Controller {
  const { client, clock, logger } = context;
  const log = logger.child({ controller: "garbage-collector-controller" });
  /** uids of owners that a read showed to be absent: a uid never comes back. */
  const absent = new LRUCache<string, true>({ max: 5000 });
  const monitors = new Map<string, () => void>();
  let stopped = false;

  const reconciler = new Reconciler({
    name: "garbage-collector-controller",
    context,
    concurrency: context.options.concurrentGcSyncs,
    maxBackoffMs: 60_000,
    reconcile: (key) =>
      key.startsWith(orphanKey)
        ? orphanDependents(key.slice(orphanKey.length))
        : examine(key),
  });
  const { queue } = reconciler;
  const graph = new OwnerGraph({
    examine: (node) => queue.add(node.uid),
    orphan: (node) => queue.add(orphanKey + node.uid),
  });

  async function examine(uid: string): Promise<ReconcileResult> {
    const node = graph.get(uid);
    if (!node) return;
    if (node.deleting && !node.deletingDependents) return;
    const ref = node.ref ?? (await refOf(node.apiVersion, node.kind));
    if (!ref) {
      // A kind the server does not have (yet): its objects are neither present nor known to be absent.
      if (node.virtual) return { requeueAfterMs: 30_000 };
      return;
    }
    const latest = await read(ref, node);
    if (!latest || latest.metadata.uid !== uid) {
      absent.set(uid, true);
      graph.remove(uid);
      return;
    }
    if (node.virtual) return;
    if (node.deletingDependents) return finishForeground(node, ref, latest);
    const owners = latest.metadata.ownerReferences ?? [];
    if (owners.length === 0) return;
    const { solid, dangling, waiting } = await classify(node, owners);
    if (solid.length > 0) {
      const drop = [...dangling, ...waiting];
      if (drop.length > 0) await dropOwners(ref, latest, drop);
      return;
    }
    if (waiting.length > 0 && node.dependents.size > 0) {
      // A circle of owners that all wait would never end: whoever also waits lets go of this one.
      if ([...node.dependents].some((other) => other.deletingDependents))
        await unblockOwners(ref, latest);
      return remove(node, ref, "Foreground");
    }
    const finalizers = latest.metadata.finalizers ?? [];
    const policy = finalizers.includes(orphanFinalizer)
      ? "Orphan"
      : finalizers.includes(foregroundFinalizer)
        ? "Foreground"
        : "Background";
    return remove(node, ref, policy);
  }

  async function classify(
    node: GraphNode,
    owners: readonly OwnerReference[],
  ): Promise<Record<"solid" | "dangling" | "waiting", OwnerReference[]>> {
    const result: Record<"solid" | "dangling" | "waiting", OwnerReference[]> = {
      solid: [],
      dangling: [],
      waiting: [],
    };
    for (const owner of owners) result[await stateOf(node, owner)].push(owner);
    return result;
  }

  async function stateOf(
    node: GraphNode,
    owner: OwnerReference,
  ): Promise<"solid" | "dangling" | "waiting"> {
    if (absent.has(owner.uid)) return "dangling";
    const known = graph.get(owner.uid);
    if (known && !known.virtual) {
      const reachable =
        (known.namespace === "" || known.namespace === node.namespace) &&
        known.name === owner.name;
      if (reachable)
        return known.deleting && known.deletingDependents ? "waiting" : "solid";
    }
    const ref = await refOf(owner.apiVersion, owner.kind);
    if (!ref)
      throw new Error(
        `owner ${owner.kind} ${owner.name} is of a kind that is not served`,
      );
    // A cluster-scoped object can't be owned by a namespaced one.
    const found =
      ref.namespaced && node.namespace === ""
        ? undefined
        : await read(ref, { name: owner.name, namespace: node.namespace });
    if (!found || found.metadata.uid !== owner.uid) {
      if (!known || known.virtual) absent.set(owner.uid, true);
      return "dangling";
    }
    return found.metadata.deletionTimestamp &&
      found.metadata.finalizers?.includes(foregroundFinalizer)
      ? "waiting"
      : "solid";
  }

  /** Lets a foreground-deleted object go when nothing holds it up, else sees to what does. */
  async function finishForeground(
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
      return removeFinalizer(ref, latest, foregroundFinalizer);
    for (const dependent of blocking)
      if (!dependent.deletingDependents) queue.add(dependent.uid);
  }

  async function orphanDependents(uid: string): Promise<void> {
    const node = graph.get(uid);
    if (!node?.ref) return;
    for (const dependent of node.dependents) {
      if (!dependent.ref) continue;
      const latest = await read(dependent.ref, dependent);
      if (!latest || latest.metadata.uid !== dependent.uid) continue;
      const owner = latest.metadata.ownerReferences?.find(
        (reference) => reference.uid === uid,
      );
      if (owner) await dropOwners(dependent.ref, latest, [owner]);
    }
    const latest = await read(node.ref, node);
    if (latest && latest.metadata.uid === uid)
      await removeFinalizer(node.ref, latest, orphanFinalizer);
  }

  async function remove(
    node: GraphNode,
    ref: ResourceRef,
    propagationPolicy: string,
  ): Promise<void> {
    try {
      await client
        .resource(ref)
        .delete(node.name, node.namespace || undefined, {
          preconditions: { uid: node.uid },
          propagationPolicy,
        });
    } catch (error) {
      // Gone, or another object of that name by now.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  const patchMetadata = async (
    ref: ResourceRef,
    object: KubeObject,
    change: object,
  ): Promise<void> => {
    const { name, namespace, uid, resourceVersion } = object.metadata;
    try {
      await client.resource(ref).patch(name, namespace, {
        type: "merge",
        body: { metadata: { uid, resourceVersion, ...change } },
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  };
  const dropOwners = (
    ref: ResourceRef,
    object: KubeObject,
    drop: readonly OwnerReference[],
  ): Promise<void> => {
    const uids = new Set(drop.map(({ uid }) => uid));
    const left = (object.metadata.ownerReferences ?? []).filter(
      ({ uid }) => !uids.has(uid),
    );
    return patchMetadata(ref, object, {
      ownerReferences: left.length > 0 ? left : null,
    });
  };
  const unblockOwners = (ref: ResourceRef, object: KubeObject): Promise<void> =>
    patchMetadata(ref, object, {
      ownerReferences: (object.metadata.ownerReferences ?? []).map(
        (reference) => ({ ...reference, blockOwnerDeletion: false }),
      ),
    });
  const removeFinalizer = async (
    ref: ResourceRef,
    object: KubeObject,
    finalizer: string,
  ): Promise<void> => {
    const finalizers = object.metadata.finalizers ?? [];
    if (!finalizers.includes(finalizer)) return;
    await patchMetadata(ref, object, {
      finalizers: finalizers.filter((other) => other !== finalizer),
    });
  };

  async function read(
    ref: ResourceRef,
    { name, namespace }: { name: string; namespace: string },
  ): Promise<KubeObject | undefined> {
    try {
      return await client
        .resource(ref)
        .get(name, ref.namespaced ? namespace : undefined);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  const refOf = (
    apiVersion: string,
    kind: string,
  ): Promise<ResourceRef | undefined> => discovery.resourceOf(apiVersion, kind);

  /** Watches what is to be watched and is not yet; resolves when all have synced or time is over. */
  async function monitorAll(): Promise<void> {
    const { resources, failures } = await discovery.resources();
    const wanted = new Map<string, ResourceRef>();
    for (const resource of resources) {
      const { group, version, resource: name, kind, namespaced } = resource;
      const verbs = ["delete", "list", "watch"];
      const collectable = verbs.every((verb) => resource.verbs.includes(verb));
      if (!collectable || name === "events") continue;
      wanted.set(`${group}/${name}`, {
        group,
        version,
        resource: name,
        kind,
        namespaced,
      });
    }
    // What a failed group had is kept: the group may only be away for a moment.
    if (failures.length === 0)
      for (const [key, detach] of monitors)
        if (!wanted.has(key)) {
          detach();
          monitors.delete(key);
        }
    const synced: Promise<void>[] = [];
    for (const [key, ref] of wanted) {
      if (monitors.has(key) || stopped) continue;
      const informer = client.informer(ref);
      monitors.set(
        key,
        informer.addHandler({
          onAdd: (object) => graph.observe(ref, object),
          onUpdate: (old, object) => {
            if (
              old.metadata.resourceVersion !== object.metadata.resourceVersion
            )
              graph.observe(ref, object);
          },
          onDelete: (object) => {
            absent.set(object.metadata.uid ?? "", true);
            graph.remove(object.metadata.uid ?? "");
          },
        }),
      );
      synced.push(informer.synced());
    }
    await Promise.race([
      Promise.all(synced),
      new Promise<void>((resolve) => {
        clock.after(maxSyncWaitMs, resolve);
      }),
    ]);
  }

  async function keepMonitoring(): Promise<void> {
    let delayMs = 1000;
    while (!stopped) {
      try {
        await monitorAll();
        if (!stopped) queue.start();
        return;
      } catch (error) {
        log.warn({ err: error }, "discovery failed, trying again");
        await new Promise<void>((resolve) => {
          clock.after(delayMs, resolve);
        });
        delayMs = Math.min(2 * delayMs, 30_000);
      }
    }
  }
  let monitoring: Promise<void> | undefined;
  const resourcesChanged = (): void => {
    discovery.invalidate();
    // A definition is served a moment after it is established.
    changeTimer ??= clock.after(1000, () => {
      changeTimer = undefined;
      discovery.invalidate();
      monitoring = (monitoring ?? Promise.resolve()).then(keepMonitoring);
    });
  };
  let changeTimer: { cancel(): void } | undefined;
  const definitionHandlers: (() => void)[] = [];

  return {
    start() {
      monitoring = keepMonitoring();
      let replaying = true;
      const handler = {
        onAdd: () => {
          if (!replaying) resourcesChanged();
        },
        onUpdate: () => resourcesChanged(),
        onDelete: () => resourcesChanged(),
      };
      definitionHandlers.push(
        client.informer(customResourceDefinitions).addHandler(handler),
        client.informer(apiServices).addHandler(handler),
      );
      replaying = false;
    },
    async stop() {
      stopped = true;
      changeTimer?.cancel();
      for (const detach of definitionHandlers.splice(0)) detach();
      for (const detach of monitors.values()) detach();
      monitors.clear();
      await reconciler.stop();
    },
  };
}
