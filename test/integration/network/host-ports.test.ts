// Ports of a node that lead to its pods, in the kernel: a node, pods and a machine outside in network namespaces, and real
// connections between them. What each client is seen as is part of each answer.
import { pino } from "pino";
import { systemClock } from "../../../api/clock.ts";
import type { HostPort, PodPorts } from "../../../network/pods/host-ports.ts";
import { PodNetwork } from "../../../network/pods/pod-network.ts";
import { eventually } from "../../support/eventually.ts";
import {
  NetworkMachines,
  type Machine,
} from "../../support/network-machines.ts";

const logger = pino({ level: process.env.ORBIT_TEST_LOG ?? "silent" });
const network = new NetworkMachines();
let node: Machine;
let outside: Machine;
let one: Machine;
let two: Machine;
let rules: PodNetwork;

/** Every try is answered, if only with a refusal: the time is for a busy machine. */
const waitMs = 10_000;
const oneIps = ["10.42.0.2", "fd42::2"];
const twoIps = ["10.42.0.3", "fd42::3"];

function podNetwork(): PodNetwork {
  return new PodNetwork({
    clusterRanges: ["10.42.0.0/16", "fd42::/48"],
    clock: systemClock,
    logger,
    wrapper: ["ip", "netns", "exec", node.namespace],
  });
}

const port = (change: Partial<HostPort> = {}): HostPort => ({
  protocol: "TCP",
  containerPort: 80,
  hostPort: 8080,
  hostIP: "",
  ...change,
});

const pod = (
  id: string,
  ips: readonly string[],
  ...ports: HostPort[]
): PodPorts => ({ id, ips, ports });

const tables = (): string =>
  node
    .run("nft", "list", "tables")
    .split("\n")
    .filter((line) => line.includes("orbit-ports"))
    .join();

beforeAll(async () => {
  node = network.node("node");
  outside = network.neighbour(node, "out", {
    own: "192.0.2.2",
    nodes: "192.0.2.1",
  });
  node.run("ip", "addr", "add", "192.0.2.9/24", "dev", "v-out");
  node.run("ip", "addr", "add", "fd00:2::1/64", "dev", "v-out", "nodad");
  outside.run("ip", "addr", "add", "fd00:2::2/64", "dev", "eth0", "nodad");
  one = network.pod(node, "one", oneIps);
  two = network.pod(node, "two", twoIps);
  for (const machine of [one, two])
    for (const protocol of ["tcp", "udp"] as const)
      await machine.serve(protocol, 80);
  rules = podNetwork();
  await rules.setOwn(["10.42.0.0/24", "fd42::/64"]);
  rules.hostPorts.setAll([]);
});

afterEach(async () => {
  rules.hostPorts.setAll([]);
  await eventually(
    () => !node.run("nft", "list", "maps").includes("elements"),
    { what: "the rules to go" },
  );
});

afterAll(async () => {
  await rules?.stop();
  network.stop();
});

test.each(["tcp", "udp"] as const)(
  "%s from everywhere, with the address that the pod may see",
  async (protocol) => {
    const reach = (from: Machine, host: string): Promise<string> =>
      from.connect({ protocol, host, port: 8080, waitMs });
    await rules.hostPorts.add(
      pod("a", oneIps, port({ protocol: protocol === "tcp" ? "TCP" : "UDP" })),
    );
    await expect(reach(outside, "192.0.2.1")).resolves.toBe("one 192.0.2.2");
    await expect(reach(outside, "192.0.2.9")).resolves.toBe("one 192.0.2.2");
    await expect(reach(outside, "fd00:2::1")).resolves.toBe("one fd00:2::2");
    await expect(reach(two, "192.0.2.1")).resolves.toBe("one 10.42.0.3");
    await expect(reach(two, "fd00:2::1")).resolves.toBe("one fd42::3");
    // To itself, and from loopback, it comes from the node: the pod would answer past it.
    await expect(reach(one, "192.0.2.1")).resolves.toBe("one 169.254.1.1");
    await expect(reach(one, "fd00:2::1")).resolves.toMatch(/^one (?!fd42::2)/);
    await expect(reach(node, "192.0.2.1")).resolves.toMatch(/^one 192\.0\.2\./);
    await expect(reach(node, "fd00:2::1")).resolves.toMatch(/^one fd00:2::/);
    await expect(reach(node, "127.0.0.1")).resolves.toBe("one 169.254.1.1");
    // Another port, and loopback addresses from outside, lead nowhere.
    await expect(
      outside.connect({ protocol, host: "192.0.2.1", port: 8081, waitMs }),
    ).resolves.toBe("ECONNREFUSED");
  },
);

