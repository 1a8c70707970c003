// Which strategy a resource has: one file a kind, registered here by group and plural name. A resource that is not here
// gets the registry's plain behaviour. Nothing is shared between two calls of `createStrategies`.
import { withoutGatedFields } from "./gated-fields.ts";
import type { ResourceStrategy } from "./strategy.ts";
import {
  admissionPolicyBindingStrategy,
  createAdmissionPolicyStrategy,
  createMutatingPolicyStrategy,
  ExpressionLoader,
  mutatingPolicyBindingStrategy,
} from "./admissionregistration/admission-policy.ts";
import { webhookConfigurationStrategy } from "./admissionregistration/webhook-configuration.ts";
import { apiServiceStrategy } from "./apiextensions/api-service.ts";
import { customResourceDefinitionStrategy } from "./apiextensions/custom-resource-definition.ts";
import { controllerRevisionStrategy } from "./apps/controller-revision.ts";
import { daemonSetStrategy } from "./apps/daemon-set.ts";
import { deploymentStrategy } from "./apps/deployment.ts";
import { replicaSetStrategy } from "./apps/replica-set.ts";
import { statefulSetStrategy } from "./apps/stateful-set.ts";
import { horizontalPodAutoscalerStrategy } from "./autoscaling/horizontal-pod-autoscaler.ts";
import { cronJobStrategy } from "./batch/cron-job.ts";
import { jobStrategy } from "./batch/job.ts";
import { certificateSigningRequestStrategy } from "./certificates/certificate-signing-request.ts";
import { clusterTrustBundleStrategy } from "./certificates/cluster-trust-bundle.ts";
import { leaseCandidateStrategy } from "./coordination/lease-candidate.ts";
import { leaseStrategy } from "./coordination/lease.ts";
import {
  createComponentStatusStrategy,
  type ComponentCheck,
} from "./core/component-status.ts";
import { configMapStrategy } from "./core/config-map.ts";
import { endpointsStrategy } from "./core/service/endpoints.ts";
import { eventStrategy, newEventStrategy } from "./core/event.ts";
import { limitRangeStrategy } from "./core/limit-range.ts";
import { namespaceStrategy } from "./core/namespace.ts";
import { nodeStrategy } from "./core/node.ts";
import { persistentVolumeClaimStrategy } from "./core/volume/persistent-volume-claim.ts";
import { bindingStrategy } from "./core/pod/binding.ts";
import { withoutPrivileged } from "./core/pod/privileged-policy.ts";
import { withoutDisabledFields } from "./core/pod/template-fields.ts";
import { persistentVolumeStrategy } from "./core/volume/persistent-volume.ts";
import { podTemplateStrategy } from "./core/pod/pod-template.ts";
import { createPodStrategy } from "./core/pod/pod.ts";
import { replicationControllerStrategy } from "./core/replication-controller.ts";
import { resourceQuotaStrategy } from "./core/resource-quota.ts";
import { secretStrategy } from "./core/secret.ts";
import { storageVersionStrategy } from "./apiserverinternal/storage-version.ts";
import { deviceClassStrategy } from "./resource/device-class.ts";
import {
  createResourceClaimStrategy,
  resourceClaimTemplateStrategy,
} from "./resource/resource-claim.ts";
import { resourceSliceStrategy } from "./resource/resource-slice.ts";
import { storageVersionMigrationStrategy } from "./storagemigration/storage-version-migration.ts";
import { serviceAccountStrategy } from "./core/service-account.ts";
import type { ServiceAllocators } from "./core/service/service-ip-allocator.ts";
import { createServiceStrategy } from "./core/service/service.ts";
import { endpointSliceStrategy } from "./discovery/endpoint-slice.ts";
import {
  flowSchemaStrategy,
  priorityLevelStrategy,
} from "./flowcontrol/flow-control.ts";
import { ingressClassStrategy, ingressStrategy } from "./networking/ingress.ts";
import { ipAddressStrategy } from "./networking/ip-address.ts";
import { serviceCidrStrategy } from "./networking/service-cidr.ts";
import { networkPolicyStrategy } from "./networking/network-policy.ts";
import { runtimeClassStrategy } from "./node/runtime-class.ts";
import { podDisruptionBudgetStrategy } from "./policy/pod-disruption-budget.ts";
import {
  clusterRoleBindingStrategy,
  roleBindingStrategy,
} from "./rbac/role-binding.ts";
import { clusterRoleStrategy, roleStrategy } from "./rbac/role.ts";
import { priorityClassStrategy } from "./scheduling/priority-class.ts";
import {
  csiDriverStrategy,
  csiNodeStrategy,
  csiStorageCapacityStrategy,
  volumeAttachmentStrategy,
  volumeAttributesClassStrategy,
} from "./storage/csi.ts";
import { storageClassStrategy } from "./storage/storage-class.ts";

