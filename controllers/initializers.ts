// The controllers by the names --controllers knows them by: canonical name, the older alias, whether `*` means it too,
// and how it is made. A maker may give nothing when its options are missing.
import { createAutoscalerController } from "./autoscaling/autoscaler-controller.ts";
import { createBootstrapSigner } from "./bootstrap-tokens/bootstrap-signer.ts";
import { createTokenCleaner } from "./bootstrap-tokens/token-cleaner.ts";
import { createCertificateApprover } from "./certificates/approving.ts";
import { createCertificateCleaner } from "./certificates/cleaner.ts";
import { createCertificateSigner } from "./certificates/signing.ts";
import { createClusterRoleAggregationController } from "./access/cluster-role-aggregation.ts";
import type { Controller, ControllerContext } from "./context.ts";
import { createCronJobController } from "./cronjob/cronjob-controller.ts";
import { createDaemonSetController } from "./daemonset/daemonset-controller.ts";
import { createDeploymentController } from "./deployment/deployment-controller.ts";
import { createPolicyStatusController } from "./admission/policy-status-controller.ts";
import type { Discovery } from "./discovery/resource-discovery.ts";
import { createDisruptionController } from "./disruption/disruption-controller.ts";
import { createEndpointSliceController } from "./endpoints/endpoint-slice-controller.ts";
import { createEndpointSliceMirroringController } from "./endpoints/endpoint-slice-mirroring.ts";
import { createEndpointsController } from "./endpoints/endpoints-controller.ts";
import { createGarbageCollector } from "./garbage-collector/garbage-collector.ts";
import { createJobController } from "./job/job-controller.ts";
import { createNamespaceController } from "./namespace/namespace-controller.ts";
import { createNodeIpamController } from "./node-ipam/node-ipam-controller.ts";
import { createNodeLifecycleController } from "./node/node-lifecycle.ts";
import { createTtlController } from "./node/ttl-controller.ts";
import { createTaintEvictionController } from "./node/taint-eviction.ts";
import { createPodGarbageCollector } from "./garbage-collector/pod-garbage-collector.ts";
import {
  createReplicaSetController,
  createReplicationControllerController,
} from "./replicaset/replica-kinds.ts";
import { createResourceQuotaController } from "./quota/quota-controller.ts";
import { createRootCaPublisher } from "./certificates/root-ca-publisher.ts";
import { TrustBundlePublisher } from "./certificates/trust-bundle-publisher.ts";
import { createLegacyTokenCleaner } from "./access/legacy-token-cleaner.ts";
import { createServiceAccountTokenController } from "./access/service-account-tokens.ts";
import { createServiceAccountController } from "./access/service-account-controller.ts";
import { createServiceLoadBalancerController } from "./service-lb/service-lb-controller.ts";
import { createStatefulSetController } from "./statefulset/statefulset-controller.ts";
import { createTtlAfterFinishedController } from "./job/ttl-after-finished.ts";
import {
  createClaimProtectionController,
  createVolumeProtectionController,
} from "./volumes/claim-protection.ts";
import { createResourceClaimController } from "./resource-claims/resource-claim-controller.ts";
import { createVersionCollector } from "./storage-versions/version-collector.ts";
import { createVersionMigrator } from "./storage-versions/version-migrator.ts";
import { createAttachDetachController } from "./volumes/attachment/attach-detach-controller.ts";
import { createClaimExpansionController } from "./volumes/claim-expansion.ts";
import { createEphemeralVolumeController } from "./volumes/ephemeral-claims.ts";
import { createVolumeBinder } from "./volumes/volume-binder.ts";

export interface Initializer {
  readonly name: string;
  readonly alias: string;
  /** The service account of kube-system that it acts as where each has its own; without it, the manager's identity. */
  readonly account?: string;
  readonly offByDefault?: boolean;
  create(
    context: ControllerContext,
    discovery: Discovery,
  ): Controller | undefined;
}

/** Is a feature gate on? */
const isOn = (
  { options }: ControllerContext,
  gate: string,
  byDefault = false,
): boolean => options.featureGates?.[gate] ?? byDefault;

