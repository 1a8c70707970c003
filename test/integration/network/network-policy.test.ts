// Network policies in the kernel: policies, pods and namespaces of an API server, pods and other machines in network
// namespaces, real connections. What must be allowed is said by an evaluator of its own (test/support/policy-oracle.ts).
import * as fs from "node:fs";
import * as os from "node:os";
import { pino } from "pino";
import { systemClock } from "../../../api/clock.ts";
import { metricsText } from "../../../api/metrics/family.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { Namespace, Pod } from "../../../api/types/core-v1.ts";
import type {
  NetworkPolicy,
  NetworkPolicySpec,
} from "../../../api/types/networking-v1.ts";
import type { ResourceRef } from "../../../client/client.ts";
import { pairLinkPrefix } from "../../../cri/cni/pair-script.ts";
import {
  namespaces,
  networkPolicies,
  pods,
} from "../../../client/resources.ts";
import { startCluster, type Cluster } from "../../../index.ts";
import { NetworkPolicies } from "../../../network/policy/network-policies.ts";
import { eventually } from "../../support/eventually.ts";
import {
  NetworkMachines,
  type Machine,
} from "../../support/network-machines.ts";
import {
  inTeam,
  named,
  policyScenarios,
} from "../../support/policy-scenarios.ts";
import { oracleAllows, type OracleWorld } from "../../support/policy-oracle.ts";

const logger = pino({ level: process.env.ORBIT_TEST_LOG ?? "silent" });
const network = new NetworkMachines();
const table = "inet orbit-policy";
const nodeAddress = "192.0.2.1";
/** How long is waited for what must come, and for what must not. */
const patience = 10_000;
const glanceMs = 400;
let cluster: Cluster;
let policies: NetworkPolicies | undefined;
let node: Machine;

interface End {
  machine: Machine;
  address: string;
  /** Source address of connections, where it is not the machine's first. */
  from?: string;
}

/** Pods of this node (a1, a2, b1), a pod of another (b2) and a machine outside. */
const ends: Record<string, End> = {};
const world: {
  namespaces: Namespace[];
  pods: Pod[];
  policies: NetworkPolicy[];
} = { namespaces: [], pods: [], policies: [] };

function podsPolicies(
  machine: Machine,
  tableName = "orbit-policy",
): NetworkPolicies {
  return new NetworkPolicies({
    client: cluster.client,
    nodeName: "node-1",
    tableName,
    podRanges: ["10.42.0.0/24"],
    wrapper: ["ip", "netns", "exec", machine.namespace],
    clock: systemClock,
    logger,
  });
}

beforeAll(async () => {
  node = network.node("node");
  const outside = network.neighbour(node, "out", {
    own: "192.0.2.2",
    nodes: nodeAddress,
  });
  outside.run("ip", "addr", "add", "192.0.2.3/24", "dev", "eth0");
  const pod = (name: string, address: string, six: string): void => {
    ends[name] = { machine: network.pod(node, name, [address, six]), address };
  };
  pod("a1", "10.42.0.2", "fd42::2");
  pod("a2", "10.42.0.3", "fd42::3");
  pod("b1", "10.42.0.4", "fd42::4");
  ends.b2 = { machine: outside, address: "192.0.2.3", from: "192.0.2.3" };
  ends.out = { machine: outside, address: "192.0.2.2", from: "192.0.2.2" };
  for (const { machine, address } of Object.values(ends))
    for (const port of [80, 81])
      for (const protocol of ["tcp", "udp"] as const)
        await machine.serve(
          protocol,
          port,
          // A UDP server of all addresses answers with the first.
          address.startsWith("192.") ? { host: `::ffff:${address}` } : {},
        );
  await node.serve("tcp", 80);
  cluster = await startCluster({
    controllers: false,
    scheduler: false,
    args: ["--disable-admission-plugins=ServiceAccount"],
  });
  for (const name of ["a", "b"])
    world.namespaces.push(
      await create(namespaces, {
        metadata: { name, labels: { team: name } },
        spec: {},
      }),
    );
  await addPod("a", "a1", ["10.42.0.2", "fd42::2"]);
  await addPod("a", "a2", ["10.42.0.3", "fd42::3"]);
  await addPod("b", "b1", ["10.42.0.4", "fd42::4"]);
  await addPod("b", "b2", ["192.0.2.3"], "node-2");
  policies = podsPolicies(node);
  await policies.start();
});

