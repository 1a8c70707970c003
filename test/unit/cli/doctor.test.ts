// What `orbit doctor` says of machines that are short of something, and of one that is not.
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import {
  createCertificateAuthority,
  YEAR_MS,
} from "../../../api/pki/certificate.ts";
import { runDoctor } from "../../../cli/doctor/doctor.ts";
import type { Finding, MachineFiles } from "../../../cli/doctor/finding.ts";
import {
  certificates,
  isServing,
  ports,
  programs,
  room,
} from "../../../cli/doctor/host-checks.ts";
import {
  connections,
  controlGroups,
  descriptors,
  inotifyInstances,
  memory,
  mountPropagation,
  overlay,
  processes,
} from "../../../cli/doctor/kernel-checks.ts";
import { containerRuntime } from "../../../cli/doctor/runtime-checks.ts";
import { RuntimeError, type Runtime } from "../../../cri/runtime.ts";
import { createFileStore } from "../../../storage/file/file-store.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temporary = useTempDirectories();

function machine(files: Readonly<Record<string, string>>): MachineFiles {
  return {
    read: (file) => Promise.resolve(files[file]),
    link: (file) => Promise.resolve(files[file]),
    list: (directory) =>
      Promise.resolve([
        ...new Set(
          Object.keys(files)
            .filter((file) => file.startsWith(`${directory}/`))
            .map((file) => file.slice(directory.length + 1).split("/")[0]!),
        ),
      ]),
  };
}
const disk: MachineFiles = {
  read: (file) => fs.promises.readFile(file, "utf8").catch(() => undefined),
  list: (directory) => fs.promises.readdir(directory).catch(() => []),
  link: () => Promise.resolve(undefined),
};
const states = (findings: readonly Finding[]): string[] =>
  findings.map(({ name, state }) => `${name}: ${state}`);

test.each([
  [1000, "ok"],
  [4, "ok"],
  [3, "failed"],
])("inotify instances of root's processes against %i", async (limit, state) => {
  const pid = (uid: number): string => `Name:\tx\nUid:\t${uid}\t0\t0\t0\n`;
  const files: Record<string, string> = {
    "/proc/sys/fs/inotify/max_user_instances": `${limit}\n`,
    "/proc/1/status": pid(0),
    "/proc/1/fd/3": "anon_inode:inotify",
    "/proc/1/fd/4": "socket:[1]",
    "/proc/22/status": pid(0),
    "/proc/22/fd/0": "anon_inode:inotify",
    "/proc/22/fd/9": "anon_inode:inotify",
    "/proc/23/status": pid(1000),
    "/proc/23/fd/0": "anon_inode:inotify",
    "/proc/self/fd/0": "anon_inode:inotify",
  };
  const found = await inotifyInstances(machine(files));
  expect(found).toMatchObject({ state, found: `3 of ${limit} in use` });
  const command = "sysctl -w fs.inotify.max_user_instances=";
  if (state !== "ok") expect(found.remedy).toContain(`${command}512 `);
});

test("nearly all of a limit is a warning with the command that raises it", async () => {
  expect(
    await connections(
      machine({
        "/proc/sys/net/netfilter/nf_conntrack_count": "90\n",
        "/proc/sys/net/netfilter/nf_conntrack_max": "100\n",
      }),
    ),
  ).toMatchObject({
    state: "warning",
    remedy: expect.stringContaining(
      "sysctl -w net.netfilter.nf_conntrack_max=200",
    ) as string,
  });
  expect(await connections(machine({}))).toBeUndefined();
  const few = {
    "/proc/loadavg": "0.0 0.1 0.2 1/95 4711\n",
    "/proc/sys/kernel/pid_max": "4194304\n",
    "/proc/sys/kernel/threads-max": "100\n",
  };
  expect(await processes(machine(few))).toMatchObject({
    state: "warning",
    remedy: "sysctl -w kernel.threads-max=200",
  });
  expect(await processes(machine({}))).toMatchObject({ state: "ok" });
});

