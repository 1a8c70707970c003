// Claims of generic ephemeral volumes: made for their pod, and not taken from others.
import type {
  Event,
  PersistentVolumeClaim,
} from "../../../../api/types/core-v1.ts";
import {
  events,
  persistentVolumeClaims,
  pods,
} from "../../../../client/resources.ts";
import {
  startControlPlane,
  testPod,
  type ControlPlane,
} from "../../../support/control-plane.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

let plane: ControlPlane;
let clock: FakeClock;
beforeEach(async () => {
  clock = new FakeClock();
  plane = await startControlPlane({
    clock,
    controllers: { controllers: ["ephemeral-volume-controller"] },
  });
});
afterEach(() => plane.stop());

const claims = () => plane.client.resource(persistentVolumeClaims);
const owners = () =>
  plane.api
    .all<PersistentVolumeClaim>(persistentVolumeClaims)
    .map(({ metadata }) => metadata.ownerReferences?.[0]?.name);
const spec = { resources: { requests: { storage: "1Gi" } } };

test("a claim of the name that somebody made is not used; once it is deleted the pod gets its own at once", async () => {
  await claims().create({
    metadata: { name: "p-v", namespace: "default" },
    spec,
  });
  await plane.client.resource(pods).create(
    testPod("p", {
      volumes: [{ name: "v", ephemeral: { volumeClaimTemplate: { spec } } }],
    }),
  );
  // By then it is tried again after minutes only.
  await clock.advanceAsync(600_000);
  expect(owners()).toEqual([undefined]);
  expect(plane.api.all<Event>(events)).toContainEqual(
    expect.objectContaining({
      message:
        "ephemeral volume v: PVC default/p-v was not created for pod default/p (pod is not owner)",
    }),
  );
  await claims().delete("p-v", "default");
  await clock.advanceAsync(10);
  expect(owners()).toEqual(["p"]);
});
