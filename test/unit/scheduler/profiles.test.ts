import { NotedAttempts } from "./noted-attempts.ts";
import { systemClock } from "../../../api/clock.ts";
import type { Event, Node, Pod } from "../../../api/types/core-v1.ts";
import { createClient } from "../../../client/create-client.ts";
import {
  events,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  replicaSets,
  services,
} from "../../../client/resources.ts";
import type {
  PluginConfig,
  SchedulerConfiguration,
} from "../../../scheduler/configuration/configuration-types.ts";
import { completeConfiguration } from "../../../scheduler/configuration/defaults.ts";
import { createScheduler } from "../../../scheduler/scheduler.ts";
import {
  passes,
  silent,
  testNode,
  testPod,
} from "../../support/control-plane.ts";
import { MemoryApi } from "../../support/memory-api.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function start(configuration: SchedulerConfiguration) {
  const api = new MemoryApi(systemClock);
  const client = createClient(api, { clock: systemClock, logger: silent });
  const attempts: string[] = [];
  const scheduler = createScheduler({
    client,
    clock: systemClock,
    logger: silent,
    configuration: completeConfiguration(configuration),
    metrics: new NotedAttempts(({ result, profile }) =>
      attempts.push(`${profile} ${result}`),
    ),
  });
  cleanups.push(async () => {
    await scheduler.stop();
    await client.close();
  });
  await scheduler.start();
  const podNamed = (name: string) =>
    api.all<Pod>(pods).find((pod) => pod.metadata.name === name);
  return {
    api,
    client,
    attempts,
    /** Resolves to the node's name. */
    async placed(pod: Pod): Promise<string> {
      const { name } = await client
        .resource(pods)
        .create(pod)
        .then(({ metadata }) => metadata);
      await passes(() => expect(podNamed(name)?.spec.nodeName).toBeTruthy());
      return podNamed(name)!.spec.nodeName!;
    },
    /** Resolves to the reason. */
    async refused(pod: Pod): Promise<string> {
      await client.resource(pods).create(pod);
      const why = () =>
        podNamed(pod.metadata.name)?.status?.conditions?.find(
          ({ type }) => type === "PodScheduled",
        )?.message;
      await passes(() => expect(why()).toBeTruthy());
      return why()!;
    },
    async addNodes(...given: Node[]): Promise<void> {
      for (const node of given) await client.resource(nodes).create(node);
    },
  };
}

const asking = (
  name: string,
  requests: Record<string, string>,
  extra: Partial<Pod["spec"]> = {},
) =>
  testPod(name, {
    containers: [{ name: "c", image: "x", resources: { requests } }],
    ...extra,
  });
const withArgs = (...pluginConfig: PluginConfig[]): SchedulerConfiguration => ({
  profiles: [{ pluginConfig }],
});
const labelled = (name: string, labels: Record<string, string>): Node =>
  testNode(name, {
    metadata: { name, labels: { "kubernetes.io/hostname": name, ...labels } },
  });
/** Only this plug-in scores. */
const scoredBy = (name: string, args: object = {}): SchedulerConfiguration => ({
  profiles: [
    {
      plugins: {
        score: { disabled: [{ name: "*" }], enabled: [{ name }] },
      },
      pluginConfig: [{ name, args }],
    },
  ],
});

test("a pod is placed by the profile that it names, and no other", async () => {
  const env = await start({
    profiles: [
      { schedulerName: "default-scheduler" },
      {
        schedulerName: "packing",
        pluginConfig: [
          {
            name: "NodeResourcesFit",
            args: { scoringStrategy: { type: "MostAllocated" } },
          },
        ],
        plugins: {
          score: {
            disabled: [{ name: "*" }],
            enabled: [{ name: "NodeResourcesFit" }],
          },
        },
      },
    ],
  });
  await env.addNodes(testNode("n1"), testNode("n2"));
  const first = await env.placed(asking("a", { cpu: "1" }));
  for (const name of ["b", "c"])
    expect(
      await env.placed(
        asking(name, { cpu: "1" }, { schedulerName: "packing" }),
      ),
    ).toBe(first);
  expect(await env.placed(asking("d", { cpu: "1" }))).not.toBe(first);
  await env.client
    .resource(pods)
    .create(testPod("e", { schedulerName: "other" }));
  await env.placed(testPod("f"));
  expect(
    env.api.all<Pod>(pods).find(({ metadata }) => metadata.name === "e")?.spec
      .nodeName,
  ).toBeUndefined();
  await passes(() => {
    const sources = new Map(
      env.api
        .all<Event>(events)
        .map(({ involvedObject, source }) => [
          involvedObject.name,
          source?.component,
        ]),
    );
    expect(sources.get("b")).toBe("packing");
    expect(sources.get("d")).toBe("default-scheduler");
  });
  expect(env.attempts).toEqual([
    "default-scheduler scheduled",
    "packing scheduled",
    "packing scheduled",
    "default-scheduler scheduled",
    "default-scheduler scheduled",
  ]);
});

