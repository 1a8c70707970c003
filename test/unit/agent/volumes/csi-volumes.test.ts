// Volumes of CSI drivers against a real driver: registration, the order of calls, what drivers get, failures and hangs,
// and that everything is ended, by the same agent or the next one.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import * as grpc from "@grpc/grpc-js";
import { systemClock } from "../../../../api/clock.ts";
import { attachmentName } from "../../../../api/objects/volumes/csi-names.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from "../../../../api/types/core-v1.ts";
import type { CSIDriver, CSINode } from "../../../../api/types/storage-v1.ts";
import { createClient } from "../../../../client/create-client.ts";
import {
  csiDrivers,
  csiNodes,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  volumeAttachments,
} from "../../../../client/resources.ts";
import { PluginRegistration } from "../../../../agent/plugin-registration/plugin-registration.ts";
import { CsiNodeObject } from "../../../../agent/volumes/csi/csi-node.ts";
import { CsiVolumes } from "../../../../agent/volumes/csi/csi-plugin.ts";
import { CsiRegistry } from "../../../../agent/volumes/csi/csi-registry.ts";
import { VolumesInUse } from "../../../../agent/volumes/csi/volumes-in-use.ts";
import { VolumeManager } from "../../../../agent/volumes/volume-manager.ts";
import { CsiHostPathDriver } from "../../../support/plugins/csi-driver.ts";
import { silent, testNode, passes } from "../../../support/control-plane.ts";
import { MemoryApi } from "../../../support/memory-api.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../../support/temp-directory.ts";

const driverName = "hostpath.example.com";
let root: string;
let api: MemoryApi;
let driver: CsiHostPathDriver;
let agent: ReturnType<typeof startAgent>;
const drivers: CsiHostPathDriver[] = [];

function startAgent() {
  const client = createClient(api, { clock: systemClock, logger: silent });
  const logger = silent;
  const clock = systemClock;
  const config = {
    rootDirectory: path.join(root, "agent"),
    memoryDirectory: undefined,
    nodeName: "n1",
  };
  const plugins = new PluginRegistration({
    directory: path.join(root, "agent/plugins_registry"),
    clock,
    logger,
  });
  const registry = new CsiRegistry({
    node: new CsiNodeObject({
      client,
      nodeName: "n1",
      owner: () => ({ apiVersion: "v1", kind: "Node", name: "n1", uid: "u" }),
    }),
    logger,
  });
  plugins.registerHandler("CSIPlugin", registry);
  const csi = new CsiVolumes({
    config,
    client,
    registry,
    inUse: new VolumesInUse({ client, nodeName: "n1" }),
    secret: (namespace, name) =>
      Promise.resolve(name === "there" ? { password: namespace } : undefined),
    token: (_pod, audience) =>
      Promise.resolve({ token: `for ${audience}`, expirationTimestamp: "t" }),
    clock,
    logger,
  });
  const volumes = new VolumeManager({
    config,
    client,
    claims: client,
    clock,
    logger,
    source: {
      configMap: () => Promise.resolve(undefined),
      secret: () => Promise.resolve(undefined),
      nodeResources: () => ({
        cpuMillis: 1,
        memoryBytes: 1,
        ephemeralStorageBytes: 1,
      }),
      serviceAccountToken: () => Promise.resolve(""),
    },
    objects: { hold: () => undefined, release: () => undefined },
    forgetTokens: () => undefined,
    csi: csi.plugin,
  });
  return {
    client,
    csi,
    volumes,
    registry,
    async start() {
      await volumes.start();
      await csi.start();
      await plugins.start();
    },
    async stop() {
      await plugins.stop();
      await csi.stop();
      await volumes.stop();
      await client.close();
    },
  };
}

function newDriver(
  options: Partial<ConstructorParameters<typeof CsiHostPathDriver>[0]> = {},
): CsiHostPathDriver {
  const made = new CsiHostPathDriver({
    name: driverName,
    directory: path.join(root, `driver-${drivers.length}`),
    registry: path.join(root, "agent/plugins_registry"),
    ...options,
  });
  drivers.push(made);
  return made;
}

