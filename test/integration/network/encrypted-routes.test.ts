// Routes through WireGuard in the kernel of two machines, by the kernel's own or by wireguard-go: real connections between
// their pods, and every packet between the machines counted. Each machine's default route leads to the other one, so that
// whatever is not held back arrives there and is seen.
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { pino } from "pino";
import { systemClock } from "../../../api/clock.ts";
import type { Event, Node } from "../../../api/types/core-v1.ts";
import { createClient } from "../../../client/create-client.ts";
import { events, nodes } from "../../../client/resources.ts";
import { HostLinks } from "../../../network/links/host-links.ts";
import { NodeRoutes } from "../../../network/nodes/node-routes.ts";
import { publicKeyAnnotation } from "../../../network/nodes/wireguard/encrypted-plan.ts";
import { PodNetwork } from "../../../network/pods/pod-network.ts";
import { eventually } from "../../support/eventually.ts";
import { MemoryApi } from "../../support/memory-api.ts";
import {
  NetworkMachines,
  type Machine,
} from "../../support/network-machines.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const logger = pino({ level: process.env.ORBIT_TEST_LOG ?? "silent" });
const clock = systemClock;
const api = new MemoryApi(clock);
const client = createClient(api, { clock, logger });
const network = new NetworkMachines();
const directory = useTempDirectories();

// wireguard-go's sockets lie in one directory of the whole machine, by the device's name, which the ranges give.
const [second, third] = [randomInt(64, 250), randomInt(0, 64) * 4];
const four = (n: number, rest = "0/24"): string =>
  `10.${second}.${third + n}.${rest}`;
const six = (n: number, rest = "/64"): string =>
  `fd42:${second}:${third}:${n}::${rest}`;
const port = 51820;

interface Side {
  readonly name: string;
  readonly machine: Machine;
  readonly ranges: readonly string[];
  readonly keyFile: string;
  routes: NodeRoutes;
  links: HostLinks;
}

let a: Side;
let b: Side;
let podA: Machine;
let podB: Machine;

function routesOf(
  name: string,
  machine: Machine,
  ranges: readonly string[],
  mode: ConstructorParameters<typeof NodeRoutes>[0]["mode"],
): Pick<Side, "routes" | "links"> {
  const wrapper = ["ip", "netns", "exec", machine.namespace];
  const links = new HostLinks({ clock, logger, wrapper });
  const { masquerade } = new PodNetwork({
    clusterRanges: [],
    clock,
    logger,
    wrapper,
  });
  const routes = new NodeRoutes({
    client,
    nodeName: name,
    podRanges: ranges,
    clusterIdentity: "cluster",
    mode,
    masquerade,
    links,
    clock,
    logger: logger.child({ node: name }),
    wrapper,
  });
  return { routes, links };
}

const encrypted = (
  keyFile: string,
): ConstructorParameters<typeof NodeRoutes>[0]["mode"] => ({
  wireguard: {
    keyFile,
    port,
    keepaliveSeconds: 0,
    clusterRanges: [`10.${second}.0.0/16`, `fd42:${second}::/32`],
    serviceRanges: ["10.43.0.0/16"],
  },
});

async function side(name: string, machine: Machine, n: number): Promise<Side> {
  const ranges = [four(n), six(n)];
  const keyFile = path.join(directory(), "wireguard.key");
  // What comes from the other machine, in clear and not.
  machine.run(
    "nft",
    `table inet wire {
      counter clear { }
      counter encrypted { }
      chain arrived {
        type filter hook prerouting priority -400;
        iifname { "eth0", "v-b" } ip saddr 10.${second}.0.0/16 counter name clear
        iifname { "eth0", "v-b" } ip daddr 10.${second}.0.0/16 counter name clear
        iifname { "eth0", "v-b" } ip6 saddr fd42::/16 counter name clear
        iifname { "eth0", "v-b" } ip6 daddr fd42::/16 counter name clear
        iifname { "eth0", "v-b" } udp dport ${port} counter name encrypted
      }
    }`,
  );
  await client.resource(nodes).create({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name },
    spec: { podCIDRs: ranges },
    status: { addresses: [{ type: "InternalIP", address: `192.0.2.${n}` }] },
  } as Node);
  const running = routesOf(name, machine, ranges, encrypted(keyFile));
  return { name, machine, ranges, keyFile, ...running };
}

const count = (machine: Machine, counter: string): number =>
  Number(
    /packets (\d+)/.exec(
      machine.run("nft", "list", "counter", "inet", "wire", counter),
    )![1],
  );

const keyOf = (name: string): string | undefined =>
  api.all<Node>(nodes).find(({ metadata }) => metadata.name === name)?.metadata
    .annotations?.[publicKeyAnnotation];

