// Volumes of CSI drivers against a real driver: registration, the order of calls, what drivers get, failures and hangs,
// and that everything is ended, by the same agent or the next one. What happens to mounted volumes: csi-mounted.test.ts.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import * as grpc from "@grpc/grpc-js";
import { metricsText } from "../../../../api/metrics/family.ts";
import { attachmentName } from "../../../../api/objects/volumes/csi-names.ts";
import type { CSINode } from "../../../../api/types/storage-v1.ts";
import {
  csiNodes,
  nodes,
  persistentVolumeClaims,
  volumeAttachments,
} from "../../../../client/resources.ts";
import { VolumePending } from "../../../../agent/volumes/volume-plugin.ts";
import { CsiNodeObject } from "../../../../agent/volumes/csi/csi-node.ts";
import { passes, testNode } from "../../../support/control-plane.ts";
import { CsiTestNode, driverName, podWith, refusal } from "./csi-test-node.ts";

let node: CsiTestNode;

beforeEach(async () => {
  node = new CsiTestNode();
  await node.start();
});

afterEach(async () => {
  await node.close();
});

test("staged once, published for each pod, unstaged after the last", async () => {
  await node.object({ attachRequired: false });
  await node.registered({
    info: {
      max_volumes_per_node: 3,
      accessible_topology: { segments: { "example.com/zone": "z" } },
    },
  });
  expect(node.api.all<CSINode>(csiNodes)[0]?.spec.drivers).toEqual([
    {
      name: driverName,
      nodeID: "node-1",
      topologyKeys: ["example.com/zone"],
      allocatable: { count: 3 },
    },
  ]);
  const object = await node.agent.client.resource(nodes).get("n1");
  expect(object.metadata.labels?.["example.com/zone"]).toBe("z");
  await node.bound("vol");
  const [a, b] = [podWith("a", "vol"), podWith("b", "vol")];
  await Promise.all([node.agent.volumes.mount(a), node.agent.volumes.mount(b)]);
  fs.writeFileSync(path.join(await node.pathIn(a), "data"), "1");
  expect(fs.readFileSync(path.join(await node.pathIn(b), "data"), "utf8")).toBe(
    "1",
  );
  await node.agent.volumes.unmount("a");
  await node.agent.volumes.unmount("b");
  await passes(() => expect(node.driver.calls).toContain("unstage vol"));
  // Both pods ask for the volume to be staged, which is idempotent.
  expect([...new Set(node.driver.calls)]).toEqual([
    "stage vol",
    "publish vol",
    "unpublish vol",
    "unstage vol",
  ]);
  expect(fs.existsSync(path.join(node.driver.contentOf("vol"), "data"))).toBe(
    true,
  );
  const counted = metricsText(node.agent.csiMetrics.families());
  for (const method of ["NodeStageVolume", "NodeUnpublishVolume"])
    expect(counted).toMatch(
      new RegExp(
        `^csi_operations_seconds_count\\{driver_name="${driverName}",grpc_status_code="OK",method_name="/csi.v1.Node/${method}",migrated="false"\\} [12]$`,
        "m",
      ),
    );
  expect(node.mounted()).toEqual([]);
  await passes(() =>
    expect(
      fs.readdirSync(path.join(node.root, "agent/plugins/kubernetes.io/csi")),
    ).toEqual([]),
  );
  node.driver.stop();
  await passes(() =>
    expect(node.api.all<CSINode>(csiNodes)[0]?.spec.drivers).toEqual([]),
  );
});

test("a driver may name a label as what every object inherits", async () => {
  await node.registered({
    info: { accessible_topology: { segments: { constructor: "z" } } },
  });
  const { metadata } = await node.agent.client.resource(nodes).get("n1");
  expect(Object.entries(metadata.labels ?? {})).toContainEqual([
    "constructor",
    "z",
  ]);
});

test.each([
  [
    "an id without end",
    { node_id: "n".repeat(250_000) },
    "nodeID must be 256 characters or less",
  ],
  [
    "labels without end",
    {
      accessible_topology: {
        segments: Object.fromEntries(
          Array.from({ length: 65 }, (_, n) => [`example.com/z${n}`, "z"]),
        ),
      },
    },
    "more than 64 topology segments",
  ],
])(
  "a driver with %s is refused, and the Node stays as it was",
  async (_what, info, reason) => {
    const api = node.agent.client.resource(nodes);
    const before = await api.get("n1");
    const driver = node.newDriver({ info });
    await driver.start();
    await passes(() => expect(driver.notified.join()).toContain(reason));
    const { metadata } = await api.get("n1");
    expect(metadata.labels).toEqual(before.metadata.labels);
    expect(metadata.annotations).toEqual(before.metadata.annotations);
  },
);

