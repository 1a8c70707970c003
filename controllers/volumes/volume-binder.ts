// Binds claims to volumes, and keeps the phases of both; for a claim that no volume suits one is provisioned
// (provisioning.ts), and released volumes are reclaimed (reclaiming.ts). The volume is written first (its claimRef is the
// decision, guarded by its resourceVersion), then the claim; whenever it is cut off between the two, the next run finds
// the claimRef.
//
// Claims of a WaitForFirstConsumer class are bound once the scheduler has chosen a node for a pod that uses them, or such
// a pod has a node.
import { isNotFound } from "../../api/errors.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from "../../api/types/core-v1.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { isPodTerminal } from "../../api/objects/pod-state.ts";
import {
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from "../../client/resources.ts";
import type { StorageClass } from "../../api/types/storage-v1.ts";
import type { Client } from "../../client/client.ts";
import type { EventWriter } from "../../client/event-recorder.ts";
import { volumeCounts } from "./volume-counts.ts";
import { VolumeOperations } from "./volume-operations.ts";
import type { Informer } from "../../client/informer.ts";
import type { Controller, ControllerContext } from "../context.ts";
import {
  boundClaimStatus,
  claimBoundTo,
  volumeBoundTo,
  wasBound,
} from "../../api/objects/volumes/volume-binding.ts";
import { Reconciler, RetryLater } from "../reconciler.ts";
import { HostPathDirectories } from "./host-path-directories.ts";
import {
  noProvisioner,
  provisionedBy,
  provisionVolume,
} from "./provisioning.ts";
import { reclaim, withoutDeletionFinalizer } from "./reclaiming.ts";
import { recycle, recycledVolume } from "./recycling.ts";
import {
  claimIndex,
  claimKeysOf,
} from "../../api/objects/volumes/pod-claims.ts";
import {
  bestVolume,
  classOf,
  defaultClass,
  isReservedFor,
} from "../../api/objects/volumes/volume-match.ts";

const selectedNode = "volume.kubernetes.io/selected-node";
const volumeKey = "volume:";

const volumeIsGone = [
  "ClaimLost",
  "Bound claim has lost its PersistentVolume. Data on the volume is lost!",
] as const;
const boundToAnother = [
  "ClaimMisbound",
  "Two claims are bound to the same volume, this one is bound incorrectly",
] as const;

export function createVolumeBinder(context: ControllerContext): Controller {
  return new VolumeBinder(context).reconciler;
}

class VolumeBinder {
  readonly reconciler: Reconciler;
  readonly #client: Client;
  readonly #claims: Informer<PersistentVolumeClaim>;
  readonly #volumes: Informer<PersistentVolume>;
  readonly #classes: Informer<StorageClass>;
  readonly #nodes: Informer<Node>;
  readonly #pods: Informer<Pod>;
  readonly #recorder: EventWriter;
  readonly #options: ControllerContext["options"];
  readonly #hostPaths = new HostPathDirectories();
  readonly #operations: VolumeOperations;

  constructor(context: ControllerContext) {
    const { client, options, clock } = context;
    this.#operations = new VolumeOperations(clock);
    this.#client = client;
    this.#claims = client.informer(persistentVolumeClaims);
    this.#volumes = client.informer(persistentVolumes);
    context.metrics?.add("persistentvolume-binder", () => [
      ...volumeCounts(this.#volumes.lister.list(), this.#claims.lister.list()),
      ...this.#operations.families(),
    ]);
    this.#classes = client.informer(storageClasses);
    this.#nodes = client.informer(nodes);
    this.#pods = client.informer(pods, { indexes: { claim: claimIndex } });
    this.#recorder = context.recorder("persistentvolume-controller");
    this.#options = options;
    this.reconciler = new Reconciler({
      name: "persistentvolume-binder-controller",
      context,
      reconcile: (key) =>
        key.startsWith(volumeKey)
          ? this.#reconcileVolume(key.slice(volumeKey.length))
          : this.#reconcileClaim(key),
    });
    this.#watch(options.pvclaimbinderSyncPeriodMs);
  }

  async #reconcileClaim(key: string): Promise<void> {
    const { name, namespace } = splitKey(key);
    const claim = this.#claims.lister.get(name, namespace);
    if (!claim || claim.metadata.deletionTimestamp) return;
    const volumeName = claim.spec?.volumeName;
    const volume = volumeName
      ? this.#volumes.lister.get(volumeName)
      : await this.#choose(claim, key);
    if (volume && (isReservedFor(volume, claim) || !volume.spec?.claimRef))
      return this.#bind(volume, claim);
    if (volumeName && wasBound(claim) && claim.status?.phase !== "Lost") {
      await this.#writeClaimStatus(claim, { phase: "Lost" });
      const [reason, message] = volume ? boundToAnother : volumeIsGone;
      this.#recorder.event(claim, "Warning", reason, message);
    }
  }

  /** A volume that exists; for the next run one is provisioned otherwise. */
  async #choose(
    claim: PersistentVolumeClaim,
    key: string,
  ): Promise<PersistentVolume | undefined> {
    const className = classOf(claim);
    const storageClass = className
      ? this.#classes.lister.get(className)
      : undefined;
    const waits = storageClass?.volumeBindingMode === "WaitForFirstConsumer";
    const node = waits ? this.#nodeOf(claim, key) : undefined;
    const found = bestVolume(claim, this.#volumes.lister.list(), node);
    if (waits && !node && !(found && isReservedFor(found, claim))) {
      this.#reportWaiting(claim, key);
      return undefined;
    }
    if (found) return found;
    if (className === "") return this.#withoutClass(claim);
    if (!storageClass)
      this.#recorder.event(
        claim,
        "Warning",
        "ProvisioningFailed",
        `storageclass.storage.k8s.io "${className}" not found`,
      );
    else if (this.#options.enableDynamicProvisioning) {
      const { provisioner } = storageClass;
      if (provisioner !== noProvisioner)
        this.#operations.begin(key, provisioner, "provision");
      await provisionVolume(
        {
          client: this.#client,
          recorder: this.#recorder,
          ...(this.#options.enableHostpathProvisioner
            ? { hostPaths: this.#hostPaths }
            : {}),
        },
        claim,
        storageClass,
        node,
      ).catch((error: unknown) => {
        this.#operations.fail(key);
        throw error;
      });
    }
    return undefined;
  }

  /** A claim that was made before there was a default class gets it; one that asks for none ("") never does. */
  async #withoutClass(claim: PersistentVolumeClaim): Promise<undefined> {
    const byDefault =
      claim.spec?.storageClassName === undefined
        ? defaultClass(this.#classes.lister.list())
        : undefined;
    if (byDefault) {
      await this.#client.resource(persistentVolumeClaims).update({
        ...claim,
        spec: { ...claim.spec, storageClassName: byDefault.metadata.name },
      });
      return;
    }
    this.#recorder.event(
      claim,
      "Normal",
      "FailedBinding",
      "no persistent volumes available for this claim and no storage class is set",
    );
  }

  #reportWaiting(claim: PersistentVolumeClaim, key: string): void {
    const names = this.#pods.lister
      .byIndex("claim", key)
      .filter(({ spec }) => !spec.nodeName)
      .map(({ metadata }) => metadata.name);
    if (names.length === 0)
      this.#recorder.event(
        claim,
        "Normal",
        "WaitForFirstConsumer",
        "waiting for first consumer to be created before binding",
      );
    else
      this.#recorder.event(
        claim,
        "Normal",
        "WaitForPodScheduled",
        `waiting for pod${names.length > 1 ? "s" : ""} ${names.join(",")} to be scheduled`,
      );
  }

  #nodeOf(claim: PersistentVolumeClaim, key: string): Node | undefined {
    const name =
      claim.metadata.annotations?.[selectedNode] ??
      this.#pods.lister.byIndex("claim", key).find(({ spec }) => spec.nodeName)
        ?.spec.nodeName;
    return name ? this.#nodes.lister.get(name) : undefined;
  }

  async #bind(
    volume: PersistentVolume,
    claim: PersistentVolumeClaim,
  ): Promise<void> {
    const reserved = volumeBoundTo(volume, claim);
    const bound =
      reserved === volume
        ? volume
        : await this.#client.resource(persistentVolumes).update(reserved);
    const following = claimBoundTo(claim, bound);
    const followed =
      following === claim
        ? claim
        : await this.#client.resource(persistentVolumeClaims).update(following);
    await this.#writeVolumeStatus(bound, { phase: "Bound" });
    await this.#writeClaimStatus(followed, boundClaimStatus(bound, followed));
    this.#operations.end(objectKey(claim));
  }

  async #reconcileVolume(name: string): Promise<void> {
    const seen = this.#volumes.lister.get(name);
    // One that is being deleted as well: its protection ends when it is no longer Bound.
    if (!seen) return;
    const volume =
      seen.spec?.persistentVolumeReclaimPolicy === "Delete"
        ? seen
        : await withoutDeletionFinalizer(this.#client, seen);
    const ref = volume.spec?.claimRef;
    if (!ref?.name) {
      await this.#writeVolumeStatus(volume, { phase: "Available" });
      for (const claim of this.#claims.lister.list())
        if (!claim.spec?.volumeName || claim.spec.volumeName === name)
          this.reconciler.queue.add(objectKey(claim));
      return;
    }
    const claim = await this.#readClaim(ref.name, ref.namespace ?? "");
    if (claim && (!ref.uid || claim.metadata.uid === ref.uid)) {
      this.reconciler.queue.add(objectKey(claim));
      if (!ref.uid)
        await this.#writeVolumeStatus(volume, { phase: "Available" });
    } else if (!ref.uid)
      await this.#writeVolumeStatus(volume, { phase: "Available" });
    else await this.#release(volume);
  }

  async #release(volume: PersistentVolume): Promise<void> {
    if (volume.status?.phase !== "Failed")
      await this.#writeVolumeStatus(volume, { phase: "Released" });
    const { name } = volume.metadata;
    const plugin = volume.metadata.annotations?.[provisionedBy] ?? "";
    if (volume.spec?.persistentVolumeReclaimPolicy === "Delete")
      this.#operations.begin(volumeKey + name, plugin, "delete");
    const recycled =
      volume.spec?.persistentVolumeReclaimPolicy === "Recycle" &&
      volume.status?.phase !== "Failed";
    const failure = recycled
      ? await recycle(
          {
            client: this.#client,
            recorder: this.#recorder,
            options: this.#options,
          },
          await this.#client
            .resource(persistentVolumes)
            .get(volume.metadata.name),
        )
      : await reclaim(
          { client: this.#client, hostPaths: this.#hostPaths },
          volume,
        );
    if (!failure) return;
    this.#operations.fail(volumeKey + name);
    const { reason, message, again } = failure;
    if (volume.status?.phase === "Failed") {
      if (again) throw new RetryLater(message);
      return;
    }
    this.#recorder.event(volume, "Warning", reason, message);
    const current = await this.#client
      .resource(persistentVolumes)
      .get(volume.metadata.name);
    await this.#writeVolumeStatus(current, { phase: "Failed", message });
  }

  /** Past the cache: a volume is released for good. */
  async #readClaim(
    name: string,
    namespace: string,
  ): Promise<PersistentVolumeClaim | undefined> {
    try {
      return await this.#client
        .resource(persistentVolumeClaims)
        .get(name, namespace);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #writeVolumeStatus(
    volume: PersistentVolume,
    status: NonNullable<PersistentVolume["status"]>,
  ): Promise<void> {
    if (volume.status?.phase === status.phase) return;
    await this.#client
      .resource(persistentVolumes)
      .updateStatus({ ...volume, status: { ...volume.status, ...status } });
  }

  async #writeClaimStatus(
    claim: PersistentVolumeClaim,
    status: NonNullable<PersistentVolumeClaim["status"]>,
  ): Promise<void> {
    const next = { ...claim.status, ...status };
    if (sameJson(claim.status, next)) return;
    await this.#client
      .resource(persistentVolumeClaims)
      .updateStatus({ ...claim, status: next });
  }

  #watch(resyncMs: number): void {
    const { queue } = this.reconciler;
    const lookForClaims = (pod: Pod): void => {
      if (!pod.spec.nodeName) return;
      for (const key of claimKeysOf(pod)) queue.add(key);
    };
    this.reconciler
      .resync(resyncMs, () => [
        ...this.#claims.lister.list().map(objectKey),
        ...this.#volumes.lister
          .list()
          .map(({ metadata }) => volumeKey + metadata.name),
      ])
      .watchAll(this.#claims, (claim) => {
        queue.add(objectKey(claim));
        const volumeName = claim.spec?.volumeName;
        if (volumeName) queue.add(volumeKey + volumeName);
      })
      .watchAll(this.#volumes, (volume) => {
        queue.add(volumeKey + volume.metadata.name);
        const ref = volume.spec?.claimRef;
        if (ref?.name) queue.add(`${ref.namespace ?? ""}/${ref.name}`);
      })
      .watch(this.#classes, {
        onAdd: ({ metadata }) => {
          for (const claim of this.#claims.lister.list())
            if (["", metadata.name].includes(classOf(claim)))
              queue.add(objectKey(claim));
        },
      })
      .watch(this.#claims, {
        onDelete: (claim) => this.#operations.forget(objectKey(claim)),
      })
      .watch(this.#volumes, {
        onDelete: ({ metadata }) =>
          this.#operations.end(volumeKey + metadata.name),
      })
      .watch(this.#nodes, {})
      .watch(this.#pods, {
        onAdd: lookForClaims,
        onUpdate: (old, pod) => {
          if (old.spec.nodeName !== pod.spec.nodeName) lookForClaims(pod);
          const recycled = recycledVolume(pod);
          if (recycled && isPodTerminal(pod)) queue.add(volumeKey + recycled);
        },
      });
  }
}
