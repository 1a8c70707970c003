// Claims of pods on a node: prepared, shared, handed to containers, unprepared, over restarts and with drivers that fail
// or lie. Real sockets and gRPC; the API is one in memory.
import { pino } from "pino";
import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../../api/clock.ts";
import type { Container, Pod } from "../../../../api/types/core-v1.ts";
import type { ResourceSlice } from "../../../../api/types/resource-v1beta1.ts";
import { PluginRegistration } from "../../../../agent/plugin-registration/plugin-registration.ts";
import { ClaimManager } from "../../../../agent/resources/claims/claim-manager.ts";
import {
  draAlphaMethods,
  draMethods,
} from "../../../../agent/resources/claims/dra-protocol.ts";
import { createClient } from "../../../../client/create-client.ts";
import type { Client } from "../../../../client/client.ts";
import {
  resourceClaims,
  resourceSlices,
} from "../../../../client/resources.ts";
import { eventually } from "../../../support/eventually.ts";
import { MemoryApi } from "../../../support/memory-api.ts";
import {
  startDraDriver,
  type TestDraDriver,
} from "../../../support/plugins/dra-driver.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const directories = useTempDirectories();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
const logger = pino({ level: "silent" });
const driver = "gpu.example.com";

interface Bench {
  root: string;
  api: MemoryApi;
  client: Client;
  manager: ClaimManager;
  stop(): Promise<void>;
  start(answer?: Parameters<typeof startDraDriver>[2]): Promise<TestDraDriver>;
}

async function bench(before?: Bench): Promise<Bench> {
  const root = before?.root ?? directories();
  const api = before?.api ?? new MemoryApi(systemClock);
  const client =
    before?.client ?? createClient(api, { clock: systemClock, logger });
  const manager = new ClaimManager({
    ...{ rootDirectory: root, nodeName: "n", client },
    ...{ clock: systemClock, logger },
  });
  const plugins = new PluginRegistration({
    directory: join(root, "plugins_registry"),
    clock: systemClock,
    logger,
  });
  plugins.registerHandler("DRAPlugin", manager.drivers);
  await manager.start();
  await plugins.start();
  let stopped = false;
  const stop = async (): Promise<void> => {
    if (stopped) return;
    stopped = true;
    await plugins.stop();
    manager.stop();
  };
  closing.push(stop);
  return {
    ...{ root, api, client, manager, stop },
    async start(answer) {
      const made = await startDraDriver(root, driver, answer);
      closing.push(() => made.close());
      await eventually(() => made.registration.notified.length > 0);
      return made;
    },
  };
}

const cdi =
  (...names: string[]) =>
  ({ uid }: { uid: string }) => ({
    [uid]: {
      devices: names.map((name) => ({
        request_names: [name],
        pool_name: "p",
        device_name: name,
        cdi_device_ids: [`example.com/gpu=${name}`],
      })),
    },
  });

async function makeClaim(
  { client }: Bench,
  name: string,
  pods: readonly string[],
): Promise<void> {
  await client.resource(resourceClaims).create({
    apiVersion: "resource.k8s.io/v1beta1",
    kind: "ResourceClaim",
    metadata: { name, namespace: "x" },
    spec: {},
    status: {
      allocation: {
        devices: {
          results: [{ driver, pool: "p", device: "a", request: "r" }],
        },
      },
      reservedFor: pods.map((uid) => ({ resource: "pods", name: uid, uid })),
    },
  });
}

function pod(uid: string, claim: string, request?: string): Pod {
  return {
    metadata: { name: uid, namespace: "x", uid },
    spec: {
      resourceClaims: [{ name: "c", resourceClaimName: claim }],
      containers: [
        {
          name: "main",
          image: "i",
          resources: {
            claims: [{ name: "c", ...(request ? { request } : {}) }],
          },
        },
        { name: "other", image: "i" },
      ],
    },
  };
}
const main = ({ spec }: Pod): Container => spec.containers[0]!;

test("a claim is prepared once for all its pods, and unprepared after the last", async () => {
  const on = await bench();
  const gpus = await on.start({ prepare: cdi("a", "b") });
  await makeClaim(on, "k", ["p", "q"]);
  const [p, q] = [pod("p", "k"), pod("q", "k", "b")];
  await on.manager.prepare(p);
  await on.manager.prepare(q);
  await on.manager.prepare(p);
  expect(on.manager.cdiDevices(p, main(p))).toEqual([
    "example.com/gpu=a",
    "example.com/gpu=b",
  ]);
  expect(on.manager.cdiDevices(q, main(q))).toEqual(["example.com/gpu=b"]);
  expect(on.manager.cdiDevices(p, p.spec.containers[1]!)).toEqual([]);
  await on.manager.unprepare("p");
  expect(gpus.calls).toEqual(["prepare x/k"]);
  await on.manager.unprepare("q");
  await on.manager.unprepare("q");
  expect(gpus.calls).toEqual(["prepare x/k", "unprepare x/k"]);
  expect(() => on.manager.cdiDevices(q, main(q))).toThrow(
    "unable to get claim info for claim k in namespace x",
  );
});

