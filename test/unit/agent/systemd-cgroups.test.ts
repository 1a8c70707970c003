// The driver systemd over a bus that records, on a tree of files of version 2; names of slices, properties of units; and
// what a class of pods is held to.
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { CgroupManager } from "../../../agent/cgroups/cgroup-manager.ts";
import { cgroupNames } from "../../../agent/cgroups/systemd/slice-names.ts";
import { SystemdDriver } from "../../../agent/cgroups/systemd/systemd-driver.ts";
import { unitProperties } from "../../../agent/cgroups/systemd/unit-properties.ts";
import { CgroupV2 } from "../../../agent/cgroups/v2.ts";
import {
  resolveAgentConfig,
  type AgentConfig,
} from "../../../agent/config/agent-config.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { testPod } from "./runtime-objects.ts";

const directories = useTempDirectories();

test.each([
  ["/", "/", "-.slice"],
  ["/kubepods", "/kubepods.slice", "kubepods.slice"],
  [
    "/kubepods/burstable/pod1-2",
    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice",
    "kubepods-burstable-pod1_2.slice",
  ],
  ["/a-b/c", "/a_b.slice/a_b-c.slice", "a_b-c.slice"],
  ["system.slice", "/system.slice", "system.slice"],
  ["/a.slice/a-b.slice", "/a.slice/a-b.slice", "a-b.slice"],
])("%s is a slice", (cgroup, place, parent) => {
  const names = cgroupNames("systemd");
  expect(names.place(cgroup)).toBe(place);
  expect(names.parent(cgroup)).toBe(parent);
  // A place stays where it is.
  expect(names.place(place)).toBe(place);
  expect(cgroupNames("cgroupfs").place(cgroup)).toBe(cgroup);
});

test("limits as properties of units", () => {
  const limits = {
    cpuShares: 512,
    cpuQuota: 33_333,
    cpuPeriod: 100_000,
    memoryLimitBytes: 1000,
    memoryMinBytes: 500,
    maxPids: 7,
  };
  const text = (version: 1 | 2): string =>
    unitProperties(limits, version)
      .map(([name, type, value]) => `${name}=${type}:${value}`)
      .join(" ");
  // systemd takes quotas in steps of 10 ms a second.
  expect(text(2)).toBe(
    "CPUWeight=t:20 MemoryMax=t:1000 MemoryMin=t:500 CPUQuotaPerSecUSec=t:340000 CPUQuotaPeriodUSec=t:100000 TasksMax=t:7",
  );
  expect(text(1)).toBe(
    "CPUShares=t:512 MemoryLimit=t:1000 CPUQuotaPerSecUSec=t:340000 TasksMax=t:7",
  );
  expect(unitProperties({ maxPids: -1 }, 2)).toEqual([]);
});

async function machine(settings: Partial<AgentConfig> = {}) {
  const mount = directories();
  await fs.writeFile(
    path.join(mount, "cgroup.controllers"),
    "cpu memory pids\n",
  );
  const calls: string[] = [];
  const started = new Set<string>();
  const files = new CgroupV2(mount, (directory) =>
    fs.rm(directory, { recursive: true }),
  );
  const text = (properties: readonly (readonly string[])[]): string =>
    properties
      .filter(([name]) => !/Accounting|Description|Default/.test(name!))
      .map(([name, , value]) => ` ${name}=${value}`)
      .join("");
  const driver = new SystemdDriver(files, {
    startSlice(name, properties) {
      calls.push(`start ${name}${text(properties)}`);
      started.add(name);
      return Promise.resolve();
    },
    setProperties(name, properties) {
      if (!started.has(name)) return Promise.reject(new Error("not loaded"));
      if (properties.length > 0) calls.push(`set ${name}${text(properties)}`);
      return Promise.resolve();
    },
    stop(name) {
      calls.push(`stop ${name}`);
      started.delete(name);
      return Promise.resolve();
    },
  });
  const config = resolveAgentConfig({
    nodeName: "n",
    cgroupRoot: "/pods",
    cgroupMount: mount,
    cgroupDriver: "systemd",
    ...settings,
  });
  const cgroups = new CgroupManager(() => Promise.resolve(driver), config, {
    allocatableMemoryBytes: 1000 * 2 ** 20,
  });
  await cgroups.start();
  return {
    cgroups,
    calls,
    started,
    read: (file: string) => fs.readFile(path.join(mount, file), "utf8"),
  };
}

