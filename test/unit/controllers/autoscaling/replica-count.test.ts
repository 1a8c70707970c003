// How many replicas a metric asks for, over pods in every state.
import {
  countByAverage,
  countByShare,
  countByUtilization,
  countByValue,
  type CountingOptions,
  type PodMetrics,
} from "../../../../controllers/autoscaling/replica-count.ts";
import type { Pod } from "../../../../api/types/core-v1.ts";

const nowMs = Date.parse("2026-01-01T01:00:00Z");
const options: CountingOptions = {
  tolerance: 0.1,
  cpuInitializationPeriodMs: 300_000,
  initialReadinessDelayMs: 30_000,
  nowMs,
};
const at = (secondsAgo: number): string =>
  new Date(nowMs - secondsAgo * 1000).toISOString().slice(0, 19) + "Z";

interface Shape {
  phase?: string;
  deleted?: boolean;
  /** Undefined: no condition. */
  ready?: "True" | "False";
  startedAgo?: number;
  changedAgo?: number;
  request?: string | null;
}

const pod = (name: string, shape: Shape = {}): Pod => {
  const { phase = "Running", startedAgo = 3600, changedAgo = 3500 } = shape;
  const { request = "1" } = shape;
  return {
    metadata: {
      name,
      ...(shape.deleted ? { deletionTimestamp: at(1) } : {}),
    },
    spec: {
      containers: [
        {
          name: "c",
          resources: request === null ? {} : { requests: { cpu: request } },
        },
      ],
    },
    status: {
      phase,
      startTime: at(startedAgo),
      conditions:
        "ready" in shape && shape.ready === undefined
          ? []
          : [
              {
                type: "Ready",
                status: shape.ready ?? "True",
                lastTransitionTime: at(changedAgo),
              },
            ],
    },
  };
};
const metrics = (
  values: Readonly<Record<string, number>>,
  secondsAgo = 10,
): PodMetrics =>
  new Map(
    Object.entries(values).map(([name, value]) => [
      name,
      { value, atMs: nowMs - secondsAgo * 1000, windowMs: 30_000 },
    ]),
  );
const utilization = (
  pods: readonly Pod[],
  values: PodMetrics,
  target: number,
  currentReplicas = pods.length,
  container = "",
) =>
  countByUtilization(
    { pods, metrics: values, resource: "cpu", currentReplicas },
    target,
    container,
    options,
  );
const three = [pod("a"), pod("b"), pod("c")];

test.each([
  ["above the target", { a: 300, b: 500, c: 700 }, 30, 5, 50],
  ["below the target", { a: 100, b: 100, c: 100 }, 50, 1, 10],
  ["within the tolerance above", { a: 540, b: 540, c: 540 }, 50, 3, 54],
  ["within the tolerance below", { a: 450, b: 450, c: 450 }, 50, 3, 45],
  ["just outside of it", { a: 560, b: 560, c: 560 }, 50, 4, 56],
  ["nothing used", { a: 0, b: 0, c: 0 }, 50, 0, 0],
])("%s", (_, values, target, replicas, percent) => {
  expect(utilization(three, metrics(values), target)).toMatchObject({
    replicas,
    utilization: percent,
  });
});

test("pods without figures hold back: full when it goes down, idle when it goes up", () => {
  expect(utilization(three, metrics({ a: 100, b: 100 }), 50).replicas).toBe(3);
  expect(utilization(three, metrics({ a: 900, b: 900 }), 50).replicas).toBe(4);
  // A change of the direction is none.
  expect(utilization(three, metrics({ a: 600 }), 50).replicas).toBe(3);
  // Targets above 100 % are assumed instead of 100 %.
  expect(utilization(three, metrics({ a: 100, b: 100 }), 200).replicas).toBe(2);
});

test("pods that end count for nothing", () => {
  const pods = [
    ...three,
    pod("d", { deleted: true }),
    pod("e", { phase: "Failed" }),
  ];
  expect(
    utilization(
      pods,
      metrics({ a: 600, b: 600, c: 600, d: 9000, e: 9000 }),
      30,
      3,
    ),
  ).toMatchObject({ replicas: 6, utilization: 60 });
});

