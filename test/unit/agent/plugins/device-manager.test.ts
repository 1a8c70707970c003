// Device plug-ins from their registration to a container's configuration: real sockets and gRPC, the manager alone.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import type { Pod } from "../../../../api/types/core-v1.ts";
import { DeviceManager } from "../../../../agent/resources/devices/device-manager.ts";
import { noAffinity } from "../../../../agent/resources/topology/hint-provider.ts";
import {
  device,
  startDevicePlugin,
  type DevicePluginOverrides,
  type TestDevicePlugin,
} from "../../../support/plugins/device-plugin.ts";
import { eventually } from "../../../support/eventually.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const directories = useTempDirectories();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
const resource = "example.com/gadget";

interface Bench {
  root: string;
  manager: DeviceManager;
  clock: FakeClock;
  inRuntime: Set<string>;
  gone: Set<string>;
  /** How often the node was to be reported. */
  reports(): number;
  plugin(
    devices: Parameters<typeof startDevicePlugin>[2],
    over?: DevicePluginOverrides,
    name?: string,
  ): Promise<TestDevicePlugin>;
}

async function bench(root = directories()): Promise<Bench> {
  const clock = new FakeClock();
  const inRuntime = new Set<string>();
  const gone = new Set<string>();
  let reports = 0;
  const manager = new DeviceManager({
    rootDirectory: root,
    numaNodes: () => [0, 1],
    isInRuntime: (uid) => inRuntime.has(uid),
    onChange: () => void reports++,
    clock,
    logger: pino({ level: "silent" }),
  });
  manager.collect((uid) => gone.has(uid));
  await manager.start();
  await eventually(() => existsSync(join(root, "device-plugins/kubelet.sock")));
  closing.push(() => manager.stop());
  return {
    root,
    manager,
    clock,
    inRuntime,
    gone,
    reports: () => reports,
    plugin: async (devices, over, name = resource) => {
      const plugin = await startDevicePlugin(
        join(root, "device-plugins"),
        name,
        devices,
        over,
      );
      closing.push(() => plugin.close());
      await plugin.register();
      await eventually(
        () => manager.capacity().capacity[name] === devices.length,
      );
      return plugin;
    },
  };
}

type Containers = Record<string, Record<string, number>>;

function pod(uid: string, containers: Containers, init: Containers = {}): Pod {
  const list = (of: Containers): Pod["spec"]["containers"] =>
    Object.entries(of).map(([name, limits]) => ({
      name,
      image: "i",
      resources: {
        limits: Object.fromEntries(
          Object.entries(limits).map(([key, value]) => [key, String(value)]),
        ),
      },
    }));
  return {
    metadata: { name: uid, namespace: "n", uid },
    spec: { containers: list(containers), initContainers: list(init) },
  };
}

async function allocateAll(
  manager: DeviceManager,
  wanted: Pod,
  nodes?: number,
): Promise<void> {
  for (const container of [
    ...(wanted.spec.initContainers ?? []),
    ...wanted.spec.containers,
  ])
    await manager.allocate(wanted, container, { ...noAffinity, nodes });
}

const idsOf = (manager: DeviceManager, uid: string, name: string): string[] =>
  manager
    .holdings(uid, name)
    .flatMap(({ devices }) => devices.map(({ id }) => id))
    .sort();

test("capacity follows health, the plug-in's end and five minutes' grace", async () => {
  const { manager, plugin, clock } = await bench();
  const first = await plugin([device("a"), device("b", "Unhealthy")]);
  expect(manager.capacity()).toEqual({
    capacity: { [resource]: 2 },
    allocatable: { [resource]: 1 },
  });
  first.list([device("a"), device("b"), device("c")]);
  await eventually(() => manager.capacity().allocatable[resource] === 3);
  await first.close();
  await eventually(() => manager.capacity().allocatable[resource] === 0);
  expect(manager.capacity().capacity[resource]).toBe(3);
  clock.advance(300_001);
  expect(manager.capacity()).toEqual({
    capacity: { [resource]: 0 },
    allocatable: { [resource]: 0 },
  });
  await plugin([device("a")]);
  expect(manager.capacity().allocatable[resource]).toBe(1);
});

test("what a plug-in answers becomes the container's configuration", async () => {
  const { manager, plugin } = await bench();
  const gadgets = await plugin([device("a"), device("b")], {
    options: { pre_start_required: true },
    allocate: (ids) => ({
      envs: { IDS: [...ids].sort().join() },
      mounts: [
        { container_path: "/lib/gadget", host_path: "/opt/g", read_only: true },
      ],
      devices: [
        { container_path: "/dev/g", host_path: "/dev/null", permissions: "rw" },
      ],
      annotations: { "example.com/ids": "2" },
      cdi_devices: [{ name: "example.com/gadget=a" }],
    }),
  });
  const wanted = pod("p", { c: { [resource]: 2, cpu: 1 } });
  await allocateAll(manager, wanted);
  expect(await manager.devicesOf(wanted, wanted.spec.containers[0]!)).toEqual({
    env: [{ name: "IDS", value: "a,b" }],
    mounts: [
      {
        containerPath: "/lib/gadget",
        hostPath: "/opt/g",
        readonly: true,
        propagation: "private",
      },
    ],
    devices: [
      { containerPath: "/dev/g", hostPath: "/dev/null", permissions: "rw" },
    ],
    annotations: { "example.com/ids": "2" },
    cdiDevices: ["example.com/gadget=a"],
  });
  expect(gadgets.calls).toEqual(["Allocate a,b", "PreStartContainer a,b"]);
});

