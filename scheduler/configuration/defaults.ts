// Completes a configuration with the reference's defaults: profiles, the plug-ins of each, and the arguments of those that
// take some. A pure function: what it is given is left alone.
import { parseDurationMs } from "../../api/duration.ts";
import { mergePluginSets } from "./merge-plugins.ts";
import { defaultPlugins } from "./plugin-catalogue.ts";
import {
  extensionPoints,
  type CompleteConfiguration,
  type CompleteProfile,
  type PluginArguments,
  type PluginConfig,
  type Plugins,
  type ResourceSpec,
  type ScoringStrategy,
  type SchedulerConfiguration,
  type SchedulerProfile,
} from "./configuration-types.ts";

interface ConfigurationGates {
  /** Gate DynamicResourceAllocation. */
  readonly dynamicResources?: boolean;
}

const cpuAndMemory: readonly ResourceSpec[] = [
  { name: "cpu", weight: 1 },
  { name: "memory", weight: 1 },
];

const weighted = (
  resources: readonly ResourceSpec[] | undefined,
): readonly ResourceSpec[] =>
  resources?.length
    ? resources.map(({ name, weight }) => ({ name, weight: weight || 1 }))
    : cpuAndMemory;

/** Where a strategy is given but not its type, the type stays empty, and validation refuses it. */
const strategyOf = (given: ScoringStrategy | undefined): ScoringStrategy => ({
  ...(given ?? { type: "LeastAllocated" }),
  resources: weighted(given?.resources),
});

type Completions = {
  readonly [Name in keyof PluginArguments]: (
    given: PluginArguments[Name],
  ) => PluginArguments[Name];
};

const completions: Completions = {
  DefaultPreemption: (given) => ({
    minCandidateNodesPercentage: 10,
    minCandidateNodesAbsolute: 100,
    ...given,
  }),
  InterPodAffinity: (given) => ({
    hardPodAffinityWeight: 1,
    ignorePreferredTermsOfExistingPods: false,
    ...given,
  }),
  NodeAffinity: (given) => given,
  NodeResourcesBalancedAllocation: ({ resources }) => ({
    resources: weighted(resources),
  }),
  NodeResourcesFit: (given) => ({
    ...given,
    scoringStrategy: strategyOf(given.scoringStrategy),
  }),
  PodTopologySpread: (given) => ({
    ...given,
    defaultingType: given.defaultingType || "System",
  }),
  VolumeBinding: (given) => ({ bindTimeoutSeconds: 600, ...given }),
};

const takesArguments = (name: string): name is keyof PluginArguments =>
  Object.hasOwn(completions, name);

function completeArguments({ name, args }: PluginConfig): PluginConfig {
  if (!takesArguments(name)) return args ? { name, args } : { name };
  const complete = completions[name] as (given: object) => object;
  return { name, args: complete(args ?? {}) };
}

function completePlugins(
  given: Plugins | undefined,
  gates: ConfigurationGates,
): Plugins {
  const multiPoint = {
    enabled: defaultPlugins(gates.dynamicResources ?? false),
  };
  if (!given) return { multiPoint };
  const points = extensionPoints.flatMap((point) => {
    const set = mergePluginSets({}, given[point] ?? {});
    return set.enabled || set.disabled ? [[point, set] as const] : [];
  });
  return {
    ...Object.fromEntries(points),
    multiPoint: mergePluginSets(multiPoint, given.multiPoint ?? {}),
  };
}

function completeProfile(
  profile: SchedulerProfile,
  schedulerName: string,
  gates: ConfigurationGates,
): CompleteProfile {
  const plugins = completePlugins(profile.plugins, gates);
  const given = (profile.pluginConfig ?? []).map(completeArguments);
  const named = new Set(
    Object.values(plugins).flatMap((set) =>
      (set.enabled ?? []).map(({ name }) => name),
    ),
  );
  const known = new Set(given.map(({ name }) => name));
  const others = [...named]
    .filter((name) => takesArguments(name) && !known.has(name))
    .sort()
    .map((name) => completeArguments({ name }));
  return {
    ...profile,
    schedulerName,
    plugins,
    pluginConfig: [...given, ...others],
  };
}

/** Zero is as good as nothing. */
const durationOr = (text: string | undefined, otherwise: string): string =>
  text && parseDurationMs(text) !== 0 ? text : otherwise;

export function completeConfiguration(
  given: SchedulerConfiguration,
  gates: ConfigurationGates = {},
): CompleteConfiguration {
  const profiles = given.profiles?.length ? given.profiles : [{}];
  const { leaderElection = {}, clientConnection = {} } = given;
  const profiling = given.enableProfiling ?? true;
  return {
    ...given,
    parallelism: given.parallelism ?? 16,
    percentageOfNodesToScore: given.percentageOfNodesToScore ?? 0,
    podInitialBackoffSeconds: given.podInitialBackoffSeconds ?? 1,
    podMaxBackoffSeconds: given.podMaxBackoffSeconds ?? 10,
    leaderElection: {
      leaderElect: leaderElection.leaderElect ?? true,
      leaseDuration: durationOr(leaderElection.leaseDuration, "15s"),
      renewDeadline: durationOr(leaderElection.renewDeadline, "10s"),
      retryPeriod: durationOr(leaderElection.retryPeriod, "2s"),
      resourceLock: leaderElection.resourceLock || "leases",
      resourceName: leaderElection.resourceName || "kube-scheduler",
      resourceNamespace: leaderElection.resourceNamespace || "kube-system",
    },
    clientConnection: {
      kubeconfig: clientConnection.kubeconfig ?? "",
      acceptContentTypes: clientConnection.acceptContentTypes ?? "",
      contentType:
        clientConnection.contentType || "application/vnd.kubernetes.protobuf",
      qps: clientConnection.qps || 50,
      burst: clientConnection.burst || 100,
    },
    enableProfiling: profiling,
    ...(profiling && given.enableContentionProfiling === undefined
      ? { enableContentionProfiling: true }
      : {}),
    profiles: profiles.map((profile) =>
      completeProfile(
        profile,
        // Of several profiles each has to say its name.
        profile.schedulerName ??
          (profiles.length === 1 ? "default-scheduler" : ""),
        gates,
      ),
    ),
  };
}

/** The arguments of a plug-in in a completed profile. */
export function argumentsOf<Name extends keyof PluginArguments>(
  { pluginConfig }: CompleteProfile,
  name: Name,
): PluginArguments[Name] {
  const found = pluginConfig.find((each) => each.name === name);
  return (found?.args ?? {}) as PluginArguments[Name];
}