function podWith(uid: string, resources: object): Pod {
  const pod = testPod({ containers: [{ name: "a", resources }] });
  pod.metadata.uid = uid;
  return pod;
}

test("a pod's cgroup is a slice with its limits, until it ends", async () => {
  const { cgroups, calls, read, started } = await machine();
  expect(calls.splice(0)).toEqual([
    "start pods.slice",
    "start pods-besteffort.slice CPUWeight=1",
    "start pods-burstable.slice CPUWeight=1",
  ]);
  const pod = podWith("1-2", { requests: { cpu: "1" } });
  expect(await cgroups.createPod(pod)).toBe("pods-burstable-pod1_2.slice");
  expect(cgroups.podPath(pod)).toBe(
    "/pods.slice/pods-burstable.slice/pods-burstable-pod1_2.slice",
  );
  expect(calls.splice(0)).toEqual([
    "start pods-burstable-pod1_2.slice CPUWeight=39",
    "set pods-burstable.slice CPUWeight=39",
    "set pods-besteffort.slice CPUWeight=1",
  ]);
  const place = "pods.slice/pods-burstable.slice/pods-burstable-pod1_2.slice";
  // The exact value is in the file, whatever systemd made of it.
  expect(await read(`${place}/cpu.weight`)).toBe("39");
  // Again, for a container that is started again: nothing new, and a slice that was stopped by hand is started again.
  await cgroups.createPod(pod);
  expect(calls.splice(0)).toEqual([
    "set pods-burstable-pod1_2.slice CPUWeight=39",
  ]);
  started.delete("pods-burstable-pod1_2.slice");
  await cgroups.createPod(pod);
  expect(calls.splice(0)).toEqual([
    "start pods-burstable-pod1_2.slice CPUWeight=39",
  ]);
  await cgroups.removePod("1-2");
  expect(calls.splice(0)).toEqual([
    "stop pods-burstable-pod1_2.slice",
    "set pods-burstable.slice CPUWeight=1",
  ]);
  await expect(read(`${place}/cpu.weight`)).rejects.toThrow(/ENOENT/);
  await cgroups.limit("pods", { memoryLimitBytes: 5 });
  expect(calls.splice(0)).toEqual(["set pods.slice MemoryMax=5"]);
  await expect(cgroups.limit("/other", {})).rejects.toThrow("does not exist");
});

test("many pods at once set the limits of their class twice", async () => {
  const { cgroups, calls } = await machine();
  calls.splice(0);
  await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      cgroups.adoptPod(podWith(`${index}`, { requests: { cpu: "100m" } })),
    ),
  );
  expect(
    calls.filter((call) => call.startsWith("set pods-burstable.slice")),
  ).toEqual([
    "set pods-burstable.slice CPUWeight=4",
    "set pods-burstable.slice CPUWeight=196",
  ]);
});

test("requested memory is kept from reclaim, and from lower classes", async () => {
  const { cgroups, read } = await machine({
    cgroupDriver: "cgroupfs",
    featureGates: { MemoryQoS: true, QOSReserved: true },
    qosReserved: { memory: "50%" },
  });
  const mebi = 2 ** 20;
  await cgroups.createPod(
    podWith("g", { limits: { cpu: "1", memory: "100Mi" } }),
  );
  const burstable = podWith("b", { requests: { memory: "300Mi" } });
  // It ran before this agent.
  await cgroups.adoptPod(burstable);
  const numbers = async (file: string): Promise<number> =>
    Number(await read(file)) / mebi;
  expect(await numbers("pods/memory.min")).toBe(400);
  expect(await numbers("pods/podg/memory.min")).toBe(100);
  expect(await numbers("pods/burstable/memory.min")).toBe(300);
  // 1000 Mi less half of what Guaranteed pods requested; then less half of the Burstable ones'.
  expect(await numbers("pods/burstable/memory.max")).toBe(950);
  expect(await numbers("pods/besteffort/memory.max")).toBe(800);
  await cgroups.removePod("b");
  expect(await numbers("pods/besteffort/memory.max")).toBe(950);
  const { cgroups: plain, read: readPlain } = await machine({
    cgroupDriver: "cgroupfs",
  });
  await plain.createPod(podWith("g", { limits: { cpu: "1", memory: "1Mi" } }));
  await expect(readPlain("pods/memory.min")).rejects.toThrow(/ENOENT/);
  await expect(readPlain("pods/besteffort/memory.max")).rejects.toThrow(
    /ENOENT/,
  );
});