const device = ({ machine }: Side): string | undefined =>
  /orbit-[0-9a-f]{8}/.exec(machine.run("ip", "-br", "link"))?.[0];

const peers = (own: Side): string[] =>
  own.machine
    .run("wg", "show", device(own)!, "peers")
    .split("\n")
    .filter(Boolean);

const routesTo = (own: Side, range: string): string =>
  own.machine.run(
    "ip",
    ...(range.includes(":") ? ["-6"] : []),
    "route",
    "show",
    range,
  );

/** Packets that come before are lost, and sent again after five seconds. */
const listens = ({ machine }: Side): boolean =>
  machine
    .run("cat", "/proc/net/udp")
    .includes(`:${port.toString(16).toUpperCase()} `);

/** Both have each other's key, and a route to each other. */
async function connected(): Promise<void> {
  for (const [own, other] of [
    [a, b],
    [b, a],
  ] as const)
    await eventually(
      () =>
        listens(own) &&
        peers(own).includes(keyOf(other.name)!) &&
        other.ranges.every((range) =>
          routesTo(own, range).includes(`dev ${device(own)!}`),
        ),
      { what: `${own.name} to reach ${other.name}` },
    );
}

const ask = (host: string): Promise<string> =>
  podA.connect({ protocol: "tcp", host, port: 80, waitMs: 25_000 });

async function podsReachEachOther(): Promise<void> {
  expect(await ask(four(2, "2"))).toBe(`pb ${four(1, "2")}`);
  expect(await ask(six(2, "2"))).toBe(`pb ${six(1, "2")}`);
}

/** How a program learns of a route that refuses. */
const refused = /^E(HOST|NET)UNREACH$/;

const nothingInClear = (): void =>
  expect([count(a.machine, "clear"), count(b.machine, "clear")]).toEqual([
    0, 0,
  ]);

const succeeds = (program: string, ...args: string[]): boolean =>
  spawnSync(program, args).status === 0;
const inKernel = succeeds(
  ...([
    "unshare",
    "-n",
    "ip",
    "link",
    "add",
    "w",
    "type",
    "wireguard",
  ] as const),
);
/** A container may be without the device of tunnels, and a kernel without WireGuard: then nothing can be encrypted. */
const possible =
  succeeds("sh", "-c", "command -v wg") &&
  (inKernel ||
    (fs.existsSync("/dev/net/tun") &&
      succeeds("sh", "-c", "command -v wireguard-go")));

