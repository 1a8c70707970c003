// `orbit cleanup` leaves a machine as it was: what the machine shows before a server and an agent ran pods on it, and after.
import { execFileSync, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import * as fs from "node:fs";
import { controllerRoot, removeCgroups } from "../support/cgroups.ts";
import { eventually } from "../support/eventually.ts";
import { orbitProgram } from "../support/start-orbit.ts";
import { NodeMachines, type NodeMachine } from "../support/node-machines.ts";

const lan = new NodeMachines();
let one: NodeMachine;
let two: NodeMachine;
afterAll(() => lan.clean());

const settings = [
  "net.ipv4.ip_forward",
  "net.ipv4.conf.all.route_localnet",
  "net.ipv6.conf.all.forwarding",
];

/** What programs leave on a machine, as its tools show it. */
function snapshot(machine: NodeMachine): Record<string, string> {
  const below = (text: string): string =>
    text
      .split("\n")
      .filter((line) => line.includes(machine.directory))
      .join("\n");
  return {
    links: machine.run("ip", "-br", "link"),
    addresses: machine.run("ip", "-4", "-br", "address"),
    // The kernel itself adds link-local ones when it has looked for duplicates.
    routes: machine
      .run("ip", "route", "show", "table", "all")
      .split("\n")
      .filter((line) => !/fe80::|ff00::/.test(line))
      .join("\n"),
    rules: machine.run("nft", "list", "ruleset"),
    settings: machine.run("sysctl", ...settings),
    mounts: below(fs.readFileSync("/proc/self/mountinfo", "utf8")),
    cgroups: fs
      .readdirSync("/sys/fs/cgroup")
      .filter((each) => each.startsWith(machine.cgroupRoot.slice(1)))
      .join(),
    processes: execFileSync("ip", ["netns", "pids", machine.namespace], {
      encoding: "utf8",
    }),
  };
}

const kubeconfig = (): string => one.kubeconfig;

const kubectl = async (...args: string[]): Promise<string> =>
  (await one.command(["kubectl", `--kubeconfig=${kubeconfig()}`, ...args]))
    .stdout;

test("links, routes, rules, settings, mounts, cgroups and processes are as before", async () => {
  one = lan.add("one", 87, 1);
  two = lan.add("two", 88, 2);
  // A new namespace has the machine's own settings.
  for (const machine of [one, two])
    for (const name of settings) machine.run("sysctl", "-qw", `${name}=0`);
  // The kernel says a moment later that a link is up.
  for (const machine of [one, two])
    await eventually(() =>
      / UP /.test(machine.run("ip", "-br", "link", "show", "eth0")),
    );
  const before = [snapshot(one), snapshot(two)];
  await one.start(
    "server",
    `--data-dir=${one.dataDirectory}`,
    `--root-dir=${one.directory}/kubelet`,
    `--manifests=${one.directory}/manifests`,
    `--write-kubeconfig=${kubeconfig()}`,
    "--cluster-cidr=10.236.0.0/16",
    "--service-cluster-ip-range=10.136.0.0/16",
    "--load-balancer-cidr=192.168.87.200/29",
  );
  const { stdout } = await one.orbit(
    "token",
    "create",
    "--print-join-command",
    `--kubeconfig=${kubeconfig()}`,
  );
  await two.start(
    ...stdout.trim().split(" ").slice(1),
    `--root-dir=${two.dataDirectory}`,
    "--fail-swap-on=false",
  );
  for (const machine of [one, two]) await machine.loadBusybox();
  await one.command(
    ["kubectl", `--kubeconfig=${kubeconfig()}`, "apply", "-f", "-"],
    {
      stdin: JSON.stringify({
        apiVersion: "apps/v1",
        kind: "DaemonSet",
        metadata: { name: "sleeper" },
        spec: {
          selector: { matchLabels: { app: "sleeper" } },
          template: {
            metadata: { labels: { app: "sleeper" } },
            spec: {
              containers: [
                {
                  name: "c",
                  image: "docker.io/library/busybox:latest",
                  imagePullPolicy: "IfNotPresent",
                  command: ["sleep", "1000"],
                  ports: [{ containerPort: 80, hostPort: 8081 }],
                },
              ],
            },
          },
        },
      }),
    },
  );
  await eventually(
    async () =>
      (
        await kubectl(
          "get",
          "daemonset",
          "sleeper",
          "-o",
          "jsonpath={.status.numberReady}",
        )
      ).trim() === "2",
    { timeoutMs: 90_000, what: "a pod on each machine" },
  );
  await kubectl(
    ..."create service loadbalancer balanced --tcp=80:80".split(" "),
  );
  await eventually(
    () =>
      [one, two].some((machine) =>
        machine.run("ip", "-br", "addr").includes("192.168.87.201/32"),
      ),
    { what: "an announced address" },
  );
  // The test says something only when there is something to take back.
  const during = snapshot(two);
  for (const part of ["links", "routes", "rules", "settings", "processes"])
    expect([part, during[part] === before[1]![part]]).toEqual([part, false]);
  expect(during["rules"]).toContain("KUBE-IPTABLES-HINT");
  for (const machine of [two, one]) {
    const {
      code,
      stdout: said,
      stderr,
    } = await machine.orbit(
      "cleanup",
      `--data-dir=${machine.dataDirectory}`,
      `--cgroup-root=${machine.cgroupRoot}`,
    );
    if (code !== 0) throw new Error(`${said}\n${stderr}`);
  }
  // Links go a moment after their namespaces.
  await eventually(() => {
    expect(snapshot(two)).toEqual(before[1]);
    expect(snapshot(one)).toEqual(before[0]);
    return true;
  });
});

describe("settings of the kernel beside others", () => {
  const machine = (): NodeMachine => two;
  const forwarding = (): string =>
    machine().run("sysctl", "-n", "net.ipv4.ip_forward").trim();
  let number = 0;

  /** Of a cluster that set it, or of one that found it set. */
  async function cleanUp(recorded: boolean): Promise<string> {
    const data = `${machine().directory}/data-${number++}`;
    fs.mkdirSync(data);
    if (recorded)
      fs.writeFileSync(
        `${data}/kernel-settings`,
        "/proc/sys/net/ipv4/ip_forward 0\n",
      );
    const { code, stdout, stderr } = await machine().orbit(
      "cleanup",
      `--data-dir=${data}`,
      "--cgroup-root=/orbit-nowhere",
    );
    if (code !== 0) throw new Error(`${stdout}\n${stderr}`);
    expect(fs.existsSync(`${data}/kernel-settings`)).toBe(false);
    return stdout;
  }
  beforeEach(() => {
    machine().run("sysctl", "-qw", "net.ipv4.ip_forward=1");
  });

  test("are set back when nobody else is there", async () => {
    expect(await cleanUp(true)).toContain(
      "+ echo 0 > /proc/sys/net/ipv4/ip_forward",
    );
    expect(forwarding()).toBe("0");
  });

  test.each([
    ["another cluster's rules", "nft add table ip orbit-pods-10-7-0-0-16"],
    ["kube-proxy's rules", "iptables -t nat -N KUBE-SERVICES"],
    ["Docker's rules", "iptables -N DOCKER"],
  ])(
    "stay beside %s, and are set back by the last one",
    async (_name, command) => {
      machine().run(...command.split(" "));
      try {
        expect(await cleanUp(true)).toMatch(
          /Settings of the kernel stay.*\n +\/proc\/sys\/net\/ipv4\/ip_forward was 0/,
        );
        expect(forwarding()).toBe("1");
        // One that leaves before the last, which found it set.
        await cleanUp(false);
        expect(forwarding()).toBe("1");
      } finally {
        machine().run("nft", "flush", "ruleset");
      }
      await cleanUp(false);
      expect(forwarding()).toBe("0");
    },
  );

  test("stay beside another cluster's program", async () => {
    const other = machine().directory;
    const program = spawn(
      "nsenter",
      [
        `--net=/run/netns/${machine().namespace}`,
        process.execPath,
        ...["-e", "console.log(1); setInterval(() => 0, 1e6)"],
        ...[`${other}/bin/orbit`, "agent", "--root-dir=/nowhere"],
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    try {
      await once(program.stdout, "data");
      expect(await cleanUp(true)).toContain("Settings of the kernel stay");
      expect(forwarding()).toBe("1");
    } finally {
      program.kill("SIGKILL");
      await once(program, "exit");
    }
    await cleanUp(false);
    expect(forwarding()).toBe("0");
  });
});

test("namespaces of pods whose runtime is gone are removed, others stay", async () => {
  const data = `${two.directory}/data-namespaces`;
  fs.mkdirSync(`${data}/containerd/cni/net.d`, { recursive: true });
  fs.writeFileSync(
    `${data}/containerd/cni/net.d/99-orbit.conflist`,
    '{"subnet": "10.237.5.0/24"}',
  );
  const suffix = randomBytes(4).toString("hex");
  const names = ["10.237.5.1", "10.237.6.1"].map((gateway, index) => {
    const name = `cni-${suffix}-${index}`;
    two.run("ip", "netns", "add", name);
    const inside = (...words: string[]): string =>
      two.run("ip", "-n", name, ...words);
    inside("link", "add", "v0", "type", "veth", "peer", "name", "v1");
    inside("link", "set", "v0", "up");
    inside("link", "set", "v1", "up");
    inside("route", "add", gateway, "dev", "v0");
    inside("route", "add", "default", "via", gateway, "dev", "v0");
    return name;
  });
  try {
    await two.orbit(
      "cleanup",
      `--data-dir=${data}`,
      "--cgroup-root=/orbit-nowhere",
    );
    expect(
      fs.readdirSync("/run/netns").filter((name) => names.includes(name)),
    ).toEqual([names[1]]);
  } finally {
    for (const name of names)
      if (fs.existsSync(`/run/netns/${name}`))
        two.run("ip", "netns", "del", name);
  }
});

test("processes of pods whose runtime is gone are ended", async () => {
  const uid = randomUUID();
  const data = `${two.directory}/data-processes`;
  fs.mkdirSync(`${data}/agent/pods/${uid}`, { recursive: true });
  const root = `/orbit-${randomBytes(4).toString("hex")}`;
  const hierarchy = controllerRoot("pids");
  // As of both cgroup drivers, and of another cluster's pod.
  const groups = [
    `${root}/besteffort/pod${uid}/c`,
    `${root}/orbit-pod${uid.replaceAll("-", "_")}.slice/c`,
    `${root}/besteffort/pod${randomUUID()}/c`,
  ];
  const processes = groups.map((group) => {
    fs.mkdirSync(hierarchy + group, { recursive: true });
    // As the first process of a pod, which hears no TERM.
    const child = spawn("sh", ["-c", "trap '' TERM; read _"], {
      stdio: ["pipe", "inherit", "inherit"],
    });
    fs.writeFileSync(
      `${hierarchy}${group}/cgroup.procs`,
      String(child.pid ?? 0),
    );
    return { child, ended: once(child, "exit") };
  });
  const [cgroupfs, slice, other] = processes;
  try {
    const { code } = await two.orbit(
      "cleanup",
      `--data-dir=${data}`,
      `--cgroup-root=${root}`,
    );
    expect(code).toBe(0);
    expect(await cgroupfs!.ended).toEqual([null, "SIGKILL"]);
    expect(await slice!.ended).toEqual([null, "SIGKILL"]);
    expect(other!.child.exitCode ?? other!.child.signalCode).toBeNull();
  } finally {
    other!.child.kill("SIGKILL");
    await other!.ended;
    await removeCgroups(root);
  }
});

/** The name of a process; of one that has ended: nothing. */
function nameOf(pid: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}

test("what a server that ends at once was still writing is removed, too", async () => {
  const data = `${two.directory}/data-ending`;
  for (const directory of ["store", "containerd/cni/net.d"])
    fs.mkdirSync(`${data}/${directory}`, { recursive: true });
  fs.writeFileSync(
    `${data}/containerd/cni/net.d/99-orbit.conflist`,
    '{"subnet": "10.237.7.0/24"}',
  );
  const table = "orbit-pods-10-237-7-0-24";
  // The rules are all there only when the server is gone, as on a machine where nft takes long.
  const program = `
    const { spawn } = require("node:child_process");
    require("node:fs").openSync("${data}/store/log", "w");
    const late = "echo add table ip ${table}; while [ ! -e ${data}/late ]; do sleep 0.1; done";
    const rules = spawn("sh", ["-c", late], { stdio: ["ignore", "pipe", "inherit"] });
    spawn("nft", ["-f", "-"], { stdio: [rules.stdout, "inherit", "inherit"] });
    process.on("SIGTERM", () => process.exit(143));
    console.log(1);
    setInterval(() => 0, 1e6);`;
  const server = spawn(
    "nsenter",
    [`--net=/run/netns/${two.namespace}`, process.execPath, ...["-e", program]],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  await once(server.stdout, "data");
  const [command = "", ...words] = two.wrapper;
  const cleanup = spawn(
    command,
    [
      ...words,
      ...[process.execPath, orbitProgram, "cleanup", `--data-dir=${data}`],
      "--cgroup-root=/orbit-nowhere",
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const cleaned = once(cleanup, "exit");
  let said = "";
  for await (const chunk of cleanup.stdout) {
    said += String(chunk);
    // By then the tables are gone, unless it waits before.
    if (/Waiting for the changes|Removing cgroups/.test(said))
      fs.writeFileSync(`${data}/late`, "");
  }
  expect(await cleaned).toEqual([0, null]);
  expect(said).toContain(`nft delete table ip ${table}`);
  // Without the wait nft would still run now.
  await eventually(
    () =>
      !two
        .run("ip", "netns", "pids", two.namespace)
        .split("\n")
        .some((pid) => pid !== "" && nameOf(pid) === "nft"),
  );
  expect(two.run("nft", "list", "tables")).not.toContain(table);
});
