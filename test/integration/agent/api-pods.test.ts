// Pods, mirror pods and the node through an API server (in memory), run by the real containerd.
import { systemClock } from "../../../api/clock.ts";
import type { Node, Pod } from "../../../api/types/core-v1.ts";
import type { Agent } from "../../../agent/agent.ts";
import type { Client } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import { events, leases, nodes, pods } from "../../../client/resources.ts";
import { eventually } from "../../support/eventually.ts";
import { MemoryApi } from "../../support/memory-api.ts";
import { busyboxPod, startNode, type NodeFixture } from "./node-fixture.ts";

let node: NodeFixture;
let api: MemoryApi;
let client: Client;
let agent: Agent;

beforeAll(async () => {
  node = await startNode();
  api = new MemoryApi(systemClock);
  client = createClient(api, { clock: systemClock, logger: node.logger });
  agent = node.agent({ client });
  await agent.start();
});
afterAll(async () => {
  await node?.close();
  await client?.close();
});

const find = (name: string): Pod | undefined =>
  api.all<Pod>(pods).find(({ metadata }) => metadata.name === name);
const isReady = (pod: Pod | undefined): boolean =>
  pod?.status?.phase === "Running" &&
  pod.status.conditions?.find(({ type }) => type === "Ready")?.status ===
    "True";

async function create(pod: Pod): Promise<void> {
  await client
    .resource(pods)
    .create({ ...pod, spec: { ...pod.spec, nodeName: "test-node" } });
}

test("the node is registered, with a lease", async () => {
  const found = await eventually(
    () => api.all<Node>(nodes)[0]?.status && api.all<Node>(nodes)[0],
  );
  expect(found!.metadata.labels).toMatchObject({
    "kubernetes.io/hostname": "test-node",
    "kubernetes.io/os": "linux",
  });
  expect(found!.status?.capacity).toMatchObject({
    cpu: expect.any(String),
    memory: expect.stringMatching(/Ki$/),
    pods: "110",
  });
  expect(found!.status?.nodeInfo?.containerRuntimeVersion).toMatch(
    /^(containerd|docker):\/\//,
  );
  // There is no network configuration in this fixture: the node says so.
  const ready = found!.status?.conditions?.find(({ type }) => type === "Ready");
  expect([ready?.status, ready?.reason]).toEqual(["False", "KubeletNotReady"]);
  expect(ready?.message).toMatch(/container runtime network not ready/);
  await eventually(() => api.all(leases).length === 1);
});

test("a pod runs quickly and goes quickly", async () => {
  const created: number[] = [];
  const deleted: number[] = [];
  for (let round = 0; round < 5; round++) {
    const name = `quick-${round}`;
    let started = performance.now();
    await create(busyboxPod(name, "sleep 1000"));
    await eventually(() => isReady(find(name)), { intervalMs: 2 });
    created.push(performance.now() - started);
    started = performance.now();
    await client
      .resource(pods)
      .delete(name, "default", { gracePeriodSeconds: 1 });
    await eventually(() => !find(name), { intervalMs: 2 });
    deleted.push(performance.now() - started);
  }
  const median = (values: number[]): string =>
    values.sort((a, b) => a - b)[2]!.toFixed(0);
  console.log(
    `created → Running ${median(created)} ms, deleted (grace 1 s) → gone ${median(deleted)} ms`,
  );
  await eventually(
    async () => (await node.runtime.listPodSandboxes()).length === 0,
  );
  const reasons = new Set(
    api
      .all(events)
      .map((event) => (event as unknown as { reason: string }).reason),
  );
  expect([...reasons]).toEqual(
    expect.arrayContaining(["Pulled", "Created", "Started", "Killing"]),
  );
});

