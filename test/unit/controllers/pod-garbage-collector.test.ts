// Pods without a node that are being deleted and that a finalizer holds: they count as failed only when it stays.
import type { Pod } from "../../../api/types/core-v1.ts";
import { pods } from "../../../client/resources.ts";
import {
  startControlPlane,
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