test("open files: of the machine, and of a process", async () => {
  const limits = (hard: string): string =>
    `Limit   Soft Limit   Hard Limit  Units\nMax open files            1024                 ${hard}               files\n`;
  expect(
    states(
      await descriptors(
        machine({
          "/proc/sys/fs/file-nr": "100\t0\t100\n",
          "/proc/self/limits": limits("4096"),
        }),
      ),
    ),
  ).toEqual([
    "open files of the machine: failed",
    "open files of one process: warning",
  ]);
  expect(
    states(
      await descriptors(
        machine({
          "/proc/sys/fs/file-nr": "100\t0\t9223372036854775807\n",
          "/proc/self/limits": limits("unlimited"),
        }),
      ),
    ),
  ).toEqual(["open files of one process: ok"]);
});

test("control groups of both versions, with and without what limits memory", async () => {
  const v1 = (memoryThere: number): MachineFiles =>
    machine({
      "/proc/cgroups": `#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpuset\t3\t1\t1\ncpu\t1\t1\t1\nmemory\t0\t1\t${memoryThere}\npids\t5\t1\t1\n`,
    });
  expect(await controlGroups(v1(1))).toMatchObject({ state: "ok" });
  expect(await controlGroups(v1(0))).toEqual({
    name: "control groups",
    state: "failed",
    found: "v1 without memory",
    remedy: "boot with cgroup_enable=memory on the kernel's command line",
  });
  const v2 = "/sys/fs/cgroup/cgroup.controllers";
  expect(
    await controlGroups(machine({ [v2]: "cpuset cpu io memory pids\n" })),
  ).toMatchObject({ state: "ok" });
  expect(await controlGroups(machine({ [v2]: "cpu memory\n" }))).toMatchObject({
    state: "failed",
    found: "v2 without cpuset, pids",
  });
});

test("memory, swap and overlay file systems", async () => {
  const meminfo = (total: number, available: number): string =>
    `MemTotal:  ${total} kB\nMemFree: 1 kB\nMemAvailable:  ${available} kB\n`;
  const swaps = "Filename\tType\n/dev/sda2 partition 1 0 -2\n";
  const look = async (
    total: number,
    available: number,
    on = "",
  ): Promise<string[]> =>
    states(
      await memory(
        machine({
          "/proc/meminfo": meminfo(total, available),
          "/proc/swaps": on,
        }),
      ),
    );
  expect(await look(8 << 20, 4 << 20)).toEqual(["memory: ok", "swap: ok"]);
  expect(await look(900_000, 500_000, swaps)).toEqual([
    "memory: warning",
    "swap: warning",
  ]);
  expect(await look(8 << 20, 99 << 10)).toEqual(["memory: failed", "swap: ok"]);
  const file = "/proc/filesystems";
  expect(
    await overlay(machine({ [file]: "nodev\tproc\nnodev\toverlay\n" })),
  ).toMatchObject({ state: "ok" });
  expect(await overlay(machine({ [file]: "nodev\tproc\n" }))).toMatchObject({
    state: "warning",
  });
});

test("a root file system that is not shared keeps mounts with propagation from working", async () => {
  const look = async (...lines: string[]): Promise<Finding> =>
    await mountPropagation(
      machine({ "/proc/self/mountinfo": `${lines.join("\n")}\n` }),
    );
  const shared =
    "21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=continue";
  const slave =
    "22 21 254:0 / / rw,relatime master:1 propagate_from:2 - ext4 /dev/vda rw";
  const isPrivate = "23 1 254:0 / / rw,relatime - ext4 /dev/vda rw";
  const below = "24 23 0:22 / /proc rw shared:5 - proc proc rw";
  expect(await look(shared, below)).toMatchObject({ state: "ok" });
  expect(await look(isPrivate, below)).toMatchObject({
    state: "warning",
    remedy: expect.stringContaining("mount --make-rshared /") as string,
  });
  expect(await look(slave)).toMatchObject({ state: "warning" });
  // The one on top counts.
  expect(await look(shared, isPrivate)).toMatchObject({ state: "warning" });
  expect(await look(isPrivate, shared)).toMatchObject({ state: "ok" });
  expect(await mountPropagation(machine({}))).toMatchObject({ state: "ok" });
});