afterAll(async () => {
  await policies?.stop();
  await cluster?.stop();
  network.stop();
});

afterEach(async () => {
  if (!policies) return;
  await cluster.client
    .resource(networkPolicies)
    .deleteCollection({ namespace: "a" });
  await cluster.client
    .resource(networkPolicies)
    .deleteCollection({ namespace: "b" });
  world.policies = [];
  await settled();
});

function create<T extends KubeObject>(
  ref: ResourceRef<T>,
  object: Omit<T, "apiVersion" | "kind"> & Partial<KubeObject>,
): Promise<T> {
  return cluster.client.resource(ref).create(object as T);
}

/** A pod with a TCP and a UDP port named `web`: 80 of those whose names end with 1, 81 of the others. */
async function addPod(
  namespace: string,
  name: string,
  ips: readonly string[],
  nodeName = "node-1",
): Promise<Pod> {
  const containerPort = name.endsWith("1") ? 80 : 81;
  const made = await create(pods, {
    metadata: { name, namespace, labels: { app: name, team: namespace } },
    spec: {
      nodeName,
      containers: (["TCP", "UDP"] as const).map((protocol) => ({
        name: protocol.toLowerCase(),
        image: "none",
        ports: [{ name: "web", containerPort, protocol }],
      })),
    },
  } as Pod);
  if (ips.length === 0) return made;
  const pod = await cluster.client.resource(pods).updateStatus({
    ...made,
    status: {
      phase: "Running",
      podIP: ips[0]!,
      podIPs: ips.map((ip) => ({ ip })),
    },
  } as Pod);
  world.pods.push(pod);
  return pod;
}

let count = 0;

async function policy(
  namespace: string,
  spec: Partial<NetworkPolicySpec>,
): Promise<NetworkPolicy> {
  const made = await create(networkPolicies, {
    metadata: { name: `p${++count}`, namespace },
    spec: { podSelector: {}, ...spec },
  });
  world.policies.push(made);
  return made;
}

/** The kernel has all that the API server acknowledged. */
async function settled(): Promise<void> {
  const { client } = cluster;
  for (const ref of [networkPolicies, pods, namespaces])
    await eventually(async () => {
      const { items } = await client.resource<KubeObject>(ref).list();
      const { lister } = client.informer<KubeObject>(ref);
      const known = new Set(
        lister.list().map(({ metadata }) => metadata.resourceVersion),
      );
      return (
        known.size === items.length &&
        items.every(({ metadata }) => known.has(metadata.resourceVersion))
      );
    });
  await eventually(() => policies!.inStep);
}

interface Wrong {
  from: string;
  to: string;
  protocol: string;
  port: number;
  answer: string;
}

/** Tries every connection there is; returns those that went otherwise than the evaluator says. */
async function wrongOnes(all: OracleWorld = world): Promise<Wrong[]> {
  const wrong: Wrong[] = [];
  const tries: Promise<void>[] = [];
  for (const [from, source] of Object.entries(ends))
    for (const [to, target] of Object.entries(ends)) {
      if (source.machine === target.machine) continue;
      for (const port of [80, 81])
        for (const protocol of ["tcp", "udp", "sctp"] as const) {
          // Each costs a process: enough to see that it is not another protocol.
          if (protocol === "sctp" && (port !== 80 || to !== "a1")) continue;
          const expected = oracleAllows(all, {
            from: source.address,
            to: target.address,
            protocol,
            port,
          });
          const waitMs = expected ? patience : glanceMs;
          const { machine } = source;
          const { address: host } = target;
          const result =
            protocol === "sctp"
              ? machine.sctp(host, port, waitMs, source.from)
              : machine.connect({
                  protocol,
                  host,
                  port,
                  waitMs,
                  ...(source.from ? { from: source.from } : {}),
                });
          tries.push(
            result.then((answer) => {
              if ((answer !== "timeout") !== expected)
                wrong.push({ from, to, protocol, port, answer });
            }),
          );
        }
    }
  await Promise.all(tries);
  return wrong;
}

