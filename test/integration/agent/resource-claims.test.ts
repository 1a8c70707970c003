// Dynamic resource allocation end to end: API server, controllers and scheduler of the library, the agent with the real
// containerd, and a driver of ours.
import {
  deviceClasses,
  events,
  nodes,
  pods,
  resourceClaims,
  resourceClaimTemplates,
  resourceSlices,
  startCluster,
  type Cluster,
} from "../../../index.ts";
import { join } from "node:path";
import type { Agent } from "../../../agent/agent.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { eventually } from "../../support/eventually.ts";
import {
  startDraDriver,
  type TestDraDriver,
} from "../../support/plugins/dra-driver.ts";
import { busyboxPod, startNode, type NodeFixture } from "./node-fixture.ts";

const driverName = "gpu.example.com";
const namespace = "default";
let cluster: Cluster;
let node: NodeFixture;
let agent: Agent;
let driver: TestDraDriver;
let names: readonly string[] = [];

const newAgent = (): Agent =>
  node.agent({
    client: cluster.client,
    config: {
      nodeName: "test-node",
      manifestsDirectory: undefined,
      featureGates: { DynamicResourceAllocation: true },
    },
  });

const publish = (): Promise<unknown> =>
  cluster.client.resource(resourceSlices).create({
    apiVersion: "resource.k8s.io/v1beta1",
    kind: "ResourceSlice",
    metadata: { name: "slice" },
    spec: {
      driver: driverName,
      nodeName: "test-node",
      pool: { name: "p", generation: 1, resourceSliceCount: 1 },
      devices: [{ name: "a", basic: {} }],
    },
  });

beforeAll(async () => {
  cluster = await startCluster({
    args: [
      "--feature-gates=DynamicResourceAllocation=true",
      "--runtime-config=resource.k8s.io/v1beta1=true",
      "--disable-admission-plugins=ServiceAccount",
    ],
  });
  node = await startNode();
  agent = newAgent();
  await agent.start();
  driver = await startDraDriver(join(node.directory, "agent"), driverName, {
    prepare: ({ uid }) => ({
      [uid]: {
        devices: [
          {
            request_names: ["r"],
            pool_name: "p",
            device_name: "a",
            cdi_device_ids: [...names],
          },
        ],
      },
    }),
  });
  await eventually(() => driver.registration.notified.length === 1);
  await cluster.client.resource(deviceClasses).create({
    apiVersion: "resource.k8s.io/v1beta1",
    kind: "DeviceClass",
    metadata: { name: "gpu" },
    spec: {
      selectors: [{ cel: { expression: `device.driver == "${driverName}"` } }],
    },
  });
  await cluster.client.resource(resourceClaimTemplates).create({
    apiVersion: "resource.k8s.io/v1beta1",
    kind: "ResourceClaimTemplate",
    metadata: { name: "one", namespace },
    spec: {
      spec: {
        devices: { requests: [{ name: "r", deviceClassName: "gpu" }] },
      },
    },
  });
  await eventually(() => cluster.client.resource(nodes).get("test-node"));
  await publish();
});
afterAll(async () => {
  await driver?.close();
  await node?.close();
  await cluster?.stop();
});

async function create(name: string, script: string): Promise<void> {
  const pod = busyboxPod(name, script, {
    restartPolicy: "Never",
    tolerations: [{ operator: "Exists" }],
    resourceClaims: [{ name: "c", resourceClaimTemplateName: "one" }],
  });
  pod.spec.containers[0]!.resources = { claims: [{ name: "c" }] };
  await cluster.client.resource(pods).create(pod);
}

const reaches = (name: string, phase: string): Promise<Pod> =>
  eventually(
    async () => {
      const pod = await cluster.client.resource(pods).get(name, namespace);
      if (pod.status?.phase === phase) return pod;
      throw new Error(JSON.stringify(pod.status));
    },
    { timeoutMs: 60_000 },
  );
const noClaims = (): Promise<boolean> =>
  eventually(
    async () =>
      (await cluster.client.resource(resourceClaims).list({ namespace })).items
        .length === 0,
  );

test("a pod's claim is prepared before it starts and given back after its end", async () => {
  await create("short", "true");
  const pod = await reaches("short", "Succeeded");
  expect(pod.status?.resourceClaimStatuses).toEqual([
    { name: "c", resourceClaimName: expect.stringMatching(/^short-c-/) },
  ]);
  await noClaims();
  const claim = pod.status!.resourceClaimStatuses![0]!.resourceClaimName;
  expect(driver.calls).toEqual([
    `prepare default/${claim}`,
    `unprepare default/${claim}`,
  ]);
});

test("a claim outlives a restart of the agent", async () => {
  await create("long", "sleep 1000");
  await reaches("long", "Running");
  await agent.stop();
  agent = newAgent();
  await agent.start();
  await eventually(() => driver.registration.notified.length === 2);
  // What ran before still does; only the slices were removed, until the driver publishes them again.
  await eventually(
    async () =>
      (await cluster.client.resource(resourceSlices).list()).items.length === 0,
  );
  await reaches("long", "Running");
  await cluster.client
    .resource(pods)
    .delete("long", namespace, { gracePeriodSeconds: 1 });
  await noClaims();
  expect(driver.calls.at(-1)).toMatch(/^unprepare default\/long-c-/);
  await publish();
});

test("CDI devices go to the runtime: containerd before 1.7 refuses the container by name", async () => {
  names = ["example.com/gpu=a"];
  const { runtimeVersion } = await node.runtime.version();
  await create("cdi", "sleep 1000");
  const text = /^v?1\.[0-6]\./.test(runtimeVersion)
    ? "does not support CDI devices"
    : "CDI";
  await eventually(async () => {
    const pod = await cluster.client.resource(pods).get("cdi", namespace);
    const waiting = pod.status?.containerStatuses?.[0]?.state?.waiting;
    return (
      waiting?.reason === "CreateContainerError" &&
      waiting.message?.includes(text)
    );
  });
  names = [];
  await cluster.client
    .resource(pods)
    .delete("cdi", namespace, { gracePeriodSeconds: 1 });
  await noClaims();
});

test("without its driver a pod waits, and starts when it is back", async () => {
  await driver.close();
  // Its slices go with it.
  await eventually(
    async () =>
      (await cluster.client.resource(resourceSlices).list()).items.length === 0,
  );
  await publish();
  await create("waits", "true");
  await eventually(async () => {
    const { items } = await cluster.client.resource(events).list({ namespace });
    return items.some(
      ({ reason, message }) =>
        reason === "FailedPrepareDynamicResources" &&
        message?.endsWith(
          `plugin name ${driverName} not found in the list of registered DRA plugins`,
        ),
    );
  });
  driver = await startDraDriver(join(node.directory, "agent"), driverName);
  await reaches("waits", "Succeeded");
  await noClaims();
});
