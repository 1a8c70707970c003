// What is to be done about the attachments of one volume (pure): where pods need it, where it is attached, and which
// attachments may end. A volume that one node alone may use is attached to another one only when the first attachment is
// gone altogether, not when its end is merely asked for.
import { isPodTerminal } from "../../../api/objects/pod-state.ts";
import { readyStatus } from "../../node/node-conditions.ts";
import { attachmentName } from "../../../api/objects/volumes/csi-names.ts";
import type {
  CSIPersistentVolumeSource,
  Node,
  PersistentVolume,
  Pod,
} from "../../../api/types/core-v1.ts";
import type { VolumeAttachment } from "../../../api/types/storage-v1.ts";

export const managedAnnotation =
  "volumes.kubernetes.io/controller-managed-attach-detach";

/** Pods by the node they need the volume on. */
export type Wanted = ReadonlyMap<string, readonly Pod[]>;

/** Terminating pods count as long as a container of theirs runs; ended ones do not. */
export function nodesThatNeed(pods: readonly Pod[]): Wanted {
  const wanted = new Map<string, Pod[]>();
  for (const pod of pods) {
    const { nodeName } = pod.spec;
    if (!nodeName || isOver(pod)) continue;
    const known = wanted.get(nodeName);
    if (known) known.push(pod);
    else wanted.set(nodeName, [pod]);
  }
  return wanted;
}

/** It uses no volume any more. */
export function isOver(pod: Pod): boolean {
  if (isPodTerminal(pod)) return true;
  return (
    pod.metadata.deletionTimestamp !== undefined &&
    (pod.status?.containerStatuses ?? []).every(
      ({ state }) => state?.terminated ?? state?.waiting,
    )
  );
}

export function allowsManyNodes({ spec }: PersistentVolume): boolean {
  const modes = spec?.accessModes ?? [];
  return (
    modes.length === 0 ||
    modes.includes("ReadWriteMany") ||
    modes.includes("ReadOnlyMany")
  );
}

export function attachmentFor(
  volume: PersistentVolume,
  csi: CSIPersistentVolumeSource,
  nodeName: string,
): VolumeAttachment {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    metadata: { name: attachmentName(csi, nodeName) },
    spec: {
      attacher: csi.driver,
      nodeName,
      source: { persistentVolumeName: volume.metadata.name },
    },
  };
}

interface DetachState {
  readonly node: Node | undefined;
  /** As the node reports it, or reported it last; of a node that was never seen it is taken to be so. */
  readonly inUse: boolean;
  /** Since nothing has needed it on the node. */
  readonly waitedMs: number;
  /** Never by force for having waited long: an administrator has to say that the node is out of service. */
  readonly patient: boolean;
}

/** How long a node that is not ready, or not there, may keep a volume that it reports or reported. */
export const forcedDetachMs = 6 * 60_000;

/** undefined: it may be detached. Otherwise in how many ms to look again; Infinity: an event comes first. */
export function detachDelayMs({
  node,
  inUse,
  waitedMs,
  patient,
}: DetachState): number | undefined {
  if (!inUse || isOutOfService(node)) return undefined;
  if (patient || (node && readyStatus(node) === "True")) return Infinity;
  return waitedMs > forcedDetachMs ? undefined : forcedDetachMs - waitedMs + 1;
}

const isOutOfService = (node: Node | undefined): boolean =>
  node?.spec?.taints?.some(
    ({ key }) => key === "node.kubernetes.io/out-of-service",
  ) ?? false;

/** Why a volume is detached that its node has not given up: the node is out of service, or was away too long. */
export type ForcedDetach = "out-of-service" | "timeout";

/** Of what may be detached. undefined: the node has given it up. */
export function forcedDetach(state: DetachState): ForcedDetach | undefined {
  const { node, inUse, waitedMs, patient } = state;
  if (!inUse) return undefined;
  const isAway = !node || readyStatus(node) !== "True";
  return isAway && waitedMs > forcedDetachMs && !patient
    ? "timeout"
    : "out-of-service";
}
