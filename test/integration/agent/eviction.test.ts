// Pods the agent itself refuses or ends: above a disk limit, under pressure, not fitting; and mirror pods over a restart.
import { systemClock } from "../../../api/clock.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import { pods } from "../../../client/resources.ts";
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

const find = (name: string): Pod | undefined =>
  api.all<Pod>(pods).find(({ metadata }) => metadata.name === name);

async function create(pod: Pod): Promise<void> {
  await client
    .resource(pods)
    .create({ ...pod, spec: { ...pod.spec, nodeName: "test-node" } });
}

test("a mirror pod outlives the agent's restart", async () => {
  await node.writePod("still.yaml", busyboxPod("still", "sleep 1000"));
  const first = node.agent({ client });
  await first.start();
  const mirror = await eventually(() =>
    api
      .all<Pod>(pods)
      .find(
        ({ metadata, status }) =>
          metadata.name.startsWith("still") && status?.phase === "Running",
      ),
  );
  await first.stop();
  const second = node.agent({ client });
  await second.start();
  // The static pod is known again when the second agent reports a pod of its own.
  await create(busyboxPod("after", "sleep 1000"));
  await eventually(() => find("after")?.status?.phase === "Running");
  expect(find(mirror!.metadata.name)?.metadata.uid).toBe(mirror!.metadata.uid);
  // So that there is one pod only that can be evicted later.
  await client
    .resource(pods)
    .delete("after", "default", { gracePeriodSeconds: 1 });
  await eventually(() => find("after") === undefined);
  await second.stop();
});

test("a pod that asks for more than the node has is Failed", async () => {
  const agent = node.agent({ client });
  await agent.start();
  const pod = busyboxPod("big", "sleep 1000");
  pod.spec.containers[0]!.resources = { requests: { cpu: "1000" } };
  await create(pod);
  const refused = await eventually(() => {
    const found = find("big");
    return found?.status?.phase === "Failed" ? found : undefined;
  });
  expect(refused!.status).toMatchObject({
    reason: "OutOfcpu",
    message: expect.stringMatching(
      /^Pod was rejected: Node didn't have enough resource: cpu, requested: 1000000, used: \d+, capacity: \d+$/,
    ),
  });
  expect(refused!.status?.containerStatuses).toBeUndefined();
  // Deleting it needs nothing of the runtime.
  await client.resource(pods).delete("big", "default", {});
  await eventually(() => find("big") === undefined);
  await agent.stop();
});

test("an emptyDir above its limit ends the pod", async () => {
  const agent = node.agent({ client });
  await agent.start();
  const pod = busyboxPod(
    "greedy",
    "dd if=/dev/zero of=/cache/x bs=1M count=4; sleep 1000",
    {
      volumes: [{ name: "cache", emptyDir: { sizeLimit: "1Mi" } }],
    },
  );
  pod.spec.containers[0]!.volumeMounts = [
    { name: "cache", mountPath: "/cache" },
  ];
  await create(pod);
  const evicted = await eventually(
    () => {
      const found = find("greedy");
      return found?.status?.phase === "Failed" ? found : undefined;
    },
    { timeoutMs: 80_000 },
  );
  expect(evicted!.status).toMatchObject({
    reason: "Evicted",
    message: 'Usage of EmptyDir volume "cache" exceeds the limit "1Mi". ',
  });
  expect(
    evicted!.status?.conditions?.find(
      ({ type }) => type === "DisruptionTarget",
    ),
  ).toBeUndefined();
  expect(
    evicted!.status?.containerStatuses?.[0]?.state?.terminated,
  ).toBeDefined();
  await agent.stop();
});

test("under memory pressure pods end, static ones do not", async () => {
  await create(busyboxPod("victim", "sleep 1000"));
  const calm = node.agent({ client });
  await calm.start();
  await eventually(() => find("victim")?.status?.phase === "Running");
  await calm.stop();
  const agent = node.agent({
    client,
    config: {
      nodeName: "test-node",
      evictionHard: { "memory.available": "99%" },
    },
  });
  await agent.start();
  const evicted = await eventually(
    () => {
      const found = find("victim");
      return found?.status?.phase === "Failed" ? found : undefined;
    },
    { timeoutMs: 80_000 },
  );
  expect(evicted!.status?.reason).toBe("Evicted");
  expect(evicted!.status?.message).toMatch(
    /^The node was low on resource: memory\. Threshold quantity: \d+.*, available: \d+/,
  );
  expect(
    evicted!.status?.conditions?.find(
      ({ type }) => type === "DisruptionTarget",
    ),
  ).toMatchObject({ status: "True", reason: "TerminationByKubelet" });
  expect(agent.evictions().get("memory.available")).toBe(1);
  expect(
    api.all<Pod>(pods).find(({ metadata }) => metadata.name.startsWith("still"))
      ?.status?.phase,
  ).toBe("Running");
  await agent.stop();
});
