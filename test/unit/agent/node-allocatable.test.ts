// What pods together and the daemons' cgroups are held to, on a tree of files.
import * as fs from "node:fs/promises";
import * as path from "node:path";
import pino from "pino";
import { CgroupManager } from "../../../agent/cgroups/cgroup-manager.ts";
import {
  daemonLimits,
  NodeAllocatable,
  podsLimits,
} from "../../../agent/node/node-allocatable.ts";
import { CgroupV2 } from "../../../agent/cgroups/v2.ts";
import {
  resolveAgentConfig,
  type AgentConfig,
} from "../../../agent/config/agent-config.ts";
import type { MachineCapacity } from "../../../agent/node/machine.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const gibibyte = 2 ** 30;
const capacity: MachineCapacity = {
  cpus: 4,
  memoryBytes: 8 * gibibyte,
  storageBytes: 1,
  hugepages: {},
  maxPids: 1000,
};

test("pods have the capacity less what is reserved", () => {
  expect(podsLimits(capacity, [])).toEqual({
    cpuShares: 4096,
    memoryLimitBytes: 8 * gibibyte,
  });
  expect(
    podsLimits(capacity, [
      { cpu: "500m", memory: "1Gi", pid: "100" },
      { cpu: "500m", memory: "512Mi" },
    ]),
  ).toEqual({
    cpuShares: 3072,
    memoryLimitBytes: 6.5 * gibibyte,
    maxPids: 900,
  });
});

test("daemons have what is reserved for them, or its CPU alone", () => {
  const reserved = { cpu: "250m", memory: "1Gi", pid: "50" };
  const whole = {
    cpuShares: 256,
    memoryLimitBytes: gibibyte,
    maxPids: 50,
  };
  expect(daemonLimits(reserved, false, false)).toEqual(whole);
  expect(daemonLimits(reserved, false, true)).toEqual({
    ...whole,
    memoryMinBytes: gibibyte,
  });
  expect(daemonLimits(reserved, true, true)).toEqual({ cpuShares: 256 });
});

interface Started {
  readonly read: (file: string) => Promise<string>;
  readonly events: string[];
  readonly usage: () => Promise<object>;
}

async function start(
  settings: Partial<AgentConfig>,
  given: Record<string, string> = {},
): Promise<Started> {
  const mount = directories();
  const config = resolveAgentConfig({
    nodeName: "n",
    cgroupRoot: "/pods",
    cgroupMount: mount,
    ...settings,
  });
  await fs.writeFile(
    path.join(mount, "cgroup.controllers"),
    "cpu memory pids\n",
  );
  const driver = new CgroupV2(mount);
  const cgroups = new CgroupManager(() => Promise.resolve(driver), config);
  await cgroups.start();
  for (const [file, text] of Object.entries(given)) {
    await fs.mkdir(path.dirname(path.join(mount, file)), { recursive: true });
    await fs.writeFile(path.join(mount, file), text);
  }
  const events: string[] = [];
  await new NodeAllocatable({
    config,
    cgroups,
    capacity: () => Promise.resolve(capacity),
    events: {
      node: (type, reason, message) =>
        void events.push(`${type} ${reason}: ${message}`),
    },
    clock: new FakeClock(),
    logger: pino({ level: "silent" }),
  }).start();
  return {
    read: (file) => fs.readFile(path.join(mount, file), "utf8"),
    events,
    usage: () => cgroups.usage(),
  };
}

test("the pods' cgroup gets the limits, and its use is read back", async () => {
  const { read, events, usage } = await start(
    { systemReserved: { memory: "1Gi" } },
    {
      "pods/memory.current": `${2 * gibibyte}\n`,
      "pods/memory.stat": `anon 1\ninactive_file ${gibibyte}\n`,
      "pods/pids.current": "7\n",
    },
  );
  expect(await read("pods/memory.max")).toBe(String(7 * gibibyte));
  expect(await usage()).toEqual({
    memoryBytes: 2 * gibibyte,
    rssBytes: 1,
    workingSetBytes: gibibyte,
    memoryLimitBytes: 7 * gibibyte,
    processes: 7,
  });
  expect(events).toEqual([
    "Normal NodeAllocatableEnforced: Updated Node Allocatable limit across pods",
  ]);
});

test("more than there is can't be reserved", async () => {
  await expect(
    start({
      systemReserved: { memory: "8Gi", cpu: "3" },
      kubeReserved: { cpu: "1500m" },
      evictionHard: { "memory.available": "1Gi" },
    }),
  ).rejects.toThrow(
    'invalid Node Allocatable configuration. Resource "cpu" has a reservation of 4.5 but capacity of 4. Expected capacity >= reservation. Resource "memory" has a reservation of 9663676416 but capacity of 8589934592. Expected capacity >= reservation.',
  );
  await start({ systemReserved: { memory: "8Gi" }, evictionHard: {} });
});

test("without pods in the list they have the whole capacity", async () => {
  const { read } = await start({
    systemReserved: { memory: "1Gi" },
    enforceNodeAllocatable: ["none"],
  });
  expect(await read("pods/memory.max")).toBe(String(8 * gibibyte));
});

test("the system's cgroup is held to its share, and one that is missing fails the start by name", async () => {
  const settings: Partial<AgentConfig> = {
    systemReserved: { memory: "1Gi", cpu: "1" },
    systemReservedCgroup: "/system",
    enforceNodeAllocatable: ["pods", "system-reserved"],
  };
  const slice = "system/daemons";
  const { read } = await start(
    {
      ...settings,
      systemReservedCgroup: `/${slice}`,
      featureGates: { MemoryQoS: true },
    },
    {
      [`${slice}/memory.current`]: "1",
      "system/cgroup.controllers": "memory\n",
    },
  );
  expect(await read(`${slice}/memory.max`)).toBe(String(gibibyte));
  expect(await read(`${slice}/memory.min`)).toBe(String(gibibyte));
  // Without the controller the kernel would have no file to write to.
  expect(await read("system/cgroup.subtree_control")).toBe("+memory");
  await expect(start(settings)).rejects.toThrow(
    'Failed to enforce System Reserved Cgroup Limits on "/system": cgroup /system does not exist',
  );
});
