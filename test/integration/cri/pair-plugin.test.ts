// Our own network plug-in in network namespaces, with the kernel's links and routes, beside ptp and host-local: either undoes
// what the other made.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { limiterName } from "../../../cri/cni/bandwidth-script.ts";
import {
  installPairScript,
  leaseIndex,
  pairLinkPrefix,
  pairScript,
} from "../../../cri/cni/pair-script.ts";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temporary = useTempDirectories("orbit-test-pair-");
const machinePlugins = "/usr/lib/cni";
const made: string[] = [];

interface Result {
  interfaces: { name: string; mac: string; sandbox?: string }[];
  ips: { address: string; gateway: string; interface: number }[];
}

const ip = (...args: string[]): string =>
  execFileSync("ip", args, { encoding: "utf8" });

function namespace(prefix = "cni-"): string {
  const name = `${prefix}${randomBytes(8).toString("hex")}`;
  ip("netns", "add", name);
  made.push(name);
  return name;
}

function removeNamespace(name: string): void {
  ip("netns", "del", name);
  made.splice(made.indexOf(name), 1);
}

afterEach(() => {
  for (const name of [...made]) removeNamespace(name);
});

const newId = (): string => randomBytes(32).toString("hex");

interface Call {
  command: "ADD" | "DEL" | "CHECK" | "VERSION";
  id: string;
  namespace: string;
}

/** A network of two families with its plug-in. */
async function network(bits = 24): Promise<{
  subnet: string;
  leases: string;
  leased: () => string[];
  environment: (call: Call) => NodeJS.ProcessEnv;
  script: string;
  /** Standard input of either plug-in. */
  input: string;
  run: (call: Call, program?: string, limits?: object) => Result;
}> {
  const bin = temporary();
  const dataDirectory = path.join(temporary(), "it's");
  const leases = path.join(dataDirectory, "net");
  const subnet = `10.${randomInt(150, 199)}.${randomInt(256)}`;
  const six = `fd00:${randomInt(1, 0xffff).toString(16)}:7::/64`;
  const ranges = [`${subnet}.0/${bits}`, six];
  for (const name of ["ptp", "host-local"])
    fs.symlinkSync(path.join(machinePlugins, name), path.join(bin, name));
  const settings = { leaseDirectory: leases, ranges, mtu: 1400 };
  expect(await installPairScript(bin, settings)).toBe(true);
  const script = path.join(bin, "orbit-pair");
  const input = JSON.stringify({
    cniVersion: "0.4.0",
    name: "net",
    type: "orbit-pair",
    mtu: 1400,
    ipam: {
      type: "host-local",
      dataDir: dataDirectory,
      ranges: ranges.map((range) => [{ subnet: range }]),
      routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0" }],
    },
  });
  const environment = (call: Call): NodeJS.ProcessEnv => ({
    PATH: process.env["PATH"],
    CNI_COMMAND: call.command,
    CNI_CONTAINERID: call.id,
    CNI_IFNAME: "eth0",
    CNI_NETNS: call.namespace === "" ? "" : `/var/run/netns/${call.namespace}`,
    CNI_PATH: bin,
  });
  return {
    subnet,
    leases,
    script,
    input,
    environment,
    leased: () =>
      fs
        .readdirSync(leases)
        .filter((name) => /^10\.|^fd/.test(name))
        .sort(),
    run(call, program = script, limits = undefined) {
      const { stdout, status } = spawnSync(program, {
        input: limits
          ? JSON.stringify({
              ...(JSON.parse(input) as object),
              runtimeConfig: { bandwidth: limits },
            })
          : input,
        env: environment(call),
        encoding: "utf8",
      });
      if (status !== 0) throw new Error(stdout);
      return (stdout === "" ? {} : JSON.parse(stdout)) as Result;
    },
  };
}

const withoutLink = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim().replaceAll(/(veth\w+)/g, "LINK"))
    .filter((line) => line !== "" && !line.includes("fe80"))
    .sort();

