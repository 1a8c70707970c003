import { NotedAttempts } from "./noted-attempts.ts";
import { systemClock } from "../../../api/clock.ts";
import type { Event, Pod } from "../../../api/types/core-v1.ts";
import { createClient } from "../../../client/create-client.ts";
import { events, nodes, pods } from "../../../client/resources.ts";
import { createScheduler } from "../../../scheduler/scheduler.ts";
import {
  passes,
  silent,
  testNode,
  testPod,
} from "../../support/control-plane.ts";
import { MemoryApi } from "../../support/memory-api.ts";

async function start() {
  const api = new MemoryApi(systemClock);
  const client = createClient(api, { clock: systemClock, logger: silent });
  const scheduler = createScheduler({
    client,
    clock: systemClock,
    logger: silent,
  });
  await scheduler.start();
  const podNamed = (name: string) =>
    api.all<Pod>(pods).find((pod) => pod.metadata.name === name);
  return {
    api,
    client,
    podNamed,
    nodeOf: (name: string) => podNamed(name)?.spec.nodeName,
    reason: (name: string) =>
      podNamed(name)?.status?.conditions?.find(
        ({ type }) => type === "PodScheduled",
      )?.message,
    async stop() {
      await scheduler.stop();
      await client.close();
    },
  };
}
let env: Awaited<ReturnType<typeof start>>;
beforeEach(async () => {
  env = await start();
});
afterEach(() => env.stop());

const asking = (name: string, cpu: string, extra: Partial<Pod["spec"]> = {}) =>
  testPod(name, {
    containers: [{ name: "c", image: "x", resources: { requests: { cpu } } }],
    ...extra,
  });

test("one that is stopped while its informers sync schedules nothing", async () => {
  await env.stop();
  const api = new MemoryApi(systemClock);
  const client = createClient(api, { clock: systemClock, logger: silent });
  await client.resource(nodes).create(testNode("n1"));
  await client.resource(pods).create(testPod("a"));
  const attempts: string[] = [];
  const make = () =>
    createScheduler({
      client,
      clock: systemClock,
      logger: silent,
      metrics: new NotedAttempts(({ result }) => attempts.push(result)),
    });
  const stopped = make();
  const starting = stopped.start();
  await stopped.stop();
  await starting;
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  expect(attempts).toEqual([]);
  // One that is not stopped does, with the same pod.
  const running = make();
  await running.start();
  await passes(() => expect(attempts).toEqual(["scheduled"]));
  await running.stop();
  await client.close();
});

test("a pod is bound and its event recorded", async () => {
  await env.client.resource(nodes).create(testNode("n1"));
  await env.client.resource(pods).create(testPod("a"));
  await passes(() => expect(env.nodeOf("a")).toBe("n1"));
  await passes(() =>
    expect(env.api.all<Event>(events)[0]).toMatchObject({
      type: "Normal",
      reason: "Scheduled",
      message: "Successfully assigned default/a to n1",
    }),
  );
});

test("what does not fit waits with the reference's message, and goes on when room is made", async () => {
  await env.client.resource(nodes).create(testNode("n1"));
  await env.client.resource(pods).create(asking("a", "3"));
  await passes(() => expect(env.nodeOf("a")).toBe("n1"));
  await env.client.resource(pods).create(asking("b", "2"));
  await passes(() =>
    expect(env.reason("b")).toBe(
      "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
    ),
  );
  await env.client
    .resource(pods)
    .delete("a", "default", { gracePeriodSeconds: 0 });
  await passes(() => expect(env.nodeOf("b")).toBe("n1"));
});

test.each<[string, Partial<Pod["spec"]>, string]>([
  ["cordoned", {}, "node(s) were unschedulable"],
  ["tainted", {}, "node(s) had untolerated taint {k: v}"],
  [
    "selector",
    { nodeSelector: { disk: "ssd" } },
    "node(s) didn't match Pod's node affinity/selector",
  ],
])("%s nodes are refused, until they change", async (kind, spec, reason) => {
  const node = testNode("n1");
  if (kind === "cordoned") node.spec = { unschedulable: true };
  if (kind === "tainted")
    node.spec = { taints: [{ key: "k", value: "v", effect: "NoSchedule" }] };
  await env.client.resource(nodes).create(node);
  await env.client.resource(pods).create(testPod("a", spec));
  await passes(() =>
    expect(env.reason("a")).toBe(
      `0/1 nodes are available: 1 ${reason}. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.`,
    ),
  );
  const now = await env.client.resource(nodes).get("n1");
  await env.client.resource(nodes).update({
    ...now,
    metadata: { ...now.metadata, labels: { disk: "ssd" } },
    spec: {},
  });
  await passes(() => expect(env.nodeOf("a")).toBe("n1"));
});

test("no nodes at all, then one", async () => {
  await env.client.resource(pods).create(testPod("a"));
  await passes(() =>
    expect(env.reason("a")).toBe("no nodes available to schedule pods"),
  );
  await env.client.resource(nodes).create(testNode("n1"));
  await passes(() => expect(env.nodeOf("a")).toBe("n1"));
});

