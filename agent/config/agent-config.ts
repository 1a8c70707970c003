// The node agent's settings, resolved once: everything below agent/ reads only AgentConfig, never options or flags.
// Defaults are those of the specification's node-agent tables; times are milliseconds, sizes bytes.
import type { Taint } from "../../api/types/core-v1.ts";
import type { CredentialProvider } from "./credential-provider.ts";
import type {
  CpuPolicy,
  MemoryPolicy,
  TopologyPolicy,
  TopologyScope,
} from "./resource-policies.ts";
import type { ShutdownPeriod } from "./shutdown-period.ts";

export type ChangeDetection = "Watch" | "Cache" | "Get";

export interface AgentConfig {
  nodeName: string;
  /** Addresses of this node, the first is the primary one; empty: found from the interfaces. */
  nodeIPs: readonly string[];
  /** Of the address that is found; undefined: IPv4's goes first, or that of the pods' first range. */
  preferredFamily: "IPv4" | "IPv6" | undefined;
  /** Ranges of pods' addresses: none of them is one of the node. */
  podRanges: readonly string[];
  /** Whether a Node without ranges is given `podRanges`: no controller has given it others. */
  registerPodRanges: boolean;
  /** Content of the Hostname address; defaults to nodeName. */
  hostname: string;

  // Where things live.
  /** pods/<uid>/… below it: volumes, etc-hosts, termination logs. */
  rootDirectory: string;
  /** Secrets, tokens and their like, on a tmpfs; undefined: memory/ below rootDirectory. */
  memoryDirectory: string | undefined;
  /** Image archives that are imported; undefined: none. */
  imagesDirectory: string | undefined;
  podLogsDirectory: string;
  containerLogsDirectory: string;
  resolvConf: string;

  // Pod sources.
  manifestsDirectory: string | undefined;
  manifestUrl: string | undefined;
  manifestUrlHeaders: Readonly<Record<string, string>>;
  fileCheckFrequencyMs: number;
  httpCheckFrequencyMs: number;
  syncFrequencyMs: number;
  /** How changes of ConfigMaps and Secrets are noticed (referenced-objects.ts). */
  objectChangeDetection: ChangeDetection;

  // The node object.
  registerNode: boolean;
  registerSchedulable: boolean;
  /** Volumes are attached by the controllers; false: they are not. */
  enableControllerAttachDetach: boolean;
  /** What volumes use is read at most this often; 0 or less: never. */
  volumeStatsAggPeriodMs: number;
  registerWithTaints: readonly Taint[];
  nodeLabels: Readonly<Record<string, string>>;
  providerId: string;
  cloudProvider: string;
  nodeStatusUpdateFrequencyMs: number;
  nodeStatusReportFrequencyMs: number;
  nodeStatusMaxImages: number;
  nodeLeaseDurationSeconds: number;
  /** A cloud's controller gives the Node its addresses, and takes its taint away. */
  externalCloudProvider: boolean;
  /** How pods end when the machine shuts down; none: they are not held to an order. */
  shutdownPeriods: readonly ShutdownPeriod[];
  maxPods: number;
  podsPerCore: number;
  /** Gates that were set, by name; all others are as the release has them (feature-gates.ts). */
  featureGates: Readonly<Record<string, boolean>>;
  /** Of the serving port, for daemonEndpoints. */
  port: number;
  version: string;

  // Pods.
  /** Of the Services of a node without an API server; none: they get no addresses. */
  serviceRanges: readonly string[];
  clusterDns: readonly string[];
  clusterDomain: string;
  serializeImagePulls: boolean;
  maxParallelImagePulls: number;
  registryQps: number;
  registryBurst: number;
  /** Programs that give credentials for images, in the order in which they are asked. */
  imageCredentialProviders: readonly CredentialProvider[];
  /** The longest delay before a container is started again. */
  maxRestartPeriodMs: number;
  eventQps: number;
  eventBurst: number;
  podMaxPids: number;
  cpuCfsQuota: boolean;
  cpuCfsQuotaPeriodMs: number;
  seccompDefault: boolean;
  allowedUnsafeSysctls: readonly string[];
  enableServiceLinksByDefault: boolean;
  runtimeRequestTimeoutMs: number;

