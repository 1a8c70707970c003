// The controller on the memory API with figures that the test gives: targets, metrics of every source, statuses, events.
import { errors } from "../../../../api/errors.ts";
import type { Deployment } from "../../../../api/types/apps-v1.ts";
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  MetricSpec,
} from "../../../../api/types/autoscaling-v2.ts";
import type { ControllerOptions } from "../../../../controllers/options.ts";
import {
  deployments,
  events,
  horizontalPodAutoscalers,
  pods,
} from "../../../../client/resources.ts";
import {
  passes,
  startControlPlane,
  type ControlPlane,
} from "../../../support/control-plane.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

let plane: ControlPlane;
let clock: FakeClock;
/** Answers of paths of metrics APIs, without their query. */
let answers: Record<string, unknown>;
let asked: string[];

async function start(
  controllers: Partial<ControllerOptions> = {},
): Promise<void> {
  clock = new FakeClock();
  answers = {};
  asked = [];
  plane = await startControlPlane({
    clock,
    controllers: {
      controllers: ["horizontal-pod-autoscaler-controller"],
      ...controllers,
    },
  });
  const raw = plane.api.raw.bind(plane.api);
  plane.api.raw = async (method, path) => {
    if (!path.includes("metrics.k8s.io")) return raw(method, path);
    asked.push(path);
    const body = answers[path.split("?")[0]!];
    if (body === undefined)
      throw errors.notFound({ group: "", resource: "" }, path);
    return { status: 200, body };
  };
}
afterEach(() => plane.stop());

const metricsPath = "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods";
/** Each pod's millicores. */
function use(millicores: Readonly<Record<string, number>>): void {
  const timestamp = new Date(clock.now()).toISOString();
  answers[metricsPath] = {
    items: Object.entries(millicores).map(([name, used]) => ({
      metadata: { name, namespace: "default" },
      ...{ timestamp, window: "15s" },
      containers: [{ name: "c", usage: { cpu: `${used}m`, memory: "10Mi" } }],
    })),
  };
}

async function target(
  replicas: number,
  labels: Readonly<Record<string, string>> = { app: "a" },
  name = "d",
): Promise<void> {
  await plane.client.resource(deployments).create({
    metadata: { name, namespace: "default" },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { spec: { containers: [] } },
    },
    status: { replicas },
  } as Deployment);
}

async function running(
  names: readonly string[],
  labels: Readonly<Record<string, string>> = { app: "a" },
): Promise<void> {
  const at = new Date(clock.now() - 3_600_000).toISOString();
  for (const name of names)
    await plane.client.resource(pods).create({
      metadata: { name, namespace: "default", labels },
      spec: {
        containers: [{ name: "c", resources: { requests: { cpu: "1" } } }],
      },
      status: {
        phase: "Running",
        startTime: at,
        conditions: [{ type: "Ready", status: "True", lastTransitionTime: at }],
      },
    });
}

const cpu = (averageUtilization: number): MetricSpec => ({
  type: "Resource",
  resource: {
    name: "cpu",
    target: { type: "Utilization", averageUtilization },
  },
});

async function autoscaler(
  metrics: MetricSpec[],
  extra: Partial<HorizontalPodAutoscalerSpec> = {},
  name = "h",
): Promise<void> {
  await plane.client.resource(horizontalPodAutoscalers).create({
    metadata: { name, namespace: "default" },
    spec: {
      maxReplicas: 10,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
      metrics,
      ...extra,
    },
  } as HorizontalPodAutoscaler);
}

const status = async (name = "h") =>
  (await plane.client.resource(horizontalPodAutoscalers).get(name, "default"))
    .status;
const conditions = async (name = "h"): Promise<Record<string, string>> =>
  Object.fromEntries(
    ((await status(name))?.conditions ?? []).map(
      ({ type, status: holds, reason }) => [type, `${holds} ${reason}`],
    ),
  );
const replicas = async (name = "d") =>
  (await plane.client.resource(deployments).get(name, "default")).spec!
    .replicas;
const eventsOf = async (reason: string): Promise<string[]> => {
  const { items } = await plane.client.resource(events).list();
  return items
    .filter((each) => each.reason === reason)
    .map(({ message = "" }) => message);
};
/** One look of the controller. */
const look = (): Promise<void> => clock.advanceAsync(15_000);