beforeEach(async () => {
  root = makeTempDirectory("orbit-csi-");
  api = new MemoryApi(systemClock);
  agent = startAgent();
  await agent.client.resource(nodes).create(testNode("n1"));
  await agent.start();
});

afterEach(async () => {
  await agent.stop();
  for (const each of drivers.splice(0)) each.stop();
  for (const line of fs
    .readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .reverse()) {
    const target = line.split(" ")[4];
    if (target?.startsWith(root)) execFileSync("umount", ["-l", target]);
  }
  removeTempDirectory(root);
});

async function registered(
  options: Parameters<typeof newDriver>[0] = {},
): Promise<void> {
  driver = newDriver(options);
  await driver.start();
  await passes(() => expect(driver.notified).toContain(""));
}

const object = (spec: CSIDriver["spec"]) =>
  agent.client
    .resource(csiDrivers)
    .create({ metadata: { name: driverName }, spec });

async function bound(
  name: string,
  extra: Partial<PersistentVolume["spec"]> = {},
): Promise<void> {
  await agent.client.resource(persistentVolumes).create({
    metadata: { name: `pv-${name}` },
    spec: {
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: "1Gi" },
      csi: { driver: driverName, volumeHandle: name, fsType: "ext4" },
      ...extra,
    },
  });
  const claim: PersistentVolumeClaim = {
    metadata: { name, namespace: "default" },
    spec: { volumeName: `pv-${name}` },
    status: { phase: "Bound", capacity: { storage: "1Gi" } },
  };
  await agent.client.resource(persistentVolumeClaims).create(claim);
}

const podWith = (
  uid: string,
  claimName: string,
  extra: Partial<Pod["spec"]> = {},
): Pod => ({
  metadata: { name: `p-${uid}`, namespace: "default", uid },
  spec: {
    containers: [
      {
        name: "c",
        volumeMounts: [{ name: "v", mountPath: "/v" }],
      },
    ],
    volumes: [{ name: "v", persistentVolumeClaim: { claimName } }],
    ...extra,
  },
});

const pathIn = async (pod: Pod): Promise<string> => {
  const [mount] = await agent.volumes.containerMounts(
    pod,
    pod.spec.containers[0]!,
    () => undefined,
    false,
  );
  return mount!.hostPath;
};
const mounted = (): string[] =>
  fs
    .readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => line.split(" ")[4]?.startsWith(root));

test("staged once, published for each pod, unstaged after the last", async () => {
  await object({ attachRequired: false });
  await registered({
    info: {
      max_volumes_per_node: 3,
      accessible_topology: { segments: { "example.com/zone": "z" } },
    },
  });
  expect(api.all<CSINode>(csiNodes)[0]?.spec.drivers).toEqual([
    {
      name: driverName,
      nodeID: "node-1",
      topologyKeys: ["example.com/zone"],
      allocatable: { count: 3 },
    },
  ]);
  const node = await agent.client.resource(nodes).get("n1");
  expect(node.metadata.labels?.["example.com/zone"]).toBe("z");
  await bound("vol");
  const [a, b] = [podWith("a", "vol"), podWith("b", "vol")];
  await Promise.all([agent.volumes.mount(a), agent.volumes.mount(b)]);
  fs.writeFileSync(path.join(await pathIn(a), "data"), "1");
  expect(fs.readFileSync(path.join(await pathIn(b), "data"), "utf8")).toBe("1");
  await agent.volumes.unmount("a");
  await agent.volumes.unmount("b");
  await passes(() => expect(driver.calls).toContain("unstage vol"));
  // Both pods ask for the volume to be staged, which is idempotent.
  expect([...new Set(driver.calls)]).toEqual([
    "stage vol",
    "publish vol",
    "unpublish vol",
    "unstage vol",
  ]);
  expect(fs.existsSync(path.join(driver.contentOf("vol"), "data"))).toBe(true);
  expect(mounted()).toEqual([]);
  await passes(() =>
    expect(
      fs.readdirSync(path.join(root, "agent/plugins/kubernetes.io/csi")),
    ).toEqual([]),
  );
  driver.stop();
  await passes(() =>
    expect(api.all<CSINode>(csiNodes)[0]?.spec.drivers).toEqual([]),
  );
});

