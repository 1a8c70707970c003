// Volumes for claims that no volume suits. Classes of the built-in provisioner get a directory on the chosen node, as a
// `local` volume (api/objects/volumes/local-path.ts); those of kubernetes.io/host-path one of this machine
// (host-path-directories.ts), if the options allow it; every other class is its own provisioner's: the claim is annotated
// for it and an event says what it waits for. Nothing is kept: the volume's name follows from the claim's uid.
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
import type { HostPathDirectories } from "./host-path-directories.ts";

export const hostPathProvisioner = "kubernetes.io/host-path";
/** It keeps the object of a volume that is to be deleted until its directory is gone. */
export const deletionFinalizer = "kubernetes.io/pv-controller";
export const provisionedBy = "pv.kubernetes.io/provisioned-by";
const boundByController = "pv.kubernetes.io/bound-by-controller";
const provisionerAnnotations = [
  "volume.beta.kubernetes.io/storage-provisioner",
  "volume.kubernetes.io/storage-provisioner",
];
/** Of a class whose volumes an administrator makes. */
export const noProvisioner = "kubernetes.io/no-provisioner";

interface ProvisioningContext {
  readonly client: Client;
  readonly recorder: EventWriter;
  /** Absent: the provisioner of host paths is off. */
  readonly hostPaths?: HostPathDirectories;
}

/** What can't succeed without another class or claim: reported once an event, not retried by back-off. */
class Unprovisionable extends Error {}

/** @param node the one that the scheduler chose; only classes that wait have one */
export async function provisionVolume(
  { client, recorder, hostPaths }: ProvisioningContext,
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
  const builtIn =
    provisioner === localPathProvisioner || provisioner === hostPathProvisioner;
  if (!builtIn) {
    recorder.event(
      claim,
      "Normal",
      "ExternalProvisioning",
      `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`,
    );
    return;
  }
  if (provisioner === hostPathProvisioner && !hostPaths) {
    recorder.event(
      claim,
      "Warning",
      "ProvisioningFailed",
      `Failed to create provisioner: provisioning in volume plugin "${provisioner}" is disabled`,
    );
    return;
  }
  try {
    const volume =
      hostPaths && provisioner === hostPathProvisioner
        ? await hostPathVolume(claim, storageClass, hostPaths)
        : localVolume(claim, storageClass, node);
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
      `Successfully provisioned volume ${volume.metadata.name} using ${provisioner}`,
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
  claim: PersistentVolumeClaim,
  provisioner: string,
): Promise<void> {
  const { metadata } = claim;
  const known = metadata.annotations ?? {};
  if (provisionerAnnotations.every((name) => known[name] === provisioner))
    return;
  const annotations = Object.fromEntries(
    provisionerAnnotations.map((name) => [name, provisioner]),
  );
  // No patch: the role of this controller has none on claims.
  await client.resource(persistentVolumeClaims).update({
    ...claim,
    metadata: { ...metadata, annotations: { ...known, ...annotations } },
  });
}

/** What neither built-in provisioner makes. */
function checkSupported(
  { spec = {} }: PersistentVolumeClaim,
  { metadata, provisioner, mountOptions }: StorageClass,
): void {
  if (spec.volumeMode === "Block")
    throw new Unprovisionable(
      `${provisioner} does not support block volume provisioning`,
    );
  if (mountOptions?.length)
    throw new Unprovisionable(
      `Mount options are not supported by the provisioner but StorageClass "${metadata.name}" has mount options ${mountOptions.join(",")}`,
    );
  if (spec.dataSource ?? spec.dataSourceRef)
    throw new Unprovisionable(
      `plugin "${provisioner}" is not a CSI plugin. Only CSI plugin can provision a claim with a datasource`,
    );
}

/** Works where all pods run on this machine. */
async function hostPathVolume(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  directories: HostPathDirectories,
): Promise<PersistentVolume> {
  checkSupported(claim, storageClass);
  const accessModes = claim.spec?.accessModes ?? [];
  const { metadata, spec } = volumeFor(claim, storageClass);
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: {
      ...metadata,
      annotations: {
        ...metadata.annotations,
        "kubernetes.io/createdby": "hostpath-dynamic-provisioner",
      },
      ...(spec.persistentVolumeReclaimPolicy === "Delete"
        ? { finalizers: [deletionFinalizer] }
        : {}),
    },
    spec: {
      ...spec,
      accessModes: accessModes.length > 0 ? accessModes : ["ReadWriteOnce"],
      hostPath: { path: await directories.make(claim.metadata.uid ?? "") },
    },
  };
}

/** What volumes of both have. */
function volumeFor(
  { metadata, spec = {} }: PersistentVolumeClaim,
  storageClass: StorageClass,
) {
  return {
    metadata: {
      name: provisionedName(metadata.uid ?? ""),
      annotations: {
        [boundByController]: "yes",
        [provisionedBy]: storageClass.provisioner,
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
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
      storageClassName: storageClass.metadata.name,
      volumeMode: "Filesystem",
    },
  };
}

function localVolume(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  node: Node | undefined,
): PersistentVolume {
  if (!node)
    throw new Unprovisionable(
      `volumes of ${localPathProvisioner} lie on a node: the class must have volumeBindingMode WaitForFirstConsumer`,
    );
  const directory = localPathDirectory(node);
  if (!directory)
    throw new Unprovisionable(
      `node "${node.metadata.name}" offers no directory for volumes of ${localPathProvisioner}`,
    );
  checkSupported(claim, storageClass);
  const shared = claim.spec?.accessModes?.find((mode) => mode.endsWith("Many"));
  if (shared)
    throw new Unprovisionable(
      `access mode ${shared} is not supported: only ReadWriteOnce and ReadWriteOncePod`,
    );
  if (claim.spec?.selector)
    throw new Unprovisionable(
      "claim.Spec.Selector is not supported for dynamic provisioning",
    );
  const { metadata, spec } = volumeFor(claim, storageClass);
  const hostname =
    node.metadata.labels?.["kubernetes.io/hostname"] ?? node.metadata.name;
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata,
    spec: {
      ...spec,
      local: { path: `${directory}/${metadata.name}` },
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
    },
  };
}