test("addresses, routes and sizes are those that ptp makes", async () => {
  const { run, subnet, leased, leases } = await network();
  const found = (["orbit-pair", "ptp"] as const).map((plugin) => {
    const at = namespace();
    const id = newId();
    const program =
      plugin === "ptp" ? path.join(machinePlugins, plugin) : undefined;
    const result = run({ command: "ADD", id, namespace: at }, program);
    const [host, inside] = result.interfaces.filter(
      ({ name }) => name !== "lo",
    );
    const own = ip("-n", at, "-j", "addr", "show", "eth0");
    const [eth0] = JSON.parse(own) as [
      { mtu: number; address: string; addr_info: { local: string }[] },
    ];
    expect(inside).toMatchObject({ name: "eth0", mac: eth0.address });
    expect(inside!.sandbox).toContain(at);
    const [four = "", six = ""] = result.ips.map(
      ({ address }) => address.split("/")[0],
    );
    const plain = (text: string): string[] =>
      withoutLink(text.replaceAll(four, "FOUR").replaceAll(six, "SIX"));
    const shown = {
      gateways: result.ips.map(({ gateway }) => gateway),
      prefixes: result.ips.map(({ address }) => address.split("/")[1]),
      mtu: eth0.mtu,
      hostMtu: fs
        .readFileSync(`/sys/class/net/${host!.name}/mtu`, "utf8")
        .trim(),
      // What a pod announces as a router would be believed where the node does not forward IPv6.
      routers: fs
        .readFileSync(`/proc/sys/net/ipv6/conf/${host!.name}/accept_ra`, "utf8")
        .trim(),
      routes: plain(ip("-n", at, "route")),
      onHost: plain(ip("route", "show", four)),
      onHost6: plain(ip("-6", "route", "show", six)).map((line) =>
        line.replace(/ dev.*/, ""),
      ),
    };
    run({ command: "DEL", id, namespace: at }, program);
    removeNamespace(at);
    return shown;
  });
  expect(found[0]).toEqual(found[1]);
  expect(found[0]).toMatchObject({
    gateways: [`${subnet}.1`, expect.stringMatching(/::1$/)],
    prefixes: ["24", "64"],
    mtu: 1400,
    hostMtu: "1400",
    routers: "0",
  });
  expect(leased()).toEqual([]);
  expect(fs.readdirSync(path.join(leases, "by-container"))).toEqual([]);
});

test("the namespace reaches its gateway in both families, without waiting", async () => {
  const { run } = await network();
  const at = namespace();
  const { ips } = run({ command: "ADD", id: newId(), namespace: at });
  for (const { address, gateway } of ips) {
    // No duplicate address is looked for: it can be used at once.
    expect(ip("-n", at, "addr", "show", "to", address)).not.toContain(
      "tentative",
    );
    expect(ip("-n", at, "route", "get", gateway)).toContain("dev eth0");
    expect(ip("route", "get", address.split("/")[0]!)).toContain(
      pairLinkPrefix,
    );
  }
});

test("either end knows the other's address for good", async () => {
  const { run } = await network();
  const at = namespace();
  const id = newId();
  const { ips, interfaces } = run({ command: "ADD", id, namespace: at });
  const link = `${pairLinkPrefix}${id.slice(0, 8)}`;
  const known = (...of: string[]): unknown =>
    JSON.parse(ip(...of, "-j", "neigh", "show", "nud", "permanent"));
  for (const { address, gateway } of ips) {
    const [own] = address.split("/");
    expect(known("-n", at)).toContainEqual(
      expect.objectContaining({ dst: gateway, lladdr: interfaces[0]!.mac }),
    );
    expect(known()).toContainEqual(
      expect.objectContaining({
        ...{ dst: own, dev: link, lladdr: interfaces[1]!.mac },
      }),
    );
  }
});

/** Sends questions for neighbours under others' addresses from a namespace's eth0, as a pod with raw sockets can. */
const askAsOthers = String.raw`
use Socket;
my ($count, $gateway) = @ARGV;
socket(my $raw, 17, SOCK_RAW, 0) or die $!;
open(my $file, "<", "/sys/class/net/eth0/ifindex") or die $!;
my $link = pack("S n i S C C a8", 17, 0x0806, <$file>, 0, 0, 6, "\xff" x 6);
my $mac = pack("H12", "0a5800000001");
for my $n (1 .. $count) {
  my $arp = pack("n n C C n", 1, 0x0800, 6, 4, 1)
    . $mac . pack("C4", 198, 51, $n >> 8, $n & 255) . "\0" x 6 . inet_aton($gateway);
  send($raw, "\xff" x 6 . $mac . pack("n", 0x0806) . $arp, 0, $link) or die $!;
}
`;

test("questions under others' addresses leave no neighbours on the node", async () => {
  const { run } = await network();
  const at = namespace();
  const id = newId();
  const { ips } = run({ command: "ADD", id, namespace: at });
  const { gateway } = ips[0]!;
  execFileSync("ip", [
    ...["netns", "exec", at, "perl", "-e", askAsOthers, "200", gateway],
  ]);
  const link = `${pairLinkPrefix}${id.slice(0, 8)}`;
  const left = JSON.parse(
    ip("-4", "-j", "neigh", "show", "dev", link),
  ) as unknown[];
  expect(left).toHaveLength(1);
});

