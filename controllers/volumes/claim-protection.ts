// Keeps claims that a pod uses, and volumes that a claim is bound to, until they are used no more: removes the finalizer
// that admission put there when a deleted one is free, and gives it to those that lack it.
//
// A pod that no node has taken yet does not hold a claim: the agent would not start it with a claim that is going. Nor does
// one that its agent is done with hold a claim that was made for it: that pod may have to wait for the claim.
import { objectKey, splitKey } from "../../api/object.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from "../../api/types/core-v1.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ResourceRef } from "../../client/client.ts";
import {
  persistentVolumeClaims,
  persistentVolumes,
  pods,
} from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import {
  claimIndex,
  claimKeysOf,
  claimNameOf,
  isOwnedByPod,
} from "../../api/objects/volumes/pod-claims.ts";

const CLAIM_FINALIZER = "kubernetes.io/pvc-protection";
const VOLUME_FINALIZER = "kubernetes.io/pv-protection";

export function createClaimProtectionController(
  context: ControllerContext,
): Controller {
  const { client } = context;
  const claims = client.informer(persistentVolumeClaims);
  const podInformer = client.informer(pods, { indexes: { claim: claimIndex } });
  const reconciler = new Reconciler({
    name: "persistentvolumeclaim-protection-controller",
    context,
    reconcile: async (key) => {
      const { name, namespace } = splitKey(key);
      const claim = claims.lister.get(name, namespace);
      if (!claim) return;
      await protect(
        context,
        persistentVolumeClaims,
        claim,
        CLAIM_FINALIZER,
        async () => {
          const using = (pod: Pod): boolean => isUsedBy(claim, pod);
          if (podInformer.lister.byIndex("claim", key).some(using)) return true;
          // The cache may be behind a pod that just came.
          const { items } = await client.resource(pods).list({ namespace });
          return items.some(using);
        },
      );
    },
  });
  const { queue } = reconciler;
  const look = (claim: PersistentVolumeClaim): void => {
    if (needsLook(claim, CLAIM_FINALIZER)) queue.add(objectKey(claim));
  };
  const release = (pod: Pod): void => {
    for (const key of claimKeysOf(pod)) queue.add(key);
  };
  return reconciler
    .watch(claims, { onAdd: look, onUpdate: (_, claim) => look(claim) })
    .watch(podInformer, {
      onUpdate: (old, pod) => {
        // After a gap in the watch a pod and its successor of the same name are one update.
        if (old.metadata.uid !== pod.metadata.uid) release(old);
        if (isShutDown(pod) && !isShutDown(old)) release(pod);
      },
      onDelete: release,
    });
}

function isUsedBy(claim: PersistentVolumeClaim, pod: Pod): boolean {
  const { spec } = pod;
  if (!spec.nodeName) return false;
  return (spec.volumes ?? []).some(
    (volume) =>
      claimNameOf(pod, volume) === claim.metadata.name &&
      (!volume.ephemeral || (!isShutDown(pod) && isOwnedByPod(claim, pod))),
  );
}

/** Its agent is done with it, or it was deleted by force: only finalizers hold it. */
function isShutDown({ metadata }: Pod): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0;
}

export function createVolumeProtectionController(
  context: ControllerContext,
): Controller {
  const volumes = context.client.informer(persistentVolumes);
  const reconciler = new Reconciler({
    name: "persistentvolume-protection-controller",
    context,
    reconcile: async (name) => {
      const volume = volumes.lister.get(name);
      if (volume)
        await protect(
          context,
          persistentVolumes,
          volume,
          VOLUME_FINALIZER,
          () => Promise.resolve(volume.status?.phase === "Bound"),
        );
    },
  });
  const look = (volume: PersistentVolume): void => {
    if (needsLook(volume, VOLUME_FINALIZER))
      reconciler.queue.add(volume.metadata.name);
  };
  return reconciler.watch(volumes, {
    onAdd: look,
    onUpdate: (_, volume) => look(volume),
  });
}

function needsLook({ metadata }: KubeObject, finalizer: string): boolean {
  const has = metadata.finalizers?.includes(finalizer) ?? false;
  return metadata.deletionTimestamp ? has : !has;
}

async function protect<T extends KubeObject>(
  { client }: ControllerContext,
  ref: ResourceRef<T>,
  object: T,
  finalizer: string,
  inUse: () => Promise<boolean>,
): Promise<void> {
  const { metadata } = object;
  if (!needsLook(object, finalizer)) return;
  if (metadata.deletionTimestamp && (await inUse())) return;
  const others = (metadata.finalizers ?? []).filter(
    (each) => each !== finalizer,
  );
  await client.resource(ref).update({
    ...object,
    metadata: {
      ...metadata,
      finalizers: metadata.deletionTimestamp ? others : [...others, finalizer],
    },
  });
}