interface StrategyOptions {
  /**
   * Cluster IPs and node ports: `createServiceAllocators({ serviceCidrs })`, then `adoptServices(allocators, stored)`
   * before the first request. Without it services get no addresses.
   */
  readonly services?: ServiceAllocators;
  /** Default true. */
  readonly allowPrivileged?: boolean;
  /** Those that are set. */
  readonly featureGates?: Readonly<Record<string, boolean>> | undefined;
  /** What componentstatuses show. Default: none. */
  readonly componentChecks?: readonly ComponentCheck[];
}

type StrategyLookup = (
  group: string,
  resource: string,
) => ResourceStrategy | undefined;

const strategies: ReadonlyMap<string, ResourceStrategy> = new Map([
  ["/bindings", bindingStrategy],
  ["/configmaps", configMapStrategy],
  ["/endpoints", endpointsStrategy],
  ["/events", eventStrategy],
  ["/limitranges", limitRangeStrategy],
  ["/namespaces", namespaceStrategy],
  ["/nodes", nodeStrategy],
  ["/persistentvolumeclaims", persistentVolumeClaimStrategy],
  ["/persistentvolumes", persistentVolumeStrategy],
  ["/podtemplates", podTemplateStrategy],
  ["/resourcequotas", resourceQuotaStrategy],
  ["/secrets", secretStrategy],
  ["/serviceaccounts", serviceAccountStrategy],
  [
    "admissionregistration.k8s.io/mutatingadmissionpolicybindings",
    mutatingPolicyBindingStrategy,
  ],
  [
    "admissionregistration.k8s.io/mutatingwebhookconfigurations",
    webhookConfigurationStrategy,
  ],
  [
    "admissionregistration.k8s.io/validatingadmissionpolicybindings",
    admissionPolicyBindingStrategy,
  ],
  [
    "admissionregistration.k8s.io/validatingwebhookconfigurations",
    webhookConfigurationStrategy,
  ],
  [
    "apiextensions.k8s.io/customresourcedefinitions",
    customResourceDefinitionStrategy,
  ],
  ["apiregistration.k8s.io/apiservices", apiServiceStrategy],
  ["apps/controllerrevisions", controllerRevisionStrategy],
  ["apps/daemonsets", daemonSetStrategy],
  ["apps/deployments", deploymentStrategy],
  ["apps/replicasets", replicaSetStrategy],
  ["apps/statefulsets", statefulSetStrategy],
  ["autoscaling/horizontalpodautoscalers", horizontalPodAutoscalerStrategy],
  ["batch/cronjobs", cronJobStrategy],
  ["batch/jobs", jobStrategy],
  [
    "certificates.k8s.io/certificatesigningrequests",
    certificateSigningRequestStrategy,
  ],
  ["certificates.k8s.io/clustertrustbundles", clusterTrustBundleStrategy],
  ["coordination.k8s.io/leases", leaseStrategy],
  ["coordination.k8s.io/leasecandidates", leaseCandidateStrategy],
  ["discovery.k8s.io/endpointslices", endpointSliceStrategy],
  ["events.k8s.io/events", newEventStrategy],
  ["flowcontrol.apiserver.k8s.io/flowschemas", flowSchemaStrategy],
  [
    "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations",
    priorityLevelStrategy,
  ],
  ["networking.k8s.io/ingressclasses", ingressClassStrategy],
  ["networking.k8s.io/ingresses", ingressStrategy],
  ["networking.k8s.io/ipaddresses", ipAddressStrategy],
  ["networking.k8s.io/networkpolicies", networkPolicyStrategy],
  ["networking.k8s.io/servicecidrs", serviceCidrStrategy],
  ["node.k8s.io/runtimeclasses", runtimeClassStrategy],
  ["policy/poddisruptionbudgets", podDisruptionBudgetStrategy],
  ["rbac.authorization.k8s.io/clusterrolebindings", clusterRoleBindingStrategy],
  ["rbac.authorization.k8s.io/clusterroles", clusterRoleStrategy],
  ["rbac.authorization.k8s.io/rolebindings", roleBindingStrategy],
  ["rbac.authorization.k8s.io/roles", roleStrategy],
  ["internal.apiserver.k8s.io/storageversions", storageVersionStrategy],
  ["resource.k8s.io/deviceclasses", deviceClassStrategy],
  ["resource.k8s.io/resourceclaimtemplates", resourceClaimTemplateStrategy],
  ["resource.k8s.io/resourceslices", resourceSliceStrategy],
  ["scheduling.k8s.io/priorityclasses", priorityClassStrategy],
  ["storage.k8s.io/csidrivers", csiDriverStrategy],
  ["storage.k8s.io/csinodes", csiNodeStrategy],
  ["storage.k8s.io/csistoragecapacities", csiStorageCapacityStrategy],
  ["storage.k8s.io/storageclasses", storageClassStrategy],
  ["storage.k8s.io/volumeattachments", volumeAttachmentStrategy],
  ["/replicationcontrollers", replicationControllerStrategy],
  ["storage.k8s.io/volumeattributesclasses", volumeAttributesClassStrategy],
  [
    "storagemigration.k8s.io/storageversionmigrations",
    storageVersionMigrationStrategy,
  ],
]);

