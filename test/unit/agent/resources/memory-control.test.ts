// What the kernel is given of a container's memory beside its limit, on both versions of cgroups.
import type { Container, Pod } from "../../../../api/types/core-v1.ts";
import {
  containerMemoryControl,
  memoryControl,
  type MemoryControl,
} from "../../../../agent/resources/memory-control.ts";
import { oomScoreAdj } from "../../../../agent/resources/linux-resources.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const directories = useTempDirectories();
const mebi = 2 ** 20;

const version2: MemoryControl = {
  version: 2,
  throttlingFactor: undefined,
  allocatableBytes: () => 1000 * mebi,
  swap: "none",
  machineBytes: 1000 * mebi,
  swapBytes: 500 * mebi,
  killsWhole: true,
};

function control(
  changes: Partial<MemoryControl>,
  resources: Container["resources"],
  critical = false,
) {
  const container: Container = {
    name: "c",
    image: "i",
    ...(resources ? { resources } : {}),
  };
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { containers: [container] },
  };
  return containerMemoryControl(
    pod,
    container,
    { ...version2, ...changes },
    critical,
  );
}

const half = { requests: { memory: "100Mi" }, limits: { memory: "200Mi" } };

test("swap: none, or a Burstable container's share", () => {
  const swapMax = (
    resources: Container["resources"],
    swap: MemoryControl["swap"] = "limited",
    critical = false,
  ) => control({ swap }, resources, critical).unified?.["memory.swap.max"];
  // A tenth of the memory was requested: a tenth of the swap.
  expect(swapMax(half)).toBe(String(50 * mebi));
  expect(swapMax(half, "none")).toBe("0");
  expect(swapMax(half, "limited", true)).toBe("0");
  expect(control({ swap: undefined }, half).unified).toEqual({
    "memory.oom.group": "1",
  });
  expect(swapMax(undefined)).toBe("0");
  expect(swapMax({ limits: { cpu: "1", memory: "100Mi" } })).toBe("0");
  expect(swapMax({ limits: { memory: "100Mi" } })).toBe("0");
  expect(swapMax({ requests: { memory: "2000Mi" } })).toBe("0");
  // Version 1 holds memory and swap together.
  expect(control({ version: 1, swap: "none" }, half)).toEqual({
    memorySwapLimitBytes: 200 * mebi,
  });
  expect(control({ version: 1, swap: "none" }, undefined)).toEqual({});
  expect(control({ version: 1, swap: undefined }, half)).toEqual({});
});

test("requested memory is kept, and growth towards the limit is slowed down", () => {
  const unified = (resources: Container["resources"]) => {
    const { "memory.min": min, "memory.high": high } =
      control({ throttlingFactor: 0.9 }, resources).unified ?? {};
    return [min, high].map((text) => text && Number(text) / mebi);
  };
  expect(unified(half)).toEqual([100, 190]);
  // Without a limit the node's allocatable memory is the most.
  expect(unified({ requests: { memory: "100Mi" } })).toEqual([100, 910]);
  expect(unified({ limits: { memory: "100Mi" } })).toEqual([100, undefined]);
  expect(unified(undefined)).toEqual([undefined, undefined]);
  expect(control({}, half).unified).toEqual({
    "memory.oom.group": "1",
    "memory.swap.max": "0",
  });
  expect(control({ killsWhole: false, swap: undefined }, half)).toEqual({});
});

test("what this machine can do is found in its files", () => {
  const settings = {
    cgroupMount: directories(),
    featureGates: { MemoryQoS: true },
    memoryThrottlingFactor: 0.8,
    singleProcessOomKill: false,
    swapBehavior: "LimitedSwap" as const,
  };
  // A plain directory is no unified hierarchy, and counts no swap.
  expect(memoryControl(settings, 5, () => 6)).toMatchObject({
    version: 1,
    throttlingFactor: undefined,
    swap: undefined,
    killsWhole: false,
  });
});

test("a sidecar is not killed before the containers that it serves", () => {
  const container = (name: string, memory: string): Container => ({
    name,
    image: "i",
    resources: { requests: { memory } },
  });
  const sidecar: Container = {
    ...container("s", "10Mi"),
    restartPolicy: "Always",
  };
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: {
      containers: [container("a", "300Mi"), container("b", "200Mi")],
      initContainers: [container("i", "10Mi"), sidecar],
    },
  };
  const score = (each: Container): number =>
    oomScoreAdj(pod, each, 1000 * mebi);
  expect(score(pod.spec.containers[0]!)).toBe(700);
  expect(score(pod.spec.initContainers![0]!)).toBe(990);
  expect(score(sidecar)).toBe(800);
});
