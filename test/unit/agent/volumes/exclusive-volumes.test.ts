// A volume with the access mode ReadWriteOncePod is one pod's at a time, over restarts of the agent, too.
import * as grpc from "@grpc/grpc-js";
import { passes } from "../../../support/control-plane.ts";
import { CsiTestNode, podWith, refusal } from "./csi-test-node.ts";

let node: CsiTestNode;

beforeEach(async () => {
  node = new CsiTestNode();
  await node.start();
  await node.object({ attachRequired: false });
  await node.registered();
});

afterEach(async () => {
  await node.close();
});

const inUse = (step: string): string =>
  `${step} failed for volume "pv-vol" : volume uses the ReadWriteOncePod access mode and is already in use by another pod`;

const mount = (uid: string): Promise<void> =>
  node.agent.volumes.mount(podWith(uid, "vol"));

test("a second pod waits until everything of the first is unmounted", async () => {
  await node.bound("vol", { accessModes: ["ReadWriteOncePod"] });
  await mount("a");
  await expect(mount("b")).rejects.toThrow(inUse("MountVolume.SetUp"));
  node.driver.intercept = (call) => {
    if (call === "unpublish") throw refusal(grpc.status.INTERNAL, "busy");
  };
  await expect(node.agent.volumes.unmount("a")).rejects.toThrow("busy");
  await expect(mount("b")).rejects.toThrow(inUse("MountVolume.SetUp"));
  node.driver.intercept = () => undefined;
  await node.agent.volumes.unmount("a");
  await mount("b");
  await expect(mount("a")).rejects.toThrow(inUse("MountVolume.SetUp"));
});

test("the next agent gives it to no other pod", async () => {
  await node.bound("vol", { accessModes: ["ReadWriteOncePod"] });
  await mount("a");
  await node.restartAgent();
  await passes(() => expect(node.driver.notified).toHaveLength(2));
  await expect(mount("b")).rejects.toThrow(inUse("MountVolume.SetUp"));
  await mount("a");
});

test("two that ask at once do not both get it", async () => {
  await node.bound("vol", { accessModes: ["ReadWriteOncePod"] });
  const results = await Promise.allSettled([mount("a"), mount("b")]);
  expect(results.map(({ status }) => status).sort()).toEqual([
    "fulfilled",
    "rejected",
  ]);
});

test("a block volume says so by its own step", async () => {
  await node.bound("vol", {
    accessModes: ["ReadWriteOncePod"],
    volumeMode: "Block",
  });
  const disk = (uid: string) =>
    podWith(uid, "vol", {
      containers: [
        { name: "c", volumeDevices: [{ name: "v", devicePath: "/dev/x" }] },
      ],
    });
  await node.agent.volumes.mount(disk("a"));
  await expect(node.agent.volumes.mount(disk("b"))).rejects.toThrow(
    inUse("MapVolume.SetUpDevice"),
  );
});

test("with several access modes it is not known which one a pod means", async () => {
  await node.bound("vol", {
    accessModes: ["ReadWriteOncePod", "ReadWriteOnce"],
  });
  await mount("a");
  await mount("b");
});
