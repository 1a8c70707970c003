// Rolls a Deployment out over ReplicaSets, one a template: RollingUpdate and Recreate, pausing, proportional scaling,
// revisions (which kubectl's rollout undo reads and writes through the template), the progress deadline, hash collisions.
//
// Every sync looks at the Deployment and the ReplicaSets that are its own and makes one step (rollout.ts), then writes the
// status (progress.ts) if it changed.
import { objectKey, splitKey } from "../../api/object.ts";
import { selectorFromObject } from "../../api/selectors.ts";
import type {
  Deployment,
  DeploymentStatus,
  ReplicaSet,
} from "../../api/types/apps-v1.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { findCondition } from "../../api/objects/conditions.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { controllerOf } from "../../api/objects/owner-references.ts";
import { isPodTerminal } from "../../api/objects/pod-state.ts";
import { deployments, pods, replicaSets } from "../../client/resources.ts";
import { claimObjects } from "../workloads/adoption.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { controllerIndex, orphansOf } from "../workloads/informer-indexes.ts";
import { errorText, isNamespaceTerminating } from "../workloads/pod-control.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import {
  deadlineCheckMs,
  deploymentStatus,
  hasProgressDeadline,
  isComplete,
  rolloutStatus,
  withDeploymentCondition,
} from "./progress.ts";
import { HashCollision, ReplicaSetWriter } from "./replica-set-writer.ts";
import { findNewSet, revisionAnnotation, revisionOf } from "./revisions.ts";
import { isScalingEvent, rollingStep, scaleStep } from "./rollout.ts";
import { isRolling, replicasOf } from "./sizes.ts";

