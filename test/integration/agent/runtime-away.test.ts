import * as fs from "node:fs";
import * as path from "node:path";
import { systemClock } from "../../../api/clock.ts";
import { metricsText } from "../../../api/metrics/family.ts";
import type { Node, Pod } from "../../../api/types/core-v1.ts";
import { createClient } from "../../../client/create-client.ts";
import { nodes, pods } from "../../../client/resources.ts";
import { eventually } from "../../support/eventually.ts";
import { MemoryApi } from "../../support/memory-api.ts";
import {
  busyboxPod,
  podOf,
  startNode,
  type NodeFixture,
} from "./node-fixture.ts";

let node: NodeFixture;
beforeAll(async () => {
  node = await startNode();
});
afterAll(async () => {
  await node?.close();
});

test("the runtime goes away and comes back: pods go on, what was asked meanwhile is done", async () => {
  const api = new MemoryApi(systemClock);
  const client = createClient(api, { clock: systemClock, logger: node.logger });
  const agent = node.agent({
    client,
    config: { nodeName: "test-node", nodeStatusUpdateFrequencyMs: 500 },
  });
  await agent.start();
  await node.writePod("before.json", busyboxPod("before", "sleep 1000"));
  const running = (name: string): Pod | undefined => {
    const pod = podOf(agent, `${name}-test-node`);
    return pod?.status?.phase === "Running" &&
      pod.status.containerStatuses?.[0]?.ready
      ? pod
      : undefined;
  };
  const before = await eventually(() => running("before"));
  const message = (): string =>
    api
      .all<Node>(nodes)[0]
      ?.status?.conditions?.find(({ type }) => type === "Ready")?.message ?? "";

  const away = await node.runtimeAway();
  await eventually(() => message().includes("container runtime is down"), {
    what: "NotReady with the reason",
  });
  await expect(agent.healthy()).rejects.toThrow(/container runtime is down/);
  await node.writePod("meanwhile.json", busyboxPod("meanwhile", "sleep 1000"));
  await eventually(() => podOf(agent, "meanwhile-test-node"));
  await away.start();
  await eventually(() => !message().includes("container runtime is down"), {
    what: "recovery",
  });
  await eventually(() => running("meanwhile"));
  const after = await eventually(() => running("before"));
  expect(after.status!.containerStatuses![0]).toMatchObject({
    containerID: before.status!.containerStatuses![0]!.containerID,
    restartCount: 0,
  });
  await eventually(() => agent.healthy().then(() => true));
  expect(
    api
      .all<Pod>(pods)
      .map(({ metadata }) => metadata.name)
      .sort(),
  ).toEqual(["before-test-node", "meanwhile-test-node"]);
  await agent.stop();
  await client.close();
});

test("an agent started before its runtime waits for it", async () => {
  const away = await node.runtimeAway();
  const agent = node.agent();
  await agent.start();
  await expect(agent.healthy()).rejects.toThrow();
  await away.start();
  await eventually(
    () => podOf(agent, "before-test-node")?.status?.phase === "Running",
  );
  await agent.stop();
});

test("a static pod that ends while the runtime is away keeps its mirror until its containers have ended", async () => {
  const api = new MemoryApi(systemClock);
  const client = createClient(api, { clock: systemClock, logger: node.logger });
  const agent = node.agent({ client });
  await agent.start();
  const graceSeconds = 2;
  await node.writePod(
    "ending.json",
    busyboxPod("ending", "trap '' TERM; while true; do sleep 1; done", {
      terminationGracePeriodSeconds: graceSeconds,
    }),
  );
  const mirror = (): string | undefined => {
    const found = api
      .all<Pod>(pods)
      .find(({ metadata }) => metadata.name === "ending-test-node");
    return found && `${found.metadata.uid} ${found.status?.phase}`;
  };
  const running = await eventually(() =>
    mirror()?.endsWith("Running") ? mirror() : undefined,
  );
  fs.rmSync(path.join(node.manifests, "ending.json"));
  const away = await node.runtimeAway();
  const graceOverMs = performance.now() + (graceSeconds + 1) * 1000;
  const seen = new Set<string | undefined>();
  await eventually(() => {
    seen.add(mirror());
    return performance.now() > graceOverMs;
  });
  const metrics = metricsText([...agent.metrics()]);
  await away.start();
  await eventually(() => mirror() === undefined, { what: "the mirror to go" });
  await agent.stop();
  await client.close();
  expect([...seen]).toEqual([running]);
  // Two more are those of the tests before, which still have their manifests.
  for (const line of [
    'kubelet_working_pods{config="orphan",lifecycle="terminating",static="true"} 1',
    "kubelet_mirror_pods 3",
    'kubelet_desired_pods{static="true"} 2',
    'kubelet_active_pods{static="true"} 2',
  ])
    expect(metrics).toContain(`${line}\n`);
});