test("an attached volume waits for its attachment, and the node lists it while it is in use", async () => {
  await registered();
  await bound("vol");
  const pod = podWith("a", "vol");
  await expect(agent.volumes.mount(pod)).rejects.toThrow(
    'Volume not attached according to node status for volume "pv-vol"',
  );
  const unique = `kubernetes.io/csi/${driverName}^vol`;
  const { client } = agent;
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
  driver.intercept = async (call) => {
    if (call === "stage")
      inUse = (await client.resource(nodes).get("n1")).status?.volumesInUse;
  };
  await agent.volumes.mount(pod);
  // Before the driver is asked: nobody detaches what is being mounted.
  expect(inUse).toEqual([unique]);
  expect(
    driver.requests.find(({ call }) => call === "stage")?.request[
      "publish_context"
    ],
  ).toEqual({ device: "sdb" });
  await agent.volumes.unmount("a");
  await passes(async () =>
    expect(
      (await client.resource(nodes).get("n1")).status?.volumesInUse,
    ).toEqual([]),
  );
});

test("what a driver asks for: the pod, its tokens, secrets, the group of its files", async () => {
  await object({
    attachRequired: false,
    podInfoOnMount: true,
    fsGroupPolicy: "File",
    tokenRequests: [{ audience: "vault" }],
  });
  await registered();
  await bound("vol", {
    mountOptions: ["noatime"],
    csi: {
      driver: driverName,
      volumeHandle: "vol",
      volumeAttributes: { kind: "fast" },
      nodePublishSecretRef: { name: "there", namespace: "s" },
    },
  });
  const pod = podWith("a", "vol", { securityContext: { fsGroup: 4321 } });
  await agent.volumes.mount(pod);
  const publish = driver.requests.find(({ call }) => call === "publish");
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
        vault: { token: "for vault", expirationTimestamp: "t" },
      }),
    },
  });
  expect(fs.statSync(await pathIn(pod)).gid).toBe(4321);
});

test("an inline volume needs a driver that says it serves them, and goes with its pod", async () => {
  await registered();
  const pod = podWith("a", "", {
    volumes: [{ name: "v", csi: { driver: driverName } }],
  });
  await expect(agent.volumes.mount(pod)).rejects.toThrow(
    `volume mode "Ephemeral" not supported by driver ${driverName} (no CSIDriver object)`,
  );
  await object({ volumeLifecycleModes: ["Ephemeral"], podInfoOnMount: true });
  await agent.volumes.mount(pod);
  await agent.volumes.unmount("a");
  const [handle] = driver.calls.map((call) => call.split(" ")[1]);
  expect(handle).toMatch(/^csi-[0-9a-f]{64}$/);
  expect(driver.calls).toEqual([`publish ${handle}`, `unpublish ${handle}`]);
  expect(mounted()).toEqual([]);
});

test("a block volume is a device of the container", async () => {
  await object({ attachRequired: false });
  await registered();
  await bound("vol", { volumeMode: "Block" });
  const pod = podWith("a", "vol", {
    containers: [
      { name: "c", volumeDevices: [{ name: "v", devicePath: "/dev/x" }] },
    ],
  });
  await agent.volumes.mount(pod);
  expect(agent.volumes.containerDevices(pod, pod.spec.containers[0]!)).toEqual([
    {
      containerPath: "/dev/x",
      hostPath: path.join(
        root,
        "agent/plugins/kubernetes.io/csi/volumeDevices/publish/pv-vol/a",
      ),
      permissions: "mrw",
    },
  ]);
  await agent.volumes.unmount("a");
  await passes(() => expect(driver.calls).toContain("unstage vol"));
  expect(mounted()).toEqual([]);
});