test("scheduling gates hold a pod back", async () => {
  await env.client.resource(nodes).create(testNode("n1"));
  await env.client
    .resource(pods)
    .create(testPod("a", { schedulingGates: [{ name: "g" }] }));
  await env.client.resource(pods).create(testPod("b"));
  await passes(() => expect(env.nodeOf("b")).toBe("n1"));
  expect(env.nodeOf("a")).toBeUndefined();
  const gated = await env.client.resource(pods).get("a", "default");
  await env.client
    .resource(pods)
    .update({ ...gated, spec: { ...gated.spec, schedulingGates: [] } });
  await passes(() => expect(env.nodeOf("a")).toBe("n1"));
});

test("a higher priority preempts the least important pod", async () => {
  await env.client.resource(nodes).create(testNode("n1"));
  await env.client.resource(pods).create(asking("low", "2", { priority: 1 }));
  await env.client.resource(pods).create(asking("mid", "2", { priority: 5 }));
  await passes(() => expect(env.nodeOf("mid")).toBe("n1"));
  await passes(() => expect(env.nodeOf("low")).toBe("n1"));
  await env.client.resource(pods).create(asking("high", "2", { priority: 9 }));
  await passes(() =>
    expect(env.podNamed("low")?.metadata.deletionTimestamp).toBeDefined(),
  );
  expect(env.podNamed("high")?.status?.nominatedNodeName).toBe("n1");
  // Comes while the victim is leaving: must not take the room made for another.
  await env.client.resource(pods).create(asking("late", "2", { priority: 6 }));
  await env.client
    .resource(pods)
    .delete("low", "default", { gracePeriodSeconds: 0 });
  await passes(() => expect(env.nodeOf("high")).toBe("n1"));
  expect(env.nodeOf("mid")).toBe("n1");
  expect(env.nodeOf("late")).toBeUndefined();
});

test("anti-affinity and spread put pods on different nodes; host ports collide", async () => {
  for (const name of ["n1", "n2", "n3"])
    await env.client.resource(nodes).create(testNode(name));
  const labels = { app: "x" };
  const term = {
    labelSelector: { matchLabels: labels },
    topologyKey: "kubernetes.io/hostname",
  };
  const make = (name: string, spec: Partial<Pod["spec"]>) => {
    const pod = testPod(name, spec);
    return env.client
      .resource(pods)
      .create({ ...pod, metadata: { ...pod.metadata, labels } });
  };
  for (const name of ["a1", "a2", "a3"])
    await make(name, {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [term],
        },
      },
    });
  await passes(() =>
    expect(new Set(["a1", "a2", "a3"].map((name) => env.nodeOf(name)))).toEqual(
      new Set(["n1", "n2", "n3"]),
    ),
  );
  await make("a4", {});
  await passes(() =>
    expect(env.reason("a4")).toContain(
      "3 node(s) didn't satisfy existing pods anti-affinity rules",
    ),
  );
  const port = {
    containers: [
      {
        name: "c",
        image: "x",
        ports: [{ containerPort: 80, hostPort: 8080 }],
      },
    ],
  };
  for (const name of ["p1", "p2", "p3", "p4"])
    await env.client.resource(pods).create(testPod(name, port));
  await passes(() =>
    expect(env.reason("p4")).toContain(
      "3 node(s) didn't have free ports for the requested pod ports",
    ),
  );
});

test("spread with DoNotSchedule keeps the skew", async () => {
  for (const name of ["n1", "n2"])
    await env.client.resource(nodes).create(testNode(name));
  for (let n = 0; n < 6; n++) {
    const pod = testPod(`s${n}`, {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: "kubernetes.io/hostname",
          whenUnsatisfiable: "DoNotSchedule",
          labelSelector: { matchLabels: { app: "s" } },
        },
      ],
    });
    await env.client
      .resource(pods)
      .create({ ...pod, metadata: { ...pod.metadata, labels: { app: "s" } } });
  }
  await passes(() => {
    const placed = env.api.all<Pod>(pods).map((pod) => pod.spec.nodeName);
    expect(placed.filter((node) => node === "n1")).toHaveLength(3);
    expect(placed.filter((node) => node === "n2")).toHaveLength(3);
  });
});

test("a refused binding is tried again", async () => {
  let refusals = 1;
  env.api.intercept = ({ subresource }) => {
    if (subresource === "binding" && refusals-- > 0) throw new Error("no");
  };
  await env.client.resource(nodes).create(testNode("n1"));
  await env.client.resource(pods).create(testPod("a"));
  await passes(() => expect(env.nodeOf("a")).toBe("n1"));
});

test("binds hundreds of pods", async () => {
  for (let n = 0; n < 10; n++)
    await env.client.resource(nodes).create(testNode(`n${n}`));
  for (let n = 0; n < 500; n++)
    await env.client.resource(pods).create(testPod(`p${n}`));
  await passes(
    () =>
      expect(
        env.api.all<Pod>(pods).filter((pod) => pod.spec.nodeName),
      ).toHaveLength(500),
    20_000,
  );
});