test("a driver whose CSINode is not written is taken off the Node again", async () => {
  const { client } = node.agent;
  await client.resource(nodes).create(testNode("n2"));
  const object = new CsiNodeObject({
    ...{ client, nodeName: "n2" },
    owner: () => undefined,
  });
  const info = { node_id: "n", max_volumes_per_node: 0 };
  await expect(object.add("other.example.com", info as never)).rejects.toThrow(
    "the node is not registered yet",
  );
  const { metadata } = await client.resource(nodes).get("n2");
  expect(JSON.stringify(metadata.annotations ?? {})).not.toContain("other");
});

test("an attached volume waits for its attachment, and the node lists it while it is in use", async () => {
  await node.registered();
  await node.bound("vol");
  const pod = podWith("a", "vol");
  const notAttached =
    'Volume not attached according to node status for volume "pv-vol"';
  const failure = (agoMs: number): Promise<unknown> => {
    const lastTransitionTime = new Date(Date.now() - agoMs).toISOString();
    const scheduled = { type: "PodScheduled", status: "True" };
    const status = { conditions: [{ ...scheduled, lastTransitionTime }] };
    return node.agent.volumes
      .mount({ ...pod, status })
      .catch((e: unknown) => e);
  };
  const early = await failure(0);
  expect(early).toBeInstanceOf(VolumePending);
  expect((early as Error).message).toContain(notAttached);
  const late = await failure(124_000);
  expect(late).not.toBeInstanceOf(VolumePending);
  expect((late as Error).message).toContain(notAttached);
  const unique = `kubernetes.io/csi/${driverName}^vol`;
  const { client } = node.agent;
  const id = attachmentName({ driver: driverName, volumeHandle: "vol" }, "n1");
  await client.resource(volumeAttachments).create({
    metadata: { name: id },
    spec: {
      attacher: driverName,
      nodeName: "n1",
      source: { persistentVolumeName: "pv-vol" },
    },
    status: { attached: true, attachmentMetadata: { device: "sdb" } },
  });
  await client.resource(nodes).patch(
    "n1",
    undefined,
    {
      type: "merge",
      body: {
        status: { volumesAttached: [{ name: unique, devicePath: "" }] },
      },
    },
    { subresource: "status" },
  );
  let inUse: unknown;
  node.driver.intercept = async (call) => {
    if (call === "stage")
      inUse = (await client.resource(nodes).get("n1")).status?.volumesInUse;
  };
  await node.agent.volumes.mount(pod);
  // Before the driver is asked: nobody detaches what is being mounted.
  expect(inUse).toEqual([unique]);
  expect(
    node.driver.requests.find(({ call }) => call === "stage")?.request[
      "publish_context"
    ],
  ).toEqual({ device: "sdb" });
  await node.agent.volumes.unmount("a");
  await passes(async () =>
    expect(
      (await client.resource(nodes).get("n1")).status?.volumesInUse,
    ).toEqual([]),
  );
});

test("what a driver asks for: the pod, its tokens, secrets, the group of its files", async () => {
  await node.object({
    attachRequired: false,
    podInfoOnMount: true,
    fsGroupPolicy: "File",
    tokenRequests: [{ audience: "vault" }],
  });
  await node.registered();
  await node.bound("vol", {
    mountOptions: ["noatime"],
    csi: {
      driver: driverName,
      volumeHandle: "vol",
      volumeAttributes: { kind: "fast" },
      nodePublishSecretRef: { name: "there", namespace: "s" },
    },
  });
  const pod = podWith("a", "vol", { securityContext: { fsGroup: 4321 } });
  await node.agent.volumes.mount(pod);
  const publish = node.driver.requests.find(({ call }) => call === "publish");
  expect(publish?.request).toMatchObject({
    secrets: { password: "s" },
    volume_capability: {
      mount: { mount_flags: ["noatime"] },
      access_mode: { mode: 1 },
    },
    volume_context: {
      kind: "fast",
      "csi.storage.k8s.io/pod.name": "p-a",
      "csi.storage.k8s.io/pod.uid": "a",
      "csi.storage.k8s.io/ephemeral": "false",
      "csi.storage.k8s.io/serviceAccount.tokens": JSON.stringify({
        vault: { token: "for vault", expirationTimestamp: "t1" },
      }),
    },
  });
  expect(fs.statSync(await node.pathIn(pod)).gid).toBe(4321);
});