test.each(Object.entries(policyScenarios))("%s", async (_, all) => {
  for (const [namespace, app, spec] of all)
    await policy(namespace, app ? { ...spec, podSelector: named(app) } : spec);
  await settled();
  await expect(wrongOnes()).resolves.toEqual([]);
});

test("IPv6", async () => {
  await policy("a", {
    podSelector: named("a1"),
    ingress: [
      {
        from: [
          { podSelector: named("a2") },
          { ipBlock: { cidr: "fd42::4/127", except: ["fd42::5/128"] } },
        ],
        ports: [{ port: 80 }],
      },
    ],
  });
  await settled();
  const to = (name: string, port: number, waitMs: number): Promise<string> =>
    ends[name]!.machine.connect({
      protocol: "tcp",
      host: "fd42::2",
      port,
      waitMs,
    });
  await expect(to("a2", 80, patience)).resolves.toBe("a1 fd42::3");
  await expect(to("a2", 81, glanceMs)).resolves.toBe("timeout");
  await expect(to("b1", 80, patience)).resolves.toBe("a1 fd42::4");
});

describe("fragments, of which the first alone has ports", () => {
  const a1 = (): Machine => ends.a1!.machine;

  beforeEach(async () => {
    await policy("a", {
      podSelector: named("a1"),
      ingress: [{ ports: [{ protocol: "UDP", port: 80 }] }],
    });
    await settled();
    await a1().heardAt();
  });

  test.each(["10.42.0.2", "fd42::2"])(
    "of large datagrams to %s pass where the datagram may",
    async (host) => {
      const to = (port: number, waitMs: number): Promise<string> =>
        ends.b1!.machine.connect({
          ...{ protocol: "udp", host, port, waitMs },
          bytes: 5000,
        });
      await expect(to(80, patience)).resolves.toMatch(/^a1 /);
      await expect(to(81, glanceMs)).resolves.toBe("timeout");
      await expect(a1().heardAt()).resolves.toEqual(["80"]);
    },
  );

  test("made by hand lead to no other port", async () => {
    const send = (port: number, how: string): void =>
      ends.b1!.machine.fragments("10.42.0.4", "10.42.0.2", port, how);
    for (const how of ["tiny", "reversed", "headless", "80"]) send(81, how);
    for (const how of ["headless", "81"]) send(80, how);
    send(80, "tiny");
    send(80, "reversed");
    const heard: string[] = [];
    await eventually(async () => {
      heard.push(...(await a1().heardAt()));
      return heard.length >= 2;
    });
    await new Promise((resolve) => setTimeout(resolve, glanceMs));
    heard.push(...(await a1().heardAt()));
    expect(new Set(heard)).toEqual(new Set(["80"]));
  });
});

test("a pod's own node reaches it, and is reached", async () => {
  await policy("a", { policyTypes: ["Ingress", "Egress"] });
  await settled();
  const answer = await node.connect({
    protocol: "tcp",
    host: "10.42.0.2",
    port: 80,
  });
  expect(answer).toMatch(/^a1 /);
  await expect(
    ends.a1!.machine.connect({ protocol: "tcp", host: nodeAddress, port: 80 }),
  ).resolves.toBe("node 10.42.0.2");
});

