// Runs the numbered pods of a StatefulSet: made in order and removed in reverse, one at a time (OrderedReady) or all at
// once (Parallel), each with its own claims; rolls templates out from the highest ordinal down to the partition.
import { isAlreadyExists } from "../../api/errors.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import { selectorFromObject } from "../../api/selectors.ts";
import type {
  ControllerRevision,
  StatefulSet,
  StatefulSetStatus,
} from "../../api/types/apps-v1.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { controllerOf } from "../../api/objects/owner-references.ts";
import {
  isPodAvailable,
  isPodReady,
  isPodTerminal,
} from "../../api/objects/pod-state.ts";
import {
  controllerRevisions,
  persistentVolumeClaims,
  pods,
  statefulSets,
} from "../../client/resources.ts";
import { claimObjects } from "../workloads/adoption.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { controllerIndex, orphansOf } from "../workloads/informer-indexes.ts";
import { errorText, isNamespaceTerminating } from "../workloads/pod-control.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import {
  currentRevision,
  listRevisions,
  trimRevisions,
  revisionHash,
} from "../workloads/revision-history.ts";
import {
  claimsOf,
  firstOrdinal,
  newPod,
  ordinalOf,
  podName,
  revisionNameOf,
} from "./pod-identity.ts";
import { podsToScaleDown } from "./scale-down.ts";

interface Plan {
  set: StatefulSet;
  owned: Pod[];
  current: ControllerRevision;
  update: ControllerRevision;
}

