// Cgroups of the first version as the kernel makes them: a process can join a pod's in each hierarchy, also below a parent
// that was there before and handed nothing on.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { CgroupV1 } from "../../../agent/cgroups/v1.ts";
import { removeCgroups } from "../../support/cgroups.ts";
import { announce } from "../../support/run/run-state.ts";

const mount = "/sys/fs/cgroup";
const onVersion1 = fs.existsSync(`${mount}/cpuset/cpuset.cpus`)
  ? test
  : test.skip;

onVersion1.each([
  ["that are made", []],
  ["that were there before", ["", "/pods"]],
])("a process joins a pod's cgroup below parents %s", async (_how, before) => {
  const root = `/orbit-test-${randomBytes(6).toString("hex")}`;
  announce("cgroup", root);
  const child = spawn("sleep", ["60"], { stdio: "ignore" });
  const driver = new CgroupV1(mount);
  try {
    for (const below of before) fs.mkdirSync(`${mount}/cpuset${root}${below}`);
    for (const pod of ["a", "b"])
      await driver.create(`${root}/pods/${pod}`, { cpuShares: 2 });
    for (const file of ["cpuset.cpus", "cpuset.mems"])
      expect(
        fs.readFileSync(`${mount}/cpuset${root}/pods/b/${file}`, "utf8"),
      ).toBe(fs.readFileSync(`${mount}/cpuset/${file}`, "utf8"));
    const shares = `${mount}/cpu${root}/pods/b/cpu.shares`;
    expect(fs.readFileSync(shares, "utf8")).toBe("2\n");
    for (const hierarchy of ["cpuset", "cpu", "memory", "pids"]) {
      const procs = path.join(mount, hierarchy, root, "pods/b/cgroup.procs");
      fs.writeFileSync(procs, String(child.pid));
      expect(fs.readFileSync(procs, "utf8")).toBe(`${child.pid}\n`);
    }
  } finally {
    child.kill("SIGKILL");
    await removeCgroups(root);
  }
});