test("without IPv6 of pods the node's end has none", async () => {
  const leases = path.join(temporary(), "net");
  const bin = temporary();
  await installPairScript(bin, {
    leaseDirectory: leases,
    ranges: [`10.${randomInt(150, 199)}.${randomInt(256)}.0/24`],
  });
  const at = namespace();
  const id = newId();
  execFileSync(path.join(bin, "orbit-pair"), {
    env: {
      ...{ PATH: process.env["PATH"], CNI_COMMAND: "ADD" },
      ...{ CNI_CONTAINERID: id, CNI_IFNAME: "eth0" },
      CNI_NETNS: `/var/run/netns/${at}`,
    },
  });
  const link = `${pairLinkPrefix}${id.slice(0, 8)}`;
  expect(ip("-6", "addr", "show", "dev", link)).toBe("");
  expect(ip("-n", at, "route", "get", "198.51.100.1")).toContain("eth0");
});

describe("limits of bandwidth", () => {
  const megabit = 1_000_000;
  const burst = 0xffff_ffff;
  const limits = {
    ...{ ingressRate: 2 * megabit, ingressBurst: burst },
    ...{ egressRate: 3 * megabit, egressBurst: burst },
  };
  /** Of a link, as the kernel shows them: kind, bytes a second. */
  const shapers = (link: string): [string, number | undefined][] =>
    (
      JSON.parse(
        execFileSync("tc", ["-j", "qdisc", "show", "dev", link], {
          encoding: "utf8",
        }),
      ) as { kind: string; options: { rate?: number } }[]
    ).map(({ kind, options }) => [kind, options.rate]);
  const exists = (link: string): boolean =>
    spawnSync("ip", ["link", "show", link]).status === 0;

  test("each direction is shaped on the host; DEL leaves no device, twice and without the namespace", async () => {
    const { run } = await network();
    for (const how of ["there", "gone"]) {
      const at = namespace();
      const id = newId();
      run({ command: "ADD", id, namespace: at }, undefined, limits);
      const link = `${pairLinkPrefix}${id.slice(0, 8)}`;
      const limiter = limiterName(id);
      expect(shapers(link)).toEqual([
        ["tbf", (2 * megabit) / 8],
        ["ingress", undefined],
      ]);
      expect(shapers(limiter)).toEqual([["tbf", (3 * megabit) / 8]]);
      expect(ip("addr", "show", "dev", limiter)).not.toContain("inet");
      if (how === "gone") removeNamespace(at);
      for (let times = 0; times < 2; times++)
        run({ command: "DEL", id, namespace: how === "gone" ? "" : at });
      expect(exists(limiter)).toBe(false);
    }
  });

  test("containerd 1.6 has large letters", async () => {
    const { run } = await network();
    const id = newId();
    run({ command: "ADD", id, namespace: namespace() }, undefined, {
      ...{ IngressRate: 2 * megabit, IngressBurst: burst },
      ...{ EgressRate: 0, EgressBurst: 0 },
    });
    expect(shapers(`${pairLinkPrefix}${id.slice(0, 8)}`)).toEqual([
      ["tbf", (2 * megabit) / 8],
    ]);
  });

  test("one direction alone has no device; none has neither", async () => {
    const { run } = await network();
    const at = namespace();
    const id = newId();
    const only = { ...limits, egressRate: 0, egressBurst: 0 };
    run({ command: "ADD", id, namespace: at }, undefined, only);
    expect(exists(limiterName(id))).toBe(false);
    expect(shapers(`${pairLinkPrefix}${id.slice(0, 8)}`)).toHaveLength(1);
    const other = newId();
    run({ command: "ADD", id: other, namespace: namespace() });
    expect(shapers(`${pairLinkPrefix}${other.slice(0, 8)}`)).toEqual([
      ["noqueue", undefined],
    ]);
  });

  test("what a pod sends takes as long as its limit says, also when it may change its own links", async () => {
    const { run } = await network();
    const at = namespace();
    const id = newId();
    run({ command: "ADD", id, namespace: at }, undefined, {
      ...limits,
      egressRate: 8 * megabit,
    });
    const to = namespace();
    const there = run({ command: "ADD", id: newId(), namespace: to });
    const address = there.ips[0]!.address.split("/")[0]!;
    execFileSync("ip", [
      ...["netns", "exec", at, "tc", "qdisc", "add", "dev", "eth0", "root"],
      "pfifo",
    ]);
    const inside = (name: string, script: string) =>
      spawn("ip", ["netns", "exec", name, process.execPath, "-e", script]);
    const server = inside(
      to,
      `require("node:net").createServer((socket) => { let bytes = 0; let began; socket.on("data", (part) => { began ??= performance.now(); bytes += part.length; }); socket.on("end", () => { console.log(bytes, performance.now() - began); process.exit(); }); }).listen(9000, "${address}", () => console.log("listening"));`,
    );
    let text = "";
    server.stdout.on("data", (part: Buffer) => (text += part.toString()));
    await eventually(() => text.includes("listening"));
    inside(
      at,
      `require("node:net").connect(9000, "${address}").end(Buffer.alloc(500_000));`,
    );
    await eventually(() => /\d+ \d+/.test(text));
    const [, bytes = "", tookMs = ""] = /(\d+) ([\d.]+)\n/.exec(text)!;
    expect(Number(bytes)).toBe(500_000);
    // A megabyte a second; what may leave at once comes on top. A busy machine takes longer.
    expect(Number(tookMs)).toBeGreaterThan(300);
    run({ command: "DEL", id, namespace: at });
  });

  test("a limit that can't be had is an error that leaves nothing", async () => {
    const { script, environment, input, leased } = await network();
    const id = newId();
    const at = namespace();
    const bin = temporary();
    fs.writeFileSync(
      path.join(bin, "tc"),
      "#!/bin/sh\necho no such kind >&2\nexit 2\n",
      { mode: 0o755 },
    );
    const call = (words: object, container = id) => {
      const own = environment({ command: "ADD", id: container, namespace: at });
      return spawnSync(script, {
        input: JSON.stringify({
          ...(JSON.parse(input) as object),
          runtimeConfig: { bandwidth: words },
        }),
        env: { ...own, PATH: `${bin}:${own["PATH"]}` },
        encoding: "utf8",
      });
    };
    for (const words of [limits, { ...limits, ingressRate: 0 }]) {
      const { status, stdout } = call(words);
      expect([status, stdout]).toEqual([
        1,
        expect.stringContaining("the bandwidth can't be limited: no such kind"),
      ]);
    }
    for (const [words, problem] of [
      [{ ...limits, egressRate: "1M" }, "the bandwidth is no number"],
      [{ inRate: 1000 }, "the bandwidth is not known"],
    ] as const)
      expect(call(words).stdout).toContain(problem);
    // Such containers are ptp's, which has no limits.
    expect(call(limits, "name-of-no-hexadecimal").stdout).toContain(
      "can't be limited",
    );
    expect(leased()).toEqual([]);
    for (const link of [`${pairLinkPrefix}${id.slice(0, 8)}`, limiterName(id)])
      expect(exists(link)).toBe(false);
  });
});

