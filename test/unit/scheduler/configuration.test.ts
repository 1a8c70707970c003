import type {
  Plugins,
  SchedulerConfiguration,
} from "../../../scheduler/configuration/configuration-types.ts";
import {
  argumentsOf,
  completeConfiguration,
} from "../../../scheduler/configuration/defaults.ts";
import { planProfile } from "../../../scheduler/configuration/profile-plan.ts";
import { configurationProblems } from "../../../scheduler/configuration/validation.ts";

const planOf = (plugins?: Plugins) =>
  planProfile(
    completeConfiguration({ profiles: [plugins ? { plugins } : {}] })
      .profiles[0]!,
  );
const problemsOf = (configuration: SchedulerConfiguration): string[] =>
  configurationProblems(completeConfiguration(configuration)).map(
    ({ field, detail }) => `${field}: ${detail}`,
  );
const named = (...names: string[]) => names.map((name) => ({ name }));

describe("what a profile runs", () => {
  test("by default", () => {
    const { points, weights } = planOf();
    expect(points.queueSort).toEqual(["PrioritySort"]);
    expect(points.bind).toEqual(["DefaultBinder"]);
    expect(points.permit).toEqual([]);
    expect(points.postFilter).toEqual(["DefaultPreemption"]);
    expect(points.filter).toEqual([
      "NodeUnschedulable",
      "NodeName",
      "TaintToleration",
      "NodeAffinity",
      "NodePorts",
      "NodeResourcesFit",
      "VolumeRestrictions",
      "NodeVolumeLimits",
      "VolumeBinding",
      "VolumeZone",
      "PodTopologySpread",
      "InterPodAffinity",
    ]);
    expect(points.score.map((name) => [name, weights.get(name)])).toEqual([
      ["TaintToleration", 3],
      ["NodeAffinity", 2],
      ["NodeResourcesFit", 1],
      ["VolumeBinding", 1],
      ["PodTopologySpread", 2],
      ["InterPodAffinity", 2],
      ["NodeResourcesBalancedAllocation", 1],
      ["ImageLocality", 1],
    ]);
  });

  test("devices come before preemption where the gate is on", () => {
    const { profiles } = completeConfiguration({}, { dynamicResources: true });
    expect(planProfile(profiles[0]!).points.postFilter).toEqual([
      "DynamicResources",
      "DefaultPreemption",
    ]);
  });

  test("a weight at the point wins over that of multiPoint, and zero is one", () => {
    const { points, weights } = planOf({
      score: {
        enabled: [
          { name: "ImageLocality", weight: 40 },
          { name: "NodeAffinity", weight: 0 },
        ],
      },
      multiPoint: { enabled: [{ name: "TaintToleration", weight: 7 }] },
    });
    expect(weights.get("ImageLocality")).toBe(40);
    expect(weights.get("NodeAffinity")).toBe(1);
    expect(weights.get("TaintToleration")).toBe(7);
    // Those that the point names come first, in its order; multiPoint's keep the place of the defaults.
    expect(points.score.slice(0, 3)).toEqual([
      "ImageLocality",
      "NodeAffinity",
      "TaintToleration",
    ]);
  });

  test("a point may disable some or all of the defaults", () => {
    expect(
      planOf({ score: { disabled: named("ImageLocality") } }).points.score,
    ).not.toContain("ImageLocality");
    expect(
      planOf({
        score: { disabled: named("*"), enabled: named("ImageLocality") },
      }).points.score,
    ).toEqual(["ImageLocality"]);
    const own = planOf({
      multiPoint: {
        disabled: named("*"),
        enabled: named("DefaultBinder", "PrioritySort", "NodeName"),
      },
    });
    expect(own.points.filter).toEqual(["NodeName"]);
    expect(own.points.score).toEqual([]);
  });

  test("what is disabled by multiPoint may be enabled at a point, after the rest", () => {
    const { points } = planOf({
      multiPoint: { disabled: named("NodeName") },
      filter: { enabled: named("NodeName") },
    });
    expect(points.filter.at(-1)).toBe("NodeName");
  });

  test.each<[string, Plugins, string]>([
    [
      "an unknown plug-in",
      { filter: { enabled: named("Foo") } },
      'FilterPlugin "Foo" does not exist',
    ],
    [
      "an unknown plug-in of multiPoint",
      { multiPoint: { enabled: named("Foo") } },
      'PreFilterPlugin "Foo" does not exist',
    ],
    [
      "a name that objects have",
      { filter: { enabled: named("constructor") } },
      'FilterPlugin "constructor" does not exist',
    ],
    [
      "a plug-in of another point",
      { score: { enabled: named("NodeName") } },
      'plugin "NodeName" does not extend ScorePlugin plugin',
    ],
    [
      "one that is named twice",
      { score: { enabled: named("ImageLocality", "ImageLocality") } },
      'plugin "ImageLocality" already registered as "ScorePlugin"',
    ],
    [
      "no order",
      { queueSort: { disabled: named("*") } },
      'only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 0',
    ],
    [
      "no binder",
      { bind: { disabled: named("DefaultBinder") } },
      'at least one bind plugin is needed for profile with scheduler name "default-scheduler"',
    ],
    [
      "half of a plug-in",
      { filter: { disabled: named("VolumeBinding") } },
      'plugin "VolumeBinding" has to be enabled at both preFilter and filter, or at neither',
    ],
  ])("%s is refused", (_, plugins, problem) => {
    expect(problemsOf({ profiles: [{ plugins }] })).toEqual([
      `profiles[0].plugins: ${problem}`,
    ]);
  });
});

