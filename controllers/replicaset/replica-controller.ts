// Keeps as many pods of a template running as the owner says: the engine of ReplicaSet and ReplicationController, which
// differ only in how the selector is written (replica-kinds.ts).
//
// Reference behaviour: expectations, creation in batches of 1, 2, 4 …, at most 500 a sync, adoption and release,
// deletion ranking, ReplicaFailure condition, events SuccessfulCreate, FailedCreate, SuccessfulDelete, FailedDelete.
import { objectKey, splitKey } from "../../api/object.ts";
import type { KubeObject } from "../../api/object.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import {
  controllerOf,
  controllerReference,
} from "../../api/objects/owner-references.ts";
import { isPodActive, isPodReady } from "../../api/objects/pod-state.ts";
import type { Selector } from "../../api/selectors.ts";
import type { ReplicaSetStatus } from "../../api/types/apps-v1.ts";
import type { Pod, PodTemplateSpec } from "../../api/types/core-v1.ts";
import type { OwnerReference } from "../../api/types/meta-v1.ts";
import type { ResourceRef } from "../../client/client.ts";
import type { Informer } from "../../client/informer.ts";
import { pods } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import { candidatesOf, claimObjects } from "../workloads/adoption.ts";
import { Expectations } from "../workloads/expectations.ts";
import { controllerIndex } from "../workloads/informer-indexes.ts";
import { createPodControl, podFromTemplate } from "../workloads/pod-control.ts";
import { PodWriter } from "../workloads/pod-writes.ts";
import type { PodWrites } from "../workloads/pod-writes.ts";
import { sameStatus } from "../workloads/status-equality.ts";
import { deletionOrder } from "./removal-order.ts";
import { replicaStatus } from "./replica-status.ts";

/** Pods made or ended in one sync, at most. */
const burst = 500;
/** Looked at a second after a pod should have become available. */
const availabilitySlackMs = 1000;

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
  return new ReplicaController(kind, context).reconciler;
}

class ReplicaController<T extends KubeObject> {
  readonly reconciler: Reconciler;
  readonly #kind: ReplicaKind<T>;
  readonly #context: ControllerContext;
  readonly #owners: Informer<T>;
  readonly #pods: Informer<Pod>;
  readonly #expectations: Expectations;
  readonly #podWriter: PodWriter;

