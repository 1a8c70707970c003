// Typed references of the built-in kinds: what a Client is asked for, client.resource(pods).get("a", "default"). One a
// resource, named by its plural; where two served versions hold one kind, the other has its version in its name.
import { parseApiVersion, type KubeObject } from "../api/object.ts";
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
import type { ClusterTrustBundle } from "../api/types/certificates-v1alpha1.ts";
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
  apiVersion: string,
  [resource, kind]: readonly [resource: string, kind: string],
  namespaced: boolean,
): ResourceRef<T> {
  return { ...parseApiVersion(apiVersion), resource, kind, namespaced };
}

const namespaced = <T extends KubeObject>(
  apiVersion: string,
  ...names: readonly [resource: string, kind: string]
): ResourceRef<T> => ref(apiVersion, names, true);

const clusterWide = <T extends KubeObject>(
  apiVersion: string,
  ...names: readonly [resource: string, kind: string]
): ResourceRef<T> => ref(apiVersion, names, false);

export const bindings = namespaced<Binding>("v1", "bindings", "Binding");
export const configMaps = namespaced<ConfigMap>(
  "v1",
  "configmaps",
  "ConfigMap",
);
export const endpoints = namespaced<Endpoints>("v1", "endpoints", "Endpoints");
export const events = namespaced<Event>("v1", "events", "Event");
export const limitRanges = namespaced<LimitRange>(
  "v1",
  "limitranges",
  "LimitRange",
);
export const namespaces = clusterWide<Namespace>(
  "v1",
  "namespaces",
  "Namespace",
);
export const nodes = clusterWide<Node>("v1", "nodes", "Node");
export const persistentVolumeClaims = namespaced<PersistentVolumeClaim>(
  "v1",
  "persistentvolumeclaims",
  "PersistentVolumeClaim",
);
export const persistentVolumes = clusterWide<PersistentVolume>(
  "v1",
  "persistentvolumes",
  "PersistentVolume",
);
export const pods = namespaced<Pod>("v1", "pods", "Pod");
export const podTemplates = namespaced<PodTemplate>(
  "v1",
  "podtemplates",
  "PodTemplate",
);
export const replicationControllers = namespaced<ReplicationController>(
  "v1",
  "replicationcontrollers",
  "ReplicationController",
);
export const resourceQuotas = namespaced<ResourceQuota>(
  "v1",
  "resourcequotas",
  "ResourceQuota",
);
export const secrets = namespaced<Secret>("v1", "secrets", "Secret");
export const serviceAccounts = namespaced<ServiceAccount>(
  "v1",
  "serviceaccounts",
  "ServiceAccount",
);
export const services = namespaced<Service>("v1", "services", "Service");

export const apiServices = clusterWide<APIService>(
  "apiregistration.k8s.io/v1",
  "apiservices",
  "APIService",
);

export const controllerRevisions = namespaced<ControllerRevision>(
  "apps/v1",
  "controllerrevisions",
  "ControllerRevision",
);
export const daemonSets = namespaced<DaemonSet>(
  "apps/v1",
  "daemonsets",
  "DaemonSet",
);
export const deployments = namespaced<Deployment>(
  "apps/v1",
  "deployments",
  "Deployment",
);
export const replicaSets = namespaced<ReplicaSet>(
  "apps/v1",
  "replicasets",
  "ReplicaSet",
);
export const statefulSets = namespaced<StatefulSet>(
  "apps/v1",
  "statefulsets",
  "StatefulSet",
);

export const eventsV1 = namespaced<EventV1>(
  "events.k8s.io/v1",
  "events",
  "Event",
);

export const selfSubjectReviews = clusterWide<SelfSubjectReview>(
  "authentication.k8s.io/v1",
  "selfsubjectreviews",
  "SelfSubjectReview",
);
export const tokenReviews = clusterWide<TokenReview>(
  "authentication.k8s.io/v1",
  "tokenreviews",
  "TokenReview",
);

export const localSubjectAccessReviews = namespaced<LocalSubjectAccessReview>(
  "authorization.k8s.io/v1",
  "localsubjectaccessreviews",
  "LocalSubjectAccessReview",
);
export const selfSubjectAccessReviews = clusterWide<SelfSubjectAccessReview>(
  "authorization.k8s.io/v1",
  "selfsubjectaccessreviews",
  "SelfSubjectAccessReview",
);
export const selfSubjectRulesReviews = clusterWide<SelfSubjectRulesReview>(
  "authorization.k8s.io/v1",
  "selfsubjectrulesreviews",
  "SelfSubjectRulesReview",
);
export const subjectAccessReviews = clusterWide<SubjectAccessReview>(
  "authorization.k8s.io/v1",
  "subjectaccessreviews",
  "SubjectAccessReview",
);

export const horizontalPodAutoscalers = namespaced<HorizontalPodAutoscaler>(
  "autoscaling/v2",
  "horizontalpodautoscalers",
  "HorizontalPodAutoscaler",
);

export const horizontalPodAutoscalersV1 = namespaced<HorizontalPodAutoscalerV1>(
  "autoscaling/v1",
  "horizontalpodautoscalers",
  "HorizontalPodAutoscaler",
);

export const cronJobs = namespaced<CronJob>("batch/v1", "cronjobs", "CronJob");
export const jobs = namespaced<Job>("batch/v1", "jobs", "Job");

export const certificateSigningRequests =
  clusterWide<CertificateSigningRequest>(
    "certificates.k8s.io/v1",
    "certificatesigningrequests",
    "CertificateSigningRequest",
  );

