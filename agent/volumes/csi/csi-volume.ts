// What is asked of a driver for one volume of a pod, worked out of the objects: the source, the capability, the context and
// the secrets. Pure but for the reading of what the objects refer to.
import { uniqueVolumeName } from "../../../api/objects/volumes/csi-names.ts";
import { createHash } from "node:crypto";
import type { PersistentVolume, Pod } from "../../../api/types/core-v1.ts";
import type { CSIDriver } from "../../../api/types/storage-v1.ts";
import type { VolumeRequest, VolumeUsage } from "../volume-plugin.ts";
import {
  accessModeNumber,
  nodeCapability,
  usageUnit,
  type StatsAnswer,
  type VolumeCapability,
} from "./csi-protocol.ts";

interface SecretName {
  readonly name: string;
  readonly namespace: string;
}

/** A volume as its pod or its PersistentVolume describes it. */
export interface CsiVolume {
  readonly driver: string;
  readonly handle: string;
  /** How its directories are called: of the persistent volume, or of the pod's volume. */
  readonly name: string;
  readonly ephemeral: boolean;
  readonly block: boolean;
  readonly readOnly: boolean;
  readonly fsType: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly mountOptions: readonly string[];
  readonly accessModes: readonly string[];
  readonly stageSecret: SecretName | undefined;
  readonly publishSecret: SecretName | undefined;
  readonly expandSecret: SecretName | undefined;
  /** As the node lists it in use. */
  readonly uniqueName: string;
}

export function csiVolume({
  pod,
  name,
  source,
  persistentVolume,
  readOnly = false,
}: VolumeRequest): CsiVolume {
  return persistentVolume
    ? persistent(persistentVolume, readOnly)
    : inline(pod, name, source);
}

function persistent(
  { metadata, spec = {} }: PersistentVolume,
  readOnly: boolean,
): CsiVolume {
  const csi = spec.csi!;
  const secret = (
    ref: { name?: string; namespace?: string } | undefined,
  ): SecretName | undefined =>
    ref && { name: ref.name ?? "", namespace: ref.namespace ?? "" };
  return {
    driver: csi.driver,
    handle: csi.volumeHandle,
    name: metadata.name,
    ephemeral: false,
    block: spec.volumeMode === "Block",
    // The source's own readOnly is for its attachment alone.
    readOnly,
    fsType: csi.fsType ?? "",
    attributes: csi.volumeAttributes ?? {},
    mountOptions: spec.mountOptions ?? [],
    accessModes: spec.accessModes ?? [],
    stageSecret: secret(csi.nodeStageSecretRef),
    publishSecret: secret(csi.nodePublishSecretRef),
    expandSecret: secret(csi.nodeExpandSecretRef),
    uniqueName: uniqueVolumeName(csi),
  };
}

function inline(
  { metadata }: Pod,
  name: string,
  source: VolumeRequest["source"],
): CsiVolume {
  // A pod's own source, not a PersistentVolume's.
  const csi = source.csi as NonNullable<
    NonNullable<Pod["spec"]["volumes"]>[number]["csi"]
  >;
  const digest = createHash("sha256")
    .update(`${metadata.uid ?? ""}${name}`)
    .digest("hex");
  const handle = `csi-${digest}`;
  return {
    driver: csi.driver,
    handle,
    name,
    ephemeral: true,
    block: false,
    readOnly: csi.readOnly ?? false,
    fsType: csi.fsType ?? "",
    attributes: csi.volumeAttributes ?? {},
    mountOptions: [],
    accessModes: [],
    stageSecret: undefined,
    publishSecret: csi.nodePublishSecretRef && {
      name: csi.nodePublishSecretRef.name ?? "",
      namespace: metadata.namespace ?? "default",
    },
    expandSecret: undefined,
    uniqueName: uniqueVolumeName({ driver: csi.driver, volumeHandle: handle }),
  };
}

export function capabilityOf(
  volume: CsiVolume,
  capabilities: ReadonlySet<number>,
  group: number | undefined,
): VolumeCapability {
  const separates = capabilities.has(nodeCapability.singleNodeMultiWriter);
  const access_mode = {
    mode: accessModeNumber(volume.accessModes[0], separates),
  };
  if (volume.block) return { block: {}, access_mode };
  const delegated =
    group !== undefined && capabilities.has(nodeCapability.mountGroup);
  return {
    mount: {
      fs_type: volume.fsType,
      mount_flags: volume.mountOptions,
      volume_mount_group: delegated ? String(group) : "",
    },
    access_mode,
  };
}

/** Throws when the driver does not say that it serves volumes of this kind of life. */
export function checkLifecycle(
  { driver, ephemeral }: CsiVolume,
  object: CSIDriver | undefined,
): void {
  const mode = ephemeral ? "Ephemeral" : "Persistent";
  const supported = object?.spec.volumeLifecycleModes ?? ["Persistent"];
  if (supported.includes(mode)) return;
  const why = object
    ? `only supports ${JSON.stringify(supported)}`
    : "no CSIDriver object";
  throw new Error(
    `kubernetes.io/csi: mounter.SetupAt failed to check volume lifecycle mode: volume mode "${mode}" not supported by driver ${driver} (${why})`,
  );
}

/** Who applies the pod's fsGroup to a file system. */
export function appliesFsGroup(
  volume: CsiVolume,
  object: CSIDriver | undefined,
  capabilities: ReadonlySet<number>,
): boolean {
  if (volume.block || volume.readOnly) return false;
  if (capabilities.has(nodeCapability.mountGroup)) return false;
  switch (object?.spec.fsGroupPolicy) {
    case "None":
      return false;
    case "File":
      return true;
    default:
      return (
        volume.fsType !== "" &&
        (volume.ephemeral ||
          volume.accessModes.some(
            (mode) => mode === "ReadWriteOnce" || mode === "ReadWriteOncePod",
          ))
      );
  }
}

/** What a driver that asks for it gets to know of the pod. */
export function podInfo(
  { metadata, spec }: Pod,
  ephemeral: boolean,
): Record<string, string> {
  return {
    "csi.storage.k8s.io/pod.name": metadata.name,
    "csi.storage.k8s.io/pod.namespace": metadata.namespace ?? "default",
    "csi.storage.k8s.io/pod.uid": metadata.uid ?? "",
    "csi.storage.k8s.io/serviceAccount.name": spec.serviceAccountName ?? "",
    "csi.storage.k8s.io/ephemeral": String(ephemeral),
  };
}

/** Bytes, inodes and condition of a driver's answer. */
export function usageOf({
  usage,
  volume_condition: condition,
}: StatsAnswer): VolumeUsage {
  const bytes = usage.find(({ unit }) => unit === usageUnit.bytes);
  const inodes = usage.find(({ unit }) => unit === usageUnit.inodes);
  return {
    ...(bytes
      ? unsigned({
          availableBytes: bytes.available,
          capacityBytes: bytes.total,
          usedBytes: bytes.used,
        })
      : {}),
    ...(inodes
      ? unsigned({
          inodesFree: inodes.available,
          inodes: inodes.total,
          inodesUsed: inodes.used,
        })
      : {}),
    ...(condition ? { condition } : {}),
  };
}

/** Readers of statistics take the numbers as unsigned, and fail on all of them for a negative one: it is left out. */
function unsigned<K extends string>(
  amounts: Readonly<Record<K, number>>,
): Partial<Record<K, number>> {
  return Object.fromEntries(
    Object.entries<number>(amounts).filter(([, amount]) => amount >= 0),
  ) as Partial<Record<K, number>>;
}
