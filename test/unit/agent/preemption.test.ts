// Which pods end for a critical one: as few and as close to what is missing as can be, by class and priority.
import { podsToPreempt } from "../../../agent/node/preemption.ts";
import type { Pod, PodSpec } from "../../../api/types/core-v1.ts";

type Amounts = Record<string, string>;

function pod(
  name: string,
  requests: Amounts | undefined,
  spec: Partial<PodSpec> & { limits?: Amounts } = {},
): Pod {
  const { limits, ...rest } = spec;
  const resources = {
    ...(requests ? { requests } : {}),
    ...(limits ? { limits } : {}),
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, uid: name },
    spec: { containers: [{ name: "c", image: "i", resources }], ...rest },
  };
}
const guaranteed = (name: string, amounts: Amounts): Pod =>
  pod(name, amounts, { limits: amounts });
const critical = pod("critical", { cpu: "1" }, { priority: 2_000_000_000 });

const names = (pods: readonly Pod[]): string[] =>
  pods.map(({ metadata }) => metadata.name);
const chosen = (
  pods: readonly Pod[],
  missing: Record<string, number>,
  by: Pod = critical,
): string[] => names(podsToPreempt(by, pods, new Map(Object.entries(missing))));

test("the closest to what is missing, as few as can be", () => {
  const pods = [
    pod("a", { cpu: "100m" }),
    pod("b", { cpu: "250m" }),
    pod("c", { cpu: "400m" }),
    pod("d", { cpu: "350m" }),
  ];
  expect(chosen(pods, { cpu: 300 })).toEqual(["d"]);
  expect(chosen(pods, { cpu: 100 })).toEqual(["a"]);
  expect(chosen(pods, { cpu: 500 })).toEqual(["c", "a"]);
});

test("best-effort before burstable before guaranteed pods, and none without need", () => {
  const pods = [
    guaranteed("g", { cpu: "1", memory: "1Gi" }),
    pod("burst", { cpu: "1" }),
    pod("best", undefined),
  ];
  expect(chosen(pods, { cpu: 500 })).toEqual(["burst"]);
  expect(chosen(pods, { pods: 1 })).toEqual(["best"]);
  expect(chosen(pods, { cpu: 1500 })).toEqual(["burst", "g"]);
  // Each resource weighs the same, whatever its amounts.
  expect(
    chosen(
      [
        pod("cpu", { cpu: "1" }),
        pod("memory", { memory: "1Gi" }),
        pod("both", { cpu: "900m", memory: "900Mi" }),
      ],
      { cpu: 500, memory: 512 * 1024 ** 2 },
    ),
  ).toEqual(["both"]);
});

test("critical pods stay, but for those of a lower priority of the system", () => {
  const node = pod("node", { cpu: "2" }, { priority: 2_000_001_000 });
  const cluster = pod("cluster", { cpu: "2" }, { priority: 2_000_000_000 });
  const pods = [node, cluster];
  expect(chosen([cluster], { cpu: 100 }, node)).toEqual(["cluster"]);
  expect(() => chosen(pods, { cpu: 100 })).toThrow(
    "no set of running pods found to reclaim resources: [(res: cpu, q: 100), ]",
  );
  const few = [pod("a", { cpu: "100m" }), cluster];
  expect(() => chosen(few, { cpu: 150, memory: 7 })).toThrow(
    "[(res: cpu, q: 50), (res: memory, q: 7), ]",
  );
});