test("the host forwards in both families from the first pod on", async () => {
  const { script, environment } = await network();
  const host = namespace("host-");
  const inHost = (...words: string[]): string =>
    execFileSync("ip", ["netns", "exec", host, ...words], {
      encoding: "utf8",
      env: {
        ...process.env,
        ...environment({ command: "ADD", id: newId(), namespace: namespace() }),
      },
    }).trim();
  const files = ["ipv4/ip_forward", "ipv6/conf/all/forwarding"].map(
    (name) => `/proc/sys/net/${name}`,
  );
  for (const file of files) inHost("sh", "-c", `echo 0 > ${file}`);
  inHost(script);
  expect(files.map((file) => inHost("cat", file))).toEqual(["1", "1"]);
});

test("twenty at once get addresses of their own; a full range is an error that leaves nothing", async () => {
  const { environment, script, leased, run, leases } = await network(28);
  const calls = Array.from({ length: 16 }, () => ({
    command: "ADD" as const,
    id: newId(),
    namespace: namespace(),
  }));
  const outputs = await Promise.all(
    calls.map(
      (call) =>
        new Promise<string>((resolve) => {
          const child = spawn(script, { env: environment(call) });
          let text = "";
          child.stdout.on("data", (part: Buffer) => (text += part.toString()));
          child.on("close", () => resolve(text));
          child.stdin.end();
        }),
    ),
  );
  const results = outputs.map((text) => JSON.parse(text) as Result);
  const good = results.filter(({ ips }) => ips);
  // .2 to .14 of sixteen addresses.
  expect(good).toHaveLength(13);
  const addresses = good.flatMap(({ ips }) =>
    ips.map(({ address }) => address),
  );
  expect(new Set(addresses).size).toBe(26);
  for (const failed of results.filter(({ ips }) => !ips))
    expect(failed).toMatchObject({
      code: 100,
      msg: expect.stringContaining("no IP addresses available") as unknown,
    });
  expect(leased()).toHaveLength(26);
  expect(fs.readdirSync(path.join(leases, "by-container"))).toHaveLength(13);
  for (const call of calls) run({ ...call, command: "DEL" });
  expect(leased()).toEqual([]);
});