test("programs that are missing are named with their package", async () => {
  const without = (missing: string) => (name: string) =>
    Promise.resolve(name === missing ? undefined : `/bin/${name}`);
  const of = async (missing: string, isPrivate = true): Promise<Finding[]> =>
    (await programs(isPrivate, without(missing))).filter(
      ({ state }) => state !== "ok",
    );
  expect(await of("nft")).toEqual([
    {
      name: "nft",
      state: "failed",
      found: "not installed: needed for Services and pod networks",
      remedy: "apt-get install -y nftables",
    },
  ]);
  expect(await of("zstd")).toMatchObject([{ state: "warning" }]);
  expect(await of("runc")).toMatchObject([{ state: "failed" }]);
  // Another runtime brings its own.
  expect(await of("runc", false)).toEqual([]);
});

test("a port that another program has fails, but not the cluster's own", async () => {
  const server = net.createServer().listen(0);
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as net.AddressInfo;
  try {
    expect(await ports({ "secure-port": port }, true)).toMatchObject([
      { state: "ok" },
    ]);
    expect(await ports({ "secure-port": port }, false)).toMatchObject([
      {
        state: "failed",
        remedy: `ss -ltnp sport = :${port} shows it; --secure-port chooses another`,
      },
    ]);
  } finally {
    server.close();
  }
});

test("a cluster runs as long as a process has its store", async () => {
  const directory = temporary();
  expect(await isServing(directory, disk)).toBe(false);
  const store = createFileStore({ directory: path.join(directory, "store") });
  await store.start();
  expect(await isServing(directory, disk)).toBe(true);
  await store.stop();
  const lock = path.join(directory, "store", "lock");
  // The pid may be another's by now.
  fs.writeFileSync(lock, `${process.pid} 1\n`);
  expect(await isServing(directory, disk)).toBe(false);
  fs.writeFileSync(lock, "../../1 x\n");
  expect(await isServing(directory, disk)).toBe(false);
});

test("room is looked at where the directory will be", async () => {
  const missing = path.join(temporary(), "not", "there");
  expect((await room(missing)).map(({ name }) => name)).toEqual([
    `room for ${missing}`,
    `inodes for ${missing}`,
  ]);
});

test("certificates: valid, about to end, over, and none at all", async () => {
  const directory = temporary();
  const nowMs = Date.now();
  const { certificate } = createCertificateAuthority({
    subject: { commonName: "doctor-test" },
    nowMs,
    validityMs: YEAR_MS,
  });
  fs.writeFileSync(path.join(directory, "ca.crt"), certificate);
  fs.writeFileSync(path.join(directory, "ca.key"), "no certificate");
  fs.writeFileSync(path.join(directory, "torn.crt"), "-----BEGIN");
  const at = async (nowMs: number): Promise<string[]> =>
    states(await certificates(directory, disk, nowMs));
  const torn = "certificate torn.crt: failed";
  const ca = "certificate ca.crt";
  expect(await at(nowMs)).toEqual([`${ca}: ok`, torn]);
  const dayMs = 86_400_000;
  const soonMs = nowMs + YEAR_MS - 29 * dayMs;
  expect(await at(soonMs)).toEqual([`${ca}: warning`, torn]);
  expect(await at(nowMs + YEAR_MS + dayMs)).toEqual([`${ca}: failed`, torn]);
  expect(await certificates("/nowhere", disk, nowMs)).toEqual([]);
});

test("the command prints each finding, and exits with 2 when one failed", async () => {
  let printed = "";
  jest.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  const server = net.createServer().listen(0);
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as net.AddressInfo;
  try {
    const argv = ["--data-dir", temporary(), "--secure-port", String(port)];
    expect(await runDoctor(argv)).toBe(2);
    expect(printed).toMatch(
      new RegExp(`^FAILED {3}port ${port} +in use by another program`, "m"),
    );
    printed = "";
    expect(await runDoctor([...argv, "-o", "json"])).toBe(2);
    expect(JSON.parse(printed)).toContainEqual(
      expect.objectContaining({ name: `port ${port}`, state: "failed" }),
    );
    await expect(runDoctor(["--output", "yaml"])).rejects.toThrow(
      'invalid argument "yaml" for "--output"',
    );
  } finally {
    server.close();
    jest.restoreAllMocks();
  }
});

