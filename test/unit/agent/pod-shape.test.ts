import { objectProblems } from "../../../apiserver-lite/object-rules.ts";
import type { Pod, ResourceRequirements } from "../../../api/types/core-v1.ts";
import {
  containerResources,
  cpuQuota,
  cpuShares,
  hasSysResource,
  oomScoreAdj,
  podResources,
} from "../../../agent/resources/linux-resources.ts";
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import { staticPod } from "../../../agent/sources/static-pod.ts";
import { graceSeconds } from "../../../agent/pods/shape/pod-shape.ts";
import { cpuWeight } from "../../../agent/cgroups/v2.ts";

function pod(
  app: (ResourceRequirements | undefined)[],
  init: { resources: ResourceRequirements; sidecar?: boolean }[] = [],
): Pod {
  return {
    metadata: { name: "p" },
    spec: {
      containers: app.map((resources, index) => ({
        name: `c${index}`,
        image: "i",
        ...(resources ? { resources } : {}),
      })),
      initContainers: init.map(({ resources, sidecar }, index) => ({
        name: `i${index}`,
        resources,
        ...(sidecar ? { restartPolicy: "Always" } : {}),
      })),
    },
  };
}

test("a pod's resources are the greater of its moments", () => {
  const resources = podResources(
    pod(
      [
        {
          requests: { cpu: "100m", memory: "10Mi" },
          limits: { memory: "20Mi" },
        },
      ],
      [
        {
          resources: { requests: { cpu: "50m" }, limits: { memory: "5Mi" } },
          sidecar: true,
        },
        { resources: { requests: { cpu: "400m" }, limits: { memory: "1Mi" } } },
      ],
    ),
  );
  expect(resources).toMatchObject({
    cpuRequestMillis: 450,
    memoryRequestBytes: 15 << 20,
    memoryLimitBytes: 25 << 20,
    memoryLimited: true,
    cpuLimited: false,
  });
});

test.each([
  [
    "after a sidecar with a limit",
    { resources: { limits: { memory: "1Gi" } }, sidecar: true },
    true,
  ],
  ["after a sidecar without", { resources: {}, sidecar: true }, false],
  ["after another one", { resources: { limits: { memory: "1Gi" } } }, false],
])("an init container without a limit %s", (_where, before, limited) => {
  const subject = pod(
    [{ limits: { memory: "1Gi" } }],
    [before, { resources: {} }],
  );
  expect(podResources(subject).memoryLimited).toBe(limited);
});

test("cgroup values", () => {
  expect([0, 1, 10, 1000, 1e9].map(cpuShares)).toEqual([
    2, 2, 10, 1024, 262_144,
  ]);
  expect([0, 1, 500, 2000].map((milli) => cpuQuota(milli, 100_000))).toEqual([
    undefined,
    1000,
    50_000,
    200_000,
  ]);
  expect([2, 1024, 262_144].map(cpuWeight)).toEqual([1, 39, 10_000]);
});

test.each<[string, ResourceRequirements | undefined, number]>([
  ["guaranteed", { limits: { cpu: "1", memory: "1Gi" } }, -997],
  ["best effort", undefined, 1000],
  ["a quarter of the memory", { requests: { memory: "1Gi" } }, 750],
  ["next to nothing", { requests: { cpu: "1m" } }, 999],
  ["nearly all", { requests: { memory: "4095Mi" } }, 3],
])("oom_score_adj of %s", (_what, resources, wanted) => {
  const subject = pod([resources]);
  expect(oomScoreAdj(subject, subject.spec.containers[0]!, 4 * 1024 ** 3)).toBe(
    wanted,
  );
});

test.each<[string, Partial<Pod["spec"]>, number]>([
  [
    "the node's own",
    { priority: 2_000_001_000, priorityClassName: "system-node-critical" },
    -997,
  ],
  [
    "the cluster's own",
    { priority: 2_000_000_000, priorityClassName: "system-cluster-critical" },
    1000,
  ],
  ["of a user's class", { priority: 2_000_000_000 }, 1000],
  [
    "of a name without its priority",
    { priorityClassName: "system-node-critical" },
    1000,
  ],
])("oom_score_adj of a pod that is %s", (_what, spec, wanted) => {
  const subject = pod([undefined]);
  Object.assign(subject.spec, spec);
  expect(oomScoreAdj(subject, subject.spec.containers[0]!, 4 * 1024 ** 3)).toBe(
    wanted,
  );
});