test("labels of pods and namespaces change, pods go and come with another address", async () => {
  const { client } = cluster;
  await policy("a", {
    ingress: [
      { from: [{ namespaceSelector: inTeam("b"), podSelector: named("b1") }] },
    ],
  });
  await settled();
  const answer = (waitMs = glanceMs): Promise<string> =>
    ends.b1!.machine.connect({
      protocol: "tcp",
      host: "10.42.0.2",
      port: 80,
      waitMs,
    });
  await expect(answer(patience)).resolves.toBe("a1 10.42.0.4");
  const label = (
    ref: ResourceRef<KubeObject>,
    name: string,
    namespace: string | undefined,
    labels: object,
  ) =>
    client.resource(ref).patch(name, namespace, {
      type: "merge",
      body: { metadata: { labels } },
    });
  await label(pods, "b1", "b", { app: "other" });
  await settled();
  await expect(answer()).resolves.toBe("timeout");
  await label(pods, "b1", "b", { app: "b1" });
  await label(namespaces, "b", undefined, { team: "c" });
  await settled();
  await expect(answer()).resolves.toBe("timeout");
  await label(namespaces, "b", undefined, { team: "b" });
  await settled();
  await expect(answer(patience)).resolves.toBe("a1 10.42.0.4");
  // The isolated pod itself.
  await label(pods, "a1", "a", { app: "a1" });
  await client.resource(pods).delete("b1", "b", { gracePeriodSeconds: 0 });
  await settled();
  await expect(answer()).resolves.toBe("timeout");
  world.pods = world.pods.filter(({ metadata }) => metadata.name !== "b1");
  await addPod("b", "b1", ["10.42.0.4", "fd42::4"]);
  await settled();
  await expect(answer(patience)).resolves.toBe("a1 10.42.0.4");
});

test("established connections are cut, in both directions, and go on when allowed again", async () => {
  const { machine } = ends.a1!;
  await machine.serve("tcp", 7, { echo: true });
  await policy("a", {
    podSelector: named("a1"),
    ingress: [{ from: [{ podSelector: named("a2") }] }],
  });
  await settled();
  const target = { host: "10.42.0.2" };
  const tcp = await ends.a2!.machine.open({
    ...target,
    protocol: "tcp",
    port: 7,
  });
  // The server sends without being asked.
  const udp = await ends.a2!.machine.open({
    ...target,
    protocol: "udp",
    port: 80,
  });
  const grows = (received: () => Promise<number>) => {
    let before: number | undefined;
    return eventually(async () => {
      const now = await received();
      before ??= now;
      return now > before;
    });
  };
  await grows(tcp);
  await grows(udp);
  const other = await policy("a", { podSelector: named("a1") });
  await settled();
  await grows(udp);
  await cluster.client.resource(networkPolicies).delete(`p${count - 1}`, "a");
  await settled();
  // What was under way may still come; then nothing does.
  await eventually(async () => {
    const before = [await tcp(), await udp()];
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([await tcp(), await udp()]).toEqual(before);
    return true;
  });
  await cluster.client
    .resource(networkPolicies)
    .delete(other.metadata.name!, "a");
  await settled();
  await grows(udp);
  await grows(tcp);
});

test("a new pod is protected before the API server knows its address", async () => {
  await policy("a", {});
  const pod = await addPod("a", "late", []);
  const { machine } = { machine: network.pod(node, "late", ["10.42.0.9"]) };
  await machine.serve("tcp", 80);
  await policies!.protect(pod, ["10.42.0.9"]);
  const answer = (waitMs = glanceMs): Promise<string> =>
    ends.b1!.machine.connect({
      protocol: "tcp",
      host: "10.42.0.9",
      port: 80,
      waitMs,
    });
  await expect(answer()).resolves.toBe("timeout");
  // Its address is given to a pod that nothing isolates.
  const next = await addPod("b", "next", []);
  await policies!.protect(next, ["10.42.0.9"]);
  await settled();
  await expect(answer(patience)).resolves.toBe("late 10.42.0.4");
  for (const each of [pod, next])
    await cluster.client
      .resource(pods)
      .delete(each.metadata.name!, each.metadata.namespace, {
        gracePeriodSeconds: 0,
      });
});