describe("defaults", () => {
  test("of the whole", () => {
    const configuration = completeConfiguration({});
    expect(configuration).toMatchObject({
      parallelism: 16,
      percentageOfNodesToScore: 0,
      podInitialBackoffSeconds: 1,
      podMaxBackoffSeconds: 10,
      leaderElection: { leaderElect: true, leaseDuration: "15s" },
      enableProfiling: true,
      enableContentionProfiling: true,
    });
    const [profile] = configuration.profiles;
    expect(profile!.schedulerName).toBe("default-scheduler");
    expect(profile!.pluginConfig.map(({ name }) => name)).toEqual([
      "DefaultPreemption",
      "InterPodAffinity",
      "NodeAffinity",
      "NodeResourcesBalancedAllocation",
      "NodeResourcesFit",
      "PodTopologySpread",
      "VolumeBinding",
    ]);
  });

  test("of arguments that are given in part", () => {
    const { profiles } = completeConfiguration({
      profiles: [
        {
          pluginConfig: [
            {
              name: "NodeResourcesFit",
              args: {
                scoringStrategy: {
                  type: "MostAllocated",
                  resources: [{ name: "cpu" }],
                },
              },
            },
          ],
        },
      ],
    });
    expect(argumentsOf(profiles[0]!, "NodeResourcesFit")).toEqual({
      scoringStrategy: {
        type: "MostAllocated",
        resources: [{ name: "cpu", weight: 1 }],
      },
    });
    expect(argumentsOf(profiles[0]!, "VolumeBinding")).toEqual({
      bindTimeoutSeconds: 600,
    });
  });
});

const withArgs = (name: string, args: object): SchedulerConfiguration => ({
  profiles: [{ pluginConfig: [{ name, args }] }],
});
const at = "profiles[0].pluginConfig[0]";