/** A runtime that answers so, and the machine's files. */
const runtimeFindings = (
  answers: Partial<Pick<Runtime, "version" | "status" | "configuration">>,
  files: Readonly<Record<string, string>> = {},
): Promise<Finding[]> => {
  const ready = { ready: true, reason: "", message: "" };
  return containerRuntime(
    "unix:///run/c.sock",
    () =>
      Promise.resolve({
        start: () => Promise.resolve(),
        stop: () => Promise.resolve(),
        version: () =>
          Promise.resolve({
            runtimeName: "containerd",
            runtimeVersion: "2.1.9",
            runtimeApiVersion: "v1",
          }),
        status: () =>
          Promise.resolve({
            runtime: ready,
            network: ready,
            supplementalGroupsPolicy: true,
          }),
        configuration: () => Promise.resolve({}),
        ...answers,
      }),
    machine({
      "/srv/plugins/ptp": "",
      "/srv/plugins/host-local": "",
      "/usr/lib/cni/loopback": "",
      ...files,
    }),
  );
};
const configured = {
  networkDirectory: "/srv/net.d",
  networkPluginDirectories: ["/srv/plugins", "/usr/lib/cni"],
};

test("a runtime of the machine's own that fits", async () => {
  const findings = await runtimeFindings({
    configuration: () =>
      Promise.resolve({ ...configured, cgroupDriver: "cgroupfs", cdi: true }),
  });
  expect(states(findings)).toEqual([
    "container runtime: ok",
    "runtime's cgroup driver: ok",
    "network plug-ins: ok",
    "network configuration: ok",
    "CDI devices: ok",
  ]);
});

test.each<
  [string, Parameters<typeof runtimeFindings>[0], string, string, string]
>([
  [
    "leaves cgroups to a systemd that does not run",
    {
      configuration: () =>
        Promise.resolve({ ...configured, cgroupDriver: "systemd" }),
    },
    "runtime's cgroup driver",
    "systemd, which does not run on this machine",
    'plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options',
  ],
  [
    "has plug-ins in another place",
    { configuration: () => Promise.resolve({}) },
    "network plug-ins",
    "ptp, host-local not in /opt/cni/bin, /usr/lib/cni",
    'plugins."io.containerd.cri.v1.runtime".cni',
  ],
  [
    "has plug-ins in another place, by a file of version 2",
    {
      version: () =>
        Promise.resolve({
          runtimeName: "containerd",
          runtimeVersion: "v1.7.24",
          runtimeApiVersion: "v1",
        }),
    },
    "network plug-ins",
    "ptp, host-local not in",
    'plugins."io.containerd.grpc.v1.cri".cni',
  ],
  [
    "serves no CRI",
    {
      version: () =>
        Promise.reject(new RuntimeError("unsupported", "unknown service")),
    },
    "container runtime",
    "unix:///run/c.sock serves no CRI: unknown service",
    "disabled_plugins",
  ],
  [
    "is away",
    {
      version: () =>
        Promise.reject(new RuntimeError("unavailable", "no connection")),
    },
    "container runtime",
    "unix:///run/c.sock does not answer: no connection",
    "systemctl restart containerd",
  ],
])("a runtime that %s", async (_, answers, name, found, remedy) => {
  const finding = (await runtimeFindings(answers)).find(
    (each) => each.name === name,
  );
  expect(finding).toMatchObject({
    state: "failed",
    found: expect.stringContaining(found) as string,
    remedy: expect.stringContaining(remedy) as string,
  });
});

test("systemd runs where its directory is there", async () => {
  const findings = await runtimeFindings(
    {
      configuration: () =>
        Promise.resolve({ ...configured, cgroupDriver: "systemd" }),
    },
    { "/run/systemd/system": "" },
  );
  expect(states(findings)).toContain("runtime's cgroup driver: ok");
});
