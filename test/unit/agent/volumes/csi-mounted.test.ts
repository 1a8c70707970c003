// What happens to volumes of CSI drivers beyond their first mount, against a real driver: published again with new tokens,
// grown while they are mounted, and who gives their files the pod's group.
import * as fs from "node:fs";
import * as path from "node:path";
import * as grpc from "@grpc/grpc-js";
import {
  persistentVolumeClaims,
  persistentVolumes,
} from "../../../../client/resources.ts";
import { passes } from "../../../support/control-plane.ts";
import { nodeCapability } from "../../../../agent/volumes/csi/csi-protocol.ts";
import type { PersistentVolumeClaimStatus } from "../../../../api/types/core-v1.ts";
import { CsiTestNode, driverName, podWith, refusal } from "./csi-test-node.ts";

const tokensField = "csi.storage.k8s.io/serviceAccount.tokens";
let node: CsiTestNode;

beforeEach(async () => {
  node = new CsiTestNode();
  await node.start();
});

afterEach(async () => {
  await node.close();
});

const requestsOf = (call: string): Record<string, unknown>[] =>
  node.driver.requests
    .filter((each) => each.call === call)
    .map(({ request }) => request);
const refuse = (refused: string): void => {
  node.driver.intercept = (call) => {
    if (call === refused) throw refusal(grpc.status.INTERNAL, "not now");
  };
};
const allow = (): void => {
  node.driver.intercept = () => undefined;
};

const readOnlyVolumes = [
  { name: "v", persistentVolumeClaim: { claimName: "vol", readOnly: true } },
];

/** As the next pass of the pod, when the volume's time has come. */
async function again(pod: ReturnType<typeof podWith>): Promise<void> {
  node.agent.volumes.outdated(pod.metadata.uid ?? "");
  await node.agent.volumes.mount(pod);
}

test.each([true, false])(
  "requiresRepublish %j: published again with new tokens, or left as it is",
  async (requiresRepublish) => {
    await node.object({
      attachRequired: false,
      requiresRepublish,
      tokenRequests: [{ audience: "vault" }],
    });
    await node.registered();
    await node.bound("vol");
    const pod = podWith("a", "vol");
    await node.agent.volumes.mount(pod);
    const file = path.join(await node.pathIn(pod), "file");
    fs.writeFileSync(file, "1");
    await again(pod);
    expect(node.driver.calls).toEqual([
      "stage vol",
      ...Array<string>(requiresRepublish ? 2 : 1).fill("publish vol"),
    ]);
    const tokens = requestsOf("publish").map(
      (request) =>
        (request["volume_context"] as Record<string, string>)[tokensField],
    );
    expect(new Set(tokens).size).toBe(requiresRepublish ? 2 : 1);
    expect(fs.readFileSync(file, "utf8")).toBe("1");
  },
);

test("a volume that can't be published again stays mounted, and is tried again", async () => {
  await node.object({ attachRequired: false, requiresRepublish: true });
  await node.registered();
  await node.bound("vol");
  const pod = podWith("a", "vol");
  await node.agent.volumes.mount(pod);
  const file = path.join(await node.pathIn(pod), "file");
  fs.writeFileSync(file, "1");
  refuse("publish");
  // Nothing of the pod waits for it.
  await again(pod);
  expect(node.agent.stale).toEqual([
    'MountVolume.SetUp failed for volume "pv-vol" : rpc error: code = Internal desc = not now',
  ]);
  expect(fs.readFileSync(file, "utf8")).toBe("1");
  allow();
  await again(pod);
  expect(requestsOf("publish")).toHaveLength(3);
  await node.agent.volumes.unmount("a");
  await passes(() => expect(node.mounted()).toEqual([]));
});

test.each([true, false])(
  "while its driver is away a mounted volume keeps nothing of its pod from running (republished: %j)",
  async (requiresRepublish) => {
    await node.object({ attachRequired: false, requiresRepublish });
    await node.registered();
    await node.bound("vol");
    const pod = podWith("a", "vol");
    await node.agent.volumes.mount(pod);
    node.driver.stop();
    await passes(() =>
      expect(node.agent.registry.find(driverName)).toBeUndefined(),
    );
    await again(pod);
    expect(node.agent.stale).toHaveLength(requiresRepublish ? 1 : 0);
    await expect(node.agent.volumes.mount(podWith("b", "vol"))).rejects.toThrow(
      driverName,
    );
    await node.registered();
    await again(pod);
    await node.agent.volumes.mount(podWith("b", "vol"));
  },
);

