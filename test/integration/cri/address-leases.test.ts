// Addresses that no sandbox has any more are given back, and those that may be in use are not: with a real containerd that is
// killed while it makes sandboxes, and the real plug-ins.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { pino } from "pino";
import { systemClock } from "../../../api/clock.ts";
import { AddressLeases } from "../../../cri/cni/address-leases.ts";
import { limiterName } from "../../../cri/cni/bandwidth-script.ts";
import { cniFileName } from "../../../cri/cni/configuration.ts";
import { eventually } from "../../support/eventually.ts";
import {
  startPrivateRuntime,
  type PrivateRuntime,
} from "../../support/private-runtime.ts";

let part: PrivateRuntime;
const children: ChildProcess[] = [];

const configurationFile = (): string =>
  path.join(part.daemon.cniConfigurationDirectory, cniFileName);

const network = (): {
  name: string;
  cniVersion: string;
  plugins: { ipam: { dataDir: string } }[];
} => JSON.parse(fs.readFileSync(configurationFile(), "utf8")) as never;

const leaseDirectory = (): string =>
  path.join(network().plugins[0]!.ipam.dataDir, network().name);

const leased = (): string[] =>
  fs
    .readdirSync(leaseDirectory())
    .filter((name) => /^[0-9.]+$/.test(name))
    .sort();

const reclaim = (minimumAgeMs = 0): ReturnType<AddressLeases["reclaim"]> =>
  new AddressLeases({
    runtime: part.runtime,
    configurationDirectory: part.daemon.cniConfigurationDirectory,
    minimumAgeMs,
    clock: systemClock,
    logger: pino({ level: "silent" }),
  }).reclaim();

/** What a runtime does before it is killed: a namespace and an address for a container that nobody will know of. */
function attach(id = randomBytes(32).toString("hex")): {
  address: string;
  namespace: string;
} {
  const namespace = `cni-${randomBytes(8).toString("hex")}`;
  execFileSync("ip", ["netns", "add", namespace]);
  const before = leased();
  const { name, cniVersion, plugins } = network();
  execFileSync("/usr/lib/cni/ptp", {
    input: JSON.stringify({ name, cniVersion, ...plugins[0] }),
    env: {
      ...process.env,
      CNI_COMMAND: "ADD",
      CNI_CONTAINERID: id,
      CNI_IFNAME: "eth0",
      CNI_NETNS: `/run/netns/${namespace}`,
      CNI_PATH: "/usr/lib/cni",
    },
  });
  const [address = ""] = leased().filter((each) => !before.includes(each));
  return { address, namespace };
}

const namespaces = (): string =>
  execFileSync("ip", ["netns", "list"], { encoding: "utf8" });

beforeAll(async () => {
  part = await startPrivateRuntime({ image: false });
});
afterAll(async () => {
  for (const child of children) child.kill();
  await part?.dispose({ forgotten: true });
});

test("a sandbox keeps its address; one that is gone, and one that never came to be, lose it", async () => {
  const sandbox = await part.runtime.runPodSandbox(
    part.sandboxConfig("kept"),
    "",
  );
  const { ips } = await part.runtime.podSandboxStatus(sandbox);
  const lost = attach();
  const gone = attach();
  execFileSync("ip", ["netns", "del", gone.namespace]);
  // The link goes a moment after the namespace.
  await eventually(
    () =>
      execFileSync("ip", ["route", "show", gone.address], {
        encoding: "utf8",
      }) === "",
  );
  expect(leased()).toEqual([...ips, lost.address, gone.address].sort());
  // They could be of a call that is still under way.
  const young = await reclaim(60_000);
  expect(young.released).toEqual([]);
  expect(young.waitMs).toBeLessThanOrEqual(60_000);
  expect((await reclaim()).released.sort()).toEqual(
    [lost.address, gone.address].sort(),
  );
  expect(leased()).toEqual(ips);
  expect(namespaces()).not.toContain(lost.namespace);
  await part.runtime.stopPodSandbox(sandbox);
  await part.runtime.removePodSandbox(sandbox);
});

test("what limited the bandwidth of a sandbox that never came to be goes with its address", async () => {
  const id = randomBytes(32).toString("hex");
  const { address } = attach(id);
  const limiter = limiterName(id);
  execFileSync("ip", ["link", "add", limiter, "type", "ifb"]);
  expect((await reclaim()).released).toEqual([address]);
  expect(fs.existsSync(`/proc/sys/net/ipv4/conf/${limiter}`)).toBe(false);
});

test("an address is kept while a process is in its namespace, although no sandbox is known", async () => {
  const { address, namespace } = attach();
  const child = spawn("ip", ["netns", "exec", namespace, "sleep", "1000"]);
  children.push(child);
  await eventually(() =>
    execFileSync("ip", ["netns", "pids", namespace], { encoding: "utf8" }),
  );
  expect((await reclaim()).released).toEqual([]);
  expect(leased()).toEqual([address]);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill();
  await ended;
  expect((await reclaim()).released).toEqual([address]);
});

test("a link whose namespace is not the runtime's own keeps its address", async () => {
  const { address, namespace } = attach();
  // The same namespace under another name.
  const other = `other-${randomBytes(4).toString("hex")}`;
  fs.writeFileSync(`/run/netns/${other}`, "");
  execFileSync("mount", [
    "--bind",
    `/run/netns/${namespace}`,
    `/run/netns/${other}`,
  ]);
  execFileSync("umount", [`/run/netns/${namespace}`]);
  fs.rmSync(`/run/netns/${namespace}`);
  try {
    expect((await reclaim()).released).toEqual([]);
    expect(leased()).toEqual([address]);
  } finally {
    execFileSync("ip", ["netns", "del", other]);
  }
  await eventually(async () => (await reclaim()).released.includes(address));
});

test("a sandbox whose network's result was cut off by a kill can be stopped", async () => {
  const sandbox = await part.runtime.runPodSandbox(
    part.sandboxConfig("cut"),
    "",
  );
  const directory = "/var/lib/cni/results";
  const [name] = fs
    .readdirSync(directory)
    .filter((each) => each.endsWith(`-${sandbox}-eth0`));
  fs.truncateSync(path.join(directory, name!));
  await part.runtime.stopPodSandbox(sandbox);
  await part.runtime.removePodSandbox(sandbox);
  expect(leased()).toEqual([]);
});

test("a runtime that is killed while it makes sandboxes leaks nothing for good", async () => {
  for (const delayMs of [40, 90, 140]) {
    const calls = [1, 2, 3, 4].map((n) =>
      part.runtime
        .runPodSandbox(part.sandboxConfig(`killed-${delayMs}-${n}`), "")
        .catch(() => undefined),
    );
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    process.kill(part.daemon.pid, "SIGKILL");
    await Promise.all(calls);
    await part.restart();
  }
  await reclaim();
  const known = await part.runtime.listPodSandboxes();
  const addresses = await Promise.all(
    known
      .filter(({ ready }) => ready)
      .map(async ({ id }) => (await part.runtime.podSandboxStatus(id)).ips),
  );
  // One that containerd still knows keeps its address until it is removed.
  for (const [address] of addresses) expect(leased()).toContain(address);
  for (const { id } of known) {
    await part.runtime.stopPodSandbox(id);
    await part.runtime.removePodSandbox(id);
  }
  await eventually(async () => {
    await reclaim();
    return leased().length === 0;
  });
});