test("a static pod, and one of the system, is never swapped out", () => {
  const machineMemoryBytes = 4 * 1024 ** 3;
  const swapMax = (change: (pod: Pod) => void): string | undefined => {
    const subject = pod([{ requests: { memory: "1Gi" } }]);
    change(subject);
    return containerResources(subject, subject.spec.containers[0]!, {
      config: resolveAgentConfig({ nodeName: "n" }),
      machineMemoryBytes,
      lowestOomScoreAdj: undefined,
      hugepageSizes: [],
      memory: {
        version: 2,
        throttlingFactor: undefined,
        allocatableBytes: () => undefined,
        swap: "limited",
        machineBytes: machineMemoryBytes,
        swapBytes: machineMemoryBytes,
        killsWhole: false,
      },
    }).unified?.["memory.swap.max"];
  };
  expect(swapMax(() => undefined)).toBe(String(1024 ** 3));
  expect(swapMax(({ spec }) => (spec.priority = 2_000_000_000))).toBe("0");
  expect(
    swapMax(({ metadata }) => {
      metadata.annotations = { "kubernetes.io/config.source": "file" };
    }),
  ).toBe("0");
});

test("huge pages of a container are its own, as soon as its pod asks for some", () => {
  const limitsOf = (subject: Pod, config = {}): unknown[] =>
    subject.spec.containers.map(
      (container) =>
        containerResources(subject, container, {
          config: resolveAgentConfig({ nodeName: "n", ...config }),
          machineMemoryBytes: 4 * 1024 ** 3,
          lowestOomScoreAdj: undefined,
          hugepageSizes: ["2MB", "1GB", "64KB"],
        }).hugepageLimits,
    );
  const of = (small: number, large = 0, tiny = 0): unknown[] => [
    { pageSize: "2MB", limitBytes: small },
    { pageSize: "1GB", limitBytes: large },
    { pageSize: "64KB", limitBytes: tiny },
  ];
  expect(
    limitsOf(
      pod([
        { limits: { "hugepages-2Mi": "16Mi", cpu: "1" } },
        { limits: { "hugepages-1Gi": "2Gi", "hugepages-64Ki": "128Ki" } },
        { limits: { cpu: "1" } },
        undefined,
      ]),
    ),
  ).toEqual([of(2 ** 24), of(0, 2 ** 31, 2 ** 17), of(0), of(0)]);
  const none = pod([{ limits: { cpu: "1" } }]);
  expect(limitsOf(none)).toEqual([undefined]);
  // It has no cgroup that would hold its containers to nothing.
  expect(limitsOf(none, { cgroupsPerQos: false })).toEqual([of(0)]);
});

test("what a pod says as a whole bounds its cgroup and its containers", () => {
  const subject = pod([
    { requests: { memory: "1Gi" }, limits: { cpu: "250m" } },
    undefined,
  ]);
  subject.spec.resources = {
    requests: { cpu: "600m", memory: "2Gi" },
    limits: { cpu: "1", memory: "3Gi" },
  };
  expect(podResources(subject)).toEqual({
    cpuRequestMillis: 600,
    cpuLimitMillis: 1000,
    memoryRequestBytes: 2 * 1024 ** 3,
    memoryLimitBytes: 3 * 1024 ** 3,
    cpuLimited: true,
    memoryLimited: true,
  });
  const [own, none] = subject.spec.containers.map((container) =>
    containerResources(subject, container, {
      config: resolveAgentConfig({ nodeName: "n" }),
      machineMemoryBytes: 4 * 1024 ** 3,
      lowestOomScoreAdj: undefined,
      hugepageSizes: [],
    }),
  );
  // What the containers leave of the memory, half a GiB for each, counts for both.
  expect(own).toEqual({
    cpuShares: 256,
    cpuQuota: 25_000,
    cpuPeriod: 100_000,
    memoryLimitBytes: 3 * 1024 ** 3,
    oomScoreAdj: 625,
  });
  expect(none).toEqual({
    cpuShares: 1024,
    cpuQuota: 100_000,
    cpuPeriod: 100_000,
    memoryLimitBytes: 3 * 1024 ** 3,
    oomScoreAdj: 875,
  });
});

test.each([true, false])("of a static pod, gate %s", (podLevelResources) => {
  const manifest = pod([{ requests: { cpu: "100m" } }]);
  manifest.spec.resources = { limits: { cpu: "1", memory: "1Gi" } };
  const made = staticPod(manifest, {
    nodeName: "n",
    source: "file",
    origin: "f",
    nowMs: 0,
    podLevelResources,
    rules: objectProblems,
  });
  expect(made.spec.resources).toEqual(
    podLevelResources
      ? {
          limits: { cpu: "1", memory: "1Gi" },
          requests: { cpu: "100m", memory: "1Gi" },
        }
      : undefined,
  );
});

test("capabilities are read from /proc/self/status", () => {
  expect(hasSysResource("CapEff:\t000001ffffffffff\n")).toBe(true);
  expect(hasSysResource("CapEff:\t000001fffeffffff\n")).toBe(false);
});

test("grace periods", () => {
  const subject = pod([undefined]);
  expect(graceSeconds(subject)).toBe(30);
  subject.spec.terminationGracePeriodSeconds = 5;
  expect(graceSeconds(subject)).toBe(5);
  subject.metadata.deletionGracePeriodSeconds = 0;
  expect(graceSeconds(subject)).toBe(1);
});