test("an address of a port is that alone; two pods share a port by address and by protocol", async () => {
  const reach = (
    protocol: "tcp" | "udp",
    host: string,
    from = outside,
  ): Promise<string> => from.connect({ protocol, host, port: 8080, waitMs });
  await rules.hostPorts.add(
    pod(
      "a",
      oneIps,
      port({ hostIP: "192.0.2.1" }),
      port({ hostIP: "fd00:2::1" }),
      port({ hostIP: "127.0.0.1", protocol: "UDP" }),
    ),
  );
  await rules.hostPorts.add(
    pod(
      "b",
      twoIps,
      port({ hostIP: "192.0.2.9" }),
      port({ hostIP: "192.0.2.1", protocol: "UDP" }),
    ),
  );
  await expect(reach("tcp", "192.0.2.1")).resolves.toBe("one 192.0.2.2");
  await expect(reach("tcp", "192.0.2.9")).resolves.toBe("two 192.0.2.2");
  await expect(reach("udp", "192.0.2.1")).resolves.toBe("two 192.0.2.2");
  await expect(reach("tcp", "fd00:2::1")).resolves.toBe("one fd00:2::2");
  await expect(reach("udp", "192.0.2.9")).resolves.toBe("ECONNREFUSED");
  await expect(reach("tcp", "127.0.0.1", node)).resolves.toBe("ECONNREFUSED");
  await expect(reach("udp", "127.0.0.1", node)).resolves.toMatch(/^one /);
});

test("0.0.0.0 is every IPv4 address, :: every IPv6 one", async () => {
  const reach = (host: string): Promise<string> =>
    outside.connect({ protocol: "tcp", host, port: 8080, waitMs });
  await rules.hostPorts.add(pod("a", oneIps, port({ hostIP: "0.0.0.0" })));
  await expect(reach("192.0.2.9")).resolves.toMatch(/^one/);
  await expect(reach("fd00:2::1")).resolves.toBe("ECONNREFUSED");
  await rules.hostPorts.add(pod("b", twoIps, port({ hostIP: "::" })));
  await expect(reach("192.0.2.9")).resolves.toMatch(/^one/);
  await expect(reach("fd00:2::1")).resolves.toMatch(/^two/);
});

test("SCTP", async () => {
  // Nothing answers for the node itself while the port leads away from it, to a pod that is not there.
  await rules.hostPorts.add(
    pod("a", ["10.42.0.77"], port({ protocol: "SCTP", hostPort: 9999 })),
  );
  node.run("ip", "route", "add", "blackhole", "10.42.0.77/32");
  try {
    await expect(outside.sctp("192.0.2.1", 9999, 400)).resolves.toBe("timeout");
    await expect(outside.sctp("192.0.2.1", 9998, waitMs)).resolves.toBe(
      "reached",
    );
  } finally {
    node.run("ip", "route", "del", "10.42.0.77/32");
  }
  await rules.hostPorts.add(
    pod("a", oneIps, port({ protocol: "SCTP", hostPort: 9999 })),
  );
  await expect(outside.sctp("192.0.2.1", 9999, waitMs)).resolves.toBe(
    "reached",
  );
});

