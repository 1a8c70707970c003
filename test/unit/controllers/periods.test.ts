// Options that say when controllers start and look: batch periods of endpoints, sync periods, the interval between starts.
import type {
  Endpoints,
  Event,
  Pod,
  ResourceQuota,
} from "../../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../../api/types/discovery-v1.ts";
import { controllerManagerOptions } from "../../../cli/options/controller-manager.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { controllerOptions } from "../../../cli/parts/controllers/controller-options.ts";
import {
  configMaps,
  endpoints,
  endpointSlices,
  events,
  namespaces,
  persistentVolumeClaims,
  pods,
  resourceQuotas,
  services,
} from "../../../client/resources.ts";
import { createClient } from "../../../client/create-client.ts";
import { createControllerManager } from "../../../controllers/manager.ts";
import { silent, testPod } from "../../support/control-plane.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { MemoryApi } from "../../support/memory-api.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** The controllers as a command line makes them. */
async function start(...argv: string[]) {
  const clock = new FakeClock();
  const api = new MemoryApi(clock);
  const client = createClient(api, { clock, logger: silent });
  const manager = createControllerManager({
    client,
    clock,
    logger: silent,
    options: controllerOptions(parseOptions(controllerManagerOptions, argv)),
  });
  await manager.start();
  stops.push(async () => {
    await manager.stop();
    await client.close();
  });
  return { clock, api, client, manager };
}
/** Lets what is due be done, without time going on. */
const settle = async (clock: FakeClock): Promise<void> => {
  for (let turn = 0; turn < 50; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(0);
  }
};

function readyPod(): Pod {
  const pod = testPod("p", { nodeName: "n" });
  pod.metadata.labels = { a: "b" };
  pod.status = {
    phase: "Running",
    podIP: "10.0.0.1",
    podIPs: [{ ip: "10.0.0.1" }],
    conditions: [{ type: "Ready", status: "True" }],
  };
  return pod;
}

test.each([
  [
    "--endpoint-updates-batch-period=3s",
    "endpoints-controller",
    (api: MemoryApi) =>
      api.all<Endpoints>(endpoints).flatMap(({ subsets = [] }) => subsets),
  ],
  [
    "--endpointslice-updates-batch-period=3s",
    "endpointslice-controller",
    (api: MemoryApi) =>
      api.all<EndpointSlice>(endpointSlices).flatMap((one) => one.endpoints),
  ],
] as const)("%s: changes of pods are gathered", async (option, name, found) => {
  const { clock, api, client } = await start(`--controllers=${name}`, option);
  await client.resource(services).create({
    metadata: { name: "s", namespace: "default" },
    spec: { selector: { a: "b" }, ports: [{ port: 80, protocol: "TCP" }] },
  });
  await settle(clock);
  await client.resource(pods).create(readyPod());
  await settle(clock);
  expect(found(api)).toHaveLength(0);
  clock.advance(2900);
  await settle(clock);
  expect(found(api)).toHaveLength(0);
  clock.advance(200);
  await settle(clock);
  expect(found(api)).toHaveLength(1);
});

test("--mirroring-endpointslice-updates-batch-period: changes of endpoints are gathered", async () => {
  const { clock, api, client } = await start(
    "--controllers=endpointslice-mirroring-controller",
    "--mirroring-endpointslice-updates-batch-period=3s",
  );
  await client.resource(services).create({
    metadata: { name: "s", namespace: "default" },
    spec: { ports: [{ port: 80, protocol: "TCP" }] },
  });
  await settle(clock);
  await client.resource(endpoints).create({
    metadata: { name: "s", namespace: "default" },
    subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }],
  });
  await settle(clock);
  expect(api.all(endpointSlices)).toHaveLength(0);
  clock.advance(3100);
  await settle(clock);
  expect(api.all(endpointSlices)).toHaveLength(1);
});

test("--controller-start-interval: one controller after the other", async () => {
  const { clock, manager } = await start(
    "--controllers=deployment-controller,replicaset-controller,job-controller",
    "--controller-start-interval=10s",
  );
  expect(manager.running).toHaveLength(1);
  clock.advance(9_900);
  expect(manager.running).toHaveLength(1);
  clock.advance(200);
  expect(manager.running).toHaveLength(2);
  clock.advance(10_000);
  expect(manager.running).toHaveLength(3);
});

test("--resource-quota-sync-period: usage is counted again", async () => {
  const { clock, api, client } = await start(
    "--controllers=resourcequota-controller",
    "--resource-quota-sync-period=7s",
  );
  await client.resource(resourceQuotas).create({
    metadata: { name: "q", namespace: "default" },
    spec: { hard: { "example.com/thing": "1" } },
  });
  await settle(clock);
  const quota = () => api.all<ResourceQuota>(resourceQuotas)[0]!;
  const used = () => quota().status?.used?.["example.com/thing"];
  expect(used()).toBe("0");
  // A status that another wrote is no event of the controller's.
  await client.resource(resourceQuotas).updateStatus({
    ...quota(),
    status: { ...quota().status, used: { "example.com/thing": "5" } },
  });
  await settle(clock);
  clock.advance(6_900);
  await settle(clock);
  expect(used()).toBe("5");
  clock.advance(200);
  await settle(clock);
  expect(used()).toBe("0");
});

test.each([
  [[], false],
  [["--namespace-sync-period=2s"], true],
] as const)(
  "namespaces with %j are looked at again: %p",
  async (argv, again) => {
    const { clock, api, client } = await start(
      "--controllers=namespace-controller",
      ...argv,
    );
    await client.resource(namespaces).create({
      metadata: { name: "n" },
      spec: { finalizers: ["kubernetes"] },
    });
    await client.resource(configMaps).create({
      metadata: { name: "held", namespace: "n", finalizers: ["test/hold"] },
    });
    await client.resource(namespaces).delete("n");
    // Until its own back-off is a minute long.
    for (let step = 0; step < 40; step++) {
      clock.advance(10_000);
      await settle(clock);
    }
    let looks = 0;
    api.intercept = () => void looks++;
    const windows: boolean[] = [];
    for (let step = 0; step < 5; step++) {
      looks = 0;
      clock.advance(2_000);
      await settle(clock);
      windows.push(looks > 0);
    }
    // Without the period at most one of these ten seconds is the back-off's turn.
    expect(windows.filter(Boolean).length > 3).toBe(again);
  },
);

test("--pvclaimbinder-sync-period: claims are looked at again", async () => {
  const { clock, api, client } = await start(
    "--controllers=persistentvolume-binder-controller",
    "--pvclaimbinder-sync-period=5s",
  );
  await client.resource(persistentVolumeClaims).create({
    metadata: { name: "c", namespace: "default" },
    spec: {
      storageClassName: "",
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
    },
  });
  const told = (): number =>
    api.all<Event>(events).reduce((sum, { count = 1 }) => sum + count, 0);
  await settle(clock);
  expect(told()).toBe(1);
  clock.advance(4_900);
  await settle(clock);
  expect(told()).toBe(1);
  clock.advance(200);
  await settle(clock);
  expect(told()).toBe(2);
});
