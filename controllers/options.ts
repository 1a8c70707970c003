// Options of the controllers by the names of the reference's flags in camelCase, with their defaults.
import type { CertificatePair } from "../api/pki/certificate.ts";
import type { Pod } from "../api/types/core-v1.ts";

export interface ControllerOptions {
  /** `*`, `name`, `-name` as --controllers; `*` means those on by default. */
  controllers: readonly string[];
  concurrentDeploymentSyncs: number;
  concurrentReplicasetSyncs: number;
  concurrentRcSyncs: number;
  concurrentStatefulsetSyncs: number;
  concurrentDaemonsetSyncs: number;
  concurrentJobSyncs: number;
  concurrentCronJobSyncs: number;
  concurrentEndpointSyncs: number;
  concurrentServiceEndpointSyncs: number;
  mirroringConcurrentServiceEndpointSyncs: number;
  concurrentNamespaceSyncs: number;
  concurrentGcSyncs: number;
  concurrentTtlAfterFinishedSyncs: number;
  concurrentServiceaccountTokenSyncs: number;
  /** Signs tokens in Secrets, with a key that the API server accepts; without it such Secrets stay empty. */
  serviceAccountTokenSigner?: { sign(claims: object): string };
  /** Unused time after which tokens in Secrets that an account names are marked, and later deleted. */
  legacyServiceAccountTokenCleanUpPeriodMs: number;
  concurrentResourceQuotaSyncs: number;
  concurrentHorizontalPodAutoscalerSyncs: number;
  /** Between looks at an autoscaler's metrics. */
  horizontalPodAutoscalerSyncPeriodMs: number;
  /** How far back the highest recommendation is looked for before a target is made smaller. */
  horizontalPodAutoscalerDownscaleStabilizationMs: number;
  /** Time after a pod's start in which its CPU figures may be left out. */
  horizontalPodAutoscalerCpuInitializationPeriodMs: number;
  horizontalPodAutoscalerInitialReadinessDelayMs: number;
  /** Least distance from the target, as a part of it, that scales. */
  horizontalPodAutoscalerTolerance: number;
  concurrentValidatingAdmissionPolicyStatusSyncs: number;
  enableGarbageCollector: boolean;
  maxEndpointsPerSlice: number;
  mirroringMaxEndpointsPerSubset: number;
  nodeMonitorPeriodMs: number;
  nodeMonitorGracePeriodMs: number;
  nodeStartupGracePeriodMs: number;
  nodeEvictionRate: number;
  secondaryNodeEvictionRate: number;
  largeClusterSizeThreshold: number;
  unhealthyZoneThreshold: number;
  terminatedPodGcThreshold: number;
  endpointUpdatesBatchPeriodMs: number;
  endpointsliceUpdatesBatchPeriodMs: number;
  mirroringEndpointsliceUpdatesBatchPeriodMs: number;
  controllerStartIntervalMs: number;
  resourceQuotaSyncPeriodMs: number;
  /** Between looks at all of them beside those that events cause; 0: none. */
  namespaceSyncPeriodMs: number;
  pvclaimbinderSyncPeriodMs: number;
  concurrentEphemeralvolumeSyncs: number;
  enableDynamicProvisioning: boolean;
  /** Directories of this machine for classes of kubernetes.io/host-path: for tests. */
  enableHostpathProvisioner: boolean;
  /** Seconds that a recycling pod has at least, and for each GiB of its volume. */
  pvRecyclerMinimumTimeoutNfs: number;
  pvRecyclerIncrementTimeoutNfs: number;
  pvRecyclerMinimumTimeoutHostpath: number;
  pvRecyclerTimeoutIncrementHostpath: number;
  /** By the type of volume; absent: the reference's. */
  recyclerTemplates: { readonly hostPath?: Pod; readonly nfs?: Pod };
  /** Between looks at all attachments beside those that events cause. */
  attachDetachReconcileSyncPeriodMs: number;
  disableAttachDetachReconcileSync: boolean;
  disableForceDetachOnTimeout: boolean;
  /** PEM bundle published as kube-root-ca.crt; without it nothing is published. */
  rootCa?: string;
  /** PEM pair the built-in signers sign with; without it no request is signed. */
  clusterSigningCa?: CertificatePair;
  /** Authorities of single signers instead of clusterSigningCa, by the signer's name. */
  signerCas?: Readonly<Record<string, CertificatePair>>;
  clusterSigningDurationMs: number;
  /** Whether nodes get serving certificates for their own names and addresses without a person. */
  approveServingCertificates: boolean;
  /** Without it Services of type LoadBalancer wait for another program. */
  loadBalancer?: {
    /** CIDRs of the pool; empty: Services get the nodes' addresses. */
    readonly ranges: readonly string[];
    /** TCP ports of the nodes that no Service gets. */
    readonly reservedPorts: readonly number[];
  };
  /** Without it nodes get no ranges of pod addresses. */
  nodeIpam?: {
    /** One or two, of different families. */
    readonly clusterRanges: readonly {
      readonly cidr: string;
      /** Prefix length of a node's part. */
      readonly nodeBits: number;
    }[];
    /** Ranges of Services: no node gets a part of them. */
    readonly serviceRanges: readonly string[];
  };
  /** Those that are set. */
  featureGates?: Readonly<Record<string, boolean>>;
  leaderElect: boolean;
  leaderElectLeaseDurationMs: number;
  leaderElectRenewDeadlineMs: number;
  leaderElectRetryPeriodMs: number;
  leaderElectResourceName: string;
  leaderElectResourceNamespace: string;
  /** Controllers that several managers may have, under a Lease of their own; without it they are as the others. */
  leaderMigration?: {
    /** Name of their Lease. */
    readonly leaderName: string;
    /** By canonical name; component: the manager that runs it, `*` for whichever holds the Lease. */
    readonly controllers: readonly {
      readonly name: string;
      readonly component: string;
    }[];
  };
}

