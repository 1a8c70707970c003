// Which volume suits a claim: class, mode, access modes, labels, size, and the node it must be reachable from. Of several
// the smallest.
import { compareQuantities } from "../../quantity.ts";
import { selectorFromObject } from "../../selectors.ts";
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
} from "../../types/core-v1.ts";
import type { StorageClass } from "../../types/storage-v1.ts";
import { matchesNodeSelector } from "../node-affinity.ts";

const classAnnotation = "volume.beta.kubernetes.io/storage-class";
const defaultAnnotations = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

export function classOf({
  metadata,
  spec,
}: PersistentVolume | PersistentVolumeClaim): string {
  return (
    metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? ""
  );
}

/** Of several default classes the newest, as admission chooses too. */
export function defaultClass(
  classes: readonly StorageClass[],
): StorageClass | undefined {
  const isDefault = ({ metadata }: StorageClass): boolean =>
    defaultAnnotations.some((name) => metadata.annotations?.[name] === "true");
  const age = ({ metadata }: StorageClass): string =>
    metadata.creationTimestamp ?? "";
  return classes
    .filter(isDefault)
    .sort(
      (a, b) =>
        age(b).localeCompare(age(a)) ||
        a.metadata.name.localeCompare(b.metadata.name),
    )[0];
}

/** Does the volume name the claim as its own (with its uid, or made beforehand without one)? */
export function isReservedFor(
  { spec }: PersistentVolume,
  { metadata }: PersistentVolumeClaim,
): boolean {
  const ref = spec?.claimRef;
  return (
    ref !== undefined &&
    ref.name === metadata.name &&
    ref.namespace === metadata.namespace &&
    (!ref.uid || ref.uid === metadata.uid)
  );
}

export function isReachable({ spec }: PersistentVolume, node: Node): boolean {
  const required = spec?.nodeAffinity?.required;
  return !required || matchesNodeSelector(required, node);
}

/**
 * The volume that names the claim, where it suits in size and mode; else the best of those that name none. What is reserved
 * for the claim and out of the node's reach leaves it without any.
 * @param node the node that the claim's pod is on; undefined: any will do
 */
export function bestVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  node: Node | undefined,
): PersistentVolume | undefined {
  const reserved = volumes.find(
    (volume) =>
      !volume.metadata.deletionTimestamp &&
      isReservedFor(volume, claim) &&
      isOfForm(volume, claim) &&
      (node !== undefined || hasModes(volume, claim)),
  );
  if (reserved)
    return node && !isReachable(reserved, node) ? undefined : reserved;
  return volumes
    .filter(
      (volume) =>
        !volume.spec?.claimRef &&
        !volume.metadata.deletionTimestamp &&
        suits(volume, claim) &&
        (!node || isReachable(volume, node)),
    )
    .sort(
      (a, b) =>
        // As long as no pod asks, one that can do less is as good.
        (node ? 0 : modesOf(a) - modesOf(b)) ||
        compareQuantities(sizeOf(a), sizeOf(b)),
    )[0];
}

function suits(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): boolean {
  const { selector } = claim.spec ?? {};
  return (
    classOf(volume) === classOf(claim) &&
    isOfForm(volume, claim) &&
    hasModes(volume, claim) &&
    (!selector || selectorFromObject(selector).matches(volume.metadata.labels))
  );
}

/** Is it large enough, and a file system or a device as is asked? */
function isOfForm(
  volume: PersistentVolume,
  { spec: wanted = {} }: PersistentVolumeClaim,
): boolean {
  const { volumeMode = "Filesystem" } = volume.spec ?? {};
  return (
    volumeMode === (wanted.volumeMode ?? "Filesystem") &&
    compareQuantities(
      sizeOf(volume),
      wanted.resources?.requests?.["storage"] ?? "0",
    ) >= 0
  );
}

const modesOf = ({ spec }: PersistentVolume): number =>
  spec?.accessModes?.length ?? 0;

const hasModes = (
  { spec }: PersistentVolume,
  { spec: wanted }: PersistentVolumeClaim,
): boolean =>
  (wanted?.accessModes ?? []).every((mode) =>
    spec?.accessModes?.includes(mode),
  );

const sizeOf = ({ spec }: PersistentVolume): string =>
  spec?.capacity?.["storage"] ?? "0";
