// Which way leads to another node's pods, as a table of where the machines are.
import { peerOf, type Peer } from "../../../../network/nodes/peers.ts";
import {
  hardwareAddress,
  planRoutes,
  type Link,
} from "../../../../network/nodes/route-plan.ts";

const own: Peer = {
  name: "own",
  ranges: ["10.42.0.0/24", "fd42::/64"],
  addresses: { 4: "192.168.7.1" },
};
const eth0: Link = {
  name: "eth0",
  mtu: 1500,
  up: true,
  addresses: [{ address: "192.168.7.1", bits: 24 }],
};
const near: Peer = {
  name: "near",
  ranges: ["10.42.1.0/24"],
  addresses: { 4: "192.168.7.2" },
};
const far: Peer = {
  name: "far",
  ranges: ["10.42.2.0/24", "fd42:0:0:2::/64"],
  addresses: { 4: "172.16.0.9" },
};

const plan = (
  peers: readonly Peer[],
  { mode = "auto" as "auto" | "host" | "vxlan", links = [eth0], as = own } = {},
) => planRoutes({ mode, own: as, peers, links, device: "orbit-x" });

test("on a link of this node: by way of the node; elsewhere: through the VXLAN", () => {
  const { routes, tunnel, unreachable } = plan([near, far]);
  expect(routes).toEqual([
    {
      range: "10.42.1.0/24",
      via: "192.168.7.2",
      device: "eth0",
      onlink: false,
    },
    {
      range: "10.42.2.0/24",
      via: "10.42.2.0",
      device: "orbit-x",
      onlink: true,
    },
    {
      range: "fd42:0:0:2::/64",
      via: "fd42:0:0:2::",
      device: "orbit-x",
      onlink: true,
    },
  ]);
  const mac = hardwareAddress("10.42.2.0/24");
  expect(tunnel).toEqual({
    device: "orbit-x",
    local: "192.168.7.1",
    mtu: 1450,
    hardwareAddress: hardwareAddress("10.42.0.0/24"),
    addresses: ["10.42.0.0", "fd42::"],
    neighbours: [
      { address: "10.42.2.0", hardwareAddress: mac },
      { address: "fd42:0:0:2::", hardwareAddress: mac },
    ],
    destinations: [{ hardwareAddress: mac, address: "172.16.0.9" }],
  });
  expect(unreachable.size).toBe(0);
});

test("no tunnel where it is not needed", () => {
  expect(plan([near]).tunnel).toBeUndefined();
  expect(plan([]).routes).toEqual([]);
});

test("IPv6 pods of a node on the link that has no IPv6 address go through the VXLAN", () => {
  const peer = { ...near, ranges: ["10.42.1.0/24", "fd42:0:0:1::/64"] };
  expect(plan([peer]).routes.map(({ device }) => device)).toEqual([
    "eth0",
    "orbit-x",
  ]);
});

test("each mode", () => {
  expect(plan([near], { mode: "vxlan" }).routes[0]).toMatchObject({
    device: "orbit-x",
  });
  const host = plan([near, far], { mode: "host" });
  expect(host.routes.map(({ range }) => range)).toEqual(["10.42.1.0/24"]);
  expect([...host.unreachable.keys()]).toEqual(["far"]);
});

test("a link that is down leads nowhere; the VXLAN's size is its carrier's", () => {
  const down = { ...eth0, up: false };
  const other: Link = {
    name: "eth1",
    mtu: 9000,
    up: true,
    addresses: [{ address: "192.0.2.1", bits: 24 }],
  };
  const { routes, tunnel } = plan([near], {
    links: [down, other],
    as: { ...own, addresses: { 4: "192.0.2.1" } },
  });
  expect(routes[0]).toMatchObject({ device: "orbit-x" });
  expect(tunnel?.mtu).toBe(8950);
});

test("an IPv6 underlay costs more; a node without an address of its family is left out", () => {
  const six: Link = {
    ...eth0,
    addresses: [{ address: "2001:db8::1", bits: 64 }],
  };
  const peer = { ...far, addresses: { 6: "2001:db8:1::9" } };
  const { tunnel, unreachable } = plan([peer, near], {
    links: [six],
    as: { ...own, addresses: { 6: "2001:db8::1" } },
  });
  expect(tunnel?.mtu).toBe(1430);
  expect(unreachable.get("near")).toBe("it has no IPv6 address");
});

test("before this node has an address nothing is tunnelled", () => {
  const { routes, unreachable } = plan([far], {
    as: { ...own, addresses: {} },
  });
  expect(routes).toEqual([]);
  expect(unreachable.get("far")).toBe("this node has no address yet");
});

test("hardware addresses are local ones, and differ", () => {
  expect(hardwareAddress("10.42.0.0/24")).toMatch(/^02(:[0-9a-f]{2}){5}$/);
  expect(hardwareAddress("10.42.0.0/24")).not.toBe(
    hardwareAddress("10.42.1.0/24"),
  );
});

describe("what a Node object says is checked before it gets into a command", () => {
  const ranges = (...podCIDRs: string[]) =>
    peerOf({
      metadata: { name: "n" },
      spec: { podCIDR: podCIDRs[0]!, podCIDRs },
    }).ranges;

  test.each([
    "0.0.0.0/0",
    "::/0",
    "10.0.0.0/7",
    "10.42.1.0/24 via 1.2.3.4",
    "10.42.1.0/24\nlink del eth0",
    "10.42.1.0/33",
    "default",
    "fe80::%eth0/64",
  ])("%j is no range", (text) =>
    expect(ranges(text, "10.42.1.0/24")).toEqual(["10.42.1.0/24"]),
  );

  test("addresses too, the first of each family", () => {
    const addresses = [
      { type: "Hostname", address: "10.0.0.1" },
      { type: "InternalIP", address: "eth0" },
      { type: "InternalIP", address: "192.0.2.1" },
      { type: "InternalIP", address: "192.0.2.2" },
      { type: "InternalIP", address: "2001:db8::1" },
    ];
    expect(
      peerOf({ metadata: { name: "n" }, spec: {}, status: { addresses } })
        .addresses,
    ).toEqual({ 4: "192.0.2.1", 6: "2001:db8::1" });
  });
});