test("devices are held until release, and init containers hand theirs on", async () => {
  const { manager, plugin } = await bench();
  await plugin([device("a"), device("b"), device("c")]);
  await allocateAll(
    manager,
    pod("p", { c: { [resource]: 2 } }, { i: { [resource]: 2 } }),
  );
  expect(idsOf(manager, "p", "c")).toEqual(idsOf(manager, "p", "i"));
  await expect(
    allocateAll(manager, pod("q", { c: { [resource]: 2 } })),
  ).rejects.toThrow(
    `requested number of devices unavailable for ${resource}. Requested: 2, Available: 1`,
  );
  expect(manager.heldCounts().get(resource)).toBe(2);
  manager.release("p");
  await allocateAll(manager, pod("q", { c: { [resource]: 2 } }));
});

test("pods that no source has give their devices back", async () => {
  const { manager, plugin, gone } = await bench();
  await plugin([device("a")]);
  await allocateAll(manager, pod("p", { c: { [resource]: 1 } }));
  gone.add("p");
  await allocateAll(manager, pod("q", { c: { [resource]: 1 } }));
  expect(idsOf(manager, "q", "c")).toEqual(["a"]);
});

test("a restarted agent knows who holds what, and gives nothing out until the plug-in is back", async () => {
  const { root, manager, plugin } = await bench();
  await plugin([device("a"), device("b")], {
    allocate: (ids) => ({ envs: { ID: ids[0]! } }),
  });
  const running = pod("p", { c: { [resource]: 1 } });
  await allocateAll(manager, running);
  const held = idsOf(manager, "p", "c");
  await manager.stop();

  const second = await bench(root);
  expect(idsOf(second.manager, "p", "c")).toEqual(held);
  expect(second.manager.capacity()).toEqual({
    capacity: { [resource]: 0 },
    allocatable: { [resource]: 0 },
  });
  expect(existsSync(join(root, "device-plugins/example.com-gadget.sock"))).toBe(
    false,
  );
  const refusal = `no healthy devices present; cannot allocate unhealthy devices ${resource}`;
  const other = pod("q", { c: { [resource]: 1 } });
  await expect(allocateAll(second.manager, other)).rejects.toThrow(refusal);
  // After a reboot nothing of it runs: as the reference, its start waits for nothing and is refused.
  await expect(allocateAll(second.manager, running)).rejects.toThrow(refusal);
  second.inRuntime.add("p");
  await allocateAll(second.manager, running);
  await expect(
    second.manager.devicesOf(running, running.spec.containers[0]!),
  ).rejects.toThrow(refusal);
  const back = await second.plugin([device("a"), device("b")]);
  const again = await second.manager.devicesOf(
    running,
    running.spec.containers[0]!,
  );
  expect(again.env).toEqual([{ name: "ID", value: held[0] }]);
  expect(back.calls).toEqual([]);
  await allocateAll(second.manager, other);
  expect(idsOf(second.manager, "q", "c")).not.toEqual(held);
});

test("a damaged checkpoint is set aside", async () => {
  const { root, manager, plugin } = await bench();
  await plugin([device("a")]);
  await allocateAll(manager, pod("p", { c: { [resource]: 1 } }));
  await manager.stop();
  const path = join(root, "device-plugins/kubelet_internal_checkpoint");
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace('"id":"a"', '"id":"z"'));
  const second = await bench(root);
  expect(second.manager.heldCounts().size).toBe(0);
  expect(readFileSync(`${path}.damaged`, "utf8")).toContain('"id":"z"');
});

test("NUMA nodes: hints, alignment, and the plug-in's preference among equals", async () => {
  const { manager, plugin } = await bench();
  await plugin(
    [
      device("a0", "Healthy", 0),
      device("b1", "Healthy", 1),
      device("c1", "Healthy", 1),
      device("d1", "Healthy", 1),
      device("x99", "Healthy", 99),
    ],
    {
      options: { get_preferred_allocation_available: true },
      preferred: (available) => ["nonsense", "x99", ...available.slice(-1)],
    },
  );
  const two = pod("p", { c: { [resource]: 2 } });
  expect(
    manager.containerHints(two, two.spec.containers[0]!).get(resource),
  ).toEqual([
    { nodes: 2, preferred: true },
    { nodes: 3, preferred: false },
  ]);
  expect(manager.podHints(two)).toEqual(
    manager.containerHints(two, two.spec.containers[0]!),
  );
  await allocateAll(manager, two, 2);
  expect(idsOf(manager, "p", "c").every((id) => id.endsWith("1"))).toBe(true);
  expect(idsOf(manager, "p", "c")).toContain("d1");
  const many = pod("q", { c: { [resource]: 4 } });
  expect(manager.podHints(many).get(resource)).toEqual([]);
});