describe("validation", () => {
  test("what is complete has no problems", () => {
    expect(problemsOf({})).toEqual([]);
  });

  test.each<[string, SchedulerConfiguration, string[]]>([
    [
      "names of profiles",
      { profiles: [{ schedulerName: "a" }, { schedulerName: "a" }, {}] },
      [
        'profiles[1].schedulerName: Duplicate value: "profiles[0].schedulerName"',
        "profiles[2].schedulerName: Required value",
      ],
    ],
    [
      "one order for all",
      {
        profiles: [
          { schedulerName: "a" },
          {
            schedulerName: "b",
            plugins: { queueSort: { enabled: named("PrioritySort") } },
          },
        ],
      },
      [
        'profiles[1].plugins.queueSort: Invalid value: {"enabled":[{"name":"PrioritySort"}]}: queueSort must be the same for all profiles',
      ],
    ],
    [
      "numbers",
      {
        parallelism: 0,
        percentageOfNodesToScore: 101,
        podInitialBackoffSeconds: 5,
        podMaxBackoffSeconds: 4,
        clientConnection: { burst: -1 },
        profiles: [{ percentageOfNodesToScore: -1 }],
      },
      [
        "clientConnection.burst: Invalid value: -1: must be non-negative",
        "parallelism: Invalid value: 0: should be an integer value greater than zero",
        "profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]",
        "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
        "podMaxBackoffSeconds: Invalid value: 4: must be greater than or equal to PodInitialBackoffSeconds",
      ],
    ],
    [
      "leader election",
      {
        leaderElection: {
          leaseDuration: "5s",
          renewDeadline: "5s",
          retryPeriod: "-1s",
          resourceLock: "endpoints",
        },
      },
      [
        'leaderElection.retryPeriod: Invalid value: "-1s": must be greater than zero',
        'leaderElection.leaseDuration: Invalid value: "5s": LeaseDuration must be greater than RenewDeadline',
        'leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"',
      ],
    ],
    [
      "plug-ins of earlier versions, and arguments given twice",
      {
        profiles: [
          {
            plugins: { filter: { enabled: named("EBSLimits") } },
            pluginConfig: [{ name: "NodeAffinity" }, { name: "NodeAffinity" }],
          },
        ],
      },
      [
        'profiles[0].plugins.filter.enabled[0]: Invalid value: "EBSLimits": was invalid in version "kubescheduler.config.k8s.io/v1" (KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")',
        'profiles[0].pluginConfig[1]: Duplicate value: "NodeAffinity"',
      ],
    ],
    [
      "preemption",
      withArgs("DefaultPreemption", {
        minCandidateNodesPercentage: 0,
        minCandidateNodesAbsolute: 0,
      }),
      [
        `${at}.args.minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as minCandidateNodesAbsolute`,
        `${at}.args.minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as minCandidateNodesPercentage`,
      ],
    ],
    [
      "affinity of pods",
      withArgs("InterPodAffinity", { hardPodAffinityWeight: 101 }),
      [
        `${at}.args.hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]`,
      ],
    ],
    [
      "added affinity",
      withArgs("NodeAffinity", {
        addedAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: "a", operator: "In", values: [] }] },
            ],
          },
        },
      }),
      [
        `${at}.args.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: []string{}: for 'in', 'notin' operators, values set can't be empty`,
      ],
    ],
    [
      "resources",
      withArgs("NodeResourcesFit", {
        ignoredResourceGroups: ["example.com/x"],
        scoringStrategy: {
          type: "RequestedToCapacityRatio",
          resources: [{ name: "cpu", weight: 101 }],
          requestedToCapacityRatio: {
            shape: [
              { utilization: 50, score: 11 },
              { utilization: 50, score: 0 },
            ],
          },
        },
      }),
      [
        `${at}.args.ignoredResourceGroups[0]: Invalid value: "example.com/x": resource group name can't contain '/'`,
        `${at}.args.scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range (0, 100]`,
        `${at}.args.scoringStrategy.shape[1].utilization: Invalid value: 50: utilization values must be sorted in increasing order`,
        `${at}.args.scoringStrategy.shape[0].score: Invalid value: 11: not in valid range [0, 10]`,
      ],
    ],
    [
      "a strategy without a type",
      withArgs("NodeResourcesFit", { scoringStrategy: {} }),
      [
        `${at}.args.scoringStrategy.type: Unsupported value: "": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"`,
      ],
    ],
    [
      "balance",
      withArgs("NodeResourcesBalancedAllocation", {
        resources: [{ name: "cpu", weight: 2 }, { name: "cpu" }],
      }),
      [
        `${at}.args.resources[0].weight: Invalid value: 2: must be 1`,
        `${at}.args.resources[1].name: Duplicate value: "cpu"`,
      ],
    ],
    [
      "spreading",
      withArgs("PodTopologySpread", {
        defaultConstraints: [
          {
            maxSkew: 0,
            topologyKey: "",
            whenUnsatisfiable: "Never",
            labelSelector: {},
          },
        ],
      }),
      [
        `${at}.args.defaultingType: Invalid value: "System": when .defaultConstraints are not empty`,
        `${at}.args.defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)`,
        `${at}.args.defaultConstraints[0].topologyKey: Required value: can not be empty`,
        `${at}.args.defaultConstraints[0].whenUnsatisfiable: Unsupported value: "Never": supported values: "DoNotSchedule", "ScheduleAnyway"`,
        `${at}.args.defaultConstraints[0].labelSelector: Forbidden: constraint must not define a selector, as they deduced for each pod`,
      ],
    ],
    [
      "volumes",
      withArgs("VolumeBinding", { bindTimeoutSeconds: -1 }),
      [
        `${at}.args.bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value`,
      ],
    ],
    [
      "extenders",
      {
        extenders: [
          {
            urlPrefix: "http://a",
            prioritizeVerb: "p",
            bindVerb: "b",
            managedResources: [{ name: "example.com/x" }, { name: "cpu" }],
          },
          {
            urlPrefix: "http://b",
            bindVerb: "b",
            managedResources: [{ name: "example.com/x" }],
          },
        ],
      },
      [
        "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it",
        'extenders[0].managedResources[1].name: Invalid value: "cpu": is an invalid extended resource name',
        'extenders[1].managedResources[0].name: Invalid value: "example.com/x": duplicate extender managed resource name',
        'extenders: Invalid value: "found 2 extenders implementing bind": only one extender can implement bind',
      ],
    ],
  ])("%s", (_, configuration, problems) => {
    expect(problemsOf(configuration)).toEqual(problems);
  });
});
