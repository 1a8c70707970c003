// --cloud-provider=external: the Node waits for the cloud's controller with a taint, carries --node-ip for it, and keeps
// the addresses that it sets.
import pino from "pino";
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import { logSink } from "../../../agent/events/event-sinks.ts";
import { PodEvents } from "../../../agent/events/pod-events.ts";
import { NodeStartup } from "../../../agent/metrics/node-startup.ts";
import { NodeReporter } from "../../../agent/node/node-reporter.ts";
import type { Node } from "../../../api/types/core-v1.ts";
import { createClient } from "../../../client/create-client.ts";
import { nodes } from "../../../client/resources.ts";
import type { Runtime } from "../../../cri/runtime.ts";
import { withAddresses } from "../../support/interfaces.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { MemoryApi } from "../../support/memory-api.ts";

const logger = pino({ level: "silent" });
const well = { ready: true, reason: "", message: "" };
const runtime = {
  status: async () => ({ runtime: well, network: well }),
  version: async () => ({
    runtimeName: "c",
    runtimeVersion: "1",
    runtimeApiVersion: "v1",
  }),
  listImages: async () => [],
} as unknown as Runtime;

/** A node that has reported once. */
async function started(
  settings: { externalCloudProvider: boolean; nodeIPs?: string[] },
  before?: Node,
) {
  const clock = new FakeClock();
  const client = createClient(new MemoryApi(clock), { clock, logger });
  const api = client.resource(nodes);
  if (before) await api.create(before);
  const reporter = new NodeReporter({
    interfaces: () => withAddresses("10.1.1.1", "fd00::1"),
    startup: new NodeStartup(clock, { machineSeconds: 0, programSeconds: 0 }),
    client,
    runtime,
    config: resolveAgentConfig({
      nodeName: "n",
      hostname: "n",
      rootDirectory: "/tmp",
      ...settings,
    }),
    clock,
    logger,
    events: new PodEvents(logSink(logger, clock), () => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n" },
    })),
  });
  await reporter.start();
  const node = await eventually(async () => {
    const found = await api.get("n").catch(() => undefined);
    return found?.status?.capacity ? found : undefined;
  });
  return { api, clock, reporter, node: node! };
}

const uninitialized = {
  key: "node.cloudprovider.kubernetes.io/uninitialized",
  value: "true",
  effect: "NoSchedule",
};
const annotation = "alpha.kubernetes.io/provided-node-ip";

test("without --node-ip the node has no address until the cloud's controller sets it, and then keeps that", async () => {
  const { api, clock, reporter, node } = await started({
    externalCloudProvider: true,
  });
  expect(node.spec?.taints).toEqual([uninitialized]);
  expect(node.metadata.annotations).not.toHaveProperty([annotation]);
  expect(node.status?.addresses).toEqual([{ type: "Hostname", address: "n" }]);
  const addresses = [
    { type: "InternalIP", address: "10.9.9.9" },
    { type: "ExternalIP", address: "192.0.2.1" },
  ];
  await api.patch(
    "n",
    undefined,
    { type: "merge", body: { status: { addresses } } },
    { subresource: "status" },
  );
  reporter.setPressure({ memory: true, disk: false, pid: false });
  await clock.advanceAsync(20_000);
  const after = await eventually(async () => {
    const found = await api.get("n");
    return found.status?.conditions?.[0]?.status === "True" ? found : undefined;
  });
  expect(after!.status?.addresses).toEqual(addresses);
  await reporter.stop();
});

test("--node-ip is the node's address at first, and an annotation", async () => {
  const { node, reporter } = await started({
    externalCloudProvider: true,
    nodeIPs: ["10.1.1.1", "fd00::1"],
  });
  expect(node.metadata.annotations?.[annotation]).toBe("10.1.1.1,fd00::1");
  expect(node.status?.addresses).toEqual([
    { type: "InternalIP", address: "10.1.1.1" },
    { type: "InternalIP", address: "fd00::1" },
    { type: "Hostname", address: "n" },
  ]);
  await reporter.stop();
});

test("a node that no longer has a cloud loses the annotation and gets no taint", async () => {
  const { node, reporter } = await started(
    { externalCloudProvider: false, nodeIPs: ["10.1.1.1"] },
    {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n", annotations: { [annotation]: "10.2.2.2" } },
      spec: {},
    },
  );
  expect(node.metadata.annotations ?? {}).not.toHaveProperty([annotation]);
  expect(node.spec?.taints ?? []).toEqual([]);
  await reporter.stop();
});
