// Volumes of CSI drivers are attached where pods need them, one node at a time, and detached when the node has let go.
import { attachmentName } from "../../../../api/objects/volumes/csi-names.ts";
import type {
  Event,
  Node,
  PersistentVolume,
} from "../../../../api/types/core-v1.ts";
import type { VolumeAttachment } from "../../../../api/types/storage-v1.ts";
import {
  csiDrivers,
  events,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  volumeAttachments,
} from "../../../../client/resources.ts";
import {
  detachDelayMs,
  forcedDetach,
  forcedDetachMs,
} from "../../../../controllers/volumes/attachment/attachment-plan.ts";
import {
  passes,
  startControlPlane,
  testNode,
  testPod,
  type ControlPlane,
} from "../../../support/control-plane.ts";

let plane: ControlPlane;
beforeEach(async () => {
  plane = await startControlPlane({
    controllers: {
      controllers: [
        "persistentvolume-attach-detach-controller",
        "persistentvolume-binder-controller",
      ],
    },
  });
});
afterEach(() => plane.stop());

const unique = "kubernetes.io/csi/d.example.com^h";
const attachments = () =>
  plane.api.all<VolumeAttachment>(volumeAttachments).map(({ spec }) => spec);
const attachedOn = async (name: string) =>
  (await plane.client.resource(nodes).get(name)).status?.volumesAttached;
const nameOn = (node: string) =>
  attachmentName({ driver: "d.example.com", volumeHandle: "h" }, node);

async function node(name: string, managed = true): Promise<Node> {
  const { metadata, ...rest } = testNode(name);
  return plane.client.resource(nodes).create({
    ...rest,
    metadata: {
      ...metadata,
      annotations: {
        "volumes.kubernetes.io/controller-managed-attach-detach":
          String(managed),
      },
    },
  });
}

async function volume(attachRequired = true): Promise<void> {
  await plane.client.resource(csiDrivers).create({
    metadata: { name: "d.example.com" },
    spec: { attachRequired },
  });
  const spec: PersistentVolume["spec"] = {
    accessModes: ["ReadWriteOnce"],
    capacity: { storage: "1Gi" },
    csi: { driver: "d.example.com", volumeHandle: "h" },
  };
  await plane.client
    .resource(persistentVolumes)
    .create({ metadata: { name: "v" }, spec });
  await plane.client.resource(persistentVolumeClaims).create({
    metadata: { name: "c", namespace: "default" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      volumeName: "v",
      resources: { requests: { storage: "1Gi" } },
    },
  });
}

const pod = (name: string, nodeName: string) =>
  plane.client.resource(pods).create(
    testPod(name, {
      nodeName,
      volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }],
    }),
  );
const remove = (name: string) =>
  plane.client
    .resource(pods)
    .delete(name, "default", { gracePeriodSeconds: 0 });

async function fulfil(nodeName: string): Promise<void> {
  const api = plane.client.resource(volumeAttachments);
  const found = await api.get(nameOn(nodeName));
  await api.updateStatus({ ...found, status: { attached: true } });
}

async function inUse(name: string, volumesInUse: string[]): Promise<void> {
  await plane.client
    .resource(nodes)
    .patch(
      name,
      undefined,
      { type: "merge", body: { status: { volumesInUse } } },
      { subresource: "status" },
    );
}

