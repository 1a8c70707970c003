// Rolls a Deployment out over ReplicaSets, one a template: RollingUpdate and Recreate, pausing, proportional scaling,
// revisions (which kubectl's rollout undo reads and writes through the template), the progress deadline, hash collisions.
//
// Every sync looks at the Deployment and the ReplicaSets that are its own and carries out one step (planned in rollout.ts),
// then writes the status (progress.ts) if it changed.
import { objectKey, splitKey } from "../../api/object.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { controllerOf } from "../../api/objects/owner-references.ts";
import { isPodTerminal } from "../../api/objects/pod-state.ts";
import { selectorFromObject } from "../../api/selectors.ts";
import type { Deployment, ReplicaSet } from "../../api/types/apps-v1.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { EventWriter } from "../../client/event-recorder.ts";
import type { Informer } from "../../client/informer.ts";
import { deployments, pods, replicaSets } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import { candidatesOf, claimObjects } from "../workloads/adoption.ts";
import { controllerIndex } from "../workloads/informer-indexes.ts";
import {
  deadlineCheckMs,
  deploymentStatus,
  isComplete,
  rolloutStatus,
  withPauseNoted,
} from "./progress.ts";
import { ReplicaSetWriter } from "./replica-set-writer.ts";
import { RevisionSync } from "./revision-sync.ts";
import type { Revisions } from "./revision-sync.ts";
import { findNewSet } from "./revisions.ts";
import { isScalingEvent, rollingSteps, scaleSteps } from "./rollout.ts";
import type { SizeStep } from "./rollout.ts";
import { isRolling, replicasOf } from "./sizes.ts";
import { StatusWriter } from "./status-writer.ts";

export function createDeploymentController(
  context: ControllerContext,
): Controller {
  return new DeploymentController(context).reconciler;
}

class DeploymentController {
  readonly reconciler: Reconciler;
  readonly #context: ControllerContext;
  readonly #deployments: Informer<Deployment>;
  readonly #sets: Informer<ReplicaSet>;
  readonly #pods: Informer<Pod>;
  readonly #recorder: EventWriter;
  readonly #setWriter: ReplicaSetWriter;
  readonly #statuses: StatusWriter;
  readonly #revisions: RevisionSync;

