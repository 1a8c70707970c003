// v2 on a tree of files; v1 for real where it is mounted (test/integration runs it under every pod).
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { CgroupManager } from "../../../agent/cgroups/cgroup-manager.ts";
import { CgroupMetrics } from "../../../agent/cgroups/measured-driver.ts";
import { CgroupV1 } from "../../../agent/cgroups/v1.ts";
import { CgroupV2 } from "../../../agent/cgroups/v2.ts";
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import { metricsText } from "../../../api/metrics/family.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { testPod } from "./runtime-objects.ts";

const directories = useTempDirectories();

test("pod and class cgroups are made with their values and removed", async () => {
  const mount = directories();
  await fs.writeFile(
    path.join(mount, "cgroup.controllers"),
    "cpu memory pids\n",
  );
  const driver = new CgroupV2(mount, (directory) =>
    fs.rm(directory, { recursive: true }),
  );
  const config = resolveAgentConfig({
    nodeName: "n",
    cgroupRoot: "/pods",
    cgroupMount: mount,
    podMaxPids: 100,
  });
  const cgroups = new CgroupManager(() => Promise.resolve(driver), config);
  await cgroups.start();
  const read = (file: string): Promise<string> =>
    fs.readFile(path.join(mount, file), "utf8");
  expect(await read("pods/besteffort/cpu.weight")).toBe("1");

  const guaranteed = testPod({
    containers: [
      { name: "a", resources: { limits: { cpu: "500m", memory: "64Mi" } } },
    ],
  });
  expect(await cgroups.createPod(guaranteed)).toBe("/pods/podu");
  expect(await read("pods/podu/cpu.max")).toBe("50000 100000");
  expect(await read("pods/podu/memory.max")).toBe(String(64 << 20));
  expect(await read("pods/podu/pids.max")).toBe("100");
  await cgroups.removePod("u");
  await expect(fs.stat(path.join(mount, "pods/podu"))).rejects.toThrow(
    /ENOENT/,
  );

  const burstable = testPod({
    containers: [{ name: "a", resources: { requests: { cpu: "1" } } }],
  });
  await cgroups.createPod(burstable);
  expect(await read("pods/burstable/podu/cpu.weight")).toBe("39");
  expect(await read("pods/burstable/cpu.weight")).toBe("39");
  await cgroups.removePod("u", "Burstable");
  expect(await read("pods/burstable/cpu.weight")).toBe("1");
});

test("a limit whose controller is not handed down is refused; one that the kernel lacks is none", async () => {
  const mount = directories();
  await fs.writeFile(path.join(mount, "cgroup.controllers"), "cpu memory\n");
  const driver = new CgroupV2(mount);
  await driver.create("/pods", {});
  // What can't be opened, as a file of the hierarchy that is not there.
  for (const file of ["memory.max", "pids.max", "cpu.weight"])
    await fs.symlink("/nonexistent/file", path.join(mount, "pods", file));
  await expect(
    driver.update("/pods", { memoryLimitBytes: 1 << 20 }),
  ).rejects.toThrow(
    "cgroup /pods: memory.max can't be set: its controller is not handed down",
  );
  await driver.update("/pods", { maxPids: 10, cpuShares: 100 });
  await driver.update("/gone", { memoryLimitBytes: 1 << 20 });
});

test("huge pages are limited where they are used and where they are reserved alone", async () => {
  const hugepageLimits = { "2MB": 0, "1GB": 1 << 30 };
  const v2 = directories();
  await fs.writeFile(path.join(v2, "cgroup.controllers"), "hugetlb\n");
  await new CgroupV2(v2).create("/pods", { hugepageLimits });
  const v1 = directories();
  await fs.mkdir(path.join(v1, "hugetlb/pods"), { recursive: true });
  const sizes = ["2MB", "2MB.rsvd", "1GB", "1GB.rsvd"];
  const first = (size: string): string =>
    path.join(v1, `hugetlb/pods/hugetlb.${size}.limit_in_bytes`);
  for (const size of sizes) await fs.writeFile(first(size), "");
  await new CgroupV1(v1).update("/pods", { hugepageLimits });
  for (const size of sizes) {
    const second = path.join(v2, `pods/hugetlb.${size}.max`);
    const expected = size.startsWith("1GB") ? String(1 << 30) : "0";
    for (const file of [first(size), second])
      expect(await fs.readFile(file, "utf8")).toBe(expected);
  }
  // A kernel before 5.7 has no such file.
  await fs.rm(first("2MB.rsvd"));
  await new CgroupV1(v1).update("/pods", { hugepageLimits });
});

test("making, changing and removing cgroups is measured, also when it fails", async () => {
  const done: string[] = [];
  const call = (name: string) => (): Promise<void> => {
    done.push(name);
    return name === "update"
      ? Promise.reject(new Error("no such cgroup"))
      : Promise.resolve();
  };
  const metrics = new CgroupMetrics();
  expect(metricsText(metrics.families())).toBe("");
  const driver = metrics.measure({
    version: 2,
    create: call("create"),
    update: call("update"),
    remove: call("remove"),
    usage: () => Promise.resolve({ processes: 7 }),
    exists: () => Promise.resolve(true),
  });
  await driver.create("a", {});
  await driver.create("b", {});
  await expect(driver.update("a", {})).rejects.toThrow("no such cgroup");
  await driver.remove("a");
  expect(await driver.usage("a")).toEqual({ processes: 7 });
  expect(await driver.exists("a")).toBe(true);
  expect(done).toEqual(["create", "create", "update", "remove"]);
  const counts = metricsText(metrics.families())
    .split("\n")
    .filter((line) => /_count|_version /.test(line) && !line.startsWith("#"));
  expect(counts).toEqual([
    'kubelet_cgroup_manager_duration_seconds_count{operation_type="create"} 2',
    'kubelet_cgroup_manager_duration_seconds_count{operation_type="update"} 1',
    'kubelet_cgroup_manager_duration_seconds_count{operation_type="destroy"} 1',
    "kubelet_cgroup_version 2",
  ]);
});
