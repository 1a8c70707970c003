// Attaches volumes of CSI drivers to the nodes whose pods need them, by VolumeAttachment objects that the drivers' own
// attachers fulfil, and detaches them when no pod needs them and the node reports them no longer in use. A node learns
// from its status.volumesAttached what it may mount; a volume is taken off that list before it is detached.
//
// One volume at a time (concurrency 1), keyed by the persistent volume's name, as two runs could both attach a volume
// that one node alone may use. Nothing is kept but times of waiting and what was reported; all else is read from the API.
import { isAlreadyExists, isNotFound } from "../../../api/errors.ts";
import { sameJson } from "../../../api/objects/json-equality.ts";
import {
  claimIndex,
  claimKeysOf,
} from "../../../api/objects/volumes/pod-claims.ts";
import { uniqueVolumeName } from "../../../api/objects/volumes/csi-names.ts";
import { splitKey } from "../../../api/object.ts";
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from "../../../api/types/core-v1.ts";
import type {
  CSIDriver,
  VolumeAttachment,
} from "../../../api/types/storage-v1.ts";
import type { Client } from "../../../client/client.ts";
import type { EventWriter } from "../../../client/event-recorder.ts";
import type { Informer } from "../../../client/informer.ts";
import {
  csiDrivers,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  volumeAttachments,
} from "../../../client/resources.ts";
import type { Controller, ControllerContext } from "../../context.ts";
import { readyStatus } from "../../node/node-conditions.ts";
import { Reconciler, type ReconcileResult } from "../../reconciler.ts";
import {
  AttachmentMetrics,
  type AttachmentState,
} from "./attachment-metrics.ts";
import {
  allowsManyNodes,
  attachmentFor,
  detachDelayMs,
  forcedDetach,
  isOver,
  managedAnnotation,
  nodesThatNeed,
  type Wanted,
} from "./attachment-plan.ts";
import { MultiAttachReports } from "./multi-attach.ts";

export function createAttachDetachController(
  context: ControllerContext,
): Controller {
  return new AttachDetachController(context).reconciler;
}

/** Attachments that others have made, by names of their own, are left alone. */
const ownName = /^csi-[0-9a-f]{64}$/;
const byVolume = ({ metadata, spec }: VolumeAttachment): readonly string[] =>
  spec.source.persistentVolumeName && ownName.test(metadata.name)
    ? [spec.source.persistentVolumeName]
    : [];
const byNode = ({ spec }: VolumeAttachment): readonly string[] => [
  spec.nodeName,
];

class AttachDetachController {
  readonly reconciler: Reconciler;
  readonly #client: Client;
  readonly #context: ControllerContext;
  readonly #recorder: EventWriter;
  readonly #multiAttach: MultiAttachReports;
  readonly #pods: Informer<Pod>;
  readonly #claims: Informer<PersistentVolumeClaim>;
  readonly #volumes: Informer<PersistentVolume>;
  readonly #nodes: Informer<Node>;
  readonly #drivers: Informer<CSIDriver>;
  readonly #attachments: Informer<VolumeAttachment>;
  /** Monotonic times since which attachments are no longer needed, by their names. */
  readonly #idleSince = new Map<string, number>();
  /** What nodes that are gone reported last, as long as volumes are attached to them. */
  readonly #lastInUse = new Map<string, readonly string[]>();
  readonly #metrics = new AttachmentMetrics(() => this.#state());