test("a pod that runs since before a start is protected although the API server does not know its address", async () => {
  await policy("a", {});
  const pod = await addPod("a", "running", []);
  const machine = network.pod(node, "running", ["10.42.0.10"]);
  await machine.serve("tcp", 80);
  await policies!.protect(pod, ["10.42.0.10"]);
  const answer = (): Promise<string> =>
    ends.b1!.machine.connect({
      protocol: "tcp",
      host: "10.42.0.10",
      port: 80,
      waitMs: 300,
    });
  await expect(answer()).resolves.toBe("timeout");
  // The agent is killed before it reports the address, and comes back with what its runtime knows.
  await policies!.stop();
  policies = podsPolicies(node);
  const { name, namespace, uid } = pod.metadata;
  policies.adopt([
    {
      pod: {
        metadata: { name, namespace: namespace!, uid: uid! },
        spec: { containers: [] },
      },
      ips: ["10.42.0.10"],
    },
  ]);
  const seen: string[] = [];
  let ended = false;
  const asked = (async () => {
    while (!ended) seen.push(await answer());
  })();
  await policies.start();
  await settled();
  ended = true;
  await asked;
  seen.push(await answer());
  expect(new Set(seen)).toEqual(new Set(["timeout"]));
  await cluster.client
    .resource(pods)
    .delete(name!, namespace, { gracePeriodSeconds: 0 });
});

test("links that are no pod's may send what they want", async () => {
  const other = network.neighbour(node, "other", {
    own: "198.51.100.2",
    nodes: "198.51.100.1",
  });
  node.run("ip", "route", "replace", "default", "via", "192.0.2.2");
  other.run("ip", "addr", "add", "203.0.113.5/32", "dev", "lo");
  await settled();
  await other.connect({
    protocol: "udp",
    host: "10.42.0.2",
    port: 80,
    from: "203.0.113.5",
    waitMs: 200,
  });
  await eventually(async () =>
    (await ends.a1!.machine.heard()).includes("203.0.113.5"),
  );
});

test("a pod that ended has no rules, one on the host's network neither", async () => {
  await policy("b", {});
  const { client } = cluster;
  const done = await addPod("b", "done", ["10.42.0.2"]);
  world.pods = world.pods.filter((each) => each !== done);
  await client
    .resource(pods)
    .updateStatus({ ...done, status: { ...done.status, phase: "Succeeded" } });
  await settled();
  await expect(
    ends.a2!.machine.connect({ protocol: "tcp", host: "10.42.0.2", port: 80 }),
  ).resolves.toBe("a1 10.42.0.3");
  await client.resource(pods).delete("done", "b", { gracePeriodSeconds: 0 });
});

/** As the kernel names it on the node's side. */
function linkOf(address: string): string {
  const [route] = JSON.parse(
    node.run("ip", "-j", "route", "show", address),
  ) as { dev: string }[];
  return route!.dev;
}

// Kernels before 6.2 rename no link that is up.
const [major = 0, minor = 0] = os.release().split(".").map(Number);
const canRename = major > 6 || (major === 6 && minor >= 2);