export const defaultControllerOptions: ControllerOptions = {
  controllers: ["*"],
  concurrentDeploymentSyncs: 5,
  concurrentReplicasetSyncs: 5,
  concurrentRcSyncs: 5,
  concurrentStatefulsetSyncs: 5,
  concurrentDaemonsetSyncs: 2,
  concurrentJobSyncs: 5,
  concurrentCronJobSyncs: 5,
  concurrentEndpointSyncs: 5,
  concurrentServiceEndpointSyncs: 5,
  mirroringConcurrentServiceEndpointSyncs: 5,
  concurrentNamespaceSyncs: 10,
  concurrentGcSyncs: 20,
  concurrentTtlAfterFinishedSyncs: 5,
  concurrentServiceaccountTokenSyncs: 5,
  legacyServiceAccountTokenCleanUpPeriodMs: 8760 * 3_600_000,
  concurrentResourceQuotaSyncs: 5,
  concurrentHorizontalPodAutoscalerSyncs: 5,
  horizontalPodAutoscalerSyncPeriodMs: 15_000,
  horizontalPodAutoscalerDownscaleStabilizationMs: 300_000,
  horizontalPodAutoscalerCpuInitializationPeriodMs: 300_000,
  horizontalPodAutoscalerInitialReadinessDelayMs: 30_000,
  horizontalPodAutoscalerTolerance: 0.1,
  concurrentValidatingAdmissionPolicyStatusSyncs: 5,
  enableGarbageCollector: true,
  maxEndpointsPerSlice: 100,
  mirroringMaxEndpointsPerSubset: 1000,
  nodeMonitorPeriodMs: 5_000,
  nodeMonitorGracePeriodMs: 50_000,
  nodeStartupGracePeriodMs: 60_000,
  nodeEvictionRate: 0.1,
  secondaryNodeEvictionRate: 0.01,
  largeClusterSizeThreshold: 50,
  unhealthyZoneThreshold: 0.55,
  terminatedPodGcThreshold: 12_500,
  endpointUpdatesBatchPeriodMs: 0,
  endpointsliceUpdatesBatchPeriodMs: 0,
  mirroringEndpointsliceUpdatesBatchPeriodMs: 0,
  controllerStartIntervalMs: 0,
  resourceQuotaSyncPeriodMs: 300_000,
  namespaceSyncPeriodMs: 0,
  pvclaimbinderSyncPeriodMs: 0,
  concurrentEphemeralvolumeSyncs: 5,
  enableDynamicProvisioning: true,
  enableHostpathProvisioner: false,
  pvRecyclerMinimumTimeoutNfs: 300,
  pvRecyclerIncrementTimeoutNfs: 30,
  pvRecyclerMinimumTimeoutHostpath: 60,
  pvRecyclerTimeoutIncrementHostpath: 30,
  recyclerTemplates: {},
  attachDetachReconcileSyncPeriodMs: 60_000,
  disableAttachDetachReconcileSync: false,
  disableForceDetachOnTimeout: false,
  approveServingCertificates: false,
  clusterSigningDurationMs: 8760 * 3_600_000,
  leaderElect: false,
  leaderElectLeaseDurationMs: 15_000,
  leaderElectRenewDeadlineMs: 10_000,
  leaderElectRetryPeriodMs: 2_000,
  leaderElectResourceName: "kube-controller-manager",
  leaderElectResourceNamespace: "kube-system",
};