const group = 4321;

test.each([
  // ReadWriteOnceWithFSType is the default.
  [undefined, "ReadWriteOnce", "ext4", true],
  ["ReadWriteOnceWithFSType", "ReadWriteOnce", "ext4", true],
  ["ReadWriteOnceWithFSType", "ReadWriteOncePod", "ext4", true],
  ["ReadWriteOnceWithFSType", "ReadWriteMany", "ext4", false],
  ["ReadWriteOnceWithFSType", "ReadWriteOnce", "", false],
  ["File", "ReadWriteMany", "", true],
  ["None", "ReadWriteOnce", "ext4", false],
] as const)(
  "fsGroupPolicy %s, %s, file system %j: the agent sets the group: %j",
  async (fsGroupPolicy, accessMode, fsType, sets) => {
    await node.object({
      attachRequired: false,
      ...(fsGroupPolicy ? { fsGroupPolicy } : {}),
    });
    await node.registered();
    await node.bound("vol", {
      accessModes: [accessMode],
      csi: { driver: driverName, volumeHandle: "vol", fsType },
    });
    const pod = podWith("a", "vol", { securityContext: { fsGroup: group } });
    await node.agent.volumes.mount(pod);
    expect(fs.statSync(await node.pathIn(pod)).gid).toBe(sets ? group : 0);
  },
);

test("a claim that is mounted read-only keeps its group", async () => {
  await node.object({ attachRequired: false, fsGroupPolicy: "File" });
  await node.registered();
  await node.bound("vol");
  const pod = podWith("a", "vol", {
    securityContext: { fsGroup: group },
    volumes: readOnlyVolumes,
  });
  await node.agent.volumes.mount(pod);
  expect(requestsOf("publish")[0]).toMatchObject({ readonly: true });
  expect(fs.statSync(await node.pathIn(pod)).gid).toBe(0);
});

test("readOnly of the volume itself is for its attachment, and mounts it as ever", async () => {
  await node.object({ attachRequired: false, fsGroupPolicy: "File" });
  await node.registered();
  await node.bound("vol", {
    csi: { driver: driverName, volumeHandle: "vol", readOnly: true },
  });
  const pod = podWith("a", "vol", { securityContext: { fsGroup: group } });
  await node.agent.volumes.mount(pod);
  expect(requestsOf("publish")[0]).toMatchObject({ readonly: false });
  expect(fs.statSync(await node.pathIn(pod)).gid).toBe(group);
});

test("a driver with VOLUME_MOUNT_GROUP gets the group and sees to it itself", async () => {
  await node.object({ attachRequired: false, fsGroupPolicy: "File" });
  await node.registered({
    capabilities: [nodeCapability.stageUnstage, nodeCapability.mountGroup],
  });
  await node.bound("vol");
  const pod = podWith("a", "vol", { securityContext: { fsGroup: group } });
  await node.agent.volumes.mount(pod);
  for (const call of ["stage", "publish"])
    expect(requestsOf(call)).toMatchObject([
      { volume_capability: { mount: { volume_mount_group: "4321" } } },
    ]);
  expect(fs.statSync(await node.pathIn(pod)).gid).toBe(0);
  await node.agent.volumes.mount(podWith("b", "vol"));
  // Of a pod without a group.
  expect(requestsOf("publish").at(-1)).toMatchObject({
    volume_capability: { mount: { volume_mount_group: "" } },
  });
});

test("a driver without VOLUME_MOUNT_GROUP gets no group", async () => {
  await node.object({ attachRequired: false });
  await node.registered();
  await node.bound("vol");
  await node.agent.volumes.mount(
    podWith("a", "vol", { securityContext: { fsGroup: group } }),
  );
  expect(requestsOf("publish")).toMatchObject([
    { volume_capability: { mount: { volume_mount_group: "" } } },
  ]);
});

