// What becomes of a volume whose claim is gone: Retain keeps it, Delete removes what the built-in provisioners made and
// leaves the rest to the provisioner that made it. Recycling is recycling.ts's.
import { isNotFound } from "../../api/errors.ts";
import { localPathProvisioner } from "../../api/objects/volumes/local-path.ts";
import type { PersistentVolume } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import { persistentVolumes } from "../../client/resources.ts";
import type { HostPathDirectories } from "./host-path-directories.ts";
import {
  deletionFinalizer,
  hostPathProvisioner,
  provisionedBy,
} from "./provisioning.ts";

/** Why a released volume could not be reclaimed. */
export interface ReclaimFailure {
  readonly reason: "VolumeFailedRecycle" | "VolumeFailedDelete";
  readonly message: string;
  /** It may pass by itself. */
  readonly again?: true;
}

interface ReclaimingContext {
  readonly client: Client;
  readonly hostPaths: HostPathDirectories;
}

/** Deletes the volume's object, and what this program made for it, if that is to be done here. */
export async function reclaim(
  { client, hostPaths }: ReclaimingContext,
  volume: PersistentVolume,
): Promise<ReclaimFailure | undefined> {
  const { metadata, spec = {} } = volume;
  switch (spec.persistentVolumeReclaimPolicy) {
    case "Delete": {
      const provisioner = metadata.annotations?.[provisionedBy];
      if (provisioner === undefined)
        return spec.csi
          ? undefined
          : {
              reason: "VolumeFailedDelete",
              message: `error getting deleter volume plugin for volume "${metadata.name}": no deletable volume plugin matched`,
            };
      if (provisioner === hostPathProvisioner)
        return removeHostPath(client, hostPaths, volume);
      if (provisioner === localPathProvisioner) await remove(client, volume);
      return undefined;
    }
    default:
      return undefined;
  }
}

async function remove(
  client: Client,
  { metadata: { name, uid, deletionTimestamp } }: PersistentVolume,
): Promise<void> {
  if (deletionTimestamp) return;
  await client
    .resource(persistentVolumes)
    .delete(name, undefined, uid ? { preconditions: { uid } } : {})
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
}

/** Its directory, then its finalizer, then its object: cut off in between, the next run goes on. */
async function removeHostPath(
  client: Client,
  hostPaths: HostPathDirectories,
  seen: PersistentVolume,
): Promise<ReclaimFailure | undefined> {
  // Past the cache: what a person gave to another claim meanwhile keeps its data.
  const volume = await client
    .resource(persistentVolumes)
    .get(seen.metadata.name);
  if (
    volume.metadata.uid !== seen.metadata.uid ||
    volume.spec?.claimRef?.uid !== seen.spec?.claimRef?.uid ||
    volume.spec?.persistentVolumeReclaimPolicy !== "Delete"
  )
    return undefined;
  try {
    await hostPaths.remove(volume.spec.hostPath?.path ?? "");
  } catch (error) {
    return {
      reason: "VolumeFailedDelete",
      message: (error as Error).message,
      again: true,
    };
  }
  await remove(client, await withoutDeletionFinalizer(client, volume));
  return undefined;
}

/** Lets the object of a volume go that is not, or no longer, to be deleted here. */
export async function withoutDeletionFinalizer(
  client: Client,
  volume: PersistentVolume,
): Promise<PersistentVolume> {
  const finalizers = volume.metadata.finalizers ?? [];
  if (!finalizers.includes(deletionFinalizer)) return volume;
  return client.resource(persistentVolumes).update({
    ...volume,
    metadata: {
      ...volume.metadata,
      finalizers: finalizers.filter((name) => name !== deletionFinalizer),
    },
  });
}