test("one address in two spellings, and what is none, keep nobody's ports from the kernel", async () => {
  const reach = (host: string): Promise<string> =>
    outside.connect({ protocol: "tcp", host, port: 8080, waitMs });
  await rules.hostPorts.add(pod("a", oneIps, port({ hostIP: "fd00:02:0::1" })));
  await rules.hostPorts.add(
    pod(
      "b",
      twoIps,
      port({ hostIP: "fd00:2::1" }),
      port({ hostIP: "fe80::1%v-out", hostPort: 8082 }),
      port({ hostIP: "192.0.2.1; flush ruleset", hostPort: 8083 }),
      port({ hostIP: "192.0.02.009" }),
    ),
  );
  await expect(reach("192.0.2.9")).resolves.toBe("two 192.0.2.2");
  await expect(reach("fd00:2::1")).resolves.toBe("two fd00:2::2");
});

test("a pod that goes takes its ports with it, and UDP flows go to the next one", async () => {
  const reach = (patience = 300): Promise<string> =>
    outside.connect({
      protocol: "udp",
      host: "192.0.2.1",
      port: 8080,
      fromPort: 4444,
      waitMs: patience,
    });
  // The kernel remembers the flow as one to the node itself.
  await expect(reach(waitMs)).resolves.toBe("ECONNREFUSED");
  const udp = port({ protocol: "UDP" });
  await rules.hostPorts.add(pod("a", oneIps, udp));
  await eventually(async () => (await reach()) === "one 192.0.2.2");
  rules.hostPorts.setAll([pod("b", twoIps, udp)]);
  await eventually(async () => (await reach()) === "two 192.0.2.2");
  rules.hostPorts.setAll([]);
  await eventually(async () => (await reach()) === "ECONNREFUSED");
});

test("of two pods with one port the later one has it, until it goes", async () => {
  const reach = (): Promise<string> =>
    outside.connect({ protocol: "tcp", host: "192.0.2.1", port: 8080, waitMs });
  await rules.hostPorts.add(pod("a", oneIps, port()));
  await rules.hostPorts.add(pod("b", twoIps, port()));
  await expect(reach()).resolves.toMatch(/^two/);
  rules.hostPorts.setAll([pod("a", oneIps, port())]);
  await eventually(async () => (await reach()).startsWith("one"));
});

test.each([
  ["the table", ["nft", "delete", "table", "ip", "orbit-ports-10-42-0-0-24"]],
  ["everything", ["nft", "flush", "ruleset"]],
])("what another program deletes comes back: %s", async (_what, words) => {
  const reach = (): Promise<string> =>
    outside.connect({ protocol: "tcp", host: "192.0.2.1", port: 8080, waitMs });
  const masqueraded = (): boolean =>
    node.run("nft", "list", "ruleset").includes("@inside masquerade");
  await rules.hostPorts.add(pod("a", oneIps, port()));
  node.run(...words);
  await eventually(
    async () => (await reach()).startsWith("one") && masqueraded(),
  );
});

test("the rules stay when the program stops, and nothing is missing while it starts", async () => {
  const reach = (): Promise<string> =>
    outside.connect({ protocol: "tcp", host: "192.0.2.1", port: 8080, waitMs });
  await rules.hostPorts.add(pod("a", oneIps, port()));
  await rules.stop();
  await expect(reach()).resolves.toMatch(/^one/);
  rules = podNetwork();
  await rules.setOwn(["10.42.0.0/24", "fd42::/64"]);
  // The pods that run are not known yet.
  await expect(reach()).resolves.toMatch(/^one/);
  rules.hostPorts.setAll([pod("a", oneIps, port())]);
  await expect(reach()).resolves.toMatch(/^one/);
  // One that went meanwhile.
  await rules.stop();
  rules = podNetwork();
  await rules.setOwn(["10.42.0.0/24", "fd42::/64"]);
  rules.hostPorts.setAll([]);
  await eventually(async () => (await reach()) === "ECONNREFUSED");
  expect(tables()).toBe("");
});

test("another range of the node has other tables, and another program's network none", async () => {
  await rules.hostPorts.add(pod("a", oneIps, port()));
  await rules.setOwn(["10.42.7.0/24"]);
  await eventually(() => tables() === "table ip orbit-ports-10-42-7-0-24");
  await rules.setOwn(["10.42.0.0/24", "fd42::/64"]);
  await eventually(() => tables().includes("ip6 orbit-ports-fd42-64"));
});
