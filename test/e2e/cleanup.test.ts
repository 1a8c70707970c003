// `orbit cleanup` leaves a machine as it was: what the machine shows before a server and an agent ran pods on it, and after.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { busyboxImageTar } from "../support/busybox-image.ts";
import { eventually } from "../support/eventually.ts";
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
  const image = await busyboxImageTar();
  for (const machine of [one, two])
    await machine.orbit(
      "image",
      "load",
      image,
      `--data-dir=${machine.dataDirectory}`,
    );
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
    { timeoutMs: 40_000, what: "a pod on each machine" },
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
