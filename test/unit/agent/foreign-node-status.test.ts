// What others write into the Node's status and its labels of system and architecture is put right at the next look, as
// the reference does; what is the agent's own last word is not written again.
import pino from "pino";
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import { PodEvents } from "../../../agent/events/pod-events.ts";
import { NodeStartup } from "../../../agent/metrics/node-startup.ts";
import { NodeReporter } from "../../../agent/node/node-reporter.ts";
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

/** Reasons of the node's events. */
const reasons: string[] = [];
const clock = new FakeClock();
const startedMs = clock.now();
const client = createClient(new MemoryApi(clock), { clock, logger });
const api = client.resource(nodes);
const reporter = new NodeReporter({
  interfaces: () => withAddresses("10.1.1.1", "fd00::1"),
  startup: new NodeStartup(clock, { machineSeconds: 0, programSeconds: 0 }),
  client,
  runtime,
  config: resolveAgentConfig({
    nodeName: "n",
    hostname: "n",
    rootDirectory: "/tmp",
    nodeIPs: ["10.1.1.1"],
  }),
  clock,
  logger,
  events: new PodEvents(
    { event: (_node, _type, reason) => reasons.push(reason) },
    () => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n" },
    }),
  ),
});

const ready = async (): Promise<string | undefined> =>
  (await api.get("n")).status?.conditions?.find(({ type }) => type === "Ready")
    ?.status;

/** As another client writes it; resolves when the agent has had its next look. */
async function another(body: object): Promise<void> {
  await api.patch(
    "n",
    undefined,
    { type: "strategic", body },
    { subresource: "status" },
  );
  await clock.advanceAsync(10_000);
}

beforeAll(async () => {
  await reporter.start();
  await eventually(
    async () => (await api.get("n").catch(() => undefined))?.status?.capacity,
  );
});
afterAll(() => reporter.stop());

test("a node that was called Unknown is ready again, from then on", async () => {
  reasons.length = 0;
  await another({
    status: {
      conditions: [
        {
          type: "Ready",
          status: "Unknown",
          reason: "NodeStatusUnknown",
          message: "Kubelet stopped posting node status.",
        },
      ],
    },
  });
  await eventually(async () => (await ready()) === "True");
  const { status } = await api.get("n");
  const condition = status?.conditions?.find(({ type }) => type === "Ready");
  expect(Date.parse(condition?.lastTransitionTime ?? "")).toBeGreaterThan(
    startedMs,
  );
  await eventually(() => reasons.includes("NodeReady"));
});

test("labels of the system and the architecture come back, others stay", async () => {
  const { labels } = (await api.get("n")).metadata;
  await another({
    metadata: {
      labels: {
        "kubernetes.io/os": "dummyOS",
        "kubernetes.io/arch": null,
        mine: "x",
      },
    },
  });
  await eventually(
    async () => (await api.get("n")).metadata.labels?.["kubernetes.io/arch"],
  );
  expect((await api.get("n")).metadata.labels).toEqual({
    ...labels,
    mine: "x",
  });
});

test("a condition of another's own is left alone, and nothing is written for it", async () => {
  await another({
    status: { conditions: [{ type: "Disk", status: "False" }] },
  });
  const { resourceVersion } = (await api.get("n")).metadata;
  await clock.advanceAsync(60_000);
  const after = await api.get("n");
  expect(after.metadata.resourceVersion).toBe(resourceVersion);
  expect(after.status?.conditions?.map(({ type }) => type)).toContain("Disk");
});

describe("a resource that another advertises", () => {
  const thing = "example.com/thing";
  const shows = (...amounts: (string | undefined)[]): Promise<unknown> =>
    eventually(async () => {
      const { capacity, allocatable } = (await api.get("n")).status!;
      expect([capacity?.[thing], allocatable?.[thing]]).toEqual(amounts);
      return true;
    });

  test("may be given to pods, in the amount of its capacity", async () => {
    await another({ status: { capacity: { [thing]: "4" } } });
    await shows("4", "4");
    await another({ status: { capacity: { [thing]: "6" } } });
    await shows("6", "6");
  });

  test("is not written again", async () => {
    const { resourceVersion } = (await api.get("n")).metadata;
    await clock.advanceAsync(60_000);
    expect((await api.get("n")).metadata.resourceVersion).toBe(resourceVersion);
  });

  test("may not any more when its capacity is gone", async () => {
    await another({ status: { capacity: { [thing]: null } } });
    await shows(undefined, undefined);
  });

  test("of the agent's own comes back as it is", async () => {
    const { cpu } = (await api.get("n")).status!.allocatable!;
    await another({ status: { allocatable: { cpu: "0" } } });
    await eventually(async () => {
      expect((await api.get("n")).status?.allocatable?.cpu).toBe(cpu);
      return true;
    });
  });
});

test("a size of huge pages that the machine does not have goes with the first report of an agent; other resources stay", async () => {
  const foreign = { "hugepages-3Mi": "9Mi", "example.com/thing": "4" };
  await another({ status: { capacity: foreign, allocatable: foreign } });
  const next = new NodeReporter({
    startup: new NodeStartup(clock, { machineSeconds: 0, programSeconds: 0 }),
    ...{ client, runtime, clock, logger },
    config: resolveAgentConfig({
      nodeName: "n",
      hostname: "n",
      rootDirectory: "/tmp",
      nodeIPs: ["10.1.1.1"],
    }),
    events: new PodEvents({ event: () => undefined }, () => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n" },
    })),
  });
  await next.start();
  try {
    await eventually(async () => {
      const { capacity, allocatable } = (await api.get("n")).status!;
      return !("hugepages-3Mi" in { ...capacity, ...allocatable });
    });
    const { capacity, allocatable } = (await api.get("n")).status!;
    expect(capacity).toMatchObject({ "example.com/thing": "4" });
    expect(allocatable).toMatchObject({ "example.com/thing": "4" });
  } finally {
    await next.stop();
  }
});
