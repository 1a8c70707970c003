// --system-cgroups and systemContainers: over trees of files as the kernel has them, and, where cgroups can be made, over
// the kernel's own below a cgroup that takes the root's place.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { SystemProcesses } from "../../../agent/cgroups/system-processes.ts";
import { systemContainers } from "../../../agent/stats/system-containers.ts";
import { agentConfig } from "../../../cli/parts/agent/agent-config.ts";
import { checkAgentOptions } from "../../../cli/parts/agent/checks/agent-checks.ts";
import { agentOptions } from "../../../cli/options/agent.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const logger = pino({ level: "silent" });

function write(root: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
}

const gatherer = (mount: string, clock = new FakeClock()): SystemProcesses =>
  new SystemProcesses({ mount, cgroup: "/system/rest", clock, logger });

describe("processes of the root", () => {
  let child: ChildProcess;
  beforeAll(async () => {
    child = spawn("sleep", ["600"]);
    await once(child, "spawn");
  });
  afterAll(() => child.kill("SIGKILL"));

  test("process 1, ended ones and those without a number stay", async () => {
    const mount = directories();
    // A process number beyond the kernel's greatest.
    write(mount, { "cgroup.procs": `0\n1\n4194305\n${child.pid}\n` });
    await gatherer(mount).gather();
    const moved = fs.readFileSync(
      path.join(mount, "system/rest/cgroup.procs"),
      "utf8",
    );
    expect(moved).toBe(`${child.pid}\n`);
  });

  test("without any there is no cgroup made", async () => {
    const mount = directories();
    write(mount, { "cgroup.procs": "1\n" });
    await gatherer(mount).gather();
    expect(fs.readdirSync(mount)).toEqual(["cgroup.procs"]);
  });

  test("each hierarchy of version 1 but those that account for nothing", async () => {
    const mount = directories();
    write(mount, {
      "cpuset/cgroup.procs": `${child.pid}\n`,
      "cpuset/cpuset.cpus": "0-1\n",
      "cpuset/cpuset.mems": "0\n",
      "cpuset/system/cpuset.cpus": "\n",
      "cpuset/system/cpuset.mems": "0\n",
      "memory/cgroup.procs": "1\n",
      "systemd/cgroup.procs": `${child.pid}\n`,
    });
    await gatherer(mount).gather();
    const read = (file: string): string =>
      fs.readFileSync(path.join(mount, file), "utf8");
    expect(read("cpuset/system/cpuset.cpus")).toBe("0-1");
    expect(read("cpuset/system/rest/cgroup.procs")).toBe(`${child.pid}\n`);
    expect(fs.readdirSync(path.join(mount, "memory"))).toEqual([
      "cgroup.procs",
    ]);
    expect(fs.readdirSync(path.join(mount, "systemd"))).toEqual([
      "cgroup.procs",
    ]);
  });

  test("it is done again each minute, after a failure too, until the stop", async () => {
    const mount = path.join(directories(), "later");
    const clock = new FakeClock();
    const processes = gatherer(mount, clock);
    await processes.start();
    write(mount, { "cgroup.procs": `${child.pid}\n` });
    const target = path.join(mount, "system/rest/cgroup.procs");
    await clock.advance(59_999);
    expect(fs.existsSync(target)).toBe(false);
    const gathered = jest.spyOn(processes, "gather");
    await clock.advance(1);
    await gathered.mock.results[0]!.value;
    expect(fs.readFileSync(target, "utf8")).toBe(`${child.pid}\n`);
    processes.stop();
    await clock.advance(600_000);
    expect(gathered).toHaveBeenCalledTimes(1);
  });

  test("the kernel moves the process", async () => {
    const mount = fs.existsSync("/sys/fs/cgroup/cgroup.procs")
      ? "/sys/fs/cgroup"
      : "/sys/fs/cgroup/memory";
    const root = path.join(mount, `orbit-test-${process.pid}-${Date.now()}`);
    try {
      fs.mkdirSync(root);
    } catch {
      // Not root, or nothing is mounted here.
      return;
    }
    try {
      fs.writeFileSync(path.join(root, "cgroup.procs"), `${child.pid}\n`);
      await gatherer(root).gather();
      expect(fs.readFileSync(path.join(root, "cgroup.procs"), "utf8")).toBe("");
      expect(fs.readFileSync(`/proc/${child.pid}/cgroup`, "utf8")).toContain(
        `/${path.basename(root)}/system/rest\n`,
      );
    } finally {
      fs.writeFileSync(path.join(mount, "cgroup.procs"), `${child.pid}\n`);
      for (const each of ["system/rest", "system", ""])
        fs.rmdirSync(path.join(root, each));
    }
  });
});