export const initializers: readonly Initializer[] = [
  {
    name: "serviceaccount-token-controller",
    alias: "serviceaccount-token",
    create: (context) =>
      context.options.serviceAccountTokenSigner
        ? createServiceAccountTokenController(
            context,
            context.options.serviceAccountTokenSigner,
          )
        : undefined,
  },
  {
    name: "legacy-serviceaccount-token-cleaner-controller",
    alias: "legacy-service-account-token-cleaner",
    account: "legacy-service-account-token-cleaner",
    create: createLegacyTokenCleaner,
  },
  {
    name: "serviceaccount-controller",
    alias: "serviceaccount",
    account: "service-account-controller",
    create: createServiceAccountController,
  },
  {
    name: "service-lb-controller",
    alias: "service",
    account: "service-controller",
    create: (context) =>
      context.options.loadBalancer
        ? createServiceLoadBalancerController(
            context,
            context.options.loadBalancer,
          )
        : undefined,
  },
  {
    name: "root-ca-certificate-publisher-controller",
    alias: "root-ca-cert-publisher",
    account: "root-ca-cert-publisher",
    create: (context) =>
      context.options.rootCa
        ? createRootCaPublisher(context, context.options.rootCa)
        : undefined,
  },
  {
    name: "kube-apiserver-serving-clustertrustbundle-publisher-controller",
    alias: "kube-apiserver-serving-clustertrustbundle-publisher",
    account: "kube-apiserver-serving-clustertrustbundle-publisher",
    create: (context, discovery) =>
      context.options.rootCa && isOn(context, "ClusterTrustBundle")
        ? new TrustBundlePublisher(context, discovery, context.options.rootCa)
        : undefined,
  },
  {
    name: "namespace-controller",
    alias: "namespace",
    account: "namespace-controller",
    create: (context, discovery) =>
      createNamespaceController(
        context,
        discovery,
        isOn(context, "OrderedNamespaceDeletion"),
      ),
  },
  {
    name: "deployment-controller",
    alias: "deployment",
    account: "deployment-controller",
    create: createDeploymentController,
  },
  {
    name: "replicaset-controller",
    alias: "replicaset",
    account: "replicaset-controller",
    create: createReplicaSetController,
  },
  {
    name: "replicationcontroller-controller",
    alias: "replicationcontroller",
    account: "replication-controller",
    create: createReplicationControllerController,
  },
  {
    name: "garbage-collector-controller",
    alias: "garbagecollector",
    account: "generic-garbage-collector",
    create: (context, discovery) =>
      context.options.enableGarbageCollector
        ? createGarbageCollector(context, discovery)
        : undefined,
  },
  {
    name: "node-ipam-controller",
    alias: "nodeipam",
    account: "node-controller",
    create: (context) =>
      context.options.nodeIpam
        ? createNodeIpamController(context, context.options.nodeIpam)
        : undefined,
  },
  {
    name: "node-lifecycle-controller",
    alias: "nodelifecycle",
    account: "node-controller",
    create: createNodeLifecycleController,
  },
  {
    name: "taint-eviction-controller",
    alias: "taint-eviction",
    account: "node-controller",
    create: createTaintEvictionController,
  },
  {
    name: "pod-garbage-collector-controller",
    alias: "podgc",
    account: "pod-garbage-collector",
    create: createPodGarbageCollector,
  },
  {
    name: "resourceclaim-controller",
    alias: "resource-claim-controller",
    account: "resource-claim-controller",
    create: (context) =>
      isOn(context, "DynamicResourceAllocation")
        ? createResourceClaimController(context, {
            adminAccess: isOn(context, "DRAAdminAccess"),
          })
        : undefined,
  },
  {
    name: "endpointslice-controller",
    alias: "endpointslice",
    account: "endpointslice-controller",
    create: createEndpointSliceController,
  },
  {
    name: "endpoints-controller",
    alias: "endpoint",
    account: "endpoint-controller",
    create: createEndpointsController,
  },
  {
    name: "daemonset-controller",
    alias: "daemonset",
    account: "daemon-set-controller",
    create: createDaemonSetController,
  },
  {
    name: "statefulset-controller",
    alias: "statefulset",
    account: "statefulset-controller",
    create: createStatefulSetController,
  },
  {
    name: "job-controller",
    alias: "job",
    account: "job-controller",
    create: createJobController,
  },
  {
    name: "cronjob-controller",
    alias: "cronjob",
    account: "cronjob-controller",
    create: createCronJobController,
  },
  {
    name: "horizontal-pod-autoscaler-controller",
    alias: "horizontalpodautoscaling",
    account: "horizontal-pod-autoscaler",
    create: createAutoscalerController,
  },
  {
    name: "disruption-controller",
    alias: "disruption",
    account: "disruption-controller",
    create: createDisruptionController,
  },
  {
    name: "ttl-controller",
    alias: "ttl",
    account: "ttl-controller",
    create: createTtlController,
  },
  {
    name: "ttl-after-finished-controller",
    alias: "ttl-after-finished",
    account: "ttl-after-finished-controller",
    create: createTtlAfterFinishedController,
  },
  {
    name: "clusterrole-aggregation-controller",
    alias: "clusterrole-aggregation",
    account: "clusterrole-aggregation-controller",
    create: createClusterRoleAggregationController,
  },
  {
    name: "validatingadmissionpolicy-status-controller",
    alias: "validatingadmissionpolicy-status",
    account: "validatingadmissionpolicy-status-controller",
    create: createPolicyStatusController,
  },
  {
    name: "endpointslice-mirroring-controller",
    alias: "endpointslicemirroring",
    account: "endpointslicemirroring-controller",
    create: createEndpointSliceMirroringController,
  },
  {
    name: "certificatesigningrequest-signing-controller",
    alias: "csrsigning",
    account: "certificate-controller",
    create: (context: ControllerContext): Controller | undefined => {
      const { clusterSigningCa, signerCas } = context.options;
      return (clusterSigningCa ?? signerCas)
        ? createCertificateSigner(
            context,
            (name) => signerCas?.[name] ?? clusterSigningCa,
          )
        : undefined;
    },
  },
  {
    name: "bootstrap-signer-controller",
    alias: "bootstrapsigner",
    account: "bootstrap-signer",
    offByDefault: true,
    create: createBootstrapSigner,
  },
  {
    name: "token-cleaner-controller",
    alias: "tokencleaner",
    account: "token-cleaner",
    offByDefault: true,
    create: createTokenCleaner,
  },
  {
    name: "certificatesigningrequest-approving-controller",
    alias: "csrapproving",
    account: "certificate-controller",
    create: createCertificateApprover,
  },
  {
    name: "certificatesigningrequest-cleaner-controller",
    alias: "csrcleaner",
    account: "certificate-controller",
    create: createCertificateCleaner,
  },
  {
    name: "resourcequota-controller",
    alias: "resourcequota",
    account: "resourcequota-controller",
    create: createResourceQuotaController,
  },
  {
    name: "persistentvolumeclaim-protection-controller",
    alias: "pvc-protection",
    account: "pvc-protection-controller",
    create: createClaimProtectionController,
  },
  {
    name: "persistentvolume-protection-controller",
    alias: "pv-protection",
    account: "pv-protection-controller",
    create: createVolumeProtectionController,
  },
  {
    name: "persistentvolume-binder-controller",
    alias: "persistentvolume-binder",
    account: "persistent-volume-binder",
    create: createVolumeBinder,
  },
  {
    name: "persistentvolume-attach-detach-controller",
    alias: "attachdetach",
    account: "attachdetach-controller",
    create: createAttachDetachController,
  },
  {
    name: "persistentvolume-expander-controller",
    alias: "persistentvolume-expander",
    account: "expand-controller",
    create: createClaimExpansionController,
  },
  {
    name: "ephemeral-volume-controller",
    alias: "ephemeral-volume",
    account: "ephemeral-volume-controller",
    create: createEphemeralVolumeController,
  },
  {
    name: "storageversion-garbage-collector-controller",
    alias: "storage-version-gc",
    account: "storage-version-garbage-collector",
    create: (context) =>
      isOn(context, "StorageVersionAPI") &&
      isOn(context, "APIServerIdentity", true)
        ? createVersionCollector(context)
        : undefined,
  },
  {
    name: "storage-version-migrator-controller",
    alias: "svm",
    account: "storage-version-migrator-controller",
    create: (context) =>
      isOn(context, "StorageVersionMigrator")
        ? createVersionMigrator(context)
        : undefined,
  },
];