  constructor(kind: ReplicaKind<T>, context: ControllerContext) {
    const { client, clock } = context;
    this.#kind = kind;
    this.#context = context;
    this.#owners = client.informer(kind.ref, {
      indexes: { controller: controllerIndex },
    });
    this.#pods = client.informer(pods, {
      indexes: { controller: controllerIndex },
    });
    this.#expectations = new Expectations(clock);
    this.#podWriter = new PodWriter(
      createPodControl(client, context.recorder(kind.component)),
      this.#expectations,
    );
    this.reconciler = new Reconciler({
      name: kind.name,
      context,
      concurrency: kind.concurrency,
      reconcile: (key) => this.#reconcile(key),
    });
    this.#watch();
  }

  async #reconcile(key: string): Promise<ReconcileResult> {
    const { namespace, name } = splitKey(key);
    const owner = this.#owners.lister.get(name, namespace);
    if (!owner) return this.#expectations.forget(key);
    // Asked before adoption takes its time: the next sync handles pods seen meanwhile.
    const mayManage = this.#expectations.satisfied(key);
    const active = await claimObjects({
      client: this.#context.client,
      ownerRef: this.#kind.ref,
      owner,
      selector: this.#kind.selector(owner),
      ref: pods,
      candidates: candidatesOf(this.#pods, owner).filter(isPodActive),
    });
    const failure =
      mayManage && !owner.metadata.deletionTimestamp
        ? await this.#podWriter.apply(key, owner, this.#plan(owner, active))
        : undefined;
    await this.#writeStatus(owner, this.#statusOf(owner, active, failure));
    if (failure !== undefined) throw failure;
    const { minReadySeconds, replicas } = this.#kind.spec(owner);
    if (minReadySeconds === 0) return;
    // A pod becomes available by time alone: look again.
    const { readyReplicas, availableReplicas } = this.#statusOf(
      owner,
      active,
      undefined,
    );
    if (readyReplicas === replicas && availableReplicas !== replicas)
      return { requeueAfterMs: minReadySeconds * 1000 };
  }

  #plan(owner: T, active: readonly Pod[]): PodWrites {
    const { replicas, template } = this.#kind.spec(owner);
    const missing = Math.min(replicas - active.length, burst);
    if (missing > 0 && template) {
      const reference = controllerReference(this.#kind.ref, owner);
      return {
        create: Array.from({ length: missing }, () =>
          podFromTemplate(template, owner, reference),
        ),
        remove: [],
      };
    }
    const surplus = Math.min(active.length - replicas, burst);
    if (surplus <= 0) return { create: [], remove: [] };
    const siblings = this.#siblings(owner);
    const order = deletionOrder(active, siblings, this.#context.clock.now());
    return { create: [], remove: order.slice(0, surplus) };
  }

  /** Active pods of all owners under the same controller (the ReplicaSets of one Deployment). */
  #siblings(owner: T): Pod[] {
    const controller = controllerOf(owner);
    const related = controller
      ? this.#owners.lister.byIndex("controller", controller.uid)
      : [owner];
    return related
      .flatMap(({ metadata }) =>
        this.#pods.lister.byIndex("controller", metadata.uid ?? ""),
      )
      .filter(isPodActive);
  }

  #statusOf(
    owner: T,
    active: readonly Pod[],
    failure: unknown,
  ): ReplicaSetStatus {
    return replicaStatus({
      pods: active,
      ...this.#kind.spec(owner),
      generation: owner.metadata.generation,
      old: this.#kind.status(owner),
      failure,
      nowMs: this.#context.clock.now(),
    });
  }

  async #writeStatus(owner: T, status: ReplicaSetStatus): Promise<void> {
    const kind = this.#kind;
    if (sameStatus(kind.status(owner), status)) return;
    await this.#context.client
      .resource(kind.ref)
      .updateStatus(kind.withStatus(owner, status));
  }

  #watch(): void {
    const { queue } = this.reconciler;
    this.reconciler
      .watch(this.#owners, {
        onAdd: (owner) => queue.add(objectKey(owner)),
        onUpdate: (_, owner) => queue.add(objectKey(owner)),
        onDelete: (owner) => {
          this.#expectations.forget(objectKey(owner));
          queue.add(objectKey(owner));
        },
      })
      .watch(this.#pods, {
        onAdd: (pod) => this.#podAdded(pod),
        onUpdate: (old, pod) => this.#podUpdated(old, pod),
        onDelete: (pod) => this.#podDeleted(pod),
      });
  }

  #ownerOf(
    namespace: string | undefined,
    controller: OwnerReference | undefined,
  ): T | undefined {
    if (controller?.kind !== this.#kind.ref.kind) return undefined;
    const owner = this.#owners.lister.get(controller.name, namespace);
    return owner?.metadata.uid === controller.uid ? owner : undefined;
  }

  #enqueueMatching({ metadata }: Pod): void {
    for (const owner of this.#owners.lister.list(metadata.namespace))
      if (this.#kind.selector(owner).matches(metadata.labels))
        this.reconciler.queue.add(objectKey(owner));
  }

  #podDeleted(pod: Pod): void {
    const owner = this.#ownerOf(pod.metadata.namespace, controllerOf(pod));
    if (!owner) return;
    const key = objectKey(owner);
    this.#expectations.deletionObserved(key, pod.metadata.uid ?? "");
    this.reconciler.queue.add(key);
  }

  #podAdded(pod: Pod): void {
    if (pod.metadata.deletionTimestamp) return this.#podDeleted(pod);
    const controller = controllerOf(pod);
    if (!controller) return this.#enqueueMatching(pod);
    const owner = this.#ownerOf(pod.metadata.namespace, controller);
    if (!owner) return;
    this.#expectations.creationObserved(objectKey(owner));
    this.reconciler.queue.add(objectKey(owner));
  }

  #podUpdated(old: Pod, pod: Pod): void {
    if (old.metadata.resourceVersion === pod.metadata.resourceVersion) return;
    const { queue } = this.reconciler;
    const controller = controllerOf(pod);
    const oldController = controllerOf(old);
    if (oldController && oldController.uid !== controller?.uid) {
      const owner = this.#ownerOf(old.metadata.namespace, oldController);
      if (owner) queue.add(objectKey(owner));
    }
    if (pod.metadata.deletionTimestamp) return this.#podDeleted(pod);
    if (!controller) {
      if (oldController || !sameJson(old.metadata.labels, pod.metadata.labels))
        this.#enqueueMatching(pod);
      return;
    }
    const owner = this.#ownerOf(pod.metadata.namespace, controller);
    if (!owner) return;
    const key = objectKey(owner);
    queue.add(key);
    const { minReadySeconds } = this.#kind.spec(owner);
    if (minReadySeconds > 0 && isPodReady(pod) && !isPodReady(old))
      queue.addAfter(key, minReadySeconds * 1000 + availabilitySlackMs);
  }
}
