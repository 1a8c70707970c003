// Running containers resized in place by the real runtime, on cgroups of both versions: what the kernel holds them to, what
// their statuses say, and that nothing restarts whose policy does not ask for it.
import * as fs from "node:fs";
import * as path from "node:path";
import { systemClock } from "../../../api/clock.ts";
import type {
  ContainerStatus,
  Pod,
  ResourceRequirements,
} from "../../../api/types/core-v1.ts";
import type { Agent } from "../../../agent/agent.ts";
import type { Runtime } from "../../../cri/runtime.ts";
import type { Client } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import { pods } from "../../../client/resources.ts";
import { controllerRoot } from "../../support/cgroups.ts";
import { eventually } from "../../support/eventually.ts";
import { MemoryApi } from "../../support/memory-api.ts";
import { busyboxPod, startNode, type NodeFixture } from "./node-fixture.ts";

let node: NodeFixture;
let api: MemoryApi;
let client: Client;

beforeAll(async () => {
  node = await startNode();
  api = new MemoryApi(systemClock);
  client = createClient(api, { clock: systemClock, logger: node.logger });
});
afterAll(async () => {
  await node?.close();
  await client?.close();
});

async function startAgent(runtime: Runtime): Promise<Agent> {
  const agent = node.agent({
    client,
    runtime,
    config: {
      nodeName: "test-node",
      featureGates: { InPlacePodVerticalScaling: true },
    },
  });
  await agent.start();
  return agent;
}

/** As runtimes that do not say what a container has (containerd before 1.7 without a distribution's patches). */
function silentRuntime(): Runtime {
  const containerStatus: Runtime["containerStatus"] = async (id) => {
    const { resources: _, ...status } = await node.runtime.containerStatus(id);
    return status;
  };
  return { ...node.runtime, containerStatus };
}

const isUnified = fs.existsSync("/sys/fs/cgroup/cgroup.controllers");

/** The text of a file of the first container's cgroup. */
function limit(controller: string, file: string): string {
  const { metadata, status } = found();
  const id = containerOf(status).containerID!.replace(/^.*:\/\//, "");
  const name = `pod${metadata.uid!}`;
  const root = path.join(controllerRoot(controller), node.cgroupRoot);
  const place = [`burstable/${name}`, name]
    .map((each) => path.join(root, each, id))
    .find((each) => fs.existsSync(each));
  return fs.readFileSync(path.join(place!, file), "utf8").trim();
}

const memoryLimit = (): string =>
  isUnified
    ? limit("memory", "memory.max")
    : limit("memory", "memory.limit_in_bytes");
const cpuRequest = (): string =>
  isUnified ? limit("cpu", "cpu.weight") : limit("cpu", "cpu.shares");
const cpuLimit = (): string =>
  isUnified ? limit("cpu", "cpu.max") : limit("cpu", "cpu.cfs_quota_us");

function found(): Pod {
  return api.all<Pod>(pods).find(({ metadata }) => metadata.name === "sized")!;
}

function containerOf(status: Pod["status"]): ContainerStatus {
  return status!.containerStatuses![0]!;
}

async function resize(resources: ResourceRequirements): Promise<void> {
  const pod = structuredClone(found());
  pod.spec.containers[0]!.resources = resources;
  await client.resource(pods).update(pod);
  await eventually(
    () => {
      const { status } = found();
      expect(status?.resize).toBeUndefined();
      expect(containerOf(status).resources).toEqual(resources);
      expect(containerOf(status).ready).toBe(true);
      return true;
    },
    { what: `the status to say ${JSON.stringify(resources)}` },
  );
}

test.each([
  ["the runtime says what containers have", () => node.runtime],
  ["the kernel says what containers have", silentRuntime],
])("only what has to restart does: %s", async (_, runtime) => {
  const agent = await startAgent(runtime());
  const pod = busyboxPod("sized", "sleep 1000");
  Object.assign(pod.spec.containers[0]!, {
    resources: {
      requests: { cpu: "1", memory: "32Mi" },
      limits: { cpu: "2", memory: "64Mi" },
    },
    resizePolicy: [
      { resourceName: "cpu", restartPolicy: "RestartContainer" },
      { resourceName: "memory", restartPolicy: "NotRequired" },
    ],
  });
  pod.spec.nodeName = "test-node";
  await client.resource(pods).create(pod);
  await eventually(() => found().status?.containerStatuses?.[0]?.ready);
  const requestBefore = cpuRequest();
  const idBefore = containerOf(found().status).containerID;

  for (const memory of ["96Mi", "80Mi"]) {
    await resize({
      requests: { cpu: "1", memory: "32Mi" },
      limits: { cpu: "2", memory },
    });
    expect(memoryLimit()).toBe(String(parseInt(memory, 10) * 2 ** 20));
    expect(cpuRequest()).toBe(requestBefore);
    expect(containerOf(found().status)).toMatchObject({
      containerID: idBefore,
      restartCount: 0,
    });
  }

  await resize({
    requests: { cpu: "500m", memory: "32Mi" },
    limits: { cpu: "1", memory: "80Mi" },
  });
  expect(containerOf(found().status).restartCount).toBe(1);
  expect(cpuRequest()).toBe(isUnified ? "20" : "512");
  expect(cpuLimit()).toBe(isUnified ? "100000 100000" : "100000");
  expect(memoryLimit()).toBe(String(80 * 2 ** 20));

  await client
    .resource(pods)
    .delete("sized", "default", { gracePeriodSeconds: 0 });
  await eventually(
    async () => (await node.runtime.listPodSandboxes()).length === 0,
  );
  await agent.stop();
});
