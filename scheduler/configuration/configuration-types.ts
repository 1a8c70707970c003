// What a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) says: the fields of the reference's type with its
// names. As a file gives it everything is optional; defaults.ts completes it.
import type {
  NodeAffinity,
  TopologySpreadConstraint,
} from "../../api/types/core-v1.ts";

/** Where a plug-in may take part in the placing of a pod, in the order in which problems are reported. */
export const extensionPoints = [
  "preFilter",
  "filter",
  "postFilter",
  "reserve",
  "preScore",
  "score",
  "preBind",
  "bind",
  "postBind",
  "permit",
  "preEnqueue",
  "queueSort",
] as const;
export type ExtensionPoint = (typeof extensionPoints)[number];

export interface PluginEntry {
  readonly name: string;
  readonly weight?: number;
}

export interface PluginSet {
  readonly enabled?: readonly PluginEntry[];
  readonly disabled?: readonly PluginEntry[];
}

export type Plugins = Readonly<
  Partial<Record<ExtensionPoint | "multiPoint", PluginSet>>
>;

export interface DefaultPreemptionArgs {
  readonly minCandidateNodesPercentage?: number;
  readonly minCandidateNodesAbsolute?: number;
}

export interface InterPodAffinityArgs {
  readonly hardPodAffinityWeight?: number;
  readonly ignorePreferredTermsOfExistingPods?: boolean;
}

export interface NodeAffinityArgs {
  readonly addedAffinity?: NodeAffinity;
}

export interface ResourceSpec {
  readonly name: string;
  readonly weight?: number;
}

export interface ShapePoint {
  readonly utilization: number;
  readonly score: number;
}

export interface ScoringStrategy {
  readonly type?: string;
  readonly resources?: readonly ResourceSpec[];
  readonly requestedToCapacityRatio?: {
    readonly shape?: readonly ShapePoint[];
  };
}

export interface NodeResourcesFitArgs {
  readonly ignoredResources?: readonly string[];
  readonly ignoredResourceGroups?: readonly string[];
  readonly scoringStrategy?: ScoringStrategy;
}

export interface NodeResourcesBalancedAllocationArgs {
  readonly resources?: readonly ResourceSpec[];
}

export interface PodTopologySpreadArgs {
  readonly defaultConstraints?: readonly TopologySpreadConstraint[];
  readonly defaultingType?: string;
}

export interface VolumeBindingArgs {
  readonly bindTimeoutSeconds?: number;
  readonly shape?: readonly ShapePoint[];
}

/** By the names of the plug-ins that take arguments. */
export interface PluginArguments {
  readonly DefaultPreemption: DefaultPreemptionArgs;
  readonly InterPodAffinity: InterPodAffinityArgs;
  readonly NodeAffinity: NodeAffinityArgs;
  readonly NodeResourcesBalancedAllocation: NodeResourcesBalancedAllocationArgs;
  readonly NodeResourcesFit: NodeResourcesFitArgs;
  readonly PodTopologySpread: PodTopologySpreadArgs;
  readonly VolumeBinding: VolumeBindingArgs;
}

export interface PluginConfig {
  readonly name: string;
  readonly args?: object;
}

export interface SchedulerProfile {
  readonly schedulerName?: string;
  readonly percentageOfNodesToScore?: number;
  readonly plugins?: Plugins;
  readonly pluginConfig?: readonly PluginConfig[];
}

export interface ExtenderConfiguration {
  readonly urlPrefix: string;
  readonly filterVerb?: string;
  readonly preemptVerb?: string;
  readonly prioritizeVerb?: string;
  readonly weight?: number;
  readonly bindVerb?: string;
  readonly enableHTTPS?: boolean;
  readonly tlsConfig?: {
    readonly insecure?: boolean;
    readonly serverName?: string;
    readonly certFile?: string;
    readonly keyFile?: string;
    readonly caFile?: string;
    /** Base64 of PEM, as the next two. */
    readonly certData?: string;
    readonly keyData?: string;
    readonly caData?: string;
  };
  /** As `5s`. */
  readonly httpTimeout?: string;
  readonly nodeCacheCapable?: boolean;
  readonly managedResources?: readonly {
    readonly name: string;
    readonly ignoredByScheduler?: boolean;
  }[];
  readonly ignorable?: boolean;
}

/** Durations are texts, as `15s`. */
export interface SchedulerConfiguration {
  readonly parallelism?: number;
  readonly leaderElection?: {
    readonly leaderElect?: boolean;
    readonly leaseDuration?: string;
    readonly renewDeadline?: string;
    readonly retryPeriod?: string;
    readonly resourceLock?: string;
    readonly resourceName?: string;
    readonly resourceNamespace?: string;
  };
  readonly clientConnection?: {
    readonly kubeconfig?: string;
    readonly acceptContentTypes?: string;
    readonly contentType?: string;
    readonly qps?: number;
    readonly burst?: number;
  };
  readonly enableProfiling?: boolean;
  readonly enableContentionProfiling?: boolean;
  readonly percentageOfNodesToScore?: number;
  readonly podInitialBackoffSeconds?: number;
  readonly podMaxBackoffSeconds?: number;
  readonly profiles?: readonly SchedulerProfile[];
  readonly extenders?: readonly ExtenderConfiguration[];
  readonly delayCacheUntilActive?: boolean;
}

/** A profile with its defaults: all plug-ins by name, and arguments of all that take some. */
export interface CompleteProfile extends SchedulerProfile {
  readonly schedulerName: string;
  readonly plugins: Plugins;
  readonly pluginConfig: readonly PluginConfig[];
}

type Complete =
  | "parallelism"
  | "leaderElection"
  | "clientConnection"
  | "enableProfiling"
  | "percentageOfNodesToScore"
  | "podInitialBackoffSeconds"
  | "podMaxBackoffSeconds";

export type CompleteConfiguration = Omit<
  SchedulerConfiguration,
  Complete | "profiles"
> &
  Required<Pick<SchedulerConfiguration, Complete>> & {
    readonly profiles: readonly CompleteProfile[];
  };