test("without a filter a pod may go where it would not", async () => {
  const env = await start({
    profiles: [
      { schedulerName: "default-scheduler" },
      {
        schedulerName: "careless",
        plugins: { multiPoint: { disabled: [{ name: "TaintToleration" }] } },
      },
    ],
  });
  const taints = [{ key: "k", value: "v", effect: "NoSchedule" }];
  await env.addNodes(testNode("n1", { spec: { taints } }));
  expect(await env.refused(testPod("a"))).toMatch(/untolerated taint/);
  expect(await env.placed(testPod("b", { schedulerName: "careless" }))).toBe(
    "n1",
  );
});

test("without preemption a pod makes no room for itself", async () => {
  const env = await start({
    profiles: [
      {
        plugins: { postFilter: { disabled: [{ name: "DefaultPreemption" }] } },
      },
    ],
  });
  await env.addNodes(testNode("n1"));
  await env.placed(asking("low", { cpu: "4" }));
  const message = await env.refused(
    asking("high", { cpu: "4" }, { priority: 1000 }),
  );
  expect(message).toBe("0/1 nodes are available: 1 Insufficient cpu.");
  expect(env.api.writes.filter((write) => /^delete/.test(write))).toEqual([]);
});

test("weights decide between scores", async () => {
  const image = (name: string): Node["status"] => ({
    ...testNode(name).status,
    images: [{ names: ["x:latest"], sizeBytes: 900 * 1024 * 1024 }],
  });
  const env = await start({
    profiles: [
      {
        plugins: {
          score: { enabled: [{ name: "ImageLocality", weight: 50 }] },
        },
      },
    ],
  });
  await env.addNodes(testNode("n1", { status: image("n1") }), testNode("n2"));
  for (const name of ["a", "b", "c"])
    expect(await env.placed(asking(name, { cpu: "1" }))).toBe("n1");
});

describe("arguments", () => {
  test("a shape decides by utilization", async () => {
    const env = await start(
      scoredBy("NodeResourcesFit", {
        scoringStrategy: {
          type: "RequestedToCapacityRatio",
          resources: [{ name: "example.com/gpu", weight: 5 }],
          requestedToCapacityRatio: {
            shape: [
              { utilization: 0, score: 0 },
              { utilization: 100, score: 10 },
            ],
          },
        },
      }),
    );
    const gpus = (count: string): Node["status"] => ({
      allocatable: {
        ...testNode("").status!.allocatable,
        "example.com/gpu": count,
      },
    });
    await env.addNodes(
      testNode("large", { status: gpus("8") }),
      testNode("small", { status: gpus("2") }),
    );
    const gpu = { "example.com/gpu": "1" };
    expect(await env.placed(asking("a", gpu))).toBe("small");
    expect(await env.placed(asking("b", gpu))).toBe("small");
    expect(await env.placed(asking("c", gpu))).toBe("large");
  });

  test("resources that are ignored are not looked for", async () => {
    const env = await start(
      withArgs({
        name: "NodeResourcesFit",
        args: {
          ignoredResources: ["example.com/gpu"],
          ignoredResourceGroups: ["other.com"],
        },
      }),
    );
    await env.addNodes(testNode("n1"));
    await env.placed(
      asking("a", { "example.com/gpu": "1", "other.com/x": "1" }),
    );
    expect(await env.refused(asking("b", { "example.com/fpga": "1" }))).toMatch(
      /Insufficient example.com\/fpga/,
    );
    // The cluster's own resources can't be ignored.
    expect(await env.refused(asking("c", { cpu: "100" }))).toMatch(
      /Insufficient cpu/,
    );
  });

  test("added affinity holds for all pods", async () => {
    const env = await start(
      withArgs({
        name: "NodeAffinity",
        args: {
          addedAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                {
                  matchExpressions: [
                    { key: "pool", operator: "In", values: ["a"] },
                  ],
                },
              ],
            },
          },
        },
      }),
    );
    await env.addNodes(testNode("n1"));
    expect(await env.refused(testPod("a"))).toMatch(
      /1 node\(s\) didn't match scheduler-enforced node affinity/,
    );
    await env.addNodes(labelled("n2", { pool: "a" }));
    await passes(() =>
      expect(env.api.all<Pod>(pods)[0]?.spec.nodeName).toBe("n2"),
    );
  });

  test("affinity of others weighs as much as it is given, and nothing when it is ignored", async () => {
    const near = (topologyKey: string): Partial<Pod["spec"]> => ({
      affinity: {
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 1,
              podAffinityTerm: { labelSelector: {}, topologyKey },
            },
          ],
        },
      },
    });
    const scheduled = async (args: object): Promise<string[]> => {
      const env = await start(scoredBy("InterPodAffinity", args));
      await env.addNodes(testNode("n1"), testNode("n2"));
      const first = await env.placed(
        testPod("first", near("kubernetes.io/hostname")),
      );
      const others: string[] = [];
      for (let index = 0; index < 40; index++)
        others.push(
          (await env.placed(testPod(`p${index}`))) === first ? "near" : "away",
        );
      return [...new Set(others)].sort();
    };
    expect(await scheduled({})).toEqual(["near"]);
    // Chance does not put forty pods on one of two nodes.
    expect(
      await scheduled({ ignorePreferredTermsOfExistingPods: true }),
    ).toContain("away");
  });

  test("constraints of the profile hold for pods without their own", async () => {
    const env = await start(
      withArgs({
        name: "PodTopologySpread",
        args: {
          defaultingType: "List",
          defaultConstraints: [
            {
              maxSkew: 1,
              topologyKey: "zone",
              whenUnsatisfiable: "DoNotSchedule",
            },
          ],
        },
      }),
    );
    await env.addNodes(
      labelled("n1", { zone: "a" }),
      labelled("n2", { zone: "b" }),
    );
    await env.client.resource(services).create({
      metadata: { name: "s", namespace: "default" },
      spec: { selector: { app: "x" } },
    });
    const app = (name: string): Pod => {
      const pod = testPod(name);
      return { ...pod, metadata: { ...pod.metadata, labels: { app: "x" } } };
    };
    const counts: Record<string, number> = {};
    for (let index = 0; index < 6; index++) {
      const node = await env.placed(app(`p${index}`));
      counts[node] = (counts[node] ?? 0) + 1;
    }
    expect(counts).toEqual({ n1: 3, n2: 3 });
    await env.client.resource(nodes).patch("n2", undefined, {
      type: "merge",
      body: { spec: { unschedulable: true } },
    });
    await passes(() =>
      expect(
        env.api.all<Node>(nodes).find(({ metadata }) => metadata.name === "n2")
          ?.spec.unschedulable,
      ).toBe(true),
    );
    await env.placed(app("seventh"));
    expect(await env.refused(app("eighth"))).toMatch(
      /didn't match pod topology spread constraints/,
    );
    // It belongs to nothing.
    await env.placed(testPod("single"));
  });
});

