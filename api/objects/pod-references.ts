// What a pod's spec names: the API objects its node must read to run it.
import type { Container, Pod, Volume } from "../types/core-v1.ts";

const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

interface PodReference {
  /** With its group, where it has one. */
  readonly resource:
    | "secrets"
    | "configmaps"
    | "persistentvolumeclaims"
    | "serviceaccounts"
    | "resourceclaims.resource.k8s.io"
    | "clustertrustbundles.certificates.k8s.io";
  readonly name: string;
}

/** In the pod's namespace. Mirror pods name nothing, as they run from files of the node. */
export function* podReferences(pod: Readonly<Pod>): Generator<PodReference> {
  if (pod.metadata.annotations?.[MIRROR_ANNOTATION] === undefined)
    yield* referencesOf(pod);
}

/** Whatever kind of pod it is. */
export function* referencesOf(pod: Readonly<Pod>): Generator<PodReference> {
  const { spec } = pod;
  if (spec.serviceAccountName)
    yield { resource: "serviceaccounts", name: spec.serviceAccountName };
  for (const { name } of spec.imagePullSecrets ?? [])
    if (name) yield { resource: "secrets", name };
  const containers = [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...((spec.ephemeralContainers ?? []) as Container[]),
  ];
  for (const container of containers) yield* containerReferences(container);
  for (const volume of spec.volumes ?? []) yield* volumeReferences(volume, pod);
  yield* deviceClaims(pod);
}

function* containerReferences({
  env = [],
  envFrom = [],
}: Container): Generator<PodReference> {
  for (const { valueFrom } of env ?? []) {
    if (valueFrom?.secretKeyRef?.name)
      yield { resource: "secrets", name: valueFrom.secretKeyRef.name };
    if (valueFrom?.configMapKeyRef?.name)
      yield { resource: "configmaps", name: valueFrom.configMapKeyRef.name };
  }
  for (const { secretRef, configMapRef } of envFrom ?? []) {
    if (secretRef?.name) yield { resource: "secrets", name: secretRef.name };
    if (configMapRef?.name)
      yield { resource: "configmaps", name: configMapRef.name };
  }
}

function* volumeReferences(
  volume: Volume,
  pod: Readonly<Pod>,
): Generator<PodReference> {
  if (volume.secret?.secretName)
    yield { resource: "secrets", name: volume.secret.secretName };
  if (volume.configMap?.name)
    yield { resource: "configmaps", name: volume.configMap.name };
  if (volume.persistentVolumeClaim) {
    yield {
      resource: "persistentvolumeclaims",
      name: volume.persistentVolumeClaim.claimName,
    };
  }
  if (volume.ephemeral) {
    yield {
      resource: "persistentvolumeclaims",
      name: `${pod.metadata.name ?? ""}-${volume.name}`,
    };
  }
  for (const source of volume.projected?.sources ?? []) {
    if (source.secret?.name)
      yield { resource: "secrets", name: source.secret.name };
    if (source.configMap?.name)
      yield { resource: "configmaps", name: source.configMap.name };
    if (source.clusterTrustBundle)
      yield {
        resource: "clustertrustbundles.certificates.k8s.io",
        name: source.clusterTrustBundle.name ?? "",
      };
  }
  const secrets = [
    volume.azureFile?.secretName,
    volume.csi?.nodePublishSecretRef?.name,
    volume.cephfs?.secretRef?.name,
    volume.flexVolume?.secretRef?.name,
    volume.iscsi?.secretRef?.name,
    volume.rbd?.secretRef?.name,
    volume.scaleIO?.secretRef?.name,
    volume.storageos?.secretRef?.name,
  ];
  for (const name of secrets) if (name) yield { resource: "secrets", name };
}

/** Claims of devices: named, or made from a template, which the status names. */
function* deviceClaims({
  spec,
  status,
}: Readonly<Pod>): Generator<PodReference> {
  const resource = "resourceclaims.resource.k8s.io";
  for (const claim of spec.resourceClaims ?? []) {
    const name =
      claim.resourceClaimName ??
      status?.resourceClaimStatuses?.find((made) => made.name === claim.name)
        ?.resourceClaimName;
    if (name) yield { resource, name };
  }
}