  constructor(context: ControllerContext) {
    const { client, options } = context;
    this.#client = client;
    this.#context = context;
    this.#recorder = context.recorder("attachdetach-controller");
    this.#multiAttach = new MultiAttachReports(this.#recorder);
    context.metrics?.add("attachdetach", () => this.#metrics.families());
    this.#pods = client.informer(pods, { indexes: { claim: claimIndex } });
    this.#claims = client.informer(persistentVolumeClaims);
    this.#volumes = client.informer(persistentVolumes);
    this.#nodes = client.informer(nodes);
    this.#drivers = client.informer(csiDrivers);
    this.#attachments = client.informer(volumeAttachments, {
      indexes: { volume: byVolume, node: byNode },
    });
    this.reconciler = new Reconciler({
      name: "persistentvolume-attach-detach-controller",
      context,
      reconcile: (name) => this.#reconcile(name),
    });
    this.#watch(
      options.disableAttachDetachReconcileSync
        ? 0
        : options.attachDetachReconcileSyncPeriodMs,
    );
  }

  async #reconcile(name: string): Promise<ReconcileResult> {
    const volume = this.#volumes.lister.get(name);
    const wanted = this.#wanted(volume);
    this.#multiAttach.keep(name, wanted);
    const present = this.#attachments.lister.byIndex("volume", name);
    let againMs = Infinity;
    for (const attachment of present) {
      const { nodeName } = attachment.spec;
      if (wanted.has(nodeName)) this.#idleSince.delete(nameOf(attachment));
      else againMs = Math.min(againMs, await this.#detach(volume, attachment));
    }
    if (volume) await this.#attach(volume, wanted, present);
    const touched = new Set(present.map(({ spec }) => spec.nodeName));
    for (const node of touched) await this.#writeAttached(node);
    return againMs === Infinity ? undefined : { requeueAfterMs: againMs };
  }

  /** Empty for what needs no attachment. */
  #wanted(volume: PersistentVolume | undefined): Wanted {
    const ref = volume?.spec?.claimRef;
    const csi = volume?.spec?.csi;
    if (!ref?.name || !csi || !this.#attachable(csi.driver)) return new Map();
    const key = `${ref.namespace ?? ""}/${ref.name}`;
    const claim = this.#claims.lister.get(ref.name, ref.namespace);
    if (claim?.spec?.volumeName !== volume.metadata.name) return new Map();
    return nodesThatNeed(
      this.#pods.lister
        .byIndex("claim", key)
        .filter(({ spec }) => this.#isManaged(spec.nodeName)),
    );
  }

  /** For the metrics: what there is, looked up now. */
  #state(): AttachmentState {
    const desired: string[] = [];
    const actual: string[] = [];
    const inUse: { node: string; driver: string }[] = [];
    for (const volume of this.#volumes.lister.list()) {
      const driver = volume.spec?.csi?.driver;
      if (driver === undefined) continue;
      const { name } = volume.metadata;
      for (const [node, users] of this.#wanted(volume)) {
        desired.push(driver);
        for (const _ of users) inUse.push({ node, driver });
      }
      for (const { status } of this.#attachments.lister.byIndex("volume", name))
        if (status?.attached) actual.push(driver);
    }
    return { desired, actual, inUse };
  }

  #attachable(driver: string): boolean {
    return this.#drivers.lister.get(driver)?.spec.attachRequired !== false;
  }

  #isManaged(nodeName: string | undefined): boolean {
    const node = nodeName ? this.#nodes.lister.get(nodeName) : undefined;
    return node?.metadata.annotations?.[managedAnnotation] === "true";
  }

  async #attach(
    volume: PersistentVolume,
    wanted: Wanted,
    present: readonly VolumeAttachment[],
  ): Promise<void> {
    const csi = volume.spec?.csi;
    if (!csi) return;
    const held = new Set(present.map(({ spec }) => spec.nodeName));
    for (const nodeName of wanted.keys()) {
      if (held.has(nodeName)) continue;
      if (held.size > 0 && !allowsManyNodes(volume)) {
        this.#multiAttach.report(volume, nodeName, wanted, held);
        continue;
      }
      held.add(nodeName);
      await this.#client
        .resource(volumeAttachments)
        .create(attachmentFor(volume, csi, nodeName))
        .catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error;
        });
    }
  }

  /** Resolves to the ms after which to look again; Infinity: an event comes first. */
  async #detach(
    volume: PersistentVolume | undefined,
    attachment: VolumeAttachment,
  ): Promise<number> {
    const { name, uid, deletionTimestamp } = attachment.metadata;
    if (deletionTimestamp) return Infinity;
    const { nodeName } = attachment.spec;
    const node = this.#nodes.lister.get(nodeName);
    const nowMs = this.#context.clock.monotonic();
    const since = this.#idleSince.get(name) ?? nowMs;
    this.#idleSince.set(name, since);
    const csi = volume?.spec?.csi;
    const used = node ? volumesInUse(node) : this.#lastInUse.get(nodeName);
    const inUse =
      csi !== undefined && (used?.includes(uniqueVolumeName(csi)) ?? true);
    const state = {
      ...{ node, inUse, waitedMs: nowMs - since },
      patient: this.#context.options.disableForceDetachOnTimeout,
    };
    const delayMs = detachDelayMs(state);
    if (delayMs !== undefined) return delayMs;
    await this.#writeAttached(nodeName, name);
    await this.#client
      .resource(volumeAttachments)
      .delete(name, undefined, uid ? { preconditions: { uid } } : {})
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    const forced = forcedDetach(state);
    if (forced) this.#metrics.forced(forced);
    return Infinity;
  }

  /** @param without the attachment that is about to end */
  async #writeAttached(nodeName: string, without?: string): Promise<void> {
    const node = this.#nodes.lister.get(nodeName);
    if (!node) return;
    const attached = this.#attachments.lister
      .byIndex("node", nodeName)
      .filter(
        ({ metadata, status }) =>
          status?.attached &&
          !metadata.deletionTimestamp &&
          metadata.name !== without,
      )
      .flatMap(({ spec }) => {
        const csi = this.#volumes.lister.get(
          spec.source.persistentVolumeName ?? "",
        )?.spec?.csi;
        return csi ? [{ name: uniqueVolumeName(csi), devicePath: "" }] : [];
      })
      .sort((a, b) => a.name.localeCompare(b.name));
    if (sameJson(node.status?.volumesAttached ?? [], attached)) return;
    await this.#client.resource(nodes).patch(
      nodeName,
      undefined,
      {
        type: "merge",
        body: { status: { volumesAttached: attached } },
      },
      { subresource: "status" },
    );
  }

  /** To the pods that wait for it. */
  #reportAttachment(
    old: VolumeAttachment | undefined,
    attachment: VolumeAttachment,
  ): void {
    const { source, nodeName } = attachment.spec;
    const volume = this.#volumes.lister.get(source.persistentVolumeName ?? "");
    if (!volume) return;
    const { name } = volume.metadata;
    const users = this.#wanted(volume).get(nodeName) ?? [];
    const problem = attachment.status?.attachError?.message;
    if (attachment.status?.attached && !old?.status?.attached)
      for (const pod of users)
        this.#recorder.event(
          pod,
          "Normal",
          "SuccessfulAttachVolume",
          `AttachVolume.Attach succeeded for volume "${name}" `,
        );
    else if (problem && problem !== old?.status?.attachError?.message)
      for (const pod of users)
        this.#recorder.event(
          pod,
          "Warning",
          "FailedAttachVolume",
          `AttachVolume.Attach failed for volume "${name}" : ${problem}`,
        );
  }

  #watch(resyncMs: number): void {
    const { queue } = this.reconciler;
    const ofPod = (pod: Pod): void => {
      if (!pod.spec.volumes?.length) return;
      for (const key of claimKeysOf(pod)) {
        const { name, namespace } = splitKey(key);
        const volume = this.#claims.lister.get(name, namespace)?.spec
          ?.volumeName;
        if (volume) queue.add(volume);
      }
    };
    const ofNode = ({ metadata }: Node): void => {
      for (const attachment of this.#attachments.lister.byIndex(
        "node",
        metadata.name,
      ))
        for (const name of byVolume(attachment)) queue.add(name);
    };
    const ofAttachment = (attachment: VolumeAttachment): void => {
      for (const name of byVolume(attachment)) queue.add(name);
    };
    this.reconciler
      .resync(resyncMs, () => this.#attachments.lister.list().flatMap(byVolume))
      .watch(this.#pods, {
        onAdd: ofPod,
        onUpdate(old, pod) {
          if (
            old.spec.nodeName !== pod.spec.nodeName ||
            isOver(old) !== isOver(pod)
          )
            ofPod(pod);
        },
        onDelete: ofPod,
      })
      .watchAll(this.#claims, ({ spec }) => {
        if (spec?.volumeName) queue.add(spec.volumeName);
      })
      .watchAll(this.#volumes, ({ metadata, spec }) => {
        if (spec?.csi) queue.add(metadata.name);
      })
      .watchAll(this.#drivers, ({ metadata }) => {
        for (const { metadata: of, spec } of this.#volumes.lister.list())
          if (spec?.csi?.driver === metadata.name) queue.add(of.name);
      })
      .watch(this.#nodes, {
        onAdd: (node) => {
          this.#lastInUse.delete(node.metadata.name);
          ofNode(node);
        },
        onUpdate: (old, node) => {
          if (concernsAttachments(old) !== concernsAttachments(node))
            ofNode(node);
        },
        onDelete: (node) => {
          const { name } = node.metadata;
          if (this.#attachments.lister.byIndex("node", name).length > 0)
            this.#lastInUse.set(name, volumesInUse(node));
          ofNode(node);
        },
      })
      .watch(this.#attachments, {
        onAdd: ofAttachment,
        onUpdate: (old, attachment) => {
          this.#reportAttachment(old, attachment);
          ofAttachment(attachment);
        },
        onDelete: (attachment) => {
          this.#idleSince.delete(nameOf(attachment));
          const { nodeName } = attachment.spec;
          if (this.#attachments.lister.byIndex("node", nodeName).length === 0)
            this.#lastInUse.delete(nodeName);
          ofAttachment(attachment);
        },
      });
  }
}

const volumesInUse = ({ status }: Node): readonly string[] =>
  status?.volumesInUse ?? [];

const nameOf = ({ metadata }: VolumeAttachment): string => metadata.name;

/** What of a node can change a decision, as text. */
function concernsAttachments(node: Node): string {
  const { metadata, spec, status } = node;
  return JSON.stringify([
    metadata.annotations?.[managedAnnotation],
    spec?.taints,
    status?.volumesInUse,
    status?.volumesAttached,
    readyStatus(node),
  ]);
}