test.each<[string, string | undefined]>([
  ["a link of any name", undefined],
  ...(canRename
    ? ([
        ["a link of our own network plug-in", `${pairLinkPrefix}01234567`],
      ] satisfies [string, string][])
    : []),
])(
  "what a pod sends with another's address is dropped: %s",
  async (_, name) => {
    const { machine } = ends.b1!;
    if (name !== undefined) {
      node.run("ip", "link", "set", linkOf("10.42.0.4"), "name", name);
      policies!.rewrite();
    }
    // Without any policy.
    await settled();
    const rules = node.run("nft", "list", "table", ...table.split(" "));
    expect(rules.includes(`"${linkOf("10.42.0.4")}"`)).toBe(name === undefined);
    machine.run("ip", "addr", "add", "10.42.0.3/32", "dev", "lo");
    machine.run("ip", "addr", "add", "198.51.100.7/32", "dev", "lo");
    for (const from of ["10.42.0.3", "198.51.100.7"])
      for (const host of ["10.42.0.2", "192.0.2.2"])
        await machine.connect({
          protocol: "udp",
          host,
          port: 80,
          from,
          waitMs: 100,
        });
    await machine.connect({ protocol: "udp", host: "10.42.0.2", port: 80 });
    machine.run("ip", "addr", "flush", "dev", "lo");
    machine.run("ip", "link", "set", "lo", "up");
    const heard = [
      ...(await ends.a1!.machine.heard()),
      ...(await ends.out!.machine.heard()),
    ];
    expect(heard).toContain("10.42.0.4");
    expect(heard).not.toContain("198.51.100.7");
    expect(
      node.run("nft", "list", "chain", ...table.split(" "), "pod-sources"),
    ).toMatch(/oif missing counter packets ([4-9]|\d\d)/);
  },
);

/** Asks under as many link-local addresses as the first argument says, as a pod with raw sockets can. */
const solicitations = String.raw`
use Socket;
my ($count, $target, $kind, $to) = @ARGV;
$to = pack("H*", $to =~ s/://gr);
$target = Socket::inet_pton(AF_INET6, $target);
socket(my $raw, 17, SOCK_RAW, 0) or die $!;
my ($link) = qx(ip -o link show eth0) =~ /^(\d+):/;
my $address = pack("S n i S C C a8", 17, 0x86dd, $link, 0, 0, 6, $to);
my $mac = pack("H12", "0a5800000001");
for my $n (1 .. $count) {
  my $source = pack("H28 n", "fe80000000000000000000000000", $n);
  my $own = pack("C C", 1, 1) . $mac;
  my ($protocol, $at, $body) = @{{
    neighbor => [58, 2, pack("C C n N", 135, 0, 0, 0) . $target . $own],
    router => [58, 2, pack("C C n N", 133, 0, 0, 0) . $own],
    echo => [58, 2, pack("C C n N", 128, 0, 0, 0)],
    connection => [6, 16, pack("n n N N C C n n n", 4000, 80, 1, 0, 0x50, 2, 1000, 0, 0)],
  }->{$kind}};
  my $sum = unpack("%32n*", $source . $target . pack("N N", length $body, $protocol) . $body);
  $sum = ($sum & 0xffff) + ($sum >> 16) while $sum >> 16;
  substr($body, $at, 2) = pack("n", ~$sum & 0xffff);
  my $packet = pack("N n C C", 0x60000000, length $body, $protocol, 255) . $source . $target . $body;
  send($raw, $to . $mac . pack("n", 0x86dd) . $packet, 0, $address) or die $!;
}
`;

/** Neighbours that the node has by link-local addresses on the link. */
function linkLocalNeighbors(link: string): string[] {
  return node
    .run("ip", "-6", "-o", "neigh", "show", "dev", link)
    .split("\n")
    .filter((line) => line.startsWith("fe80::"));
}

/** Has the pod ask the node on their link. */
function askUnderLinkLocal(pod: string, count: number, kind: string): void {
  const text = node.run(
    "ip",
    "addr",
    "show",
    "dev",
    linkOf(ends[pod]!.address),
  );
  const [, mac] = /link\/ether (\S+)/.exec(text) as RegExpExecArray;
  const [, own] = /inet6 (fe80::[0-9a-f:]+)\//.exec(text) as RegExpExecArray;
  ends[pod]!.machine.run(
    ...["perl", "-e", solicitations, String(count), own!, kind, mac!],
  );
}

