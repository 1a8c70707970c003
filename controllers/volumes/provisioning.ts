// Volumes for claims that no volume suits. Classes of the built-in provisioner get a directory on the chosen node, as a
// `local` volume (api/objects/volumes/local-path.ts); every other class is its own provisioner's: the claim is annotated for it
// and an event says what it waits for. Nothing is kept: the volume's name follows from the claim's uid.
import { isAlreadyExists } from "../../api/errors.ts";
import {
  localPathDirectory,
  localPathProvisioner,
  provisionedName,
} from "../../api/objects/volumes/local-path.ts";
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
} from "../../api/types/core-v1.ts";
import type { StorageClass } from "../../api/types/storage-v1.ts";
import type { Client } from "../../client/client.ts";
import type { EventWriter } from "../../client/event-recorder.ts";
import {
  persistentVolumeClaims,
  persistentVolumes,
} from "../../client/resources.ts";

export const provisionedBy = "pv.kubernetes.io/provisioned-by";
const boundByController = "pv.kubernetes.io/bound-by-controller";
const provisionerAnnotations = [
  "volume.beta.kubernetes.io/storage-provisioner",
  "volume.kubernetes.io/storage-provisioner",
];
const noProvisioner = "kubernetes.io/no-provisioner";

interface ProvisioningContext {
  readonly client: Client;
  readonly recorder: EventWriter;
}

/** What can't succeed without another class or claim: reported once an event, not retried by back-off. */
class Unprovisionable extends Error {}

/** @param node the one that the scheduler chose; only classes that wait have one */
export async function provisionVolume(
  { client, recorder }: ProvisioningContext,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  node: Node | undefined,
): Promise<void> {
  const { provisioner } = storageClass;
  if (provisioner === noProvisioner) {
    recorder.event(
      claim,
      "Warning",
      "ProvisioningFailed",
      `storageclass.storage.k8s.io "${storageClass.metadata.name}" has no provisioner`,
    );
    return;
  }
  await nameProvisioner(client, claim, provisioner);
  if (provisioner !== localPathProvisioner) {
    recorder.event(
      claim,
      "Normal",
      "ExternalProvisioning",
      `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`,
    );
    return;
  }
  try {
    const volume = localVolume(claim, storageClass, node);
    await client
      .resource(persistentVolumes)
      .create(volume)
      .catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
    recorder.event(
      claim,
      "Normal",
      "ProvisioningSucceeded",
      `Successfully provisioned volume ${volume.metadata.name} using ${localPathProvisioner}`,
    );
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    recorder.event(
      claim,
      "Warning",
      "ProvisioningFailed",
      `Failed to provision volume with StorageClass "${storageClass.metadata.name}": ${text}`,
    );
    if (!(error instanceof Unprovisionable)) throw error;
  }
}

/** Provisioners look for their name on claims. */
async function nameProvisioner(
  client: Client,
  { metadata }: PersistentVolumeClaim,
  provisioner: string,
): Promise<void> {
  const known = metadata.annotations ?? {};
  if (provisionerAnnotations.every((name) => known[name] === provisioner))
    return;
  const annotations = Object.fromEntries(
    provisionerAnnotations.map((name) => [name, provisioner]),
  );
  await client
    .resource(persistentVolumeClaims)
    .patch(metadata.name, metadata.namespace, {
      type: "merge",
      body: { metadata: { uid: metadata.uid, annotations } },
    });
}

function localVolume(
  { metadata, spec = {} }: PersistentVolumeClaim,
  storageClass: StorageClass,
  node: Node | undefined,
): PersistentVolume {
  const name = storageClass.metadata.name;
  if (!node)
    throw new Unprovisionable(
      `volumes of ${localPathProvisioner} lie on a node: the class must have volumeBindingMode WaitForFirstConsumer`,
    );
  const directory = localPathDirectory(node);
  if (!directory)
    throw new Unprovisionable(
      `node "${node.metadata.name}" offers no directory for volumes of ${localPathProvisioner}`,
    );
  if (spec.volumeMode === "Block")
    throw new Unprovisionable("block volumes are not supported");
  if (storageClass.mountOptions?.length)
    throw new Unprovisionable(
      `Mount options are not supported by the provisioner but StorageClass "${name}" has mount options ${storageClass.mountOptions.join(",")}`,
    );
  if (spec.dataSource ?? spec.dataSourceRef)
    throw new Unprovisionable(
      `plugin "${localPathProvisioner}" is not a CSI plugin. Only CSI plugin can provision a claim with a datasource`,
    );
  const shared = spec.accessModes?.find((mode) => mode.endsWith("Many"));
  if (shared)
    throw new Unprovisionable(
      `access mode ${shared} is not supported: only ReadWriteOnce and ReadWriteOncePod`,
    );
  if (spec.selector)
    throw new Unprovisionable(
      "claim.Spec.Selector is not supported for dynamic provisioning",
    );
  const volumeName = provisionedName(metadata.uid ?? "");
  const hostname =
    node.metadata.labels?.["kubernetes.io/hostname"] ?? node.metadata.name;
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: {
      name: volumeName,
      annotations: {
        [boundByController]: "yes",
        [provisionedBy]: localPathProvisioner,
      },
    },
    spec: {
      accessModes: spec.accessModes ?? [],
      capacity: { storage: spec.resources?.requests?.["storage"] ?? "0" },
      claimRef: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        name: metadata.name,
        ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
        ...(metadata.uid ? { uid: metadata.uid } : {}),
        ...(metadata.resourceVersion
          ? { resourceVersion: metadata.resourceVersion }
          : {}),
      },
      local: { path: `${directory}/${volumeName}` },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                {
                  key: "kubernetes.io/hostname",
                  operator: "In",
                  values: [hostname],
                },
              ],
            },
          ],
        },
      },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
      storageClassName: name,
      volumeMode: "Filesystem",
    },
  };
}
