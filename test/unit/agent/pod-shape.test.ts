import type { Pod, ResourceRequirements } from "../../../api/types/core-v1.ts";
import {
  cpuQuota,
  cpuShares,
  hasSysResource,
  oomScoreAdj,
  podResources,
} from "../../../agent/resources/linux-resources.ts";
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
