// What is kept of a volume whose driver refuses a step, or does not say how it ended: what may be there is ended with the
// pod, the driver's own words are what the pod's event says, and what a pod waits for stays staged.
import * as fs from "node:fs";
import * as path from "node:path";
import * as grpc from "@grpc/grpc-js";
import { nodeCapability } from "../../../../agent/volumes/csi/csi-protocol.ts";
import { passes } from "../../../support/control-plane.ts";
import { CsiTestNode, podWith, refusal } from "./csi-test-node.ts";

let node: CsiTestNode;

beforeEach(async () => {
  node = new CsiTestNode();
  await node.start();
  await node.object({ attachRequired: false });
});

afterEach(async () => {
  await node.close();
});

const refusing =
  (step: string, code = grpc.status.INTERNAL) =>
  (call: string): void => {
    if (call === step) throw refusal(code, "the disk is broken");
  };

const podWithDisk = (uid: string, claimName: string) =>
  podWith(uid, claimName, {
    containers: [
      { name: "c", volumeDevices: [{ name: "v", devicePath: "/dev/x" }] },
    ],
  });

test("a volume that a pod has from before is unpublished, though its driver refuses to stage it again", async () => {
  await node.registered();
  await node.bound("vol");
  await node.agent.volumes.mount(podWith("a", "vol"));
  await node.restartAgent();
  await passes(() => expect(node.driver.notified).toHaveLength(2));
  node.driver.intercept = refusing("stage");
  await expect(node.agent.volumes.mount(podWith("a", "vol"))).rejects.toThrow(
    'MountVolume.MountDevice failed for volume "pv-vol" : rpc error: code = Internal desc = the disk is broken',
  );
  node.driver.calls.length = 0;
  await node.agent.volumes.unmount("a");
  expect(node.driver.calls).toEqual(["unpublish vol", "unstage vol"]);
  expect(node.mounted()).toEqual([]);
});

test("a publication that is refused over one of before says why", async () => {
  await node.registered();
  await node.bound("vol");
  await node.agent.volumes.mount(podWith("a", "vol"));
  await node.restartAgent();
  await passes(() => expect(node.driver.notified).toHaveLength(2));
  node.driver.intercept = refusing("publish");
  await expect(node.agent.volumes.mount(podWith("a", "vol"))).rejects.toThrow(
    'MountVolume.SetUp failed for volume "pv-vol" : rpc error: code = Internal desc = the disk is broken',
  );
  node.driver.calls.length = 0;
  await node.agent.volumes.unmount("a");
  expect(node.driver.calls).toEqual(["unpublish vol", "unstage vol"]);
});

test("a block volume that is refused says why, where the driver left its device, too", async () => {
  await node.registered();
  await node.bound("disk", { volumeMode: "Block" });
  const published = path.join(
    node.root,
    "agent/plugins/kubernetes.io/csi/volumeDevices/publish/pv-disk/a",
  );
  node.driver.intercept = (call) => {
    if (call !== "publish") return;
    fs.writeFileSync(published, "");
    throw refusal(grpc.status.INTERNAL, "the disk is broken");
  };
  await expect(
    node.agent.volumes.mount(podWithDisk("a", "disk")),
  ).rejects.toThrow(
    'MapVolume.MapPodDevice failed for volume "pv-disk" : rpc error: code = Internal desc = the disk is broken',
  );
  await node.agent.volumes.unmount("a");
  expect(node.driver.calls.slice(-2)).toEqual([
    "unpublish disk",
    "unstage disk",
  ]);
  expect(fs.existsSync(published)).toBe(false);
});

test("a block volume whose publication may still go on is unpublished with its pod", async () => {
  await node.registered();
  await node.bound("disk", { volumeMode: "Block" });
  node.driver.intercept = refusing("publish", grpc.status.UNAVAILABLE);
  const pod = podWithDisk("a", "disk");
  await expect(node.agent.volumes.mount(pod)).rejects.toThrow("Unavailable");
  await node.restartAgent();
  await passes(() => expect(node.driver.notified).toHaveLength(2));
  await node.agent.volumes.unmount("a");
  expect(node.driver.calls.slice(-2)).toEqual([
    "unpublish disk",
    "unstage disk",
  ]);
  await passes(() =>
    expect(
      fs.readdirSync(
        path.join(node.root, "agent/plugins/kubernetes.io/csi/volumeDevices"),
      ),
    ).not.toContain("pv-disk"),
  );
});

test("what was never published is not unpublished", async () => {
  await node.registered();
  await node.bound("vol");
  node.driver.intercept = refusing("stage", grpc.status.UNAVAILABLE);
  const pod = podWith("a", "vol");
  await expect(node.agent.volumes.mount(pod)).rejects.toThrow("Unavailable");
  await node.agent.volumes.unmount("a");
  expect(node.driver.calls).toEqual(["stage vol", "unstage vol"]);
});

test.each([
  ["Block", podWithDisk],
  ["Filesystem", podWith],
] as const)(
  "what a pod waits for stays staged when another pod ends (%s)",
  async (volumeMode, podOf) => {
    await node.registered();
    await node.bound("other");
    await node.bound("vol", { volumeMode });
    await node.agent.volumes.mount(podWith("b", "other"));
    node.driver.intercept = refusing("publish");
    const pod = podOf("a", "vol");
    await expect(node.agent.volumes.mount(pod)).rejects.toThrow("is broken");
    await node.agent.volumes.unmount("b");
    expect(node.driver.calls).not.toContain("unstage vol");
    await node.agent.volumes.unmount("a");
    expect(node.driver.calls).toContain("unstage vol");
  },
);

test.each([
  ["Block", podWithDisk],
  ["Filesystem", podWith],
] as const)(
  "what is staged is unstaged, though the driver refuses to stage it again (%s)",
  async (volumeMode, podOf) => {
    await node.registered();
    await node.bound("vol", { volumeMode });
    node.driver.intercept = refusing("publish");
    const mounting = () => node.agent.volumes.mount(podOf("a", "vol"));
    await expect(mounting()).rejects.toThrow("is broken");
    node.driver.intercept = refusing("stage");
    await expect(mounting()).rejects.toThrow("is broken");
    await node.agent.volumes.unmount("a");
    expect(node.driver.calls).toContain("unstage vol");
  },
);

test("pods of several groups have one volume staged alike", async () => {
  await node.registered({
    capabilities: [nodeCapability.stageUnstage, nodeCapability.mountGroup],
  });
  await node.bound("vol", { accessModes: ["ReadWriteMany"] });
  for (const [uid, fsGroup] of [
    ["a", 1234],
    ["b", 5678],
  ] as const)
    await node.agent.volumes.mount(
      podWith(uid, "vol", { securityContext: { fsGroup } }),
    );
  const groups = (call: string): unknown[] =>
    node.driver.requests
      .filter((each) => each.call === call)
      .map(({ request }) => {
        const { mount } = request["volume_capability"] as {
          mount: { volume_mount_group: string };
        };
        return mount.volume_mount_group;
      });
  expect(groups("stage")).toEqual(["1234", "1234"]);
  expect(groups("publish")).toEqual(["1234", "5678"]);
});