test("a mounted volume that became larger is grown in use, also after a failure", async () => {
  await node.object({ attachRequired: false });
  await node.registered();
  await node.bound("vol");
  const pod = podWith("a", "vol");
  await node.agent.volumes.mount(pod);
  expect(requestsOf("expand")).toEqual([]);

  const { client } = node.agent;
  const claims = client.resource(persistentVolumeClaims);
  const claim = await claims.get("vol", "default");
  await claims.updateStatus({
    ...claim,
    status: {
      ...claim.status,
      conditions: [
        {
          type: "FileSystemResizePending",
          status: "True",
        },
      ],
    },
  });
  const volume = await client.resource(persistentVolumes).get("pv-vol");
  await client.resource(persistentVolumes).update({
    ...volume,
    spec: { ...volume.spec, capacity: { storage: "3Gi" } },
  });

  expect(node.agent.events).toEqual([]);
  refuse("expand");
  await again(pod);
  expect(node.agent.events).toEqual([
    'Pod p-a VolumeResizeFailed NodeExpandVolume.NodeExpandVolume failed for volume "pv-vol" : Expander.NodeExpand failed to expand the volume : rpc error: code = Internal desc = not now',
  ]);
  expect((await claims.get("vol", "default")).status).toMatchObject({
    capacity: { storage: "1Gi" },
    conditions: [{ type: "FileSystemResizePending" }],
  });

  allow();
  await again(pod);
  expect(requestsOf("expand").at(-1)).toMatchObject({
    volume_id: "vol",
    volume_path: await node.pathIn(pod),
    capacity_range: { required_bytes: 3 * 2 ** 30 },
  });
  expect((await claims.get("vol", "default")).status).toMatchObject({
    capacity: { storage: "3Gi" },
    conditions: [],
  });
  const asked = requestsOf("expand").length;
  await again(pod);
  expect(requestsOf("expand")).toHaveLength(asked);
  const said =
    'FileSystemResizeSuccessful MountVolume.NodeExpandVolume succeeded for volume "pv-vol" n1';
  expect(node.agent.events.slice(1)).toEqual([
    `Pod p-a ${said}`,
    `PersistentVolumeClaim vol ${said}`,
  ]);
  expect(requestsOf("stage")).toHaveLength(1);
  expect(requestsOf("publish")).toHaveLength(1);
});

test("a volume that a pod has read-only is not grown for it, and events say so once", async () => {
  await node.object({ attachRequired: false });
  await node.registered();
  await node.bound("vol");
  const pod = podWith("a", "vol", { volumes: readOnlyVolumes });
  await node.agent.volumes.mount(pod);
  const volumes = node.agent.client.resource(persistentVolumes);
  const volume = await volumes.get("pv-vol");
  await volumes.update({
    ...volume,
    spec: { ...volume.spec, capacity: { storage: "3Gi" } },
  });
  await again(pod);
  await again(pod);
  expect(requestsOf("expand")).toEqual([]);
  const said =
    'FileSystemResizeFailed MountVolume.NodeExpandVolume failed for volume "pv-vol" requested read-only file system';
  expect(node.agent.events).toEqual([
    `Pod p-a ${said}`,
    `PersistentVolumeClaim vol ${said}`,
  ]);
  // Another pod may write to it.
  await node.agent.volumes.mount(podWith("b", "vol"));
  expect(requestsOf("expand")).toMatchObject([
    { capacity_range: { required_bytes: 3 * 2 ** 30 } },
  ]);
});

/** As a resizer leaves the claim: its own part is done. */
async function resizePending(storage: string): Promise<void> {
  const claims = node.agent.client.resource(persistentVolumeClaims);
  const claim = await claims.get("vol", "default");
  const { resources } = claim.spec ?? {};
  await claims.update({
    ...claim,
    spec: {
      ...claim.spec,
      resources: { ...resources, requests: { storage } },
    },
  });
  const { metadata, status } = await claims.get("vol", "default");
  await claims.updateStatus({
    ...claim,
    metadata,
    status: {
      ...status,
      allocatedResources: { storage },
      allocatedResourceStatuses: { storage: "NodeResizePending" },
      conditions: [{ type: "FileSystemResizePending", status: "True" }],
    },
  });
}

