// What a pod's spec names in its namespace: secrets, config maps, claims and the service account. Mirror pods name
// nothing, as they run from files of the node.
import type { Container, Pod, Volume } from "../../api/types/core-v1.ts";

export interface PodReference {
  readonly resource:
    "secrets" | "configmaps" | "persistentvolumeclaims" | "serviceaccounts";
  readonly name: string;
}

export function* podReferences(pod: Readonly<Pod>): Generator<PodReference> {
  if (pod.metadata.annotations?.["kubernetes.io/config.mirror"] !== undefined)
    return;
  const { spec } = pod;
  if (spec.serviceAccountName)
    yield { resource: "serviceaccounts", name: spec.serviceAccountName };
  for (const { name } of spec.imagePullSecrets ?? [])
    if (name) yield { resource: "secrets", name };
  const containers = [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...((spec.ephemeralContainers ?? []) as unknown as Container[]),
  ];
  for (const container of containers) yield* containerReferences(container);
  for (const volume of spec.volumes ?? []) yield* volumeReferences(volume, pod);
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
  }
  const secretRef =
    volume.csi?.nodePublishSecretRef ??
    volume.cephfs?.secretRef ??
    volume.rbd?.secretRef;
  if (secretRef?.name) yield { resource: "secrets", name: secretRef.name };
}