test("a restarted agent knows what pods use, and gives back what nobody has", async () => {
  const before = await bench();
  const gpus = await before.start({ prepare: cdi("a") });
  await makeClaim(before, "k", ["p"]);
  await makeClaim(before, "l", ["q"]);
  const p = pod("p", "k");
  await before.manager.prepare(p);
  await before.manager.prepare(pod("q", "l"));
  await before.stop();
  const after = await bench(before);
  await eventually(() => gpus.registration.notified.length === 2);
  expect(after.manager.cdiDevices(p, main(p))).toEqual(["example.com/gpu=a"]);
  after.manager.unprepareOthers((uid) => uid === "p");
  await eventually(() => gpus.calls.includes("unprepare x/l"));
  expect(gpus.calls).not.toContain("unprepare x/k");
  // A new sandbox has it prepared again: the machine may have been booted.
  await after.manager.prepare(p);
  expect(gpus.calls.filter((call) => call === "prepare x/k")).toHaveLength(2);
});

test("claims that the pod may not use, and drivers that are not there", async () => {
  const on = await bench();
  await makeClaim(on, "k", ["other"]);
  await expect(on.manager.prepare(pod("p", "k"))).rejects.toThrow(
    /^pod p\(p\) is not allowed to use resource claim k\(/,
  );
  await expect(on.manager.prepare(pod("p", "none"))).rejects.toThrow(
    /^failed to fetch ResourceClaim none referenced by pod p: /,
  );
  await makeClaim(on, "l", ["p"]);
  await expect(on.manager.prepare(pod("p", "l"))).rejects.toThrow(
    `failed to get gRPC client for driver ${driver}: plugin name ${driver} not found in the list of registered DRA plugins`,
  );
});

test.each([
  [() => ({}), "NodePrepareResources left out 1 claims"],
  [
    () => ({ nonsense: {} }),
    "NodePrepareResources returned result for unknown claim UID nonsense",
  ],
  [
    ({ uid }: { uid: string }) => ({ [uid]: { error: "no power" } }),
    "NodePrepareResources failed for claim x/k: no power",
  ],
  [
    ({ uid }: { uid: string }) => ({
      [uid]: { devices: [{ cdi_device_ids: ["../../etc"] }] },
    }),
    'answered the CDI device "../../etc", which is no such name',
  ],
  [
    ({ uid }: { uid: string }) => ({
      [uid]: { devices: Array.from({ length: 1025 }, () => ({})) },
    }),
    "answered more than 1024 devices",
  ],
])("a driver that answers nonsense: %#", async (prepare, text) => {
  const on = await bench();
  await on.start({ prepare });
  await makeClaim(on, "k", ["p"]);
  await expect(on.manager.prepare(pod("p", "k"))).rejects.toThrow(text);
});

test("no driver is called for a claim that is not on the disk", async () => {
  const on = await bench();
  const gpus = await on.start({ prepare: cdi("a") });
  await makeClaim(on, "k", ["p"]);
  const checkpoint = join(on.root, "dra_manager_state");
  mkdirSync(checkpoint);
  for (let tries = 0; tries < 2; tries++)
    await expect(on.manager.prepare(pod("p", "k"))).rejects.toThrow(
      "failed to checkpoint claimInfo state",
    );
  expect(gpus.calls).toEqual([]);
  rmdirSync(checkpoint);
  await on.manager.prepare(pod("p", "k"));
  expect(gpus.calls).toEqual(["prepare x/k"]);
});

test("a claim that can't be unprepared is kept, and tried again", async () => {
  const on = await bench();
  let broken = true;
  const gpus = await on.start({
    unprepare: ({ uid }) => ({ [uid]: broken ? { error: "busy" } : {} }),
  });
  await makeClaim(on, "k", ["p"]);
  await on.manager.prepare(pod("p", "k"));
  await expect(on.manager.unprepare("p")).rejects.toThrow(
    "NodeUnprepareResources failed for claim x/k: busy",
  );
  broken = false;
  await on.manager.unprepare("p");
  expect(gpus.calls).toHaveLength(3);
});

test("slices of the node go with their driver, and at the agent's start", async () => {
  const on = await bench();
  const slice = (name: string, nodeName: string): Promise<unknown> =>
    on.client.resource(resourceSlices).create({
      apiVersion: "resource.k8s.io/v1beta1",
      kind: "ResourceSlice",
      metadata: { name },
      spec: {
        driver,
        nodeName,
        pool: { name: "p", generation: 1, resourceSliceCount: 1 },
      },
    });
  const names = (): string[] =>
    on.api
      .all<ResourceSlice>(resourceSlices)
      .map(({ metadata }) => metadata.name);
  const gpus = await on.start();
  await slice("mine", "n");
  await slice("theirs", "m");
  await gpus.close();
  await eventually(() => !names().includes("mine"));
  await slice("left", "n");
  await on.stop();
  await bench(on);
  await eventually(() => !names().includes("left"));
  expect(names()).toEqual(["theirs"]);
});

test("a driver without a service that the agent calls is refused", async () => {
  const on = await bench();
  const gpus = await on.start({ versions: ["v1.DRAPlugin"] });
  expect(gpus.registration.notified[0]).toMatch(
    /invalid versions of plugin gpu.example.com: neither v1beta1.DRAPlugin nor v1alpha3.NodeService is among \[v1.DRAPlugin\]$/,
  );
  await on.stop();
  const none = await bench();
  const mute = await none.start({ versions: [] });
  expect(mute.registration.notified[0]).toMatch(
    /invalid versions of plugin gpu.example.com: empty list of supported gRPC services/,
  );
});

test.each([["v1alpha3.NodeService"], ["1.0.0"]])(
  "a driver that says %s is called by the older service",
  async (version) => {
    const on = await bench();
    const gpus = await on.start({
      versions: [version],
      methods: draAlphaMethods,
      prepare: cdi("a"),
    });
    await makeClaim(on, "k", ["p"]);
    const p = pod("p", "k");
    await on.manager.prepare(p);
    expect(on.manager.cdiDevices(p, main(p))).toEqual(["example.com/gpu=a"]);
    await on.manager.unprepare("p");
    expect(gpus.calls).toEqual(["prepare x/k", "unprepare x/k"]);
  },
);

test("of both services the newer one is called", async () => {
  const on = await bench();
  const gpus = await on.start({
    versions: ["v1alpha3.NodeService", "v1beta1.DRAPlugin"],
  });
  await makeClaim(on, "k", ["p"]);
  await on.manager.prepare(pod("p", "k"));
  expect(gpus.calls).toEqual(["prepare x/k"]);
});

test("a device without requests is given for each request of its claim", async () => {
  const on = await bench();
  await on.start({
    prepare: ({ uid }) => ({
      [uid]: {
        devices: [
          { cdi_device_ids: ["example.com/gpu=all"] },
          { request_names: ["s"], cdi_device_ids: ["example.com/gpu=s"] },
        ],
      },
    }),
  });
  await makeClaim(on, "k", ["p"]);
  const p = pod("p", "k", "r");
  await on.manager.prepare(p);
  expect(on.manager.cdiDevices(p, main(p))).toEqual(["example.com/gpu=all"]);
});

test("a driver that hangs does not hold up the stop, and failures are told as gRPC's", async () => {
  const on = await bench();
  let called: () => void = () => undefined;
  const isCalled = new Promise<void>((resolve) => (called = resolve));
  const gpus = await on.start({
    prepare: () => {
      if (gpus.calls.length === 1) throw new Error("no power");
      called();
      return new Promise(() => undefined);
    },
  });
  await makeClaim(on, "k", ["p"]);
  await expect(on.manager.prepare(pod("p", "k"))).rejects.toThrow(
    "NodePrepareResources failed: rpc error: code = Unknown desc = no power",
  );
  const preparing = on.manager.prepare(pod("p", "k"));
  const failed = expect(preparing).rejects.toThrow(
    "NodePrepareResources failed: rpc error: code = Canceled desc = Cancelled on client",
  );
  await isCalled;
  on.manager.stop();
  await failed;
  const counts = on.manager.metrics
    .families()
    .map((family) => countsOf([...family.text()].join("")));
  expect(counts).toEqual([
    [
      'dra_operations_duration_seconds_count{is_error="true",operation_name="PrepareResources"} 2',
    ],
    [
      `dra_grpc_operations_duration_seconds_count{driver_name="${driver}",grpc_status_code="Unknown",method_name="${draMethods.prepare.path}"} 1`,
      `dra_grpc_operations_duration_seconds_count{driver_name="${driver}",grpc_status_code="Canceled",method_name="${draMethods.prepare.path}"} 1`,
    ],
  ]);
});

const countsOf = (text: string): string[] =>
  text.split("\n").filter((line) => line.includes("_count{"));