describe("systemContainers", () => {
  const cgroups = { kubelet: "/k", runtime: "/r", misc: "", pods: "/absent" };

  test("of version 1", async () => {
    const mount = directories();
    write(mount, {
      "cpuacct/r/cpuacct.usage": "5000\n",
      "memory/r/memory.usage_in_bytes": "1000\n",
      "memory/r/memory.limit_in_bytes": "9223372036854771712\n",
      "memory/r/memory.stat":
        "total_inactive_file 300\ntotal_rss 400\ntotal_pgfault 5\ntotal_pgmajfault 1\n",
      "cpuacct/k/cpuacct.usage": "7\n",
    });
    const rates: unknown[] = [];
    const found = await systemContainers(
      { mount, cgroups, startedAtMs: 1_000 },
      (...all) => {
        rates.push(all.slice(0, 2));
        return 12;
      },
    );
    expect(found).toMatchObject([
      {
        name: "kubelet",
        startTime: "1970-01-01T00:00:01Z",
        cpu: { usageNanoCores: 12, usageCoreNanoSeconds: 7 },
      },
      {
        name: "runtime",
        memory: {
          usageBytes: 1000,
          workingSetBytes: 700,
          rssBytes: 400,
          pageFaults: 5,
          majorPageFaults: 1,
        },
      },
    ]);
    expect(found[0]).not.toHaveProperty("memory");
    expect(found[1]).not.toHaveProperty("memory.availableBytes");
    expect(rates).toEqual([
      ["system:kubelet", 7],
      ["system:runtime", 5000],
    ]);
  });

  test("of version 2", async () => {
    const mount = directories();
    write(mount, {
      "r/cpu.stat": "usage_usec 5\nuser_usec 4\n",
      "r/memory.current": "1000\n",
      "r/memory.max": "5000\n",
      "r/memory.stat": "anon 400\ninactive_file 300\npgfault 5\n",
    });
    const found = await systemContainers(
      { mount, cgroups: { ...cgroups, kubelet: "/no" }, startedAtMs: 0 },
      () => undefined,
    );
    expect(found).toMatchObject([
      {
        name: "runtime",
        cpu: { usageCoreNanoSeconds: 5000 },
        memory: {
          availableBytes: 4300,
          usageBytes: 1000,
          workingSetBytes: 700,
          rssBytes: 400,
          pageFaults: 5,
        },
      },
    ]);
    expect(found[0]).not.toHaveProperty("cpu.usageNanoCores");
  });
});

test.each([
  [
    ["--system-cgroups=/", "--cgroup-root=/p"],
    /system container cannot be root/,
  ],
  [
    ["--system-cgroups=//", "--cgroup-root=/p"],
    /system container cannot be root/,
  ],
  [["--system-cgroups=/s"], /--cgroup-root\) was not specified/],
  [["--system-cgroups=s", "--cgroup-root=/p"], /s is no absolute name/],
  [["--system-cgroups=/s/../t", "--cgroup-root=/p"], /is no absolute name/],
  [
    ["--runtime-cgroups=../r"],
    /--runtime-cgroups: \.\.\/r is no absolute name/,
  ],
])("%j is refused", (args, problem) => {
  expect(() => checkAgentOptions(parseOptions(agentOptions, args))).toThrow(
    problem,
  );
});

test("cgroups below the root are taken", () => {
  checkAgentOptions(
    parseOptions(agentOptions, [
      "--system-cgroups=/s/t",
      "--runtime-cgroups=/system.slice/containerd.service",
      "--cgroup-root=/p",
    ]),
  );
});

test.each([
  [[], undefined],
  [["--cgroup-root=/"], undefined],
  [["--cgroup-root=//"], undefined],
  [["--cgroup-root=/p"], "/p"],
  [["--cgroup-root=/", "--cgroups-per-qos=false"], "/"],
])("%j: pods are never held in the machine's root", (args, expected) => {
  const { cgroupRoot } = agentConfig(parseOptions(agentOptions, args));
  expect(cgroupRoot).toBe(expected);
});
