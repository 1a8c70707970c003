// Binds claims to volumes that exist, and keeps the phases of both. Nothing is provisioned and nothing is deleted:
// external provisioners do that for their classes. The volume is written first (its claimRef is the decision, guarded by
// its resourceVersion), then the claim; whenever it is cut off between the two, the next run finds the claimRef.
//
// Claims of a WaitForFirstConsumer class are bound once a pod that uses them has a node.
import { isNotFound } from "../../api/errors.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from "../../api/types/core-v1.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import {
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import { claimIndex, claimKeysOf } from "../../api/objects/pod-claims.ts";
import {
  bestVolume,
  classOf,
  isReservedFor,
} from "../../api/objects/volume-match.ts";

const boundByController = "pv.kubernetes.io/bound-by-controller";
const bindCompleted = "pv.kubernetes.io/bind-completed";
const selectedNode = "volume.kubernetes.io/selected-node";
const volumeKey = "volume:";

export function createVolumeBinder(context: ControllerContext): Controller {
  const { client } = context;
  const claims = client.informer(persistentVolumeClaims);
  const volumes = client.informer(persistentVolumes);
  const classes = client.informer(storageClasses);
  const nodeInformer = client.informer(nodes);
  const podInformer = client.informer(pods, { indexes: { claim: claimIndex } });
  const recorder = context.recorder("persistentvolume-controller");
  const reconciler = new Reconciler({
    name: "persistentvolume-binder-controller",
    context,
    reconcile: (key) =>
      key.startsWith(volumeKey)
        ? reconcileVolume(key.slice(volumeKey.length))
        : reconcileClaim(key),
  });
  const { queue } = reconciler;

  async function reconcileClaim(key: string): Promise<void> {
    const { name, namespace } = splitKey(key);
    const claim = claims.lister.get(name, namespace);
    if (!claim || claim.metadata.deletionTimestamp) return;
    const volumeName = claim.spec?.volumeName;
    const volume = volumeName
      ? volumes.lister.get(volumeName)
      : choose(claim, key);
    if (volume && (isReservedFor(volume, claim) || !volume.spec?.claimRef))
      return bind(volume, claim);
    // What was bound and has lost its volume can't be helped; what never was waits.
    if (volumeName && claim.metadata.annotations?.[bindCompleted])
      await writeClaimStatus(claim, { phase: "Lost" });
  }

  function choose(
    claim: PersistentVolumeClaim,
    key: string,
  ): PersistentVolume | undefined {
    const className = classOf(claim);
    const storageClass = className ? classes.lister.get(className) : undefined;
    const waits = storageClass?.volumeBindingMode === "WaitForFirstConsumer";
    const node = waits ? nodeOf(claim, key) : undefined;
    const found = bestVolume(claim, volumes.lister.list(), node);
    if (waits && !node && !(found && isReservedFor(found, claim))) {
      recorder.event(
        claim,
        "Normal",
        "WaitForFirstConsumer",
        "waiting for first consumer to be created before binding",
      );
      return undefined;
    }
    if (!found && className === "")
      recorder.event(
        claim,
        "Normal",
        "FailedBinding",
        "no persistent volumes available for this claim and no storage class is set",
      );
    else if (!found && !storageClass)
      recorder.event(
        claim,
        "Warning",
        "ProvisioningFailed",
        `storageclass.storage.k8s.io "${className}" not found`,
      );
    return found;
  }

  function nodeOf(claim: PersistentVolumeClaim, key: string): Node | undefined {
    const name =
      claim.metadata.annotations?.[selectedNode] ??
      podInformer.lister.byIndex("claim", key).find(({ spec }) => spec.nodeName)
        ?.spec.nodeName;
    return name ? nodeInformer.lister.get(name) : undefined;
  }

  async function bind(
    volume: PersistentVolume,
    claim: PersistentVolumeClaim,
  ): Promise<void> {
    const { name, namespace, uid, resourceVersion } = claim.metadata;
    if (volume.spec?.claimRef?.uid !== uid) {
      const chosen = !volume.spec?.claimRef;
      volume = await client.resource(persistentVolumes).update({
        ...volume,
        metadata: {
          ...volume.metadata,
          ...(chosen
            ? {
                annotations: {
                  ...volume.metadata.annotations,
                  [boundByController]: "yes",
                },
              }
            : {}),
        },
        spec: {
          ...volume.spec,
          claimRef: {
            ...volume.spec?.claimRef,
            kind: "PersistentVolumeClaim",
            apiVersion: "v1",
            name,
            ...(namespace ? { namespace } : {}),
            ...(uid ? { uid } : {}),
            ...(resourceVersion ? { resourceVersion } : {}),
          },
        },
      });
    }
    const annotations = claim.metadata.annotations ?? {};
    if (!claim.spec?.volumeName || !annotations[bindCompleted])
      claim = await client.resource(persistentVolumeClaims).update({
        ...claim,
        metadata: {
          ...claim.metadata,
          annotations: {
            ...annotations,
            [bindCompleted]: "yes",
            ...(claim.spec?.volumeName ? {} : { [boundByController]: "yes" }),
          },
        },
        spec: { ...claim.spec, volumeName: volume.metadata.name },
      });
    await writeVolumeStatus(volume, { phase: "Bound" });
    await writeClaimStatus(claim, {
      phase: "Bound",
      ...(volume.spec?.accessModes
        ? { accessModes: volume.spec.accessModes }
        : {}),
      ...(volume.spec?.capacity ? { capacity: volume.spec.capacity } : {}),
    });
  }

  async function reconcileVolume(name: string): Promise<void> {
    const volume = volumes.lister.get(name);
    // One that is being deleted as well: its protection ends when it is no longer Bound.
    if (!volume) return;
    const ref = volume.spec?.claimRef;
    if (!ref?.name) {
      await writeVolumeStatus(volume, { phase: "Available" });
      for (const claim of claims.lister.list())
        if (!claim.spec?.volumeName || claim.spec.volumeName === name)
          queue.add(objectKey(claim));
      return;
    }
    const claim = await readClaim(ref.name, ref.namespace ?? "");
    if (claim && (!ref.uid || claim.metadata.uid === ref.uid)) {
      queue.add(objectKey(claim));
      if (!ref.uid) await writeVolumeStatus(volume, { phase: "Available" });
    } else if (!ref.uid)
      await writeVolumeStatus(volume, { phase: "Available" });
    else if (volume.status?.phase !== "Failed")
      await writeVolumeStatus(volume, { phase: "Released" });
  }

  /** Past the cache: a volume is released for good. */
  async function readClaim(
    name: string,
    namespace: string,
  ): Promise<PersistentVolumeClaim | undefined> {
    try {
      return await client.resource(persistentVolumeClaims).get(name, namespace);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async function writeVolumeStatus(
    volume: PersistentVolume,
    status: NonNullable<PersistentVolume["status"]>,
  ): Promise<void> {
    if (volume.status?.phase === status.phase) return;
    await client
      .resource(persistentVolumes)
      .updateStatus({ ...volume, status: { ...volume.status, ...status } });
  }

  async function writeClaimStatus(
    claim: PersistentVolumeClaim,
    status: NonNullable<PersistentVolumeClaim["status"]>,
  ): Promise<void> {
    const next = { ...claim.status, ...status };
    if (sameJson(claim.status, next)) return;
    await client
      .resource(persistentVolumeClaims)
      .updateStatus({ ...claim, status: next });
  }

  const lookForClaims = (pod: Pod): void => {
    if (!pod.spec.nodeName) return;
    for (const key of claimKeysOf(pod)) queue.add(key);
  };
  return reconciler
    .resync(context.options.pvclaimbinderSyncPeriodMs, () => [
      ...claims.lister.list().map(objectKey),
      ...volumes.lister.list().map(({ metadata }) => volumeKey + metadata.name),
    ])
    .watchAll(claims, (claim) => {
      queue.add(objectKey(claim));
      if (claim.spec?.volumeName) queue.add(volumeKey + claim.spec.volumeName);
    })
    .watchAll(volumes, (volume) => {
      queue.add(volumeKey + volume.metadata.name);
      const ref = volume.spec?.claimRef;
      if (ref?.name) queue.add(`${ref.namespace ?? ""}/${ref.name}`);
    })
    .watch(classes, {
      onAdd: ({ metadata }) => {
        for (const claim of claims.lister.list())
          if (classOf(claim) === metadata.name) queue.add(objectKey(claim));
      },
    })
    .watch(nodeInformer, {})
    .watch(podInformer, {
      onAdd: lookForClaims,
      onUpdate: (old, pod) => {
        if (old.spec.nodeName !== pod.spec.nodeName) lookForClaims(pod);
      },
    });
}