test("questions under many link-local addresses leave few neighbours on the node", async () => {
  await settled();
  const link = linkOf("10.42.0.2");
  const onNode = (): string[] => linkLocalNeighbors(link);
  askUnderLinkLocal("a1", 400, "neighbor");
  expect(onNode().length).toBeGreaterThan(0);
  expect(onNode().length).toBeLessThan(40);
  // Another pod's questions are not counted with them.
  askUnderLinkLocal("a2", 1, "neighbor");
  for (const six of ["fd42::2", "fd42::3"])
    expect(
      await ends.b1!.machine.connect({ protocol: "tcp", host: six, port: 80 }),
    ).not.toBe("timeout");
});

test.each(["router", "echo", "connection"])(
  "what the node would answer to link-local addresses leaves no neighbours: %s",
  async (kind) => {
    await settled();
    const link = linkOf("10.42.0.4");
    const before = linkLocalNeighbors(link).length;
    askUnderLinkLocal("b1", 100, kind);
    expect(linkLocalNeighbors(link).length - before).toBeLessThan(2);
    expect(
      node.run("nft", "list", "chain", ...table.split(" "), "pod-neighbors"),
    ).toMatch(/counter packets \d{3}/);
  },
);

test("rules that others delete are written again, others' rules stay", async () => {
  await policy("a", {});
  await settled();
  const gone = (): Promise<string> =>
    ends.b1!.machine.connect({
      protocol: "tcp",
      host: "10.42.0.2",
      port: 80,
      waitMs: glanceMs,
    });
  node.run("nft", "flush", "ruleset");
  await eventually(async () => (await gone()) === "timeout");
  node.run("nft", "add", "table", "ip", "mine");
  node.run("nft", "delete", "table", ...table.split(" "));
  await eventually(async () => (await gone()) === "timeout");
  expect(node.run("nft", "list", "tables")).toContain("table ip mine");
  expect(metricsText(policies!.metrics.families())).toMatch(
    /orbit_network_policy_rewrites_total [2-9]/,
  );
});

test("1,000 policies, of which one lets in", async () => {
  await Promise.all(
    Array.from({ length: 1000 }, (_, n) =>
      policy("a", {
        podSelector: n % 2 ? {} : named(`a${(n % 4) / 2 + 1}`),
        ingress: [
          {
            from: [
              { podSelector: named(`peer-${n}`) },
              { ipBlock: { cidr: `203.0.113.${n % 256}/32` } },
            ],
            ports: [{ port: 1000 + n }],
          },
        ],
      }),
    ),
  );
  await policy("a", {
    podSelector: named("a1"),
    ingress: [{ from: [{ podSelector: named("a2") }], ports: [{ port: 80 }] }],
  });
  await settled();
  // Of the others, which are about other ports, two isolate the same pods.
  await expect(
    wrongOnes({
      ...world,
      policies: [...world.policies.slice(0, 2), world.policies.at(-1)!],
    }),
  ).resolves.toEqual([]);
});

test("pods on a bridge", async () => {
  const other = network.node("bridged");
  const gateway = "10.42.0.1";
  const one = network.bridgedPod(other, "one", {
    address: "10.42.0.2",
    gateway,
  });
  const two = network.bridgedPod(other, "two", {
    address: "10.42.0.3",
    gateway,
  });
  // There is no such setting before the module br_netfilter is loaded.
  if (fs.existsSync("/proc/sys/net/bridge"))
    other.run("sysctl", "-qw", "net.bridge.bridge-nf-call-iptables=0");
  await one.serve("tcp", 80);
  const there = podsPolicies(other, "orbit-bridged");
  const connect = (waitMs = glanceMs): Promise<string> =>
    two.connect({ protocol: "tcp", host: "10.42.0.2", port: 80, waitMs });
  await there.start();
  await expect(connect(patience)).resolves.toBe("one 10.42.0.3");
  await policy("a", {});
  try {
    await eventually(async () => (await connect()) === "timeout");
    await policy("a", { ingress: [{ from: [{ podSelector: named("a2") }] }] });
    await eventually(async () => (await connect()) === "one 10.42.0.3");
  } finally {
    await there.stop();
  }
});