  constructor(context: ControllerContext) {
    const { client, clock, options } = context;
    this.#context = context;
    this.#deployments = client.informer(deployments);
    this.#sets = client.informer(replicaSets, {
      indexes: { controller: controllerIndex },
    });
    this.#pods = client.informer(pods, {
      indexes: { controller: controllerIndex },
    });
    this.#recorder = context.recorder("deployment-controller");
    this.#setWriter = new ReplicaSetWriter(client, this.#recorder);
    this.#statuses = new StatusWriter(client, this.#deployments.lister);
    this.#revisions = new RevisionSync({
      client,
      clock,
      recorder: this.#recorder,
      sets: this.#setWriter,
      statuses: this.#statuses,
    });
    this.reconciler = new Reconciler({
      name: "deployment-controller",
      context,
      concurrency: options.concurrentDeploymentSyncs,
      reconcile: (key) => this.#reconcile(key),
    });
    this.#watch();
  }

  async #reconcile(key: string): Promise<ReconcileResult> {
    const { namespace, name } = splitKey(key);
    const observed = this.#deployments.lister.get(name, namespace);
    if (!observed) return;
    const selector = selectorFromObject(observed.spec.selector);
    if (selector.empty) return this.#refuseEmptySelector(observed);
    const { client, clock } = this.#context;
    const sets = await claimObjects({
      client,
      ownerRef: deployments,
      owner: observed,
      selector,
      ref: replicaSets,
      candidates: candidatesOf(this.#sets, observed),
    });
    if (observed.metadata.deletionTimestamp) {
      const newSet = findNewSet(observed, sets);
      await this.#statuses.write(
        observed,
        deploymentStatus(observed, sets, newSet, clock.now()),
      );
      return;
    }
    const noted = withPauseNoted(observed, clock.now());
    const deployment =
      noted && noted !== observed.status
        ? await this.#statuses.write(observed, noted)
        : observed;
    if (deployment.spec.paused || isScalingEvent(deployment, sets))
      return this.#scale(deployment, sets);
    return isRolling(deployment)
      ? this.#roll(deployment, sets)
      : this.#recreate(deployment, sets);
  }

  async #refuseEmptySelector(deployment: Deployment): Promise<void> {
    this.#recorder.event(
      deployment,
      "Warning",
      "SelectingAll",
      "This deployment is selecting all pods. A non-empty selector is required.",
    );
    await this.#statuses.write(deployment, {
      ...deployment.status,
      observedGeneration: deployment.metadata.generation ?? 0,
    });
  }

  async #scale(
    observed: Deployment,
    sets: readonly ReplicaSet[],
  ): Promise<void> {
    const { deployment, newSet, oldSets } = await this.#revisions.sync(
      observed,
      sets,
      false,
    );
    await this.#resize(deployment, scaleSteps(deployment, newSet, oldSets));
    if (deployment.spec.paused)
      await this.#setWriter.removeOldRevisions(deployment, oldSets);
    const all = newSet ? [...oldSets, newSet] : oldSets;
    await this.#statuses.write(
      deployment,
      deploymentStatus(deployment, all, newSet, this.#context.clock.now()),
    );
  }

  async #roll(
    observed: Deployment,
    sets: readonly ReplicaSet[],
  ): Promise<ReconcileResult> {
    const revisions = await this.#revisions.sync(observed, sets, true);
    const { deployment, newSet, oldSets } = revisions;
    if (!newSet) return;
    return this.#finish(
      revisions,
      await this.#resize(deployment, rollingSteps(deployment, newSet, oldSets)),
    );
  }

  /** No pod of the new template before the last one of the old templates has ended. */
  async #recreate(
    observed: Deployment,
    sets: readonly ReplicaSet[],
  ): Promise<ReconcileResult> {
    let revisions = await this.#revisions.sync(observed, sets, false);
    const { oldSets } = revisions;
    if (oldSets.some((set) => replicasOf(set) > 0)) {
      const stops = oldSets.map((set) => ({ set, replicas: 0 }));
      const stopped = await this.#resize(revisions.deployment, stops);
      return this.#finish(revisions, stopped, false);
    }
    if (oldSets.some((set) => this.#hasPodsLeft(set)))
      return this.#finish(revisions, new Map(), false);
    if (!revisions.newSet)
      revisions = await this.#revisions.sync(revisions.deployment, sets, true);
    const { deployment, newSet } = revisions;
    if (!newSet) return;
    const replicas = replicasOf(deployment);
    return this.#finish(
      revisions,
      await this.#resize(deployment, [{ set: newSet, replicas }]),
    );
  }

  #hasPodsLeft({ metadata }: ReplicaSet): boolean {
    return this.#pods.lister
      .byIndex("controller", metadata.uid ?? "")
      .some((pod) => !isPodTerminal(pod));
  }

  /** @returns the ReplicaSets that changed, by what was observed of them */
  async #resize(
    deployment: Deployment,
    steps: readonly SizeStep[],
  ): Promise<ReadonlyMap<ReplicaSet, ReplicaSet>> {
    const changed = new Map<ReplicaSet, ReplicaSet>();
    for (const { set, replicas } of steps) {
      const latest = changed.get(set) ?? set;
      const scaled = await this.#setWriter.scale(deployment, latest, replicas);
      if (scaled !== latest) changed.set(set, scaled);
    }
    return changed;
  }

  /** Writes the status, removes old revisions once all is done, and says when to look for the deadline. */
  async #finish(
    { deployment, newSet, oldSets }: Revisions,
    changed: ReadonlyMap<ReplicaSet, ReplicaSet>,
    settled = changed.size === 0,
  ): Promise<ReconcileResult> {
    const { clock } = this.#context;
    const latest = (set: ReplicaSet): ReplicaSet => changed.get(set) ?? set;
    const old = oldSets.map(latest);
    const current = newSet && latest(newSet);
    if (settled && isComplete(deployment, deployment.status ?? {}))
      await this.#setWriter.removeOldRevisions(deployment, old);
    const status = rolloutStatus(
      deployment,
      current ? [...old, current] : old,
      current,
      clock.now(),
    );
    await this.#statuses.write(deployment, status);
    const checkMs = deadlineCheckMs(deployment, status, clock.now());
    return checkMs === undefined ? undefined : { requeueAfterMs: checkMs };
  }

  #watch(): void {
    const { queue } = this.reconciler;
    this.reconciler
      .watchAll(this.#deployments, (deployment) =>
        queue.add(objectKey(deployment)),
      )
      .watch(this.#sets, {
        onAdd: (set) =>
          controllerOf(set)
            ? this.#enqueueOwner(set)
            : this.#enqueueMatching(set),
        onUpdate: (old, set) => this.#setChanged(old, set),
        onDelete: (set) => this.#enqueueOwner(set),
      })
      .watch(this.#pods, { onDelete: (pod) => this.#podDeleted(pod) });
  }

  #setChanged(old: ReplicaSet, set: ReplicaSet): void {
    if (old.metadata.resourceVersion === set.metadata.resourceVersion) return;
    const [before, after] = [controllerOf(old), controllerOf(set)];
    if (before?.uid !== after?.uid) this.#enqueueOwner(old);
    if (after) this.#enqueueOwner(set);
    else if (before || !sameJson(old.metadata.labels, set.metadata.labels))
      this.#enqueueMatching(set);
  }

  #ownerOf(set: ReplicaSet): Deployment | undefined {
    const controller = controllerOf(set);
    if (controller?.kind !== "Deployment") return undefined;
    const { namespace } = set.metadata;
    const owner = this.#deployments.lister.get(controller.name, namespace);
    return owner?.metadata.uid === controller.uid ? owner : undefined;
  }

  #enqueueOwner(set: ReplicaSet): void {
    const owner = this.#ownerOf(set);
    if (owner) this.reconciler.queue.add(objectKey(owner));
  }

  #enqueueMatching({ metadata }: ReplicaSet): void {
    for (const deployment of this.#deployments.lister.list(
      metadata.namespace,
    )) {
      const selector = selectorFromObject(deployment.spec.selector);
      if (!selector.empty && selector.matches(metadata.labels))
        this.reconciler.queue.add(objectKey(deployment));
    }
  }

  /** Recreate waits for the last pod of the old revision. */
  #podDeleted(pod: Pod): void {
    const controller = controllerOf(pod);
    if (controller?.kind !== "ReplicaSet") return;
    const { namespace } = pod.metadata;
    const set = this.#sets.lister.get(controller.name, namespace);
    const owner = set && this.#ownerOf(set);
    if (owner && !isRolling(owner)) this.reconciler.queue.add(objectKey(owner));
  }
}
