// Typed references of the built-in kinds: what a Client is asked for, client.resource(pods).get("a", "default"). One a
// resource, named by its plural; where two served versions hold one kind, the other has its version in its name.
import type { KubeObject } from "../api/object.ts";
import type {
  Binding,
  ConfigMap,
  Endpoints,
  Event,
  LimitRange,
  Namespace,
  Node,
  PersistentVolumeClaim,
  PersistentVolume,
  Pod,
  PodTemplate,
  ReplicationController,
  ResourceQuota,
  Secret,
  ServiceAccount,
  Service,
} from "../api/types/core-v1.ts";
import type { APIService } from "../api/types/apiregistration-v1.ts";
import type {
  ControllerRevision,
  DaemonSet,
  Deployment,
  ReplicaSet,
  StatefulSet,
} from "../api/types/apps-v1.ts";
import type { Event as EventV1 } from "../api/types/events-v1.ts";
import type {
  SelfSubjectReview,
  TokenReview,
} from "../api/types/authentication-v1.ts";
import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from "../api/types/authorization-v1.ts";
import type { HorizontalPodAutoscaler } from "../api/types/autoscaling-v2.ts";
import type { HorizontalPodAutoscaler as HorizontalPodAutoscalerV1 } from "../api/types/autoscaling-v1.ts";
import type { CronJob, Job } from "../api/types/batch-v1.ts";
import type { CertificateSigningRequest } from "../api/types/certificates-v1.ts";
import type {
  IngressClass,
  Ingress,
  NetworkPolicy,
} from "../api/types/networking-v1.ts";
import type {
  IPAddress,
  ServiceCIDR,
} from "../api/types/networking-v1beta1.ts";
import type { PodDisruptionBudget } from "../api/types/policy-v1.ts";
import type {
  ClusterRoleBinding,
  ClusterRole,
  RoleBinding,
  Role,
} from "../api/types/rbac-v1.ts";
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  StorageClass,
  VolumeAttachment,
} from "../api/types/storage-v1.ts";
import type { VolumeAttributesClass } from "../api/types/storage-v1beta1.ts";
import type {
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "../api/types/admissionregistration-v1.ts";
import type { CustomResourceDefinition } from "../api/types/apiextensions-v1.ts";
import type { PriorityClass } from "../api/types/scheduling-v1.ts";
import type { Lease } from "../api/types/coordination-v1.ts";
import type { LeaseCandidate } from "../api/types/coordination-v1alpha2.ts";
import type { RuntimeClass } from "../api/types/node-v1.ts";
import type { EndpointSlice } from "../api/types/discovery-v1.ts";
import type {
  DeviceClass,
  ResourceClaim,
  ResourceClaimTemplate,
  ResourceSlice,
} from "../api/types/resource-v1beta1.ts";
import type {
  FlowSchema,
  PriorityLevelConfiguration,
} from "../api/types/flowcontrol-v1.ts";
import type { ResourceRef } from "./client.ts";

function ref<T extends KubeObject>(
  group: string,
  version: string,
  resource: string,
  kind: string,
  namespaced: boolean,
): ResourceRef<T> {
  return { group, version, resource, kind, namespaced };
}

export const bindings: ResourceRef<Binding> = ref(
  "",
  "v1",
  "bindings",
  "Binding",
  true,
);
export const configMaps: ResourceRef<ConfigMap> = ref(
  "",
  "v1",
  "configmaps",
  "ConfigMap",
  true,
);
export const endpoints: ResourceRef<Endpoints> = ref(
  "",
  "v1",
  "endpoints",
  "Endpoints",
  true,
);
export const events: ResourceRef<Event> = ref(
  "",
  "v1",
  "events",
  "Event",
  true,
);
export const limitRanges: ResourceRef<LimitRange> = ref(
  "",
  "v1",
  "limitranges",
  "LimitRange",
  true,
);
export const namespaces: ResourceRef<Namespace> = ref(
  "",
  "v1",
  "namespaces",
  "Namespace",
  false,
);
export const nodes: ResourceRef<Node> = ref("", "v1", "nodes", "Node", false);
export const persistentVolumeClaims: ResourceRef<PersistentVolumeClaim> = ref(
  "",
  "v1",
  "persistentvolumeclaims",
  "PersistentVolumeClaim",
  true,
);
export const persistentVolumes: ResourceRef<PersistentVolume> = ref(
  "",
  "v1",
  "persistentvolumes",
  "PersistentVolume",
  false,
);
export const pods: ResourceRef<Pod> = ref("", "v1", "pods", "Pod", true);
export const podTemplates: ResourceRef<PodTemplate> = ref(
  "",
  "v1",
  "podtemplates",
  "PodTemplate",
  true,
);
export const replicationControllers: ResourceRef<ReplicationController> = ref(
  "",
  "v1",
  "replicationcontrollers",
  "ReplicationController",
  true,
);
export const resourceQuotas: ResourceRef<ResourceQuota> = ref(
  "",
  "v1",
  "resourcequotas",
  "ResourceQuota",
  true,
);
export const secrets: ResourceRef<Secret> = ref(
  "",
  "v1",
  "secrets",
  "Secret",
  true,
);
export const serviceAccounts: ResourceRef<ServiceAccount> = ref(
  "",
  "v1",
  "serviceaccounts",
  "ServiceAccount",
  true,
);
export const services: ResourceRef<Service> = ref(
  "",
  "v1",
  "services",
  "Service",
  true,
);

export const apiServices: ResourceRef<APIService> = ref(
  "apiregistration.k8s.io",
  "v1",
  "apiservices",
  "APIService",
  false,
);

export const controllerRevisions: ResourceRef<ControllerRevision> = ref(
  "apps",
  "v1",
  "controllerrevisions",
  "ControllerRevision",
  true,
);
export const daemonSets: ResourceRef<DaemonSet> = ref(
  "apps",
  "v1",
  "daemonsets",
  "DaemonSet",
  true,
);
export const deployments: ResourceRef<Deployment> = ref(
  "apps",
  "v1",
  "deployments",
  "Deployment",
  true,
);
export const replicaSets: ResourceRef<ReplicaSet> = ref(
  "apps",
  "v1",
  "replicasets",
  "ReplicaSet",
  true,
);
export const statefulSets: ResourceRef<StatefulSet> = ref(
  "apps",
  "v1",
  "statefulsets",
  "StatefulSet",
  true,
);

export const eventsV1: ResourceRef<EventV1> = ref(
  "events.k8s.io",
  "v1",
  "events",
  "Event",
  true,
);

export const selfSubjectReviews: ResourceRef<SelfSubjectReview> = ref(
  "authentication.k8s.io",
  "v1",
  "selfsubjectreviews",
  "SelfSubjectReview",
  false,
);
export const tokenReviews: ResourceRef<TokenReview> = ref(
  "authentication.k8s.io",
  "v1",
  "tokenreviews",
  "TokenReview",
  false,
);

export const localSubjectAccessReviews: ResourceRef<LocalSubjectAccessReview> =
  ref(
    "authorization.k8s.io",
    "v1",
    "localsubjectaccessreviews",
    "LocalSubjectAccessReview",
    true,
  );
export const selfSubjectAccessReviews: ResourceRef<SelfSubjectAccessReview> =
  ref(
    "authorization.k8s.io",
    "v1",
    "selfsubjectaccessreviews",
    "SelfSubjectAccessReview",
    false,
  );
export const selfSubjectRulesReviews: ResourceRef<SelfSubjectRulesReview> = ref(
  "authorization.k8s.io",
  "v1",
  "selfsubjectrulesreviews",
  "SelfSubjectRulesReview",
  false,
);
export const subjectAccessReviews: ResourceRef<SubjectAccessReview> = ref(
  "authorization.k8s.io",
  "v1",
  "subjectaccessreviews",
  "SubjectAccessReview",
  false,
);

export const horizontalPodAutoscalers: ResourceRef<HorizontalPodAutoscaler> =
  ref(
    "autoscaling",
    "v2",
    "horizontalpodautoscalers",
    "HorizontalPodAutoscaler",
    true,
  );

export const horizontalPodAutoscalersV1: ResourceRef<HorizontalPodAutoscalerV1> =
  ref(
    "autoscaling",
    "v1",
    "horizontalpodautoscalers",
    "HorizontalPodAutoscaler",
    true,
  );

export const cronJobs: ResourceRef<CronJob> = ref(
  "batch",
  "v1",
  "cronjobs",
  "CronJob",
  true,
);
export const jobs: ResourceRef<Job> = ref("batch", "v1", "jobs", "Job", true);

export const certificateSigningRequests: ResourceRef<CertificateSigningRequest> =
  ref(
    "certificates.k8s.io",
    "v1",
    "certificatesigningrequests",
    "CertificateSigningRequest",
    false,
  );

export const ingressClasses: ResourceRef<IngressClass> = ref(
  "networking.k8s.io",
  "v1",
  "ingressclasses",
  "IngressClass",
  false,
);
export const ingresses: ResourceRef<Ingress> = ref(
  "networking.k8s.io",
  "v1",
  "ingresses",
  "Ingress",
  true,
);
export const networkPolicies: ResourceRef<NetworkPolicy> = ref(
  "networking.k8s.io",
  "v1",
  "networkpolicies",
  "NetworkPolicy",
  true,
);

export const ipAddresses: ResourceRef<IPAddress> = ref(
  "networking.k8s.io",
  "v1beta1",
  "ipaddresses",
  "IPAddress",
  false,
);
export const serviceCIDRs: ResourceRef<ServiceCIDR> = ref(
  "networking.k8s.io",
  "v1beta1",
  "servicecidrs",
  "ServiceCIDR",
  false,
);

export const podDisruptionBudgets: ResourceRef<PodDisruptionBudget> = ref(
  "policy",
  "v1",
  "poddisruptionbudgets",
  "PodDisruptionBudget",
  true,
);

export const clusterRoleBindings: ResourceRef<ClusterRoleBinding> = ref(
  "rbac.authorization.k8s.io",
  "v1",
  "clusterrolebindings",
  "ClusterRoleBinding",
  false,
);
export const clusterRoles: ResourceRef<ClusterRole> = ref(
  "rbac.authorization.k8s.io",
  "v1",
  "clusterroles",
  "ClusterRole",
  false,
);
export const roleBindings: ResourceRef<RoleBinding> = ref(
  "rbac.authorization.k8s.io",
  "v1",
  "rolebindings",
  "RoleBinding",
  true,
);
export const roles: ResourceRef<Role> = ref(
  "rbac.authorization.k8s.io",
  "v1",
  "roles",
  "Role",
  true,
);

export const csiDrivers: ResourceRef<CSIDriver> = ref(
  "storage.k8s.io",
  "v1",
  "csidrivers",
  "CSIDriver",
  false,
);
export const csiNodes: ResourceRef<CSINode> = ref(
  "storage.k8s.io",
  "v1",
  "csinodes",
  "CSINode",
  false,
);
export const csiStorageCapacities: ResourceRef<CSIStorageCapacity> = ref(
  "storage.k8s.io",
  "v1",
  "csistoragecapacities",
  "CSIStorageCapacity",
  true,
);
export const storageClasses: ResourceRef<StorageClass> = ref(
  "storage.k8s.io",
  "v1",
  "storageclasses",
  "StorageClass",
  false,
);
export const volumeAttachments: ResourceRef<VolumeAttachment> = ref(
  "storage.k8s.io",
  "v1",
  "volumeattachments",
  "VolumeAttachment",
  false,
);

export const volumeAttributesClasses: ResourceRef<VolumeAttributesClass> = ref(
  "storage.k8s.io",
  "v1beta1",
  "volumeattributesclasses",
  "VolumeAttributesClass",
  false,
);

export const mutatingWebhookConfigurations: ResourceRef<MutatingWebhookConfiguration> =
  ref(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    false,
  );
export const validatingAdmissionPolicies: ResourceRef<ValidatingAdmissionPolicy> =
  ref(
    "admissionregistration.k8s.io",
    "v1",
    "validatingadmissionpolicies",
    "ValidatingAdmissionPolicy",
    false,
  );
export const validatingAdmissionPolicyBindings: ResourceRef<ValidatingAdmissionPolicyBinding> =
  ref(
    "admissionregistration.k8s.io",
    "v1",
    "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicyBinding",
    false,
  );
export const validatingWebhookConfigurations: ResourceRef<ValidatingWebhookConfiguration> =
  ref(
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
    false,
  );

export const customResourceDefinitions: ResourceRef<CustomResourceDefinition> =
  ref(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    false,
  );

export const priorityClasses: ResourceRef<PriorityClass> = ref(
  "scheduling.k8s.io",
  "v1",
  "priorityclasses",
  "PriorityClass",
  false,
);

export const leases: ResourceRef<Lease> = ref(
  "coordination.k8s.io",
  "v1",
  "leases",
  "Lease",
  true,
);

export const leaseCandidates: ResourceRef<LeaseCandidate> = ref(
  "coordination.k8s.io",
  "v1alpha2",
  "leasecandidates",
  "LeaseCandidate",
  true,
);

export const runtimeClasses: ResourceRef<RuntimeClass> = ref(
  "node.k8s.io",
  "v1",
  "runtimeclasses",
  "RuntimeClass",
  false,
);

export const endpointSlices: ResourceRef<EndpointSlice> = ref(
  "discovery.k8s.io",
  "v1",
  "endpointslices",
  "EndpointSlice",
  true,
);

export const deviceClasses: ResourceRef<DeviceClass> = ref(
  "resource.k8s.io",
  "v1beta1",
  "deviceclasses",
  "DeviceClass",
  false,
);
export const resourceClaims: ResourceRef<ResourceClaim> = ref(
  "resource.k8s.io",
  "v1beta1",
  "resourceclaims",
  "ResourceClaim",
  true,
);
export const resourceClaimTemplates: ResourceRef<ResourceClaimTemplate> = ref(
  "resource.k8s.io",
  "v1beta1",
  "resourceclaimtemplates",
  "ResourceClaimTemplate",
  true,
);
export const resourceSlices: ResourceRef<ResourceSlice> = ref(
  "resource.k8s.io",
  "v1beta1",
  "resourceslices",
  "ResourceSlice",
  false,
);

export const flowSchemas: ResourceRef<FlowSchema> = ref(
  "flowcontrol.apiserver.k8s.io",
  "v1",
  "flowschemas",
  "FlowSchema",
  false,
);
export const priorityLevelConfigurations: ResourceRef<PriorityLevelConfiguration> =
  ref(
    "flowcontrol.apiserver.k8s.io",
    "v1",
    "prioritylevelconfigurations",
    "PriorityLevelConfiguration",
    false,
  );