/** Alpha: served when its API is switched on. */
export const clusterTrustBundles = clusterWide<ClusterTrustBundle>(
  "certificates.k8s.io/v1alpha1",
  "clustertrustbundles",
  "ClusterTrustBundle",
);
export const ingressClasses = clusterWide<IngressClass>(
  "networking.k8s.io/v1",
  "ingressclasses",
  "IngressClass",
);
export const ingresses = namespaced<Ingress>(
  "networking.k8s.io/v1",
  "ingresses",
  "Ingress",
);
export const networkPolicies = namespaced<NetworkPolicy>(
  "networking.k8s.io/v1",
  "networkpolicies",
  "NetworkPolicy",
);

export const ipAddresses = clusterWide<IPAddress>(
  "networking.k8s.io/v1beta1",
  "ipaddresses",
  "IPAddress",
);
export const serviceCIDRs = clusterWide<ServiceCIDR>(
  "networking.k8s.io/v1beta1",
  "servicecidrs",
  "ServiceCIDR",
);

export const podDisruptionBudgets = namespaced<PodDisruptionBudget>(
  "policy/v1",
  "poddisruptionbudgets",
  "PodDisruptionBudget",
);

export const clusterRoleBindings = clusterWide<ClusterRoleBinding>(
  "rbac.authorization.k8s.io/v1",
  "clusterrolebindings",
  "ClusterRoleBinding",
);
export const clusterRoles = clusterWide<ClusterRole>(
  "rbac.authorization.k8s.io/v1",
  "clusterroles",
  "ClusterRole",
);
export const roleBindings = namespaced<RoleBinding>(
  "rbac.authorization.k8s.io/v1",
  "rolebindings",
  "RoleBinding",
);
export const roles = namespaced<Role>(
  "rbac.authorization.k8s.io/v1",
  "roles",
  "Role",
);

export const csiDrivers = clusterWide<CSIDriver>(
  "storage.k8s.io/v1",
  "csidrivers",
  "CSIDriver",
);
export const csiNodes = clusterWide<CSINode>(
  "storage.k8s.io/v1",
  "csinodes",
  "CSINode",
);
export const csiStorageCapacities = namespaced<CSIStorageCapacity>(
  "storage.k8s.io/v1",
  "csistoragecapacities",
  "CSIStorageCapacity",
);
export const storageClasses = clusterWide<StorageClass>(
  "storage.k8s.io/v1",
  "storageclasses",
  "StorageClass",
);
export const volumeAttachments = clusterWide<VolumeAttachment>(
  "storage.k8s.io/v1",
  "volumeattachments",
  "VolumeAttachment",
);

export const volumeAttributesClasses = clusterWide<VolumeAttributesClass>(
  "storage.k8s.io/v1beta1",
  "volumeattributesclasses",
  "VolumeAttributesClass",
);

export const mutatingWebhookConfigurations =
  clusterWide<MutatingWebhookConfiguration>(
    "admissionregistration.k8s.io/v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
  );
export const validatingAdmissionPolicies =
  clusterWide<ValidatingAdmissionPolicy>(
    "admissionregistration.k8s.io/v1",
    "validatingadmissionpolicies",
    "ValidatingAdmissionPolicy",
  );
export const validatingAdmissionPolicyBindings =
  clusterWide<ValidatingAdmissionPolicyBinding>(
    "admissionregistration.k8s.io/v1",
    "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicyBinding",
  );
export const validatingWebhookConfigurations =
  clusterWide<ValidatingWebhookConfiguration>(
    "admissionregistration.k8s.io/v1",
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
  );

export const customResourceDefinitions = clusterWide<CustomResourceDefinition>(
  "apiextensions.k8s.io/v1",
  "customresourcedefinitions",
  "CustomResourceDefinition",
);

export const priorityClasses = clusterWide<PriorityClass>(
  "scheduling.k8s.io/v1",
  "priorityclasses",
  "PriorityClass",
);

export const leases = namespaced<Lease>(
  "coordination.k8s.io/v1",
  "leases",
  "Lease",
);

export const leaseCandidates = namespaced<LeaseCandidate>(
  "coordination.k8s.io/v1alpha2",
  "leasecandidates",
  "LeaseCandidate",
);

export const runtimeClasses = clusterWide<RuntimeClass>(
  "node.k8s.io/v1",
  "runtimeclasses",
  "RuntimeClass",
);

export const endpointSlices = namespaced<EndpointSlice>(
  "discovery.k8s.io/v1",
  "endpointslices",
  "EndpointSlice",
);

export const deviceClasses = clusterWide<DeviceClass>(
  "resource.k8s.io/v1beta1",
  "deviceclasses",
  "DeviceClass",
);
export const resourceClaims = namespaced<ResourceClaim>(
  "resource.k8s.io/v1beta1",
  "resourceclaims",
  "ResourceClaim",
);
export const resourceClaimTemplates = namespaced<ResourceClaimTemplate>(
  "resource.k8s.io/v1beta1",
  "resourceclaimtemplates",
  "ResourceClaimTemplate",
);
export const resourceSlices = clusterWide<ResourceSlice>(
  "resource.k8s.io/v1beta1",
  "resourceslices",
  "ResourceSlice",
);

export const flowSchemas = clusterWide<FlowSchema>(
  "flowcontrol.apiserver.k8s.io/v1",
  "flowschemas",
  "FlowSchema",
);
export const priorityLevelConfigurations =
  clusterWide<PriorityLevelConfiguration>(
    "flowcontrol.apiserver.k8s.io/v1",
    "prioritylevelconfigurations",
    "PriorityLevelConfiguration",
  );