test("the target grows, the status and an event say so, and nothing more is written when it is enough", async () => {
  await start();
  await target(2);
  await running(["p1", "p2"]);
  use({ p1: 900, p2: 700 });
  await autoscaler([cpu(40)]);
  await clock.advanceAsync(14_900);
  expect(asked).toEqual([]);
  await clock.advanceAsync(100);
  await passes(async () => expect(await replicas()).toBe(4));
  await passes(async () =>
    expect(await status()).toMatchObject({
      currentReplicas: 2,
      desiredReplicas: 4,
      lastScaleTime: expect.any(String) as string,
      currentMetrics: [
        {
          type: "Resource",
          resource: {
            name: "cpu",
            current: { averageUtilization: 80, averageValue: "800m" },
          },
        },
      ],
    }),
  );
  expect(await conditions()).toEqual({
    AbleToScale: "True SucceededRescale",
    ScalingActive: "True ValidMetricFound",
    ScalingLimited: "False DesiredWithinRange",
  });
  expect(asked).toEqual([`${metricsPath}?labelSelector=app%3Da`]);
  await passes(async () =>
    expect(await eventsOf("SuccessfulRescale")).toEqual([
      "New size: 4; reason: cpu resource utilization (percentage of request) above target",
    ]),
  );
  await running(["p3", "p4"]);
  use({ p1: 400, p2: 400, p3: 400, p4: 400 });
  await look();
  await passes(async () =>
    expect(await conditions()).toMatchObject({
      AbleToScale: "True ReadyForNewScale",
    }),
  );
  const before = plane.api.writes.length;
  await look();
  await look();
  expect(plane.api.writes.slice(before)).toEqual([]);
});

test("it shrinks after the window, by the period and the window that are set", async () => {
  await start({
    horizontalPodAutoscalerSyncPeriodMs: 1_000,
    horizontalPodAutoscalerDownscaleStabilizationMs: 20_000,
    horizontalPodAutoscalerTolerance: 0.5,
  });
  await target(4);
  await running(["p1", "p2", "p3", "p4"]);
  use({ p1: 300, p2: 300, p3: 300, p4: 300 });
  await autoscaler([cpu(50)]);
  await clock.advanceAsync(1_000);
  // 0.6 of the target is within the tolerance.
  await passes(async () =>
    expect(await status()).toMatchObject({ desiredReplicas: 4 }),
  );
  use({ p1: 100, p2: 100, p3: 100, p4: 100 });
  await clock.advanceAsync(10_000);
  expect(await replicas()).toBe(4);
  expect(await conditions()).toMatchObject({
    AbleToScale: "True ScaleDownStabilized",
  });
  await clock.advanceAsync(12_000);
  await passes(async () => expect(await replicas()).toBe(1));
  await passes(async () =>
    expect(await eventsOf("SuccessfulRescale")).toEqual([
      "New size: 1; reason: All metrics below target",
    ]),
  );
});

test.each([
  [
    12,
    { maxReplicas: 10 },
    10,
    "Current number of replicas above Spec.MaxReplicas",
  ],
  [
    1,
    { minReplicas: 3 },
    3,
    "Current number of replicas below Spec.MinReplicas",
  ],
])(
  "%d replicas and %j: without metrics into the range",
  async (current, range, wanted, reason) => {
    await start();
    await target(current);
    await autoscaler([cpu(50)], range);
    await look();
    await passes(async () => expect(await replicas()).toBe(wanted));
    await passes(async () =>
      expect(await eventsOf("SuccessfulRescale")).toEqual([
        `New size: ${wanted}; reason: ${reason}`,
      ]),
    );
    expect(asked).toEqual([]);
  },
);

test("a target that was set to nothing stays", async () => {
  await start();
  await target(0);
  await autoscaler([cpu(50)]);
  await look();
  await passes(async () =>
    expect(await conditions()).toEqual({
      AbleToScale: "True SucceededGetScale",
      ScalingActive: "False ScalingDisabled",
    }),
  );
  expect(await replicas()).toBe(0);
});

