// Keeps as many pods of a template running as the owner says: the engine of ReplicaSet and ReplicationController, which
// differ only in how the selector is written (replica-kinds.ts).
//
// Reference behaviour: expectations, creation in batches of 1, 2, 4 …, at most 500 a sync, adoption and release,
// deletion ranking, ReplicaFailure condition, events SuccessfulCreate, FailedCreate, SuccessfulDelete, FailedDelete.
import { objectKey, splitKey } from "../../api/object.ts";
import type { KubeObject } from "../../api/object.ts";
import type { Selector } from "../../api/selectors.ts";
import type { ReplicaSetStatus } from "../../api/types/apps-v1.ts";
import type { Pod, PodTemplateSpec } from "../../api/types/core-v1.ts";
import type { OwnerReference } from "../../api/types/meta-v1.ts";
import type { ResourceRef } from "../../client/client.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import type { Informer } from "../../client/informer.ts";
import {
  controllerOf,
  controllerReference,
} from "../../api/objects/owner-references.ts";
import { isPodActive, isPodReady } from "../../api/objects/pod-state.ts";
import { pods } from "../../client/resources.ts";
import { claimObjects } from "../workloads/adoption.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Expectations } from "../workloads/expectations.ts";
import { controllerIndex, orphansOf } from "../workloads/informer-indexes.ts";
import {
  createPodControl,
  isNamespaceTerminating,
  podFromTemplate,
  slowStartBatch,
} from "../workloads/pod-control.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import { deletionOrder } from "./removal-order.ts";
import { replicaStatus, withoutZeros } from "./replica-status.ts";

const burstReplicas = 500;

/** How a kind spells what the engine needs. */
interface ReplicaKind<T extends KubeObject> {
  name: string;
  /** The event source. */
  component: string;
  ref: ResourceRef<T>;
  concurrency: number;
  selector(owner: T): Selector;
  spec(owner: T): {
    replicas: number;
    minReadySeconds: number;
    template: PodTemplateSpec | undefined;
  };
  status(owner: T): ReplicaSetStatus | undefined;
  withStatus(owner: T, status: ReplicaSetStatus): T;
}