test("attached for a pod, reported on its node, detached once the node has let go", async () => {
  await node("n1");
  await node("n2");
  await volume();
  await pod("p", "n1");
  await passes(() =>
    expect(attachments()).toEqual([
      {
        attacher: "d.example.com",
        nodeName: "n1",
        source: { persistentVolumeName: "v" },
      },
    ]),
  );
  await fulfil("n1");
  await passes(async () =>
    expect(await attachedOn("n1")).toEqual([{ name: unique, devicePath: "" }]),
  );
  await passes(() =>
    expect(plane.api.all<Event>(events)).toContainEqual(
      expect.objectContaining({
        reason: "SuccessfulAttachVolume",
        message: 'AttachVolume.Attach succeeded for volume "v" ',
      }),
    ),
  );
  await inUse("n1", [unique]);
  await pod("q", "n2");
  await passes(() =>
    expect(plane.api.all<Event>(events)).toContainEqual(
      expect.objectContaining({
        reason: "FailedAttachVolume",
        message:
          'Multi-Attach error for volume "v" Volume is already used by pod(s) p',
      }),
    ),
  );
  await remove("p");
  // Still mounted there.
  expect(attachments()).toHaveLength(1);
  await inUse("n1", []);
  await passes(() =>
    expect(attachments().map(({ nodeName }) => nodeName)).toEqual(["n2"]),
  );
  expect(await attachedOn("n1")).toEqual([]);
  // Reported once, not at each look while the volume is on its way.
  expect(
    plane.api
      .all<Event>(events)
      .filter(({ message }) => message?.startsWith("Multi-Attach"))
      .map(({ count, message }) => [count, message]),
  ).toEqual([
    [1, 'Multi-Attach error for volume "v" Volume is already used by pod(s) p'],
  ]);
});

test("metrics: what is to be attached, what is, and what was detached by force", async () => {
  const { client } = plane;
  const forced =
    "attach_detach_controller_attachdetach_controller_forced_detaches";
  const shows = (...lines: string[]) =>
    passes(() => {
      const text = plane.metrics();
      for (const line of lines) expect(text).toContain(`${line}\n`);
    });
  const total = (state: string, count: number) =>
    `attachdetach_controller_total_volumes{plugin_name="kubernetes.io/csi:d.example.com",state="${state}"} ${count}`;
  await node("n1");
  await volume();
  await pod("p", "n1");
  await shows(
    total("desired_state_of_world", 1),
    'storage_count_attachable_volumes_in_use{node="n1",volume_plugin="kubernetes.io/csi:d.example.com"} 1',
  );
  expect(plane.metrics()).not.toContain("actual_state_of_world");
  await fulfil("n1");
  await shows(total("actual_state_of_world", 1));
  await inUse("n1", [unique]);
  await client.resource(nodes).patch("n1", undefined, {
    type: "merge",
    body: {
      spec: {
        taints: [
          { key: "node.kubernetes.io/out-of-service", effect: "NoExecute" },
        ],
      },
    },
  });
  expect(plane.metrics()).not.toContain(forced);
  await remove("p");
  await shows(`${forced}{reason="out-of-service"} 1`);
  expect(plane.metrics()).not.toContain("attachdetach_controller_total");
});

test("an attachment that somebody made by hand stays", async () => {
  await node("n1");
  await volume();
  await plane.client.resource(volumeAttachments).create({
    metadata: { name: "by-hand" },
    spec: {
      attacher: "x",
      nodeName: "n1",
      source: { persistentVolumeName: "v" },
    },
  });
  await pod("p", "n1");
  await passes(() => expect(attachments()).toHaveLength(2));
  await remove("p");
  await passes(() =>
    expect(attachments().map(({ attacher }) => attacher)).toEqual(["x"]),
  );
});

test("nothing is attached for a driver that needs none, nor on a node whose agent attaches itself", async () => {
  await node("n1");
  await volume(false);
  await pod("p", "n1");
  await passes(async () =>
    expect(
      (await plane.client.resource(persistentVolumeClaims).get("c", "default"))
        .status?.phase,
    ).toBe("Bound"),
  );
  expect(attachments()).toEqual([]);
  await node("n3", false);
  await plane.client.resource(csiDrivers).delete("d.example.com");
  await remove("p");
  await pod("q", "n3");
  await node("n4");
  await pod("r", "n4");
  await passes(() =>
    expect(attachments().map(({ nodeName }) => nodeName)).toEqual(["n4"]),
  );
});