describe("what can't be scaled", () => {
  test.each([
    [
      { apiVersion: "apps/v1", kind: "Deployment", name: "absent" },
      /not found/,
    ],
    [
      { apiVersion: "x.io/v1", kind: "Foo", name: "d" },
      /no matches for kind "Foo" in group "x.io"/,
    ],
  ])("%j", async (scaleTargetRef, message) => {
    await start();
    await autoscaler([cpu(50)], { scaleTargetRef });
    await look();
    await passes(async () =>
      expect(await conditions()).toEqual({
        AbleToScale: "False FailedGetScale",
      }),
    );
    expect((await status())!.conditions![0]!.message).toMatch(message);
    await passes(async () =>
      expect((await eventsOf("FailedGetScale"))[0]).toMatch(message),
    );
  });

  test("a scale that can't be written; the next look tries again", async () => {
    await start();
    await target(1);
    await running(["p1"]);
    use({ p1: 1000 });
    plane.api.intercept = ({ verb, subresource }) => {
      if (verb === "update" && subresource === "scale")
        throw errors.forbidden(
          { group: "apps", resource: "deployments" },
          "d",
          "no",
        );
    };
    await autoscaler([cpu(50)]);
    await look();
    await passes(async () =>
      expect(await conditions()).toMatchObject({
        AbleToScale: "False FailedUpdateScale",
      }),
    );
    expect(await replicas()).toBe(1);
    plane.api.intercept = () => {};
    await look();
    await passes(async () => expect(await replicas()).toBe(2));
  });

  test("pods of two autoscalers", async () => {
    await start();
    await target(1);
    await target(1, { tier: "b" }, "e");
    await running(["p1"], { app: "a", tier: "b" });
    use({ p1: 1000 });
    await autoscaler([cpu(50)]);
    await autoscaler(
      [cpu(50)],
      {
        scaleTargetRef: {
          apiVersion: "apps/v1",
          kind: "Deployment",
          name: "e",
        },
      },
      "i",
    );
    await look();
    await passes(async () =>
      expect(await conditions("i")).toMatchObject({
        ScalingActive: "False AmbiguousSelector",
      }),
    );
    await passes(async () =>
      expect(await eventsOf("AmbiguousSelector")).toContain(
        "pods by selector tier=b are controlled by multiple HPAs: [default/h default/i]",
      ),
    );
    // When the other one is gone, its pods are free.
    await plane.client
      .resource(horizontalPodAutoscalers)
      .delete("h", "default");
    await look();
    await passes(async () => expect(await replicas("e")).toBe(2));
  });

  test("a target without a selector", async () => {
    await start();
    await target(1, {});
    await autoscaler([cpu(50)]);
    await look();
    await passes(async () =>
      expect(await conditions()).toMatchObject({
        ScalingActive: "False InvalidSelector",
      }),
    );
  });
});

describe("metrics that fail", () => {
  const broken: MetricSpec = {
    type: "External",
    external: { metric: { name: "q" }, target: { type: "Value", value: "1" } },
  };

  test("alone they change nothing", async () => {
    await start();
    await target(2);
    await running(["p1", "p2"]);
    await autoscaler([cpu(50)]);
    await look();
    await passes(async () =>
      expect(await conditions()).toEqual({
        AbleToScale: "True SucceededGetScale",
        ScalingActive: "False FailedGetResourceMetric",
      }),
    );
    const found = (await status())!.conditions!.find(
      ({ type }) => type === "ScalingActive",
    );
    expect(found!.message).toMatch(
      /^the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: /,
    );
    answers[metricsPath] = { items: [] };
    await look();
    await passes(async () =>
      expect(
        (await eventsOf("FailedGetResourceMetric")).some((message) =>
          message.endsWith("no metrics returned from resource metrics API"),
        ),
      ).toBe(true),
    );
    expect(await replicas()).toBe(2);
  });

  test("beside others they let the target grow, never shrink", async () => {
    await start({ horizontalPodAutoscalerDownscaleStabilizationMs: 0 });
    await target(2);
    await running(["p1", "p2"]);
    use({ p1: 100, p2: 100 });
    await autoscaler([broken, cpu(50)]);
    await look();
    await passes(async () =>
      expect(await conditions()).toMatchObject({
        ScalingActive: "False FailedGetExternalMetric",
      }),
    );
    await passes(async () =>
      expect(await eventsOf("FailedComputeMetricsReplicas")).toEqual([
        expect.stringMatching(
          /^invalid metrics \(1 invalid out of 2\), first error is: failed to get q external metric value: .*no external metrics API \(external\.metrics\.k8s\.io\) registered$/,
        ),
      ]),
    );
    expect(await replicas()).toBe(2);
    use({ p1: 1000, p2: 1000 });
    await look();
    await passes(async () => expect(await replicas()).toBe(4));
    expect((await status())!.currentMetrics).toMatchObject([
      { type: "" },
      { type: "Resource" },
    ]);
  });
});