async function claimStatus(): Promise<PersistentVolumeClaimStatus | undefined> {
  const claims = node.agent.client.resource(persistentVolumeClaims);
  return (await claims.get("vol", "default")).status;
}

const failing = (code: grpc.status): void => {
  node.driver.intercept = (call) => {
    if (call === "expand") throw refusal(code, "no");
  };
};

describe("a resize that its resizer has handed to the node", () => {
  let pod: ReturnType<typeof podWith>;
  beforeEach(async () => {
    await node.object({ attachRequired: false });
    await node.registered();
    await node.bound("vol");
    pod = podWith("a", "vol");
    await node.agent.volumes.mount(pod);
    await resizePending("5Gi");
  });

  test("is in progress, then done, with the size that was allocated", async () => {
    let during: unknown;
    node.driver.intercept = async (call) => {
      if (call === "expand") during = await claimStatus();
    };
    await again(pod);
    expect(during).toMatchObject({
      allocatedResourceStatuses: { storage: "NodeResizeInProgress" },
      capacity: { storage: "1Gi" },
    });
    expect(requestsOf("expand")).toMatchObject([
      { capacity_range: { required_bytes: 5 * 2 ** 30 } },
    ]);
    const status = await claimStatus();
    expect(status).toMatchObject({
      allocatedResources: { storage: "5Gi" },
      capacity: { storage: "5Gi" },
      conditions: [],
    });
    expect(status).not.toHaveProperty("allocatedResourceStatuses");
    await again(pod);
    expect(requestsOf("expand")).toHaveLength(1);
  });

  test("is given up when it is impossible, so that less can be asked for", async () => {
    failing(grpc.status.OUT_OF_RANGE);
    await again(pod);
    expect(await claimStatus()).toMatchObject({
      allocatedResourceStatuses: { storage: "NodeResizeInfeasible" },
      capacity: { storage: "1Gi" },
      conditions: [
        { type: "FileSystemResizePending" },
        {
          type: "NodeResizeError",
          status: "True",
          message:
            "failed to expand pvc with Expander.NodeExpand failed to expand the volume : rpc error: code = OutOfRange desc = no",
        },
      ],
    });
    await again(pod);
    await node.agent.volumes.mount(podWith("b", "vol"));
    expect(requestsOf("expand")).toHaveLength(1);
  });

  test("is tried again after another failure, and given up when less is wanted", async () => {
    failing(grpc.status.INTERNAL);
    await again(pod);
    expect(await claimStatus()).toMatchObject({
      allocatedResourceStatuses: { storage: "NodeResizeInProgress" },
      conditions: [{}, { type: "NodeResizeError" }],
    });
    await expect(node.agent.volumes.mount(podWith("b", "vol"))).rejects.toThrow(
      'MountVolume.NodeExpandVolume failed for volume "pv-vol" : Expander.NodeExpand failed to expand the volume : rpc error: code = Internal desc = no',
    );
    const claims = node.agent.client.resource(persistentVolumeClaims);
    const claim = await claims.get("vol", "default");
    const resources = { requests: { storage: "2Gi" } };
    await claims.update({ ...claim, spec: { ...claim.spec, resources } });
    await again(pod);
    expect(await claimStatus()).toMatchObject({
      allocatedResourceStatuses: { storage: "NodeResizeInfeasible" },
    });
    expect(requestsOf("expand")).toHaveLength(3);
  });

  test("waits for the next pod where the driver can't while the volume is in use", async () => {
    failing(grpc.status.FAILED_PRECONDITION);
    await again(pod);
    await again(pod);
    expect(requestsOf("expand")).toHaveLength(1);
    expect(node.agent.events).toEqual([]);
    allow();
    await again(pod);
    expect(requestsOf("expand")).toHaveLength(1);
    await node.agent.volumes.mount(podWith("b", "vol"));
    expect(await claimStatus()).toMatchObject({ capacity: { storage: "5Gi" } });
  });
});