const refusal = (code: grpc.status, details: string) =>
  Object.assign(new Error(details), { code, details });

test("a refusal for good leaves nothing to unstage; one that may go on does", async () => {
  await object({ attachRequired: false });
  await registered();
  await bound("vol");
  const pod = podWith("a", "vol");
  driver.intercept = (call) => {
    if (call === "stage") throw refusal(grpc.status.INVALID_ARGUMENT, "no");
  };
  await expect(agent.volumes.mount(pod)).rejects.toThrow(
    'MountVolume.MountDevice failed for volume "pv-vol" : rpc error: code = InvalidArgument desc = no',
  );
  await agent.volumes.unmount("a");
  expect(driver.calls).toEqual(["stage vol"]);
  driver.intercept = (call) => {
    if (call === "stage") throw refusal(grpc.status.DEADLINE_EXCEEDED, "slow");
  };
  await expect(agent.volumes.mount(pod)).rejects.toThrow("DeadlineExceeded");
  await agent.volumes.unmount("a");
  await passes(() => expect(driver.calls).toContain("unstage vol"));
});

test("a driver that dies: pods wait by name, what it had is ended when it is back", async () => {
  await object({ attachRequired: false });
  await registered();
  await bound("vol");
  await agent.volumes.mount(podWith("a", "vol"));
  driver.stop();
  await passes(() => expect(() => agent.registry.driver(driverName)).toThrow());
  await bound("other");
  await expect(agent.volumes.mount(podWith("b", "other"))).rejects.toThrow(
    `MountVolume.MountDevice failed for volume "pv-other" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name ${driverName} not found in the list of registered CSI drivers`,
  );
  await expect(agent.volumes.unmount("a")).rejects.toThrow("not found in");
  // What is mounted is not removed with its files.
  expect(mounted()).not.toEqual([]);
  await registered();
  await agent.volumes.unmount("a");
  await passes(() =>
    expect(driver.calls).toEqual(["unpublish vol", "unstage vol"]),
  );
  expect(mounted()).toEqual([]);
});

test("the next agent ends what the one before it had published and staged", async () => {
  await object({ attachRequired: false });
  await registered();
  await bound("vol");
  await agent.volumes.mount(podWith("a", "vol"));
  await agent.stop();
  agent = startAgent();
  await agent.start();
  await passes(() => void agent.registry.driver(driverName));
  await agent.volumes.unmount("a");
  await passes(() => expect(driver.calls.at(-1)).toBe("unstage vol"));
  expect(mounted()).toEqual([]);
});

test("a driver that says it has unmounted and has not: its files are safe", async () => {
  await object({ attachRequired: false });
  await registered();
  await bound("vol");
  const pod = podWith("a", "vol");
  await agent.volumes.mount(pod);
  const target = await pathIn(pod);
  fs.writeFileSync(path.join(target, "precious"), "1");
  driver.lies = true;
  await agent.volumes.unmount("a");
  expect(mounted()).toHaveLength(1);
  expect(
    fs.readFileSync(path.join(driver.contentOf("vol"), "precious"), "utf8"),
  ).toBe("1");
});

test("a larger volume is grown on the node, and its claim says so", async () => {
  await object({ attachRequired: false });
  await registered();
  await bound("vol", { capacity: { storage: "2Gi" } });
  await agent.volumes.mount(podWith("a", "vol"));
  expect(driver.calls).toEqual(["stage vol", "publish vol", "expand vol"]);
  expect(
    driver.requests.find(({ call }) => call === "expand")?.request[
      "capacity_range"
    ],
  ).toMatchObject({ required_bytes: 2 ** 31 });
  const claim = await agent.client
    .resource(persistentVolumeClaims)
    .get("vol", "default");
  expect(claim.status?.capacity?.["storage"]).toBe("2Gi");
});

test.each([
  [["2.0.0"], "are supported"],
  [[], "empty list"],
])("a driver of versions %j is refused", async (versions, text) => {
  driver = newDriver({ versions });
  await driver.start();
  await passes(() => expect(driver.notified.join()).toContain(text));
});