describe("sources", () => {
  const custom = "/apis/custom.metrics.k8s.io";
  const external = "/apis/external.metrics.k8s.io";
  const value = (text: string, name = "p1") => ({
    describedObject: { name },
    timestamp: "2025-01-01T00:00:00Z",
    value: text,
  });

  beforeEach(async () => {
    await start();
    await target(2);
    await running(["p1", "p2"]);
    answers[custom] = { preferredVersion: { version: "v1beta2" } };
    answers[external] = { preferredVersion: { version: "v1beta1" } };
  });

  test.each<[string, MetricSpec, Record<string, unknown>, number, object]>([
    [
      "a container's resource",
      {
        type: "ContainerResource",
        containerResource: {
          name: "cpu",
          container: "c",
          target: { type: "Utilization", averageUtilization: 30 },
        },
      },
      {},
      4,
      { containerResource: { current: { averageUtilization: 60 } } },
    ],
    [
      "a resource's amount",
      {
        type: "Resource",
        resource: {
          name: "memory",
          target: { type: "AverageValue", averageValue: "4Mi" },
        },
      },
      {},
      5,
      { resource: { current: { averageValue: "10485760" } } },
    ],
    [
      "pods",
      {
        type: "Pods",
        pods: {
          metric: {
            name: "rps",
            selector: { matchLabels: { verb: "GET" } },
          },
          target: { type: "AverageValue", averageValue: "10" },
        },
      },
      {
        [`${custom}/v1beta2/namespaces/default/pods/*/rps`]: {
          items: [value("15"), value("25500m", "p2")],
        },
      },
      5,
      { pods: { current: { averageValue: "20250m" } } },
    ],
    [
      "an object's value",
      {
        type: "Object",
        object: {
          describedObject: { apiVersion: "v1", kind: "Service", name: "s" },
          metric: { name: "rps" },
          target: { type: "Value", value: "10" },
        },
      },
      {
        [`${custom}/v1beta2/namespaces/default/services/s/rps`]: {
          items: [value("30")],
        },
      },
      6,
      { object: { current: { value: "30" } } },
    ],
    [
      "a namespace's share",
      {
        type: "Object",
        object: {
          describedObject: { kind: "Namespace", name: "other" },
          metric: { name: "rps" },
          target: { type: "AverageValue", averageValue: "10" },
        },
      },
      {
        [`${custom}/v1beta2/namespaces/default/metrics/rps`]: {
          items: [value("30")],
        },
      },
      3,
      { object: { current: { averageValue: "15" } } },
    ],
    [
      "an external sum",
      {
        type: "External",
        external: {
          metric: { name: "a/b" },
          target: { type: "AverageValue", averageValue: "10" },
        },
      },
      {
        [`${external}/v1beta1/namespaces/default/a%2Fb`]: {
          items: [{ value: "15" }, { value: "15" }],
        },
      },
      3,
      { external: { current: { averageValue: "15" } } },
    ],
  ])("%s", async (_, metric, given, wanted, shown) => {
    use({ p1: 600, p2: 600 });
    Object.assign(answers, given);
    await autoscaler([metric], {
      behavior: {
        scaleUp: { policies: [{ type: "Pods", value: 9, periodSeconds: 1 }] },
      },
    });
    await look();
    await passes(async () => expect(await replicas()).toBe(wanted));
    await passes(async () =>
      expect((await status())!.currentMetrics).toMatchObject([shown]),
    );
  });

  test("selectors of metrics are sent", async () => {
    answers[`${custom}/v1beta2/namespaces/default/pods/*/rps`] = {
      items: [value("10"), value("10", "p2")],
    };
    await autoscaler([
      {
        type: "Pods",
        pods: {
          metric: {
            name: "rps",
            selector: {
              matchLabels: { verb: "GET" },
              matchExpressions: [
                { key: "code", operator: "NotIn", values: ["5", "4"] },
                { key: "old", operator: "DoesNotExist" },
              ],
            },
          },
          target: { type: "AverageValue", averageValue: "10" },
        },
      },
    ]);
    await look();
    await passes(() => {
      const { searchParams } = new URL(asked.at(-1)!, "http://x");
      expect(Object.fromEntries(searchParams)).toEqual({
        labelSelector: "app=a",
        metricLabelSelector: "verb=GET,code notin (5,4),!old",
      });
    });
  });

  test.each<[string, MetricSpec, RegExp]>([
    [
      "a container that is not there",
      {
        type: "ContainerResource",
        containerResource: {
          name: "cpu",
          container: "z",
          target: { type: "Utilization", averageUtilization: 30 },
        },
      },
      /container z not present in metrics for pod default\/p1/,
    ],
    [
      "an object of an unknown kind",
      {
        type: "Object",
        object: {
          describedObject: { apiVersion: "x.io/v1", kind: "Foo", name: "s" },
          metric: { name: "rps" },
          target: { type: "Value", value: "10" },
        },
      },
      /no matches for kind "Foo" in group "x.io"/,
    ],
    [
      "a source that does not fit its type",
      { type: "Pods" },
      /unknown metric source type "Pods"/,
    ],
  ])("%s", async (_, metric, message) => {
    use({ p1: 600, p2: 600 });
    await autoscaler([metric]);
    await look();
    await passes(async () =>
      expect(
        (await status())!.conditions!.find(
          ({ type }) => type === "ScalingActive",
        )!.message,
      ).toMatch(message),
    );
    expect(await replicas()).toBe(2);
  });
});