export function createReplicaController<T extends KubeObject>(
  kind: ReplicaKind<T>,
  context: ControllerContext,
): Controller {
  const { client, clock } = context;
  const owners = client.informer(kind.ref, {
    indexes: { controller: controllerIndex },
  });
  const podInformer = client.informer(pods, {
    indexes: { controller: controllerIndex },
  });
  const control = createPodControl(client, context.recorder(kind.component));
  const expectations = new Expectations(clock);
  const reconciler = new Reconciler({
    name: kind.name,
    context,
    concurrency: kind.concurrency,
    reconcile,
  });
  const { queue } = reconciler;

  async function reconcile(key: string): Promise<ReconcileResult> {
    const { namespace, name } = splitKey(key);
    const owner = owners.lister.get(name, namespace);
    if (!owner) return expectations.forget(key);
    const selector = kind.selector(owner);
    const mayManage = expectations.satisfied(key);
    const candidates = [
      ...podInformer.lister.byIndex("controller", owner.metadata.uid ?? ""),
      ...podInformer.lister.byIndex("controller", orphansOf(namespace)),
    ].filter(isPodActive);
    const active = await claimObjects({
      client,
      ownerRef: kind.ref,
      owner,
      selector,
      ref: pods,
      candidates,
    });
    let failure: unknown;
    if (mayManage && !owner.metadata.deletionTimestamp)
      failure = await manage(key, owner, active);
    await updateStatus(owner, active, failure);
    if (failure !== undefined) throw failure;
    const { minReadySeconds, replicas } = kind.spec(owner);
    // A pod becomes available by time alone: look again.
    if (minReadySeconds > 0) {
      const status = computeStatus(owner, active, undefined);
      if (
        status.readyReplicas === replicas &&
        status.availableReplicas !== replicas
      )
        return { requeueAfterMs: minReadySeconds * 1000 };
    }
  }

  /** Creates or deletes pods; returns the failure, if any. */
  async function manage(
    key: string,
    owner: T,
    active: readonly Pod[],
  ): Promise<unknown> {
    const { replicas, template } = kind.spec(owner);
    const missing = Math.min(replicas - active.length, burstReplicas);
    if (missing > 0 && template) {
      expectations.expectCreations(key, missing);
      const reference = controllerReference(kind.ref, owner);
      const { successes, error } = await slowStartBatch(missing, async () => {
        try {
          await control.create(
            podFromTemplate(template, owner, reference),
            owner,
          );
        } catch (caught) {
          if (!isNamespaceTerminating(caught)) throw caught;
          // Never comes: nothing to wait for, nothing to retry.
          expectations.creationObserved(key);
        }
      });
      for (let lost = successes; lost < missing; lost++)
        expectations.creationObserved(key);
      return error;
    }
    const surplus = Math.min(active.length - replicas, burstReplicas);
    if (surplus <= 0) return undefined;
    const doomed = deletionOrder(active, siblings(owner), clock.now()).slice(
      0,
      surplus,
    );
    expectations.expectDeletions(
      key,
      doomed.map((pod) => pod.metadata.uid ?? ""),
    );
    const results = await Promise.allSettled(
      doomed.map(async (pod) => {
        try {
          await control.delete(pod, owner);
        } catch (error) {
          expectations.deletionObserved(key, pod.metadata.uid ?? "");
          throw error;
        }
      }),
    );
    const failed = results.find((result) => result.status === "rejected");
    return failed && (failed.reason as unknown);
  }

  /** Active pods of all owners under the same controller (the ReplicaSets of one Deployment). */
  function siblings(owner: T): Pod[] {
    const controller = controllerOf(owner);
    const related = controller
      ? owners.lister.byIndex("controller", controller.uid)
      : [owner];
    return related
      .flatMap((other) =>
        podInformer.lister.byIndex("controller", other.metadata.uid ?? ""),
      )
      .filter(isPodActive);
  }

  function computeStatus(
    owner: T,
    active: readonly Pod[],
    failure: unknown,
  ): ReplicaSetStatus {
    return replicaStatus({
      pods: active,
      ...kind.spec(owner),
      generation: owner.metadata.generation,
      old: kind.status(owner),
      failure,
      nowMs: clock.now(),
    });
  }

  async function updateStatus(
    owner: T,
    active: readonly Pod[],
    failure: unknown,
  ): Promise<void> {
    const status = computeStatus(owner, active, failure);
    if (sameJson(withoutZeros(kind.status(owner)), withoutZeros(status)))
      return;
    await client
      .resource(kind.ref)
      .updateStatus(kind.withStatus(owner, status));
  }

  function resolve(
    namespace: string | undefined,
    controller: OwnerReference | undefined,
  ): T | undefined {
    if (controller?.kind !== kind.ref.kind) return undefined;
    const owner = owners.lister.get(controller.name, namespace);
    return owner?.metadata.uid === controller.uid ? owner : undefined;
  }

  function enqueueMatching(pod: Pod): void {
    for (const owner of owners.lister.list(pod.metadata.namespace))
      if (kind.selector(owner).matches(pod.metadata.labels))
        queue.add(objectKey(owner));
  }

  function podDeleted(pod: Pod): void {
    const owner = resolve(pod.metadata.namespace, controllerOf(pod));
    if (!owner) return;
    const key = objectKey(owner);
    expectations.deletionObserved(key, pod.metadata.uid ?? "");
    queue.add(key);
  }

  function podAdded(pod: Pod): void {
    if (pod.metadata.deletionTimestamp) return podDeleted(pod);
    const controller = controllerOf(pod);
    if (!controller) return enqueueMatching(pod);
    const owner = resolve(pod.metadata.namespace, controller);
    if (!owner) return;
    expectations.creationObserved(objectKey(owner));
    queue.add(objectKey(owner));
  }

  function podUpdated(old: Pod, pod: Pod): void {
    if (old.metadata.resourceVersion === pod.metadata.resourceVersion) return;
    const controller = controllerOf(pod);
    const oldController = controllerOf(old);
    if (oldController && oldController.uid !== controller?.uid) {
      const owner = resolve(old.metadata.namespace, oldController);
      if (owner) queue.add(objectKey(owner));
    }
    if (pod.metadata.deletionTimestamp) return podDeleted(pod);
    if (!controller) {
      if (oldController || !sameJson(old.metadata.labels, pod.metadata.labels))
        enqueueMatching(pod);
      return;
    }
    const owner = resolve(pod.metadata.namespace, controller);
    if (!owner) return;
    const key = objectKey(owner);
    queue.add(key);
    const { minReadySeconds } = kind.spec(owner);
    if (minReadySeconds > 0 && isPodReady(pod) && !isPodReady(old))
      queue.addAfter(key, minReadySeconds * 1000 + 1000);
  }

  return reconciler
    .watch(owners as Informer<T>, {
      onAdd: (owner) => queue.add(objectKey(owner)),
      onUpdate: (_, owner) => queue.add(objectKey(owner)),
      onDelete: (owner) => {
        expectations.forget(objectKey(owner));
        queue.add(objectKey(owner));
      },
    })
    .watch(podInformer, {
      onAdd: podAdded,
      onUpdate: podUpdated,
      onDelete: podDeleted,
    });
}