test("a last address that is no whole one, as another run writes it, is passed over", async () => {
  const { subnet, leases, run } = await network();
  for (const last of [
    "",
    `${subnet}.`,
    `${subnet}`,
    "10.",
    "nonsense",
    "....",
  ]) {
    fs.mkdirSync(leases, { recursive: true });
    for (const family of [0, 1])
      fs.writeFileSync(path.join(leases, `last_reserved_ip.${family}`), last);
    const call = { id: newId(), namespace: namespace() };
    expect(run({ ...call, command: "ADD" }).ips[0]!.address).toBe(
      `${subnet}.2/24`,
    );
    run({ ...call, command: "DEL" });
  }
});

test("it is undone twice, without a namespace, and after the namespace went", async () => {
  const { run, leased } = await network();
  for (const how of ["there", "gone", "unnamed"]) {
    const at = namespace(how === "there" ? "other-" : "cni-");
    const id = newId();
    run({ command: "ADD", id, namespace: at });
    const link = `${pairLinkPrefix}${id.slice(0, 8)}`;
    expect(ip("link", "show", link)).toContain("mtu 1400");
    if (how !== "there") removeNamespace(at);
    for (let times = 0; times < 2; times++)
      run({ command: "DEL", id, namespace: how === "unnamed" ? "" : at });
    expect(leased()).toEqual([]);
    await eventually(
      () => spawnSync("ip", ["link", "show", link]).status !== 0,
    );
  }
});

test("what ptp made before an upgrade is undone, and ptp undoes what the script made", async () => {
  const { run, leased, leases } = await network();
  const ptp = path.join(machinePlugins, "ptp");
  for (const [maker, remover] of [
    [ptp, undefined],
    [undefined, ptp],
  ]) {
    const call = { id: newId(), namespace: namespace("other-") };
    run({ command: "ADD", ...call }, maker);
    expect(leased()).toHaveLength(2);
    run({ command: "DEL", ...call }, remover);
    expect(leased()).toEqual([]);
    expect(ip("-n", call.namespace, "-o", "link")).not.toContain("eth0");
  }
  // An index that is left names no address of a later container.
  const [id, at] = [newId(), namespace()];
  const { ips } = run({ command: "ADD", id, namespace: at });
  const lost = { containerId: newId(), interfaceName: "eth0" };
  fs.writeFileSync(
    leaseIndex(leases, lost),
    ips.map(({ address }) => address.split("/")[0]).join(" "),
  );
  run({ command: "DEL", id: lost.containerId, namespace: "" });
  expect(leased()).toHaveLength(2);
});

test("when the link can't be made the addresses are free again, and another's link stays", async () => {
  const { run, leased } = await network();
  const at = namespace();
  const id = newId();
  run({ command: "ADD", id, namespace: at });
  const other = `${id.slice(0, 8)}${newId().slice(8)}`;
  const elsewhere = namespace();
  expect(() =>
    run({ command: "ADD", id: other, namespace: elsewhere }),
  ).toThrow(/File exists/);
  expect(() =>
    run({ command: "ADD", id: newId(), namespace: `cni-${newId()}` }),
  ).toThrow(/netns/);
  expect(leased()).toHaveLength(2);
  expect(ip("-n", at, "link", "show", "eth0")).toContain("eth0");
});

test("what it does not know it leaves to ptp", async () => {
  const { script, environment, input, run } = await network();
  const version = spawnSync(script, {
    input,
    env: environment({ command: "VERSION", id: "", namespace: "" }),
    encoding: "utf8",
  });
  expect(JSON.parse(version.stdout)).toHaveProperty("supportedVersions");
  // A container's id that is no hexadecimal number.
  const call = { id: "x$(reboot)-y", namespace: namespace() };
  expect(() => run({ command: "ADD", ...call })).toThrow(/containerID/);
  const usable = { leaseDirectory: "/l", fallback: "/p" };
  for (const ranges of [
    ["fd00::/64"],
    ["10.0.0.0/31"],
    ["10.0.0.0/24", "10.1.0.0/24"],
    ["10.0.0.0/24", "fd00::aa00/120"],
    ["nonsense"],
  ])
    expect(pairScript({ ...usable, ranges })).toBeUndefined();
});