export function createStatefulSetController(
  context: ControllerContext,
): Controller {
  const { client, clock } = context;
  const informer = client.informer(statefulSets);
  const podInformer = client.informer(pods, {
    indexes: { controller: controllerIndex },
  });
  const claimInformer = client.informer(persistentVolumeClaims);
  const revisionInformer = client.informer(controllerRevisions, {
    indexes: { controller: controllerIndex },
  });
  const recorder = context.recorder("statefulset-controller");
  const podClient = client.resource(pods);
  const reconciler = new Reconciler({
    name: "statefulset-controller",
    context,
    concurrency: context.options.concurrentStatefulsetSyncs,
    reconcile,
  });
  const { queue } = reconciler;

  async function reconcile(key: string): Promise<ReconcileResult> {
    const { name, namespace } = splitKey(key);
    const set = informer.lister.get(name, namespace);
    if (!set) return;
    const selector = selectorFromObject(set.spec.selector);
    const given = {
      client,
      ref: statefulSets,
      owner: set,
      selector,
      template: set.spec.template,
      labels: set.spec.template.metadata?.labels ?? {},
      collisionCount: set.status?.collisionCount,
    };
    const history = await listRevisions(given, revisionInformer);
    const { revision: update, collision } = await currentRevision(
      given,
      history,
    );
    if (collision) {
      await writeStatus(set, {
        ...set.status!,
        collisionCount: (set.status?.collisionCount ?? 0) + 1,
      });
      throw new Error("controller revision name collided");
    }
    const current =
      history.find(
        (revision) => revision.metadata.name === set.status?.currentRevision,
      ) ?? update;
    const owned = (
      await claimObjects({
        client,
        ownerRef: statefulSets,
        owner: set,
        selector,
        ref: pods,
        candidates: [
          ...podInformer.lister.byIndex("controller", set.metadata.uid ?? ""),
          ...podInformer.lister
            .byIndex("controller", orphansOf(namespace))
            .filter((pod) => ordinalOf(set, pod) >= 0),
        ],
      })
    ).filter((pod) => ordinalOf(set, pod) >= 0);
    const plan = { set, owned, current, update };
    let failure: unknown;
    try {
      if (!set.metadata.deletionTimestamp) await step(plan);
    } catch (error) {
      failure = error;
    }
    const status = statusOf(plan);
    await writeStatus(set, status);
    if (failure !== undefined) throw failure;
    const inUse = new Set(
      [current, update].map((revision) => revisionHash(revision)),
    );
    for (const revision of history)
      if (owned.some((pod) => revisionNameOf(pod) === revision.metadata.name))
        inUse.add(revisionHash(revision));
    await trimRevisions(
      client,
      history,
      inUse,
      set.spec.revisionHistoryLimit ?? 10,
    );
    const { minReadySeconds = 0 } = set.spec;
    if (
      minReadySeconds > 0 &&
      (status.readyReplicas ?? 0) !== (status.availableReplicas ?? 0)
    )
      return { requeueAfterMs: minReadySeconds * 1000 };
  }

  const isHealthy = (pod: Pod): boolean =>
    pod.status?.phase === "Running" &&
    isPodReady(pod) &&
    !pod.metadata.deletionTimestamp;
  const isAvailable = (set: StatefulSet, pod: Pod): boolean =>
    isHealthy(pod) &&
    isPodAvailable(pod, set.spec.minReadySeconds ?? 0, clock.now());

  /** Makes the writes that order allows now. */
  async function step({ set, owned, current, update }: Plan): Promise<void> {
    const ordered = set.spec.podManagementPolicy !== "Parallel";
    const start = firstOrdinal(set);
    const end = start + (set.spec.replicas ?? 1);
    const byOrdinal = new Map(owned.map((pod) => [ordinalOf(set, pod), pod]));
    for (let ordinal = start; ordinal < end; ordinal++) {
      const pod = byOrdinal.get(ordinal);
      if (!pod) {
        await createPod(
          set,
          ordinal,
          usesCurrent(set, ordinal, current, update) ? current : update,
        );
        if (ordered) return;
        continue;
      }
      if (isPodTerminal(pod) && !pod.metadata.deletionTimestamp) {
        const ended = pod.status?.phase === "Failed" ? "Failed" : "Succeeded";
        recorder.event(
          set,
          ended === "Failed" ? "Warning" : "Normal",
          ended === "Failed"
            ? "RecreatingFailedPod"
            : "RecreatingTerminatedPod",
          `StatefulSet ${objectKey(set)} is recreating ${ended === "Failed" ? "failed" : "terminated"} Pod ${pod.metadata.name}`,
        );
        await deletePod(set, pod);
        if (ordered) return;
        continue;
      }
      if (ordered && !isAvailable(set, pod)) return;
      await ensureClaims(set, ordinal);
    }
    const condemned = owned
      .filter((pod) => {
        const ordinal = ordinalOf(set, pod);
        return ordinal < start || ordinal >= end;
      })
      .sort((a, b) => ordinalOf(set, b) - ordinalOf(set, a));
    const going = podsToScaleDown(condemned, ordered, {
      isHealthy,
      isAvailable: (pod) => isAvailable(set, pod),
    });
    for (const pod of going) await deletePod(set, pod);
    if (ordered && condemned.length > 0) return;
    if (set.spec.updateStrategy?.type === "OnDelete") return;
    const partition = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0;
    for (let ordinal = end - 1; ordinal >= start + partition; ordinal--) {
      const pod = byOrdinal.get(ordinal);
      if (!pod) return;
      if (
        revisionNameOf(pod) !== update.metadata.name &&
        !pod.metadata.deletionTimestamp
      )
        return deletePod(set, pod);
      if (!isAvailable(set, pod)) return;
    }
  }

  /** Is a missing pod to be made of the old template, because the rollout has not reached it? */
  function usesCurrent(
    set: StatefulSet,
    ordinal: number,
    current: ControllerRevision,
    update: ControllerRevision,
  ): boolean {
    if (current === update) return false;
    const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
    if (type === "OnDelete") return false;
    return ordinal - firstOrdinal(set) < (rollingUpdate?.partition ?? 0);
  }

  async function ensureClaims(
    set: StatefulSet,
    ordinal: number,
  ): Promise<void> {
    for (const claim of claimsOf(set, ordinal)) {
      const { name, namespace } = claim.metadata;
      if (claimInformer.lister.get(name, namespace)) continue;
      const what = `Claim ${name} Pod ${podName(set, ordinal)} in StatefulSet ${set.metadata.name}`;
      try {
        await client.resource(persistentVolumeClaims).create(claim);
        recorder.event(
          set,
          "Normal",
          "SuccessfulCreate",
          `create ${what} success`,
        );
      } catch (error) {
        if (isAlreadyExists(error)) continue;
        recorder.event(
          set,
          "Warning",
          "FailedCreate",
          `create ${what} failed error: ${errorText(error)}`,
        );
        throw error;
      }
    }
  }

  async function createPod(
    set: StatefulSet,
    ordinal: number,
    revision: ControllerRevision,
  ): Promise<void> {
    await ensureClaims(set, ordinal);
    const what = `Pod ${podName(set, ordinal)} in StatefulSet ${set.metadata.name}`;
    try {
      await podClient.create(newPod(set, ordinal, revision));
      recorder.event(
        set,
        "Normal",
        "SuccessfulCreate",
        `create ${what} successful`,
      );
    } catch (error) {
      if (isAlreadyExists(error) || isNamespaceTerminating(error)) return;
      recorder.event(
        set,
        "Warning",
        "FailedCreate",
        `create ${what} failed error: ${errorText(error)}`,
      );
      throw error;
    }
  }

  async function deletePod(set: StatefulSet, pod: Pod): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    await podClient.delete(
      name,
      namespace,
      uid ? { preconditions: { uid } } : {},
    );
    recorder.event(
      set,
      "Normal",
      "SuccessfulDelete",
      `delete Pod ${name} in StatefulSet ${set.metadata.name} successful`,
    );
  }

  function statusOf({ set, owned, current, update }: Plan): StatefulSetStatus {
    const isOf = (pod: Pod, revision: ControllerRevision): boolean =>
      revisionNameOf(pod) === revision.metadata.name &&
      !pod.metadata.deletionTimestamp;
    const ready = owned.filter(isHealthy);
    const { collisionCount, conditions } = set.status ?? {};
    const status: StatefulSetStatus = {
      replicas: owned.length,
      readyReplicas: ready.length,
      availableReplicas: ready.filter((pod) => isAvailable(set, pod)).length,
      currentReplicas: owned.filter((pod) => isOf(pod, current)).length,
      updatedReplicas: owned.filter((pod) => isOf(pod, update)).length,
      currentRevision: current.metadata.name,
      updateRevision: update.metadata.name,
      observedGeneration: set.metadata.generation ?? 0,
      collisionCount: collisionCount ?? 0,
      ...(conditions ? { conditions } : {}),
    };
    const rolling =
      (set.spec.updateStrategy?.type ?? "RollingUpdate") === "RollingUpdate";
    if (
      rolling &&
      status.updatedReplicas === (set.spec.replicas ?? 1) &&
      status.updatedReplicas === status.replicas &&
      status.readyReplicas === status.replicas
    ) {
      status.currentReplicas = status.updatedReplicas;
      status.currentRevision = update.metadata.name;
    }
    return status;
  }

  async function writeStatus(
    set: StatefulSet,
    status: StatefulSetStatus,
  ): Promise<void> {
    if (sameJson(withoutZeros(set.status), withoutZeros(status))) return;
    await client.resource(statefulSets).updateStatus({ ...set, status });
  }

  function enqueueOwner(pod: Pod): void {
    const controller = controllerOf(pod);
    if (controller) {
      if (controller.kind === "StatefulSet")
        queue.add(`${pod.metadata.namespace}/${controller.name}`);
      return;
    }
    for (const set of informer.lister.list(pod.metadata.namespace))
      if (
        ordinalOf(set, pod) >= 0 &&
        selectorFromObject(set.spec.selector).matches(pod.metadata.labels)
      )
        queue.add(objectKey(set));
  }

  return reconciler
    .watchAll(informer, (set) => queue.add(objectKey(set)))
    .watch(podInformer, {
      onAdd: enqueueOwner,
      onUpdate: (old, pod) => {
        if (controllerOf(old)?.uid !== controllerOf(pod)?.uid)
          enqueueOwner(old);
        enqueueOwner(pod);
      },
      onDelete: enqueueOwner,
    });
}

function withoutZeros(status: object | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(status ?? {}).filter(([, value]) => value !== 0),
  );
}
