// What becomes of a volume whose claim is gone: Retain keeps it, Delete removes what the built-in provisioner made and
// leaves the rest to the provisioner that made it. Recycling is recycling.ts's.
import { isNotFound } from "../../api/errors.ts";
import { localPathProvisioner } from "../../api/objects/volumes/local-path.ts";
import type { PersistentVolume } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import { persistentVolumes } from "../../client/resources.ts";
import { provisionedBy } from "./provisioning.ts";

/** Why a released volume could not be reclaimed. */
export interface ReclaimFailure {
  readonly reason: "VolumeFailedRecycle" | "VolumeFailedDelete";
  readonly message: string;
}

/** Deletes the volume's object if that is to be done here. */
export async function reclaim(
  client: Client,
  { metadata, spec = {} }: PersistentVolume,
): Promise<ReclaimFailure | undefined> {
  const { name, uid } = metadata;
  switch (spec.persistentVolumeReclaimPolicy) {
    case "Delete": {
      const provisioner = metadata.annotations?.[provisionedBy];
      if (provisioner === undefined)
        return spec.csi
          ? undefined
          : {
              reason: "VolumeFailedDelete",
              message: `error getting deleter volume plugin for volume "${name}": no deletable volume plugin matched`,
            };
      if (provisioner !== localPathProvisioner || metadata.deletionTimestamp)
        return undefined;
      await client
        .resource(persistentVolumes)
        .delete(name, undefined, uid ? { preconditions: { uid } } : {})
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
      return undefined;
    }
    default:
      return undefined;
  }
}