test("pods of a controller are spread over nodes and zones by default", async () => {
  const env = await start({
    profiles: [
      {
        plugins: {
          score: {
            disabled: [{ name: "*" }],
            enabled: [{ name: "PodTopologySpread" }],
          },
        },
      },
    ],
  });
  const zone = "topology.kubernetes.io/zone";
  await env.addNodes(
    labelled("a1", { [zone]: "a" }),
    labelled("a2", { [zone]: "a" }),
    labelled("b1", { [zone]: "b" }),
  );
  const set = await env.client.resource(replicaSets).create({
    metadata: { name: "rs", namespace: "default" },
    spec: { selector: { matchLabels: { app: "x" } } },
  });
  const owned = (name: string): Pod => {
    const pod = testPod(name);
    return {
      ...pod,
      metadata: {
        ...pod.metadata,
        labels: { app: "x" },
        ownerReferences: [
          {
            apiVersion: "apps/v1",
            kind: "ReplicaSet",
            name: "rs",
            uid: set.metadata.uid ?? "",
            controller: true,
          },
        ],
      },
    };
  };
  const placed: string[] = [];
  for (let index = 0; index < 4; index++)
    placed.push(await env.placed(owned(`p${index}`)));
  expect(new Set(placed.slice(0, 3)).size).toBe(3);
  // The other zone first, then the node that has none.
  expect(placed[0]![0]).not.toBe(placed[1]![0]);
});

test("a volume of a zone takes its pod there", async () => {
  const env = await start({});
  const zone = "topology.kubernetes.io/zone";
  await env.client.resource(persistentVolumes).create({
    metadata: { name: "pv", labels: { [zone]: "b__c" } },
    spec: {},
  });
  await env.client.resource(persistentVolumeClaims).create({
    metadata: { name: "claim", namespace: "default" },
    spec: { volumeName: "pv" },
    status: { phase: "Bound" },
  });
  await env.addNodes(labelled("n1", { [zone]: "a" }));
  const using = (name: string) =>
    testPod(name, {
      volumes: [{ name: "v", persistentVolumeClaim: { claimName: "claim" } }],
    });
  expect(await env.refused(using("a"))).toMatch(
    /1 node\(s\) had no available volume zone/,
  );
  await env.addNodes(labelled("n2", { [zone]: "c" }));
  await passes(() =>
    expect(env.api.all<Pod>(pods)[0]?.spec.nodeName).toBe("n2"),
  );
});
