// A volume and a claim as they are written to bind them to each other. The volume's claimRef is the decision; the claim
// follows it.
import type {
  PersistentVolume,
  PersistentVolumeClaim,
} from "../../types/core-v1.ts";

const boundByController = "pv.kubernetes.io/bound-by-controller";
const bindCompleted = "pv.kubernetes.io/bind-completed";

/**
 * Has the claim ever been bound? A claim that was bound and has lost its volume can't be helped; one that never was
 * waits.
 */
export const wasBound = ({ metadata }: PersistentVolumeClaim): boolean =>
  Boolean(metadata.annotations?.[bindCompleted]);

/** The same volume when it is the claim's already. */
export function volumeBoundTo(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): PersistentVolume {
  const { name, namespace, uid, resourceVersion } = claim.metadata;
  const known = volume.spec?.claimRef;
  if (known?.uid === uid) return volume;
  const { annotations } = volume.metadata;
  return {
    ...volume,
    metadata: {
      ...volume.metadata,
      // Only where this controller chose the volume, not where its maker reserved it.
      ...(known
        ? {}
        : { annotations: { ...annotations, [boundByController]: "yes" } }),
    },
    spec: {
      ...volume.spec,
      claimRef: {
        ...known,
        kind: "PersistentVolumeClaim",
        apiVersion: "v1",
        name,
        ...(namespace ? { namespace } : {}),
        ...(uid ? { uid } : {}),
        ...(resourceVersion ? { resourceVersion } : {}),
      },
    },
  };
}

/** The same claim when it is bound already. */
export function claimBoundTo(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
): PersistentVolumeClaim {
  const volumeName = claim.spec?.volumeName;
  if (volumeName && wasBound(claim)) return claim;
  return {
    ...claim,
    metadata: {
      ...claim.metadata,
      annotations: {
        ...claim.metadata.annotations,
        [bindCompleted]: "yes",
        ...(volumeName ? {} : { [boundByController]: "yes" }),
      },
    },
    spec: { ...claim.spec, volumeName: volume.metadata.name },
  };
}

/**
 * A claim that is bound already keeps its capacity: while its volume is made larger it says how large the file system is,
 * by which the node knows that it has to grow it.
 */
export function boundClaimStatus(
  { spec }: PersistentVolume,
  { status }: PersistentVolumeClaim,
): NonNullable<PersistentVolumeClaim["status"]> {
  const becomesBound = status?.phase !== "Bound";
  return {
    phase: "Bound",
    ...(spec?.accessModes ? { accessModes: spec.accessModes } : {}),
    ...(spec?.capacity && becomesBound ? { capacity: spec.capacity } : {}),
  };
}