test("a node that is not ready keeps a volume for six minutes, one out of service not at all", () => {
  const ready = (status: string): Node => ({
    ...testNode("n"),
    status: { conditions: [{ type: "Ready", status }] },
  });
  const state = { patient: false };
  const delay = (of: Node | undefined, waitedMs: number, held = true) =>
    detachDelayMs({ ...state, node: of, inUse: held, waitedMs });
  expect(delay(ready("True"), 1e9)).toBe(Infinity);
  expect(delay(ready("True"), 0, false)).toBeUndefined();
  expect(delay(ready("Unknown"), 1000)).toBe(forcedDetachMs - 999);
  expect(delay(ready("Unknown"), forcedDetachMs + 1)).toBeUndefined();
  expect(delay(undefined, 1000)).toBe(forcedDetachMs - 999);
  expect(delay(undefined, forcedDetachMs + 1)).toBeUndefined();
  expect(delay(undefined, 0, false)).toBeUndefined();
  const outOfService: Node = {
    ...ready("Unknown"),
    spec: {
      taints: [
        { key: "node.kubernetes.io/out-of-service", effect: "NoExecute" },
      ],
    },
  };
  expect(delay(outOfService, 0)).toBeUndefined();
  const why = (of: Node | undefined, waitedMs: number, held = true) =>
    forcedDetach({ ...state, node: of, inUse: held, waitedMs });
  expect(why(ready("Unknown"), forcedDetachMs + 1)).toBe("timeout");
  expect(why(outOfService, forcedDetachMs)).toBe("out-of-service");
  expect(why(outOfService, forcedDetachMs + 1)).toBe("timeout");
  expect(why(outOfService, 1e9, false)).toBeUndefined();
  expect(why(undefined, 1e9)).toBe("timeout");
  expect(why(undefined, 1e9, false)).toBeUndefined();
  state.patient = true;
  expect(delay(ready("Unknown"), 1e9)).toBe(Infinity);
  expect(delay(undefined, 1e9)).toBe(Infinity);
  expect(delay(ready("Unknown"), 1e9, false)).toBeUndefined();
  expect(delay(outOfService, 0)).toBeUndefined();
  expect(why(outOfService, 1e9)).toBe("out-of-service");
});

test("a volume that a node had in use when it went is not detached at once, one that it had not is", async () => {
  await node("n1");
  await volume();
  await pod("p", "n1");
  await passes(() => fulfil("n1"));
  await inUse("n1", [unique]);
  await passes(async () =>
    expect(await attachedOn("n1")).toEqual([{ name: unique, devicePath: "" }]),
  );
  await plane.client.resource(nodes).delete("n1");
  await remove("p");
  await node("n2");
  await pod("q", "n2");
  await passes(() =>
    expect(plane.api.all<Event>(events)).toContainEqual(
      expect.objectContaining({
        message:
          'Multi-Attach error for volume "v" Volume is already exclusively attached to one node and can\'t be attached to another',
      }),
    ),
  );
  expect(attachments().map(({ nodeName }) => nodeName)).toEqual(["n1"]);
  await node("n1");
  await passes(() =>
    expect(attachments().map(({ nodeName }) => nodeName)).toEqual(["n2"]),
  );
});

test("a pod that waits for a finalizer needs its volume no more when its containers have ended", async () => {
  await node("n1");
  await node("n2");
  await volume();
  await pod("p", "n1");
  await passes(() => fulfil("n1"));
  await plane.client.resource(pods).patch("p", "default", {
    type: "merge",
    body: { metadata: { finalizers: ["example.com/held"] } },
  });
  const runs = (state: object) =>
    plane.client.resource(pods).patch(
      "p",
      "default",
      {
        type: "merge",
        body: { status: { containerStatuses: [{ name: "c", state }] } },
      },
      { subresource: "status" },
    );
  await runs({ running: {} });
  await plane.client.resource(pods).delete("p", "default");
  await pod("q", "n2");
  await passes(() =>
    expect(plane.api.all<Event>(events)).toContainEqual(
      expect.objectContaining({ reason: "FailedAttachVolume" }),
    ),
  );
  await runs({ terminated: { exitCode: 0 } });
  await passes(() =>
    expect(attachments().map(({ nodeName }) => nodeName)).toEqual(["n2"]),
  );
});