  // Cgroups.
  cgroupsPerQos: boolean;
  /** The cgroup above all pods, e.g. /kubepods. */
  cgroupRoot: string;
  /** Where the cgroup file systems are mounted. */
  cgroupMount: string;
  cgroupDriver: "cgroupfs" | "systemd";
  /** Cgroups whose usage the stats summary reports, absolute; "": the agent's present one, and none of the runtime. */
  kubeletCgroups: string;
  runtimeCgroups: string;
  /** Where processes outside of any cgroup are moved; "": they stay. */
  systemCgroups: string;
  /** `memory` → `N%`: share of the requested memory that lower qualities of service may not use. */
  qosReserved: Readonly<Record<string, string>>;
  /** Part of the way from a container's memory request to its limit from which on it is slowed down (gate MemoryQoS). */
  memoryThrottlingFactor: number;
  /** What of pods may be swapped out. */
  swapBehavior: "NoSwap" | "LimitedSwap";
  /** Out of memory, one process is killed instead of the whole container; on version 1 of cgroups it always is. */
  singleProcessOomKill: boolean;
  /** Of: none, pods, system-reserved, kube-reserved; the latter two also with -compressible. */
  enforceNodeAllocatable: readonly string[];
  systemReservedCgroup: string;
  kubeReservedCgroup: string;
  systemReserved: Readonly<Record<string, string>>;
  kubeReserved: Readonly<Record<string, string>>;

  // CPUs, memory and devices on NUMA nodes.
  cpuManagerPolicy: CpuPolicy;
  cpuManagerPolicyOptions: Readonly<Record<string, string>>;
  cpuManagerReconcilePeriodMs: number;
  /** CPUs kept for the system, in the kernel's list form: they replace the reserved amounts of CPU. */
  reservedCpus: string;
  memoryManagerPolicy: MemoryPolicy;
  /** `NODE:memory=AMOUNT,hugepages-SIZE=AMOUNT`: what of each NUMA node is kept for the system. */
  reservedMemory: readonly string[];
  topologyManagerPolicy: TopologyPolicy;
  topologyManagerPolicyOptions: Readonly<Record<string, string>>;
  topologyManagerScope: TopologyScope;

  // Housekeeping.
  imageGcHighThresholdPercent: number;
  imageGcLowThresholdPercent: number;
  minimumImageTtlMs: number;
  /** Name of the sandboxes' image, for a runtime that does not say that it is in use; "": it says so. */
  sandboxImage: string;
  /** Unused images older than this are removed whatever the disk's use; 0: none for its age. */
  maximumImageAgeMs: number;
  maximumDeadContainers: number;
  maximumDeadContainersPerContainer: number;
  minimumContainerTtlMs: number;
  containerLogMaxFiles: number;
  containerLogMaxSizeBytes: number;
  containerLogMonitorIntervalMs: number;
  containerLogMaxWorkers: number;
  /** Bytes, or a percentage of the file system, for the logs of all containers together; 0: no budget. */
  containerLogBudget: string;
  evictionHard: Readonly<Record<string, string>>;
  evictionSoft: Readonly<Record<string, string>>;
  /** Durations by signal. */
  evictionSoftGracePeriod: Readonly<Record<string, string>>;
  evictionMaxPodGraceSeconds: number;
  evictionMinimumReclaim: Readonly<Record<string, string>>;
  evictionPressureTransitionPeriodMs: number;
  localStorageCapacityIsolation: boolean;
}