test("devices that pass from an init container to others count once for their pod", async () => {
  const { manager, plugin } = await bench();
  await plugin(
    [0, 1].flatMap((n) => [
      device(`a${n}`, "Healthy", n),
      device(`b${n}`, "Healthy", n),
    ]),
  );
  const one = { [resource]: 1 };
  const wanted = pod("p", { c: one, d: one }, { i: { [resource]: 2 } });
  await allocateAll(manager, wanted, 2);
  expect(idsOf(manager, "p", "i")).toEqual(["a1", "b1"]);
  // As after a restart of the agent: two devices are wanted, two are held.
  expect(manager.podHints(wanted).get(resource)).toEqual([
    { nodes: 2, preferred: true },
    { nodes: 3, preferred: false },
  ]);
});

test.each<[string, DevicePluginOverrides, RegExp]>([
  [
    "a relative path",
    {
      allocate: () => ({
        mounts: [
          { container_path: "/x", host_path: "../etc", read_only: true },
        ],
      }),
    },
    /answered Allocate with a path that is not absolute: "..\/etc"$/,
  ],
  [
    "too much",
    {
      allocate: () => ({
        cdi_devices: Array.from({ length: 1025 }, () => ({ name: "a/b=c" })),
      }),
    },
    /answered Allocate with more than 1024 items$/,
  ],
  [
    "permissions",
    {
      allocate: () => ({
        devices: [
          { container_path: "/x", host_path: "/x", permissions: "all" },
        ],
      }),
    },
    /answered Allocate with the permissions "all"$/,
  ],
  [
    "an error",
    {
      allocate: () => {
        throw new Error("no power");
      },
    },
    /^rpc error: code = Unknown desc = no power$/,
  ],
])("a plug-in that answers Allocate with %s", async (_what, over, text) => {
  const { manager, plugin } = await bench();
  await plugin([device("a")], over);
  await expect(
    allocateAll(manager, pod("p", { c: { [resource]: 1 } })),
  ).rejects.toThrow(text);
  expect(manager.heldCounts().size).toBe(0);
});

test.each([
  [
    Array.from({ length: 10_001 }, (_, index) => device(`d${index}`)),
    "too many",
  ],
  [[device("a"), device("a")], "one twice"],
  [[device("")], "an empty id"],
])("a plug-in that lists nonsense counts as ended: %#", async (devices) => {
  const { manager, plugin } = await bench();
  const gadgets = await plugin([device("a")]);
  gadgets.list(devices);
  await eventually(() => manager.capacity().allocatable[resource] === 0);
  expect(manager.capacity().capacity[resource]).toBe(1);
});

test.each([
  [
    { version: "v1" },
    'requested API version "v1" is not supported by kubelet. Supported version is ["v1beta1"]',
  ],
  [{ resource: "cpu" }, 'the ResourceName "cpu" is invalid'],
  [
    { resource: "kubernetes.io/x" },
    'the ResourceName "kubernetes.io/x" is invalid',
  ],
  [{ endpoint: "../../evil.sock" }, "is not in"],
])("a registration that is refused: %j", async (over, text) => {
  const { manager, root } = await bench();
  const gadgets = await startDevicePlugin(
    join(root, "device-plugins"),
    resource,
    [],
  );
  closing.push(() => gadgets.close());
  await expect(gadgets.register(over)).rejects.toThrow(text);
  expect(manager.capacity().capacity).toEqual({});
});

test("a plug-in that registers again takes the place of its predecessor", async () => {
  const { manager, plugin } = await bench();
  const first = await plugin([device("a")]);
  const second = await startDevicePlugin(directories(), resource, [
    device("b"),
    device("c"),
  ]);
  closing.push(() => second.close());
  await first.register();
  first.list([device("d"), device("e"), device("f")]);
  await eventually(() => manager.capacity().allocatable[resource] === 3);
});

test("a plug-in whose devices come and go without a pause is reported once a second", async () => {
  const { manager, clock, plugin, reports } = await bench();
  const gadgets = await plugin([device("a")]);
  expect(reports()).toBe(1);
  const unhealthy = [device("a", "Unhealthy")];
  for (let round = 0; round < 20; round++) {
    gadgets.list([device("a"), device("b")]);
    gadgets.list(unhealthy);
  }
  const state = (): unknown => manager.capacity().capacity[resource];
  gadgets.list([device("a"), device("b"), device("c")]);
  await eventually(() => state() === 3);
  expect(reports()).toBe(1);
  clock.advance(1000);
  expect(reports()).toBe(2);
  clock.advance(10_000);
  expect(reports()).toBe(2);
  // After a quiet time at once.
  gadgets.list(unhealthy);
  await eventually(() => reports() === 3);
  expect(manager.capacity().allocatable[resource]).toBe(0);
});