test.each([
  ["nodeStageSecretRef", "fetching NodeStageSecretRef s/absent failed"],
  ["nodePublishSecretRef", "fetching NodePublishSecretRef s/absent failed"],
])("a secret of %s that is absent is named with its use", async (ref, text) => {
  await node.object({ attachRequired: false });
  await node.registered();
  await node.bound("vol", {
    csi: {
      driver: driverName,
      volumeHandle: "vol",
      [ref]: { name: "absent", namespace: "s" },
    },
  });
  await expect(node.agent.volumes.mount(podWith("a", "vol"))).rejects.toThrow(
    `${text}: kubernetes.io/csi: failed to find the secret absent in the namespace s with error: secrets "absent" not found`,
  );
});

test("an inline volume needs a driver that says it serves them, and goes with its pod", async () => {
  await node.registered();
  const pod = podWith("a", "", {
    volumes: [{ name: "v", csi: { driver: driverName } }],
  });
  await expect(node.agent.volumes.mount(pod)).rejects.toThrow(
    `volume mode "Ephemeral" not supported by driver ${driverName} (no CSIDriver object)`,
  );
  await node.object({
    volumeLifecycleModes: ["Ephemeral"],
    podInfoOnMount: true,
  });
  await node.agent.volumes.mount(pod);
  await node.agent.volumes.unmount("a");
  const [handle] = node.driver.calls.map((call) => call.split(" ")[1]);
  expect(handle).toMatch(/^csi-[0-9a-f]{64}$/);
  expect(node.driver.calls).toEqual([
    `publish ${handle}`,
    `unpublish ${handle}`,
  ]);
  expect(node.mounted()).toEqual([]);
});

test("a block volume is a device of the container", async () => {
  await node.object({ attachRequired: false });
  await node.registered();
  await node.bound("vol", { volumeMode: "Block" });
  const pod = podWith("a", "vol", {
    containers: [
      { name: "c", volumeDevices: [{ name: "v", devicePath: "/dev/x" }] },
    ],
  });
  await node.agent.volumes.mount(pod);
  expect(
    node.agent.volumes.containerDevices(pod, pod.spec.containers[0]!),
  ).toEqual([
    {
      containerPath: "/dev/x",
      hostPath: path.join(
        node.root,
        "agent/plugins/kubernetes.io/csi/volumeDevices/publish/pv-vol/a",
      ),
      permissions: "mrw",
    },
  ]);
  await node.agent.volumes.unmount("a");
  await passes(() => expect(node.driver.calls).toContain("unstage vol"));
  expect(node.mounted()).toEqual([]);
});

test("a refusal for good leaves nothing to unstage; one that may go on does", async () => {
  await node.object({ attachRequired: false });
  await node.registered();
  await node.bound("vol");
  const pod = podWith("a", "vol");
  node.driver.intercept = (call) => {
    if (call === "stage") throw refusal(grpc.status.INVALID_ARGUMENT, "no");
  };
  await expect(node.agent.volumes.mount(pod)).rejects.toThrow(
    'MountVolume.MountDevice failed for volume "pv-vol" : rpc error: code = InvalidArgument desc = no',
  );
  await node.agent.volumes.unmount("a");
  expect(node.driver.calls).toEqual(["stage vol"]);
  node.driver.intercept = (call) => {
    if (call === "stage") throw refusal(grpc.status.DEADLINE_EXCEEDED, "slow");
  };
  await expect(node.agent.volumes.mount(pod)).rejects.toThrow(
    "DeadlineExceeded",
  );
  await node.agent.volumes.unmount("a");
  await passes(() => expect(node.driver.calls).toContain("unstage vol"));
});

test("a driver that dies: pods wait by name, what it had is ended when it is back", async () => {
  await node.object({ attachRequired: false });
  await node.registered();
  await node.bound("vol");
  await node.agent.volumes.mount(podWith("a", "vol"));
  node.driver.stop();
  await passes(() =>
    expect(() => node.agent.registry.driver(driverName)).toThrow(),
  );
  await node.bound("other");
  await expect(node.agent.volumes.mount(podWith("b", "other"))).rejects.toThrow(
    `MountVolume.MountDevice failed for volume "pv-other" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name ${driverName} not found in the list of registered CSI drivers`,
  );
  await expect(node.agent.volumes.unmount("a")).rejects.toThrow("not found in");
  // What is mounted is not removed with its files.
  expect(node.mounted()).not.toEqual([]);
  await node.registered();
  await node.agent.volumes.unmount("a");
  await passes(() =>
    expect(node.driver.calls).toEqual(["unpublish vol", "unstage vol"]),
  );
  expect(node.mounted()).toEqual([]);
});

