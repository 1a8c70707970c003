// Cgroups of the first version as the kernel makes them. That containers join those of their pods, whose cpusets the runtimes
// fill, each test with containers shows.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { CgroupV1 } from "../../../agent/cgroups/v1.ts";
import { removeCgroups } from "../../support/cgroups.ts";
import { announce } from "../../support/run/run-state.ts";

const mount = "/sys/fs/cgroup";
const onVersion1 = fs.existsSync(`${mount}/cpuset/cpuset.cpus`)
  ? test
  : test.skip;

onVersion1.each([
  ["made", []],
  ["there before, and empty", ["", "/pods"]],
])(
  "the cpusets of a pod's parents that were %s are filled",
  async (_how, before) => {
    const root = `/orbit-test-${randomBytes(6).toString("hex")}`;
    announce("cgroup", root);
    const read = (file: string): string =>
      fs.readFileSync(`${mount}/${file}`, "utf8");
    const child = spawn("sleep", ["60"], { stdio: "ignore" });
    const driver = new CgroupV1(mount);
    try {
      for (const below of before)
        fs.mkdirSync(`${mount}/cpuset${root}${below}`);
      await driver.create(`${root}/pods/a`, { cpuShares: 2 });
      for (const file of ["cpuset.cpus", "cpuset.mems"])
        expect(read(`cpuset${root}/pods/${file}`)).toBe(read(`cpuset/${file}`));
      expect(read(`cpuset${root}/pods/a/cgroup.clone_children`)).toBe("0\n");
      expect(read(`cpu${root}/pods/a/cpu.shares`)).toBe("2\n");
      expect(read(`memory${root}/pods/a/memory.use_hierarchy`)).toBe("1\n");
      for (const hierarchy of ["cpu", "memory", "pids"]) {
        const procs = `${hierarchy}${root}/pods/a/cgroup.procs`;
        fs.writeFileSync(`${mount}/${procs}`, String(child.pid));
        expect(read(procs)).toBe(`${child.pid}\n`);
      }
    } finally {
      child.kill("SIGKILL");
      await removeCgroups(root);
    }
  },
);

onVersion1("a parent with CPUs of its own keeps them", async () => {
  const root = `/orbit-test-${randomBytes(6).toString("hex")}`;
  announce("cgroup", root);
  const cpus = (path: string): string => `${mount}/cpuset${path}/cpuset.cpus`;
  try {
    fs.mkdirSync(`${mount}/cpuset${root}`);
    fs.writeFileSync(cpus(root), "0");
    await new CgroupV1(mount).create(`${root}/pods/a`, {});
    expect(fs.readFileSync(cpus(root), "utf8")).toBe("0\n");
    expect(fs.readFileSync(cpus(`${root}/pods`), "utf8")).toBe("0\n");
  } finally {
    await removeCgroups(root);
  }
});
