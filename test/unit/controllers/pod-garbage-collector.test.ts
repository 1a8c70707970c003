// What ends pods that no agent ends: without a node and held by a finalizer, on a node out of service, too many that ended.
import type { Pod } from "../../../api/types/core-v1.ts";
import { nodes, pods } from "../../../client/resources.ts";
import {
  startControlPlane,
  testNode,
  testPod,
  type ControlPlane,
} from "../../support/control-plane.ts";
import { FakeClock } from "../../support/fake-clock.ts";

let plane: ControlPlane;
let clock: FakeClock;
beforeEach(async () => {
  clock = new FakeClock();
  plane = await startControlPlane({
    clock,
    controllers: { controllers: ["pod-garbage-collector-controller"] },
  });
  const pod = testPod("held");
  pod.metadata.finalizers = ["foregroundDeletion"];
  await plane.client.resource(pods).create(pod);
  await plane.client.resource(pods).delete("held", "default");
});
afterEach(() => plane.stop());

const held = () => plane.api.all<Pod>(pods)[0];

test("a finalizer has time to be removed: the pod goes as it was", async () => {
  await clock.advanceAsync(19_000);
  expect(held()?.metadata.deletionTimestamp).toBeDefined();
  expect(held()?.status?.phase).toBeUndefined();
  await plane.client.resource(pods).patch("held", "default", {
    type: "merge",
    body: { metadata: { finalizers: null } },
  });
  await clock.advanceAsync(30_000);
  expect(held()).toBeUndefined();
});

test("one that is still held after 20 seconds has failed", async () => {
  await clock.advanceAsync(20_001);
  expect(held()?.status?.phase).toBe("Failed");
});

describe("a node that is out of service", () => {
  const outOfService = {
    key: "node.kubernetes.io/out-of-service",
    value: "nodeshutdown",
    effect: "NoSchedule",
  };
  const setUp = async (ready: string, taints = [outOfService]) => {
    await plane.client.resource(nodes).create({
      ...testNode("a"),
      spec: { taints },
      status: { conditions: [{ type: "Ready", status: ready }] },
    });
    for (const name of ["ending", "running"]) {
      await plane.client
        .resource(pods)
        .create(testPod(name, { nodeName: "a" }));
    }
    await plane.client.resource(pods).delete("ending", "default");
    await clock.advanceAsync(10);
  };
  const present = () =>
    plane.api
      .all<Pod>(pods)
      .filter(({ spec }) => spec.nodeName)
      .map(({ metadata }) => metadata.name);

  test.each(["False", "Unknown"])(
    "and %s in Ready: its terminating pods end without it, the others stay",
    async (ready) => {
      await setUp(ready);
      expect(present()).toEqual(["running"]);
      expect(plane.api.writes).toContain("patch pods/status default/ending");
      expect(plane.metrics()).toContain(
        'pod_gc_collector_force_delete_pods_total{namespace="default",reason="out-of-service"} 1',
      );
      await plane.client.resource(pods).delete("running", "default");
      await clock.advanceAsync(10);
      expect(present()).toEqual([]);
    },
  );

  test("but ready: its agent ends them", async () => {
    await setUp("True");
    expect(present()).toEqual(["ending", "running"]);
  });

  test("is so from when the taint comes", async () => {
    await setUp("Unknown", []);
    expect(present()).toContain("ending");
    await plane.client.resource(nodes).patch("a", undefined, {
      type: "merge",
      body: { spec: { taints: [outOfService] } },
    });
    await clock.advanceAsync(10);
    expect(present()).toEqual(["running"]);
  });
});

test("of ended pods beyond the threshold the evicted go first, then the oldest, then by name", async () => {
  await plane.stop();
  plane = await startControlPlane({
    clock,
    controllers: {
      controllers: ["pod-garbage-collector-controller"],
      terminatedPodGcThreshold: 2,
    },
  });
  const ended = (name: string, age: number, status: Pod["status"]) => ({
    ...testPod(name),
    metadata: {
      name,
      namespace: "default",
      creationTimestamp: `2025-01-01T00:00:${60 - age}Z`,
    },
    status,
  });
  const made: Pod[] = [
    ended("b", 30, { phase: "Succeeded" }),
    ended("a", 30, { phase: "Failed" }),
    // Only one that failed was evicted.
    ended("c", 20, { phase: "Succeeded", reason: "Evicted" }),
    ended("d", 10, { phase: "Failed", reason: "Evicted" }),
  ];
  for (const pod of made) await plane.client.resource(pods).create(pod);
  await clock.advanceAsync(10);
  expect(plane.api.all<Pod>(pods).map(({ metadata }) => metadata.name)).toEqual(
    ["b", "c"],
  );
});