test.each<[string, Shape, number]>([
  ["pending", { phase: "Pending" }, 10],
  ["without a condition", { ready: undefined as never }, 10],
  ["young and unready", { ready: "False", startedAgo: 60, changedAgo: 60 }, 10],
  [
    "young, measured before it was ready",
    { startedAgo: 60, changedAgo: 20 },
    10,
  ],
  ["old and never ready", { ready: "False", changedAgo: 3595 }, 10],
])("what starts does not scale up: %s", (_, shape, ago) => {
  const pods = [pod("a"), pod("b"), pod("c", shape)];
  const found = utilization(
    pods,
    metrics({ a: 600, b: 600, c: 5000 }, ago),
    50,
  );
  expect(found).toMatchObject({ replicas: 3, utilization: 60 });
});

test.each<[string, Shape]>([
  ["young and ready for a window", { startedAgo: 100, changedAgo: 60 }],
  ["old and unready later", { ready: "False", changedAgo: 100 }],
])("what runs counts: %s", (_, shape) => {
  const pods = [pod("a"), pod("b"), pod("c", shape)];
  expect(
    utilization(pods, metrics({ a: 600, b: 600, c: 600 }), 50).replicas,
  ).toBe(4);
});

test("unready pods count with memory as any other", () => {
  const pods = [pod("a"), pod("b", { ready: "False", startedAgo: 5 })];
  const found = countByAverage(
    {
      pods,
      metrics: metrics({ a: 200, b: 200 }),
      resource: "memory",
      currentReplicas: 2,
    },
    100,
    options,
  );
  expect(found).toEqual({ replicas: 4, average: 200 });
});

test("only the named container's requests, and those of sidecars", () => {
  const shaped = pod("a");
  shaped.spec.initContainers = [
    { name: "init", resources: {} },
    {
      name: "sidecar",
      restartPolicy: "Always",
      resources: { requests: { cpu: "1" } },
    },
  ];
  expect(utilization([shaped], metrics({ a: 1000 }), 50)).toMatchObject({
    utilization: 50,
  });
  expect(
    utilization([shaped], metrics({ a: 1000 }), 50, 1, "sidecar"),
  ).toMatchObject({ utilization: 100, replicas: 2 });
});

test.each<[string, () => unknown, string]>([
  [
    "no pods",
    () => utilization([], metrics({ a: 1 }), 50),
    "no pods returned by selector while calculating replica count",
  ],
  [
    "no figures",
    () => utilization(three, metrics({}), 50),
    "did not receive metrics for targeted pods (pods might be unready)",
  ],
  [
    "figures of others",
    () => utilization(three, metrics({ z: 1 }), 50),
    "no metrics returned matched known pods",
  ],
  [
    "no request",
    () => utilization([pod("a", { request: null })], metrics({ a: 1 }), 50),
    "missing request for cpu in container c of Pod a",
  ],
  [
    "all pods start",
    () => utilization([pod("a", { phase: "Pending" })], metrics({ a: 1 }), 50),
    "did not receive metrics for targeted pods (pods might be unready)",
  ],
])("%s gives no number", (_, count, message) => {
  expect(count).toThrow(message);
});

test("values that belong to no pod", () => {
  expect(countByValue(20_000, 10_000, 3, 3, 0.1)).toBe(6);
  expect(countByValue(20_000, 10_000, 3, 1, 0.1)).toBe(2);
  expect(countByValue(10_500, 10_000, 3, undefined, 0.1)).toBe(3);
  // From nothing: without pods or a tolerance.
  expect(countByValue(10_500, 10_000, 0, undefined, 0.1)).toBe(2);
  expect(() => countByValue(20_000, 10_000, 3, undefined, 0.1)).toThrow(
    "unable to calculate ready pods: no pods returned",
  );
  expect(countByShare(50_000, 10_000, 3, 0.1)).toEqual({
    replicas: 5,
    average: 16_667,
  });
  expect(countByShare(31_000, 10_000, 3, 0.1).replicas).toBe(3);
  expect(countByShare(31_000, 10_000, 0, 0.1)).toEqual({
    replicas: 4,
    average: 31_000,
  });
});