test("the next agent ends what the one before it had published and staged", async () => {
  await node.object({ attachRequired: false });
  await node.registered();
  await node.bound("vol");
  await node.agent.volumes.mount(podWith("a", "vol"));
  await node.restartAgent();
  await passes(() => void node.agent.registry.driver(driverName));
  await node.agent.volumes.unmount("a");
  await passes(() => expect(node.driver.calls.at(-1)).toBe("unstage vol"));
  expect(node.mounted()).toEqual([]);
});

test("a driver that says it has unmounted and has not: its files are safe", async () => {
  await node.object({ attachRequired: false });
  await node.registered();
  await node.bound("vol");
  const pod = podWith("a", "vol");
  await node.agent.volumes.mount(pod);
  const target = await node.pathIn(pod);
  fs.writeFileSync(path.join(target, "precious"), "1");
  node.driver.lies = true;
  await node.agent.volumes.unmount("a");
  expect(node.mounted()).toEqual([]);
  expect(
    fs.readFileSync(
      path.join(node.driver.contentOf("vol"), "precious"),
      "utf8",
    ),
  ).toBe("1");
});

test("a claim whose resizer waits for the node is grown, though it has the capacity already", async () => {
  await node.object({ attachRequired: false });
  await node.registered();
  await node.bound("vol");
  const claims = node.agent.client.resource(persistentVolumeClaims);
  const claim = await claims.get("vol", "default");
  const allocatedResourceStatuses = { storage: "NodeResizePending" };
  await claims.updateStatus({
    ...claim,
    status: { ...claim.status, allocatedResourceStatuses },
  });
  await node.agent.volumes.mount(podWith("a", "vol"));
  expect(node.driver.calls).toEqual(["stage vol", "publish vol", "expand vol"]);
  const { status } = await claims.get("vol", "default");
  expect(status).toMatchObject({ capacity: { storage: "1Gi" } });
  expect(status).not.toHaveProperty("allocatedResourceStatuses");
});

test("a volume is unstaged before its last pod is over, as it may be deleted then", async () => {
  await node.object({ attachRequired: false });
  await node.registered();
  await node.bound("vol");
  for (const uid of ["a", "b"])
    await node.agent.volumes.mount(podWith(uid, "vol"));
  await node.agent.volumes.unmount("a");
  expect(node.driver.calls.at(-1)).toBe("unpublish vol");
  await node.agent.volumes.unmount("b");
  expect(node.driver.calls.slice(-2)).toEqual(["unpublish vol", "unstage vol"]);
});

test("a volume that was deleted while it was staged is unstaged when nothing of it is left", async () => {
  await node.object({ attachRequired: false });
  await node.registered();
  await node.bound("vol");
  await node.agent.volumes.mount(podWith("a", "vol"));
  const records = path.join(
    node.root,
    "agent/plugins/kubernetes.io/csi",
    driverName,
  );
  node.driver.intercept = (call) => {
    if (call === "unstage")
      throw refusal(grpc.status.NOT_FOUND, "does not exist");
  };
  await node.agent.volumes.unmount("a");
  // Still mounted: the driver has to be asked again.
  expect(fs.readdirSync(records)).toHaveLength(1);
  execFileSync("umount", [
    path.join(records, fs.readdirSync(records)[0]!, "globalmount"),
  ]);
  await passes(() => expect(fs.existsSync(records)).toBe(false));
});

test("a larger volume is grown on the node, and its claim says so", async () => {
  await node.object({ attachRequired: false });
  await node.registered();
  await node.bound("vol", { capacity: { storage: "2Gi" } });
  await node.agent.volumes.mount(podWith("a", "vol"));
  expect(node.driver.calls).toEqual(["stage vol", "publish vol", "expand vol"]);
  expect(
    node.driver.requests.find(({ call }) => call === "expand")?.request[
      "capacity_range"
    ],
  ).toMatchObject({ required_bytes: 2 ** 31 });
  const claim = await node.agent.client
    .resource(persistentVolumeClaims)
    .get("vol", "default");
  expect(claim.status?.capacity?.["storage"]).toBe("2Gi");
});

test.each([
  [["2.0.0"], "are supported"],
  [[], "empty list"],
])("a driver of versions %j is refused", async (versions, text) => {
  const driver = node.newDriver({ versions });
  await driver.start();
  await passes(() => expect(driver.notified.join()).toContain(text));
});