const defaults: Omit<AgentConfig, "nodeName"> = {
  nodeIPs: [],
  preferredFamily: undefined,
  podRanges: [],
  registerPodRanges: false,
  hostname: "",
  rootDirectory: "/var/lib/orbitlet",
  memoryDirectory: undefined,
  imagesDirectory: undefined,
  podLogsDirectory: "/var/log/pods",
  containerLogsDirectory: "/var/log/containers",
  resolvConf: "/etc/resolv.conf",
  manifestsDirectory: undefined,
  manifestUrl: undefined,
  manifestUrlHeaders: {},
  fileCheckFrequencyMs: 20_000,
  httpCheckFrequencyMs: 20_000,
  syncFrequencyMs: 60_000,
  objectChangeDetection: "Watch",
  registerNode: true,
  registerSchedulable: true,
  enableControllerAttachDetach: true,
  volumeStatsAggPeriodMs: 60_000,
  registerWithTaints: [],
  nodeLabels: {},
  providerId: "",
  cloudProvider: "",
  nodeStatusUpdateFrequencyMs: 10_000,
  nodeStatusReportFrequencyMs: 300_000,
  nodeStatusMaxImages: 50,
  nodeLeaseDurationSeconds: 40,
  externalCloudProvider: false,
  shutdownPeriods: [],
  maxPods: 110,
  podsPerCore: 0,
  featureGates: {},
  port: 10250,
  version: "v1.32.0",
  serviceRanges: [],
  clusterDns: [],
  clusterDomain: "",
  serializeImagePulls: true,
  maxParallelImagePulls: 0,
  registryQps: 5,
  registryBurst: 10,
  imageCredentialProviders: [],
  maxRestartPeriodMs: 300_000,
  eventQps: 50,
  eventBurst: 100,
  podMaxPids: -1,
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodMs: 100,
  seccompDefault: false,
  allowedUnsafeSysctls: [],
  enableServiceLinksByDefault: true,
  runtimeRequestTimeoutMs: 120_000,
  cgroupsPerQos: true,
  cgroupRoot: "/kubepods",
  cgroupMount: "/sys/fs/cgroup",
  cgroupDriver: "cgroupfs",
  kubeletCgroups: "",
  runtimeCgroups: "",
  systemCgroups: "",
  qosReserved: {},
  memoryThrottlingFactor: 0.9,
  swapBehavior: "NoSwap",
  singleProcessOomKill: false,
  enforceNodeAllocatable: ["pods"],
  systemReservedCgroup: "",
  kubeReservedCgroup: "",
  systemReserved: {},
  kubeReserved: {},
  cpuManagerPolicy: "none",
  cpuManagerPolicyOptions: {},
  cpuManagerReconcilePeriodMs: 10_000,
  reservedCpus: "",
  memoryManagerPolicy: "None",
  reservedMemory: [],
  topologyManagerPolicy: "none",
  topologyManagerPolicyOptions: {},
  topologyManagerScope: "container",
  imageGcHighThresholdPercent: 85,
  imageGcLowThresholdPercent: 80,
  minimumImageTtlMs: 120_000,
  sandboxImage: "",
  maximumImageAgeMs: 0,
  maximumDeadContainers: -1,
  maximumDeadContainersPerContainer: 1,
  minimumContainerTtlMs: 0,
  containerLogMaxFiles: 5,
  containerLogMaxSizeBytes: 10 * 1024 * 1024,
  containerLogMonitorIntervalMs: 10_000,
  containerLogMaxWorkers: 1,
  containerLogBudget: "20%",
  evictionHard: {
    "imagefs.available": "15%",
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
  },
  evictionSoft: {},
  evictionSoftGracePeriod: {},
  evictionMaxPodGraceSeconds: 0,
  evictionMinimumReclaim: {},
  evictionPressureTransitionPeriodMs: 300_000,
  localStorageCapacityIsolation: true,
};

/** Fills in the defaults. Values are taken as they are: option parsing checks them before. */
export function resolveAgentConfig(
  input: Partial<AgentConfig> & { nodeName: string },
): AgentConfig {
  const given = Object.fromEntries(
    Object.entries(input).filter(([, value]) => value !== undefined),
  );
  const config = { ...defaults, ...given } as AgentConfig;
  return { ...config, hostname: config.hostname || config.nodeName };
}
