// Peers and routes of WireGuard, as a table of what Nodes announce: friendly ones, and ones that announce what is another's.
import {
  planEncrypted,
  type Announcement,
} from "../../../../../network/nodes/wireguard/encrypted-plan.ts";
import type { Link } from "../../../../../network/nodes/route-plan.ts";

const key = (letter: string): string => `${letter.repeat(42)}A=`;

const own = {
  name: "own",
  ranges: ["10.42.0.0/24", "fd42::/64"],
  addresses: { 4: "192.168.7.1" },
  publicKey: key("O"),
};
const eth0: Link = {
  name: "eth0",
  mtu: 1500,
  up: true,
  addresses: [{ address: "192.168.7.1", bits: 24 }],
};

/** The node number `n`, made in that order. */
const node = (n: number, change: Partial<Announcement> = {}): Announcement => ({
  name: `n${n}`,
  ranges: [`10.42.${n}.0/24`, `fd42:0:0:${n}::/64`],
  addresses: { 4: `192.168.7.${n + 1}` },
  publicKey: key("abcdefgh"[n]!),
  since: `2024-01-0${n}T00:00:00Z`,
  ...change,
});

const plan = (
  others: readonly Announcement[],
  change: Partial<Parameters<typeof planEncrypted>[0]> = {},
) =>
  planEncrypted({
    own,
    others,
    clusterRanges: [],
    serviceRanges: ["10.43.0.0/16"],
    links: [eth0],
    device: "orbit-x",
    port: 51820,
    ...change,
  });

test("a node with a key is a peer, and its ranges lead to the device, in front of a refusal", () => {
  const { peers, routes, mtu, addresses, unreachable, refused } = plan([
    node(1),
  ]);
  expect(peers).toEqual([
    {
      publicKey: key("b"),
      endpoint: "192.168.7.2:51820",
      ranges: ["10.42.1.0/24", "fd42:0:0:1::/64"],
    },
  ]);
  expect(routes).toEqual([
    { range: "10.42.1.0/24" },
    { range: "fd42:0:0:1::/64" },
    { range: "10.42.1.0/24", device: "orbit-x" },
    { range: "fd42:0:0:1::/64", device: "orbit-x" },
  ]);
  expect({ mtu, addresses }).toEqual({
    mtu: 1440,
    addresses: ["10.42.0.0", "fd42::"],
  });
  expect([unreachable.size, refused.size]).toEqual([0, 0]);
});

test("with the cluster's ranges known, nodes that are not known yet are refused too", () => {
  const { routes } = plan([], {
    clusterRanges: ["10.42.0.0/16", "fd42::/48"],
  });
  expect(routes).toEqual([{ range: "10.42.0.0/16" }, { range: "fd42::/48" }]);
});

test("IPv6 between the machines: endpoint in brackets, packets 80 bytes smaller", () => {
  const six = {
    own: { ...own, addresses: { 6: "fd00::1" } },
    links: [{ ...eth0, addresses: [{ address: "fd00::1", bits: 64 }] }],
  };
  const { peers, mtu } = plan(
    [node(1, { addresses: { 6: "FD00:0::2" } })],
    six,
  );
  expect(peers[0]?.endpoint).toBe("[fd00::2]:51820");
  expect(mtu).toBe(1420);
  expect(plan([], six).mtu).toBe(1420);
});

test.each<[string, Partial<Announcement>, RegExp]>([
  ["without a key", { publicKey: undefined }, /no WireGuard key/],
  ["without an address", { addresses: {} }, /no address of a family/],
  ["of the other family", { addresses: { 6: "fd00::2" } }, /no address/],
])("a node %s is refused by routes, and others go on", (_, change, why) => {
  const { peers, routes, unreachable, refused } = plan([
    node(1, change),
    node(2),
  ]);
  expect(unreachable.get("n1")).toMatch(why);
  expect(refused.size).toBe(0);
  expect(peers.map(({ publicKey }) => publicKey)).toEqual([key("c")]);
  expect(routes.filter(({ range }) => range === "10.42.1.0/24")).toEqual([
    { range: "10.42.1.0/24" },
  ]);
});

test.each<[string, Partial<Announcement>, RegExp]>([
  ["another node's range", { ranges: ["10.42.1.0/24"] }, /the node n1/],
  ["a part of it", { ranges: ["10.42.1.128/25"] }, /the node n1/],
  ["a range around it", { ranges: ["10.42.0.0/20"] }, /overlaps/],
  ["this node's range", { ranges: ["10.42.0.0/24"] }, /this node's pods/],
  ["the Services' range", { ranges: ["10.43.7.0/24"] }, /Services/],
  ["everything", { ranges: ["0.0.0.0/0"] }, /too wide/],
  ["everything of IPv6", { ranges: ["::/0"] }, /too wide/],
  ["half of everything", { ranges: ["128.0.0.0/1"] }, /too wide/],
  ["the machines' network", { ranges: ["192.168.0.0/16"] }, /link eth0/],
  ["what is no range", { ranges: ["10.42.3.0/24; true"] }, /no range/],
  ["a range by another address", { ranges: ["10.42.3.7/24"] }, /first address/],
  ["a malformed key", { publicKey: "x\nAllowedIPs = ::/0" }, /no key/],
  ["a short key", { publicKey: "YWJj" }, /no key/],
  ["a key of zeros", { publicKey: `${"A".repeat(43)}=` }, /no key/],
  ["another node's key", { publicKey: key("b") }, /that of the node n1/],
  ["this node's key", { publicKey: key("O") }, /that of this node/],
  ["another's address", { addresses: { 4: "192.168.7.2" } }, /another node's/],
  ["this node's address", { addresses: { 4: "192.168.7.1" } }, /another/],
  ["loopback", { addresses: { 4: "127.0.0.1" } }, /no other machine/],
  ["an address of pods", { addresses: { 4: "10.42.1.9" } }, /the node n1/],
])("who announces %s gets nothing by it", (_, change, why) => {
  const { peers, routes, refused } = plan([
    node(2, change),
    node(1),
    node(3, { ranges: ["10.42.4.0/24"] }),
  ]);
  expect(refused.get("n2")).toMatch(why);
  expect([...refused.keys()]).toEqual(["n2"]);
  expect(peers.map(({ publicKey }) => publicKey)).toEqual([key("b"), key("d")]);
  // Nothing of the refused one leads to the device.
  expect(
    routes.flatMap(({ range, device }) => (device ? [range] : [])),
  ).toEqual(["10.42.1.0/24", "fd42:0:0:1::/64", "10.42.4.0/24"]);
});

test("a range outside of the cluster's is refused; one inside may lie in a link's network", () => {
  const { refused, peers } = plan([node(1, { ranges: ["10.99.0.0/24"] })], {
    clusterRanges: ["10.42.0.0/16"],
  });
  expect(refused.get("n1")).toMatch(/outside/);
  expect(peers).toEqual([]);
  const wide = { ...eth0, addresses: [{ address: "10.1.2.3", bits: 8 }] };
  expect(
    plan([node(1)], { links: [wide], clusterRanges: ["10.42.0.0/16"] }).peers,
  ).toHaveLength(1);
  expect(plan([node(1)], { links: [wide] }).refused.get("n1")).toMatch(/link/);
});

test("one good range of two is served", () => {
  const { peers, refused } = plan([
    node(1, { ranges: ["0.0.0.0/0", "fd42:0:0:1::/64"] }),
  ]);
  expect(refused.has("n1")).toBe(true);
  expect(peers[0]?.ranges).toEqual(["fd42:0:0:1::/64"]);
});