(possible ? describe : describe.skip)("with WireGuard", () => {
  beforeAll(async () => {
    const machineA = network.node("a");
    const machineB = network.neighbour(machineA, "b", {
      own: "192.0.2.2",
      nodes: "192.0.2.1",
    });
    machineB.run("sysctl", "-qw", "net.ipv4.ip_forward=1");
    machineB.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1");
    for (const [machine, link, own, other] of [
      [machineA, "v-b", 1, 2],
      [machineB, "eth0", 2, 1],
    ] as const) {
      machine.run(
        "ip",
        "addr",
        "add",
        `fd00:2::${own}/64`,
        "dev",
        link,
        "nodad",
      );
      machine.run(
        "ip",
        "-6",
        "route",
        "add",
        "default",
        "via",
        `fd00:2::${other}`,
      );
    }
    podA = network.pod(machineA, "pa", [four(1, "2"), six(1, "2")]);
    podB = network.pod(machineB, "pb", [four(2, "2"), six(2, "2")]);
    await podB.serve("tcp", 80);
    a = await side("a", machineA, 1);
    b = await side("b", machineB, 2);
    await Promise.all([a.routes.start(), b.routes.start()]);
    await connected();
  });

  afterAll(async () => {
    for (const each of [a, b]) {
      await each?.routes.stop();
      each?.links.stop();
    }
    network.stop();
  });

  test("pods of two machines reach each other, and the wire has nothing of it in clear", async () => {
    const before = count(b.machine, "encrypted");
    await podsReachEachOther();
    expect(count(b.machine, "encrypted")).toBeGreaterThan(before);
    expect(count(a.machine, "encrypted")).toBeGreaterThan(0);
    nothingInClear();
    expect(fs.statSync(a.keyFile).mode & 0o777).toBe(0o600);
    expect(peers(a)).toEqual([keyOf("b")]);
    expect(a.machine.run("ip", "link", "show", device(a)!)).toContain(
      "mtu 1440",
    );
  });

  test("what would be seen in clear is counted", async () => {
    a.machine.run("ip", "route", "add", four(2, "9/32"), "via", "192.0.2.2");
    await podA.connect({
      protocol: "udp",
      host: four(2, "9"),
      port: 9,
      waitMs: 100,
    });
    await eventually(() => count(b.machine, "clear") > 0, {
      what: "the packet to be counted",
    });
    a.machine.run("ip", "route", "del", four(2, "9/32"));
    for (const { machine } of [a, b])
      machine.run("nft", "reset", "counter", "inet", "wire", "clear");
  });

  test("a node without a key, and one that is not known, are refused and not sent to in clear", async () => {
    await client.resource(nodes).create({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "keyless" },
      spec: { podCIDRs: [four(3)] },
      status: { addresses: [{ type: "InternalIP", address: "192.0.2.3" }] },
    } as Node);
    await eventually(() => routesTo(a, four(3)).includes("unreachable"), {
      what: "the refusing route",
    });
    expect(await ask(four(3, "2"))).toMatch(refused);
    expect(await ask(`10.${second}.255.2`)).toMatch(refused);
    expect(await ask(six(9, "2"))).toMatch(refused);
    nothingInClear();
  });

  test("a node that announces another's range is refused with an event, and the other one is still reached", async () => {
    await client.resource(nodes).create({
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name: "thief",
        annotations: { [publicKeyAnnotation]: `${"t".repeat(42)}A=` },
      },
      spec: { podCIDRs: [four(2)] },
      status: { addresses: [{ type: "InternalIP", address: "192.0.2.4" }] },
    } as Node);
    const found = await eventually(
      () =>
        api
          .all<Event>(events)
          .find(
            ({ involvedObject, source }) =>
              involvedObject.name === "thief" && source?.host === "a",
          ),
      { what: "the event" },
    );
    expect(found).toMatchObject({
      type: "Warning",
      reason: "NodeRoutesRefused",
    });
    expect(found.message).toContain("the node b");
    await podsReachEachOther();
    expect(peers(a)).toEqual([keyOf("b")]);
  });

  test("a device that goes comes back, and nothing leaves meanwhile", async () => {
    const gone = device(a)!;
    a.machine.run("ip", "link", "del", gone);
    await eventually(() => device(a), { what: "the device" });
    await connected();
    await podsReachEachOther();
    nothingInClear();
  });

  test("a program that starts again uses the device that is there", async () => {
    const number = (): string =>
      /^\d+/.exec(a.machine.run("ip", "-o", "link", "show", device(a)!))![0];
    const before = number();
    const again = routesOf("a", a.machine, a.ranges, encrypted(a.keyFile));
    await again.routes.start();
    expect(number()).toBe(before);
    await podsReachEachOther();
    // The first one ends, with the device; the second one makes it again.
    await a.routes.stop();
    a.links.stop();
    Object.assign(a, again);
    await connected();
    await podsReachEachOther();
    nothingInClear();
  });

  test("another key of a node is used as soon as it is published", async () => {
    const before = keyOf("b");
    await b.routes.stop();
    b.links.stop();
    // Its routes refuse while nobody encrypts; the kernel's WireGuard goes on, and the pod there has no such port.
    for (const host of [four(1, "2"), six(1, "2")])
      expect(await podB.connect({ protocol: "tcp", host, port: 80 })).toMatch(
        inKernel ? /^ECONNREFUSED$/ : refused,
      );
    nothingInClear();
    fs.rmSync(b.keyFile);
    Object.assign(b, routesOf("b", b.machine, b.ranges, encrypted(b.keyFile)));
    await b.routes.start();
    await eventually(() => keyOf("b") !== before, { what: "the new key" });
    await connected();
    expect(peers(a)).toEqual([keyOf("b")]);
    await podsReachEachOther();
    nothingInClear();
  });

  test("a node that is deleted is no peer any longer, and nothing goes to its pods", async () => {
    await b.routes.stop();
    b.links.stop();
    await client.resource(nodes).delete("thief");
    await client.resource(nodes).delete("b");
    await eventually(() => peers(a).length === 0 && !routesTo(a, four(2)), {
      what: "the peer to go",
    });
    expect(await ask(four(2, "2"))).toMatch(refused);
    nothingInClear();
  });

  test("routes of another mode take back all of it", async () => {
    await a.routes.stop();
    a.links.stop();
    expect(
      a.machine.run("ip", "route", "show", "type", "unreachable"),
    ).not.toBe("");
    Object.assign(a, routesOf("a", a.machine, a.ranges, "host"));
    await a.routes.start();
    expect(device(a)).toBeUndefined();
    for (const family of ["-4", "-6"])
      expect(
        a.machine.run("ip", family, "route", "show", "type", "unreachable"),
      ).not.toContain("2000000");
  });
});
