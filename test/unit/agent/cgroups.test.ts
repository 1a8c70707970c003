// v2 on a tree of files; v1 for real where it is mounted (test/integration runs it under every pod).
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { CgroupManager } from "../../../agent/cgroups/cgroup-manager.ts";
import { CgroupV2 } from "../../../agent/cgroups/v2.ts";
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
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
