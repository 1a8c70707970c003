// Device plug-ins with the real containerd: devices reported on the node, given to containers, kept over restarts of the
// agent and of the plug-in, refused when there are none.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../../api/clock.ts";
import type { Agent } from "../../../agent/agent.ts";
import type { Node, Pod } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import { nodes, pods } from "../../../client/resources.ts";
import {
  podResourcesCodec,
  podResourcesMethods,
} from "../../../agent/pod-resources/pod-resources-protocol.ts";
import { GrpcChannel, loadGrpc } from "../../../grpc/channel.ts";
import { eventually } from "../../support/eventually.ts";
import { MemoryApi } from "../../support/memory-api.ts";
import {
  device,
  startDevicePlugin,
  type TestDevicePlugin,
} from "../../support/plugins/device-plugin.ts";
import { busyboxPod, startNode, type NodeFixture } from "./node-fixture.ts";

const resource = "example.com/gadget";
let node: NodeFixture;
let api: MemoryApi;
let client: Client;
let agent: Agent;
let plugin: TestDevicePlugin;

const newPlugin = async (): Promise<TestDevicePlugin> => {
  const directory = join(node.directory, "agent/device-plugins");
  const made = await eventually(() =>
    startDevicePlugin(directory, resource, [device("a"), device("b")], {
      allocate: (ids) => ({
        envs: { GADGETS: ids.join() },
        mounts: [
          {
            container_path: "/gadget",
            host_path: join(node.directory, "gadget"),
            read_only: true,
          },
        ],
        devices: [
          {
            container_path: "/dev/gadget",
            host_path: "/dev/zero",
            permissions: "r",
          },
        ],
        annotations: { "example.com/gadgets": ids.join() },
      }),
    }),
  );
  await eventually(() => made.register().then(() => true));
  return made;
};

beforeAll(async () => {
  node = await startNode();
  await writeFile(join(node.directory, "gadget"), "driver");
  api = new MemoryApi(systemClock);
  client = createClient(api, { clock: systemClock, logger: node.logger });
  agent = node.agent({ client });
  await agent.start();
  plugin = await newPlugin();
});
afterAll(async () => {
  await plugin?.close();
  await node?.close();
  await client?.close();
});

const find = (name: string): Pod | undefined =>
  api.all<Pod>(pods).find(({ metadata }) => metadata.name === name);

function gadgetPod(name: string, script: string, count = 1): Pod {
  const pod = busyboxPod(name, script);
  pod.spec.containers[0]!.resources = {
    limits: { [resource]: String(count) },
    requests: { [resource]: String(count) },
  };
  pod.spec.restartPolicy = "Never";
  return pod;
}

async function run(pod: Pod, phase: string): Promise<Pod> {
  await client
    .resource(pods)
    .create({ ...pod, spec: { ...pod.spec, nodeName: "test-node" } });
  return await eventually(
    () => {
      const found = find(pod.metadata.name);
      if (found?.status?.phase === phase) return found;
      throw new Error(JSON.stringify(found?.status));
    },
    { timeoutMs: 60_000 },
  );
}

async function gone(name: string): Promise<void> {
  await client.resource(pods).delete(name, "default");
  await eventually(() => !find(name));
}

const reported = (capacity: string, allocatable: string): Promise<unknown> =>
  eventually(() => {
    const { status } = api.all<Node>(nodes)[0]!;
    const seen = [status?.capacity, status?.allocatable].map(
      (list) => list?.[resource],
    );
    if (seen.join() === [capacity, allocatable].join()) return true;
    throw new Error(`reported ${seen.join()}`);
  });

test("a container sees what its plug-in gave, and the node reports health", async () => {
  await reported("2", "2");
  plugin.list([device("a"), device("b", "Unhealthy")]);
  await reported("2", "1");
  plugin.list([device("a"), device("b")]);
  await reported("2", "2");
  await run(
    gadgetPod(
      "sees",
      '[ "$GADGETS" = a,b -o "$GADGETS" = b,a ] && [ "$(cat /gadget)" = driver ] && ! touch /gadget && test -c /dev/gadget && [ $(head -c 3 /dev/gadget | wc -c) = 3 ]',
      2,
    ),
    "Succeeded",
  );
  expect(plugin.calls).toEqual(["Allocate a,b"]);
  await gone("sees");
});

test("the pod resources API names the device of a running container", async () => {
  await run(gadgetPod("listed", "sleep 1000"), "Running");
  const channel = new GrpcChannel(await loadGrpc(), {
    target: `unix://${join(node.directory, "agent/pod-resources/kubelet.sock")}`,
    codec: podResourcesCodec,
    settings: {},
  });
  const { pod_resources: list } = await channel.unary<{
    pod_resources: { name: string; containers: { devices: unknown[] }[] }[];
  }>(podResourcesMethods.list, {}, { timeoutMs: 60_000 });
  channel.close();
  expect(list.map(({ name }) => name)).toEqual(["listed"]);
  expect(list[0]!.containers[0]!.devices).toEqual([
    { resource_name: resource, device_ids: [expect.stringMatching(/^[ab]$/)] },
  ]);
  await gone("listed");
});

test("too many are refused, and what runs keeps its device over restarts", async () => {
  await run(gadgetPod("keeps", "sleep 1000"), "Running");
  const { status } = await run(gadgetPod("many", "true", 2), "Failed");
  expect([status?.reason, status?.message]).toEqual([
    "UnexpectedAdmissionError",
    `Pod was rejected: Allocate failed due to requested number of devices unavailable for ${resource}. Requested: 2, Available: 1, which is unexpected`,
  ]);
  const [container] = await node.runtime.listContainers();
  const held = container!.annotations["example.com/gadgets"];
  await agent.stop();
  agent = node.agent({ client });
  await agent.start();
  await reported("0", "0");
  // The agent removed the socket, by which a plug-in notices that it is to come back.
  await plugin.close();
  plugin = await newPlugin();
  await reported("2", "2");
  await run(gadgetPod("other", "echo $GADGETS; sleep 1000"), "Running");
  const now = await node.runtime.listContainers();
  expect(find("keeps")?.status?.phase).toBe("Running");
  expect(
    now.map(({ annotations }) => annotations["example.com/gadgets"]).sort(),
  ).toEqual(["a", "b"]);
  expect(now.some(({ id }) => id === container!.id)).toBe(true);
  expect(held).toMatch(/^[ab]$/);
  await Promise.all([gone("keeps"), gone("other"), gone("many")]);
});

test("a plug-in that dies takes its devices out of allocatable", async () => {
  await plugin.close();
  await reported("2", "0");
  const { status } = await run(gadgetPod("late", "true"), "Failed");
  expect(status?.message).toBe(
    `Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices ${resource}, which is unexpected`,
  );
  plugin = await newPlugin();
  await reported("2", "2");
  await run(gadgetPod("again", "true"), "Succeeded");
});