test("statuses tell what went wrong", async () => {
  const missing = busyboxPod("missing-image", "true");
  missing.spec.containers[0]!.image = "localhost:1/none:v1";
  await create(missing);
  const never = busyboxPod("never-pull", "true");
  Object.assign(never.spec.containers[0]!, {
    image: "none:v1",
    imagePullPolicy: "Never",
  });
  await create(never);
  const config = busyboxPod("no-config", "true");
  config.spec.containers[0]!.env = [
    { name: "X", valueFrom: { configMapKeyRef: { name: "absent", key: "x" } } },
  ];
  await create(config);
  const badCommand = busyboxPod("bad-command", "true");
  badCommand.spec.containers[0]!.command = ["/no/such/file"];
  await create(badCommand);
  const reason = (name: string): string | undefined =>
    find(name)?.status?.containerStatuses?.[0]?.state?.waiting?.reason;
  await eventually(
    () =>
      ["ErrImagePull", "ImagePullBackOff"].includes(
        reason("missing-image") ?? "",
      ),
    { what: "ErrImagePull" },
  );
  await eventually(() => reason("never-pull") === "ErrImageNeverPull");
  await eventually(() => reason("no-config") === "CreateContainerConfigError");
  await eventually(
    () =>
      ["RunContainerError", "CrashLoopBackOff"].includes(
        reason("bad-command") ?? "",
      ),
    { what: "RunContainerError" },
  );
  expect(
    find("no-config")!.status?.containerStatuses?.[0]?.state?.waiting?.message,
  ).toBe('configmap "absent" not found');
  for (const name of [
    "missing-image",
    "never-pull",
    "no-config",
    "bad-command",
  ]) {
    expect([name, find(name)!.status?.phase]).toEqual([
      name,
      name === "bad-command"
        ? expect.stringMatching(/Pending|Running/)
        : "Pending",
    ]);
    await client
      .resource(pods)
      .delete(name, "default", { gracePeriodSeconds: 0 });
  }
  await eventually(
    async () => (await node.runtime.listPodSandboxes()).length === 0,
  );
});

test("a pod that completes stays until it is deleted", async () => {
  await create(busyboxPod("job", "exit 4", { restartPolicy: "Never" }));
  await eventually(() => find("job")?.status?.phase === "Failed");
  expect(
    find("job")!.status?.containerStatuses?.[0]?.state?.terminated,
  ).toMatchObject({ exitCode: 4, reason: "Error" });
  await client
    .resource(pods)
    .delete("job", "default", { gracePeriodSeconds: 30 });
  await eventually(() => !find("job"));
});

test("a static pod has a mirror, made anew when deleted, gone with the file", async () => {
  await node.writePod("static.json", busyboxPod("static", "sleep 1000"));
  const mirror = await eventually(() =>
    isReady(find("static-test-node")) ? find("static-test-node") : undefined,
  );
  expect(mirror!.metadata.annotations).toMatchObject({
    "kubernetes.io/config.source": "file",
    "kubernetes.io/config.mirror":
      mirror!.metadata.annotations!["kubernetes.io/config.hash"],
  });
  expect(mirror!.metadata.ownerReferences?.[0]).toMatchObject({
    kind: "Node",
    name: "test-node",
  });
  const containerID = mirror!.status?.containerStatuses?.[0]?.containerID;
  await client
    .resource(pods)
    .delete("static-test-node", "default", { gracePeriodSeconds: 0 });
  const again = await eventually(() => {
    const found = find("static-test-node");
    return found?.metadata.uid !== mirror!.metadata.uid && isReady(found)
      ? found
      : undefined;
  });
  expect(again!.status?.containerStatuses?.[0]?.containerID).toBe(containerID);
});

test("an agent that was away ends what was deleted meanwhile and keeps the rest", async () => {
  await create(busyboxPod("stays", "sleep 1000"));
  await create(busyboxPod("goes", "sleep 1000"));
  await eventually(() => isReady(find("stays")) && isReady(find("goes")));
  const before = find("stays")!.status!.containerStatuses![0]!.containerID;
  await agent.stop();
  await client
    .resource(pods)
    .delete("goes", "default", { gracePeriodSeconds: 0 });
  agent = node.agent({ client });
  await agent.start();
  await eventually(
    async () => (await node.runtime.listPodSandboxes()).length === 2,
    { what: "the deleted pod's sandbox to go" },
  );
  await eventually(() => isReady(find("stays")));
  expect(find("stays")!.status!.containerStatuses![0]).toMatchObject({
    containerID: before,
    restartCount: 0,
  });
});

test("a static pod whose mirror says that it has failed, as after a halt, runs on", async () => {
  await node.writePod("halted.json", busyboxPod("halted", "sleep 1000"));
  const name = "halted-test-node";
  await eventually(() => isReady(find(name)));
  await agent.stop();
  await client.resource(pods).patch(
    name,
    "default",
    {
      type: "strategic",
      body: { status: { phase: "Failed", reason: "Terminated", message: "m" } },
    },
    { subresource: "status" },
  );
  expect(find(name)!.status).toMatchObject({ phase: "Failed" });
  agent = node.agent({ client });
  await agent.start();
  await eventually(() => isReady(find(name)), { what: "the pod to run" });
  const status = find(name)!.status!;
  expect(status.containerStatuses![0]).toMatchObject({ restartCount: 0 });
  expect(status).not.toHaveProperty("reason");
  expect(status).not.toHaveProperty("message");
});