/** The lookup for one API server. */
export function createStrategies(
  options: StrategyOptions = {},
): StrategyLookup {
  const { allowPrivileged = true, componentChecks = [] } = options;
  const gate = (name: string): boolean => options.featureGates?.[name] ?? false;
  const podFeatures = {
    resize: gate("InPlacePodVerticalScaling"),
    allocatedStatus: gate("InPlacePodVerticalScalingAllocatedStatus"),
    userNamespaces: gate("UserNamespacesSupport"),
    groupsPolicy: gate("SupplementalGroupsPolicy"),
    claims: gate("DynamicResourceAllocation"),
    podResources: gate("PodLevelResources"),
    procMount: gate("ProcMountType"),
    imageVolumes: gate("ImageVolume"),
    trustBundles: gate("ClusterTrustBundleProjection"),
  };
  const expressions = new ExpressionLoader();
  const made: Readonly<Record<string, ResourceStrategy>> = {
    "/pods": createPodStrategy(podFeatures),
    "/services": createServiceStrategy(options.services),
    "/componentstatuses": createComponentStatusStrategy(componentChecks),
    "admissionregistration.k8s.io/mutatingadmissionpolicies":
      createMutatingPolicyStrategy(expressions),
    "admissionregistration.k8s.io/validatingadmissionpolicies":
      createAdmissionPolicyStrategy(expressions),
    "resource.k8s.io/resourceclaims": createResourceClaimStrategy({
      adminAccess: gate("DRAAdminAccess"),
      deviceStatus: gate("DRAResourceClaimDeviceStatus"),
    }),
  };
  return (group, resource) => {
    const name = `${group}/${resource}`;
    const known = made[name] ?? strategies.get(name);
    if (!known) return undefined;
    const strategy = withoutGatedFields(
      name,
      known,
      options.featureGates ?? {},
    );
    const gated = withoutDisabledFields(group, resource, strategy, podFeatures);
    return allowPrivileged ? gated : withoutPrivileged(group, resource, gated);
  };
}