export function createDeploymentController(
  context: ControllerContext,
): Controller {
  const { client, clock } = context;
  const informer = client.informer(deployments);
  const setInformer = client.informer(replicaSets, {
    indexes: { controller: controllerIndex },
  });
  const podInformer = client.informer(pods, {
    indexes: { controller: controllerIndex },
  });
  const recorder = context.recorder("deployment-controller");
  const writer = new ReplicaSetWriter(client, recorder);
  const reconciler = new Reconciler({
    name: "deployment-controller",
    context,
    concurrency: context.options.concurrentDeploymentSyncs,
    reconcile,
  });
  const { queue } = reconciler;

  async function reconcile(key: string): Promise<ReconcileResult> {
    const { namespace, name } = splitKey(key);
    let deployment = informer.lister.get(name, namespace);
    if (!deployment) return;
    const selector = selectorFromObject(deployment.spec.selector);
    if (selector.empty) {
      recorder.event(
        deployment,
        "Warning",
        "SelectingAll",
        "This deployment is selecting all pods. A non-empty selector is required.",
      );
      await writeStatus(deployment, {
        ...deployment.status,
        observedGeneration: deployment.metadata.generation ?? 0,
      });
      return;
    }
    const sets = await claimObjects({
      client,
      ownerRef: deployments,
      owner: deployment,
      selector,
      ref: replicaSets,
      candidates: [
        ...setInformer.lister.byIndex(
          "controller",
          deployment.metadata.uid ?? "",
        ),
        ...setInformer.lister.byIndex("controller", orphansOf(namespace)),
      ],
    });
    if (deployment.metadata.deletionTimestamp) {
      const newSet = findNewSet(deployment, sets);
      await writeStatus(
        deployment,
        deploymentStatus(deployment, sets, newSet, clock.now()),
      );
      return;
    }
    deployment = await notePause(deployment);
    if (deployment.spec.paused || isScalingEvent(deployment, sets))
      return scaleOnly(deployment, sets);
    return isRolling(deployment)
      ? rolling(deployment, sets)
      : recreate(deployment, sets);
  }

  async function scaleOnly(
    observed: Deployment,
    sets: readonly ReplicaSet[],
  ): Promise<void> {
    const { deployment, newSet, oldSets } = await syncRevision(
      observed,
      sets,
      false,
    );
    await scaleStep(deployment, newSet, oldSets, writer);
    if (deployment.spec.paused)
      await writer.removeOldRevisions(deployment, oldSets);
    const all = newSet ? [...oldSets, newSet] : oldSets;
    await writeStatus(
      deployment,
      deploymentStatus(deployment, all, newSet, clock.now()),
    );
  }

  async function rolling(
    observed: Deployment,
    sets: readonly ReplicaSet[],
  ): Promise<ReconcileResult> {
    const { deployment, newSet, oldSets } = await syncRevision(
      observed,
      sets,
      true,
    );
    if (!newSet) return;
    const before = [...oldSets, newSet];
    const after = await rollingStep(deployment, newSet, oldSets, writer);
    const changed = after.some((set) => !before.includes(set));
    return finish(deployment, after, newSet, !changed);
  }

  async function recreate(
    observed: Deployment,
    sets: readonly ReplicaSet[],
  ): Promise<ReconcileResult> {
    const first = await syncRevision(observed, sets, false);
    const running = first.oldSets.filter((set) => replicasOf(set) > 0);
    if (running.length > 0) {
      const scaled: ReplicaSet[] = [];
      for (const set of first.oldSets)
        scaled.push(await writer.scale(first.deployment, set, 0));
      const all = first.newSet ? [...scaled, first.newSet] : scaled;
      return finish(first.deployment, all, first.newSet, false);
    }
    const podsLeft = first.oldSets.some((set) =>
      podInformer.lister
        .byIndex("controller", set.metadata.uid ?? "")
        .some((pod) => !isPodTerminal(pod)),
    );
    if (podsLeft) {
      const all = first.newSet
        ? [...first.oldSets, first.newSet]
        : first.oldSets;
      return finish(first.deployment, all, first.newSet, false);
    }
    const { deployment, newSet, oldSets } = first.newSet
      ? first
      : await syncRevision(first.deployment, sets, true);
    if (!newSet) return;
    const sized = await writer.scale(
      deployment,
      newSet,
      replicasOf(deployment),
    );
    return finish(deployment, [...oldSets, sized], sized, sized === newSet);
  }

  /** Writes the status, removes old revisions once all is done, and says when to look for the deadline. */
  async function finish(
    deployment: Deployment,
    sets: readonly ReplicaSet[],
    newSet: ReplicaSet | undefined,
    settled: boolean,
  ): Promise<ReconcileResult> {
    if (settled && isComplete(deployment, deployment.status ?? {}))
      await writer.removeOldRevisions(
        deployment,
        sets.filter((set) => set.metadata.uid !== newSet?.metadata.uid),
      );
    const current = newSet
      ? (sets.find((set) => set.metadata.uid === newSet.metadata.uid) ?? newSet)
      : undefined;
    const status = rolloutStatus(deployment, sets, current, clock.now());
    await writeStatus(deployment, status);
    const checkMs = deadlineCheckMs(deployment, status, clock.now());
    return checkMs === undefined ? undefined : { requeueAfterMs: checkMs };
  }

  /** Finds, or makes, the ReplicaSet of the present template, and keeps the revision annotations of both in step. */
  async function syncRevision(
    observed: Deployment,
    sets: readonly ReplicaSet[],
    create: boolean,
  ): Promise<{
    deployment: Deployment;
    newSet: ReplicaSet | undefined;
    oldSets: ReplicaSet[];
  }> {
    const found = findNewSet(observed, sets);
    const oldSets = sets.filter((set) => set !== found);
    const newest = oldSets
      .map(revisionOf)
      .reduce((a, b) => (b > a ? b : a), 0n);
    const revision = newest + 1n;
    let newSet = found;
    let deployment = observed;
    if (found) newSet = await writer.refresh(observed, found, revision);
    else if (create) {
      try {
        newSet = await writer.create(observed, oldSets, revision);
      } catch (error) {
        await creationFailed(observed, error);
        return { deployment, newSet: undefined, oldSets };
      }
    } else return { deployment, newSet: undefined, oldSets };
    if (newSet) deployment = await noteRevision(deployment, newSet, !found);
    return { deployment, newSet, oldSets };
  }

  async function creationFailed(
    deployment: Deployment,
    error: unknown,
  ): Promise<void> {
    if (isNamespaceTerminating(error)) return;
    if (error instanceof HashCollision) {
      await writeStatus(deployment, {
        ...deployment.status,
        collisionCount: (deployment.status?.collisionCount ?? 0) + 1,
      });
      throw error;
    }
    const message = `Failed to create new replica set: ${errorText(error)}`;
    recorder.event(deployment, "Warning", "ReplicaSetCreateError", message);
    if (hasProgressDeadline(deployment))
      await writeStatus(deployment, {
        ...deployment.status,
        conditions: withDeploymentCondition(
          deployment.status?.conditions,
          {
            type: "Progressing",
            status: "False",
            reason: "FailedCreateReplicaSet",
            message,
          },
          clock.now(),
        ),
      });
    throw error;
  }

  /** The Deployment carries the newest revision's number, and says which ReplicaSet it found or made. */
  async function noteRevision(
    observed: Deployment,
    newSet: ReplicaSet,
    created: boolean,
  ): Promise<Deployment> {
    let deployment = observed;
    const revision = newSet.metadata.annotations?.[revisionAnnotation];
    const { name, namespace, annotations } = deployment.metadata;
    if (revision && annotations?.[revisionAnnotation] !== revision)
      deployment = await client.resource(deployments).patch(name, namespace, {
        type: "merge",
        body: {
          metadata: { annotations: { [revisionAnnotation]: revision } },
        },
      });
    if (!hasProgressDeadline(deployment)) return deployment;
    const known = findCondition(deployment.status?.conditions, "Progressing");
    if (!created && known) return deployment;
    // Kept in memory only: the sync's own status write carries it.
    return {
      ...deployment,
      status: {
        ...deployment.status,
        conditions: withDeploymentCondition(
          deployment.status?.conditions,
          {
            type: "Progressing",
            status: "True",
            reason: created ? "NewReplicaSetCreated" : "FoundNewReplicaSet",
            message: created
              ? `Created new replica set "${newSet.metadata.name}"`
              : `Found new replica set "${newSet.metadata.name}"`,
          },
          clock.now(),
        ),
      },
    };
  }

  /** Pausing stops the progress clock, resuming starts it anew. */
  async function notePause(deployment: Deployment): Promise<Deployment> {
    if (!hasProgressDeadline(deployment)) return deployment;
    const condition = findCondition(
      deployment.status?.conditions,
      "Progressing",
    );
    if (condition?.reason === "ProgressDeadlineExceeded") return deployment;
    const paused = deployment.spec.paused === true;
    const noted = condition?.reason === "DeploymentPaused";
    if (paused === noted) return deployment;
    return writeStatus(deployment, {
      ...deployment.status,
      conditions: withDeploymentCondition(
        deployment.status?.conditions,
        {
          type: "Progressing",
          status: "Unknown",
          reason: paused ? "DeploymentPaused" : "DeploymentResumed",
          message: paused ? "Deployment is paused" : "Deployment is resumed",
        },
        clock.now(),
      ),
    });
  }

  async function writeStatus(
    deployment: Deployment,
    status: DeploymentStatus,
  ): Promise<Deployment> {
    const { name, namespace } = deployment.metadata;
    const observed = informer.lister.get(name, namespace);
    const known = observed?.metadata.uid === deployment.metadata.uid;
    if (known && sameJson(compact(observed?.status), compact(status)))
      return deployment;
    return client.resource(deployments).updateStatus({ ...deployment, status });
  }

  function ownerOf(object: ReplicaSet): Deployment | undefined {
    const controller = controllerOf(object);
    if (controller?.kind !== "Deployment") return undefined;
    const owner = informer.lister.get(
      controller.name,
      object.metadata.namespace,
    );
    return owner?.metadata.uid === controller.uid ? owner : undefined;
  }

  function enqueueOwner(set: ReplicaSet): void {
    const owner = ownerOf(set);
    if (owner) queue.add(objectKey(owner));
  }

  function enqueueMatching(set: ReplicaSet): void {
    for (const deployment of informer.lister.list(set.metadata.namespace)) {
      const selector = selectorFromObject(deployment.spec.selector);
      if (!selector.empty && selector.matches(set.metadata.labels))
        queue.add(objectKey(deployment));
    }
  }

  /** Recreate waits for the last pod of the old revision. */
  function podDeleted(pod: Pod): void {
    const controller = controllerOf(pod);
    if (controller?.kind !== "ReplicaSet") return;
    const set = setInformer.lister.get(controller.name, pod.metadata.namespace);
    const owner = set && ownerOf(set);
    if (owner && !isRolling(owner)) queue.add(objectKey(owner));
  }

  return reconciler
    .watchAll(informer, (deployment) => queue.add(objectKey(deployment)))
    .watch(setInformer, {
      onAdd: (set) =>
        controllerOf(set) ? enqueueOwner(set) : enqueueMatching(set),
      onUpdate: (old, set) => {
        if (old.metadata.resourceVersion === set.metadata.resourceVersion)
          return;
        if (controllerOf(old)?.uid !== controllerOf(set)?.uid)
          enqueueOwner(old);
        if (controllerOf(set)) enqueueOwner(set);
        else if (
          controllerOf(old) ||
          !sameJson(old.metadata.labels, set.metadata.labels)
        )
          enqueueMatching(set);
      },
      onDelete: enqueueOwner,
    })
    .watch(podInformer, { onDelete: podDeleted });
}

/** A status without zeros, which the API leaves out. */
function compact(
  status: DeploymentStatus | undefined,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(status ?? {}).filter(
      ([, value]) =>
        value !== 0 && !(Array.isArray(value) && value.length === 0),
    ),
  );
}
