// Names of the reference's string types, as its decoder prints them when a value has the wrong JSON type
// (`of type v1.PullPolicy`). By type and field; fields that are not here are plain strings. Texts of errors only.

const NAMES: Readonly<Record<string, string>> = {
  "ObjectMeta.uid": "types.UID",
  "OwnerReference.uid": "types.UID",
  "ObjectReference.uid": "types.UID",
  "LabelSelectorRequirement.operator": "v1.LabelSelectorOperator",
  "ManagedFieldsEntry.operation": "v1.ManagedFieldsOperationType",
  "DeleteOptions.propagationPolicy": "v1.DeletionPropagation",

  "Container.imagePullPolicy": "v1.PullPolicy",
  "Container.restartPolicy": "v1.ContainerRestartPolicy",
  "Container.terminationMessagePolicy": "v1.TerminationMessagePolicy",
  "ContainerPort.protocol": "v1.Protocol",
  "EmptyDirVolumeSource.medium": "v1.StorageMedium",
  "EphemeralContainer.imagePullPolicy": "v1.PullPolicy",
  "HTTPGetAction.scheme": "v1.URIScheme",
  "HostPathVolumeSource.type": "v1.HostPathType",
  "NamespaceStatus.phase": "v1.NamespacePhase",
  "NodeSelectorRequirement.operator": "v1.NodeSelectorOperator",
  "PersistentVolumeClaimSpec.volumeMode": "v1.PersistentVolumeMode",
  "PersistentVolumeSpec.persistentVolumeReclaimPolicy":
    "v1.PersistentVolumeReclaimPolicy",
  "PersistentVolumeSpec.volumeMode": "v1.PersistentVolumeMode",
  "PodSecurityContext.fsGroupChangePolicy": "v1.PodFSGroupChangePolicy",
  "PodSpec.dnsPolicy": "v1.DNSPolicy",
  "PodSpec.preemptionPolicy": "v1.PreemptionPolicy",
  "PodSpec.restartPolicy": "v1.RestartPolicy",
  "PodStatus.phase": "v1.PodPhase",
  "PodStatus.qosClass": "v1.PodQOSClass",
  "SeccompProfile.type": "v1.SeccompProfileType",
  "Secret.type": "v1.SecretType",
  "SecurityContext.procMount": "v1.ProcMountType",
  "ServicePort.protocol": "v1.Protocol",
  "ServiceSpec.externalTrafficPolicy": "v1.ServiceExternalTrafficPolicy",
  "ServiceSpec.internalTrafficPolicy": "v1.ServiceInternalTrafficPolicy",
  "ServiceSpec.ipFamilyPolicy": "v1.IPFamilyPolicy",
  "ServiceSpec.sessionAffinity": "v1.ServiceAffinity",
  "ServiceSpec.type": "v1.ServiceType",
  "Taint.effect": "v1.TaintEffect",
  "Toleration.effect": "v1.TaintEffect",
  "Toleration.operator": "v1.TolerationOperator",
  "TopologySpreadConstraint.whenUnsatisfiable":
    "v1.UnsatisfiableConstraintAction",
  "VolumeMount.mountPropagation": "v1.MountPropagationMode",

  "CronJobSpec.concurrencyPolicy": "v1.ConcurrencyPolicy",
  "DaemonSetUpdateStrategy.type": "v1.DaemonSetUpdateStrategyType",
  "DeploymentStrategy.type": "v1.DeploymentStrategyType",
  "HTTPIngressPath.pathType": "v1.PathType",
  "JobSpec.completionMode": "v1.CompletionMode",
  "JobSpec.podReplacementPolicy": "v1.PodReplacementPolicy",
  "NetworkPolicyPort.protocol": "v1.Protocol",
  "StatefulSetSpec.podManagementPolicy": "v1.PodManagementPolicyType",
  "StatefulSetUpdateStrategy.type": "v1.StatefulSetUpdateStrategyType",
  "StorageClass.reclaimPolicy": "v1.PersistentVolumeReclaimPolicy",
  "StorageClass.volumeBindingMode": "v1.VolumeBindingMode",
};

/** `string`, or the name of the string type of that field. */
export function stringTypeName(
  typeName: string | undefined,
  field: string | undefined,
): string {
  const key = `${typeName ?? ""}.${field ?? ""}`;
  return Object.hasOwn(NAMES, key) ? NAMES[key]! : "string";
}

const ROOMS: Readonly<Record<string, string>> = {
  "": "core",
  events: "core",
  internal: "apiserverinternal",
};

/** The reference's own name of a kind (`core.Pod`), whatever its version. */
export function internalTypeName(group: string, kind: string): string {
  const room = group.split(".", 1)[0]!;
  return `${ROOMS[room] ?? room}.${kind}`;
}
