// Addresses of load balancers: which there are in a range, who gets them, and which nodes count.
import type { Node, Service } from "../../../api/types/core-v1.ts";
import { AddressPool } from "../../../controllers/service-lb/address-pool.ts";
import {
  addressNumber,
  addressText,
  overlap,
  parseRange,
} from "../../../api/addresses/address-range.ts";
import {
  needsCleanup,
  nodePlan,
  poolPlan,
  portProblem,
  wantsBalancer,
} from "../../../controllers/service-lb/balancer-plan.ts";
import { testNode } from "../../support/control-plane.ts";

const pool = (...ranges: string[]): AddressPool =>
  new AddressPool(ranges.map((range) => parseRange(range)!));

function service(
  name: string,
  spec: Partial<Service["spec"]> = {},
  ips: readonly string[] = [],
): Service {
  return {
    metadata: { name, namespace: "shop", uid: `uid-${name}` },
    spec: {
      type: "LoadBalancer",
      ipFamilies: ["IPv4"],
      ports: [{ port: 80 }],
      ...spec,
    },
    status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } },
  };
}

describe("ranges", () => {
  test.each([
    ["192.0.2.0/29", "192.0.2.1", "192.0.2.6"],
    ["192.0.2.7/29", "192.0.2.1", "192.0.2.6"],
    ["192.0.2.6/31", "192.0.2.6", "192.0.2.7"],
    ["255.255.255.255/32", "255.255.255.255", "255.255.255.255"],
    ["FD00:0::/126", "fd00::1", "fd00::3"],
    ["::ffff:192.0.2.1/128", "::ffff:c000:201", "::ffff:c000:201"],
    ["fd00::/64", "fd00::1", "fd00::ffff:ffff:ffff:ffff"],
  ])("%s is %s to %s", (text, first, last) => {
    const range = parseRange(text)!;
    expect(addressText(range.first, range.family)).toBe(first);
    expect(addressText(range.last, range.family)).toBe(last);
    expect(addressNumber(last)).toBe(range.last);
  });

  test.each([
    "",
    "192.0.2.1",
    "192.0.2.0/33",
    "192.0.2.0/-1",
    "192.0.2.0/24/1",
    "192.0.2/24",
    "fd00::/129",
    "fe80::1%eth0/64",
    "web/24",
  ])("%j is none", (text) => expect(parseRange(text)).toBeUndefined());

  test("overlap within a family", () => {
    const [a, b, c] = ["192.0.2.0/24", "192.0.2.128/25", "192.0.3.0/24"].map(
      (text) => parseRange(text)!,
    );
    expect(overlap(a!, b!)).toBe(true);
    expect(overlap(b!, c!)).toBe(false);
    expect(overlap(a!, parseRange("::/0")!)).toBe(false);
  });
});

describe("a pool", () => {
  test("gives each address once, and again when it was given back", () => {
    const addresses = pool("192.0.2.0/30");
    expect(poolPlan(service("a"), addresses)).toEqual({
      addresses: ["192.0.2.1"],
    });
    expect(poolPlan(service("b"), addresses).addresses).toEqual(["192.0.2.2"]);
    expect(poolPlan(service("a"), addresses).addresses).toEqual(["192.0.2.1"]);
    expect(poolPlan(service("c"), addresses)).toEqual({
      addresses: [],
      problem: "all IPv4 addresses of --load-balancer-cidr are in use",
    });
    expect(addresses.release("shop/a")).toBe(true);
    expect(addresses.release("shop/a")).toBe(false);
    expect(poolPlan(service("c"), addresses).addresses).toEqual(["192.0.2.1"]);
  });

  test("respects the address that is asked for", () => {
    const addresses = pool("192.0.2.0/28", "fd00::/120");
    const asking = (ip: string): Partial<Service["spec"]> => ({
      loadBalancerIP: ip,
    });
    poolPlan(service("a"), addresses);
    expect(
      poolPlan(service("b", asking("192.0.2.1")), addresses).problem,
    ).toMatch(/in use by the Service shop\/a$/);
    expect(poolPlan(service("b", asking("192.0.2.9")), addresses)).toEqual({
      addresses: ["192.0.2.9"],
    });
    // It changes its mind: the other one is free again.
    expect(
      poolPlan(service("b", asking("192.0.2.8")), addresses).addresses,
    ).toEqual(["192.0.2.8"]);
    expect(addresses.ownerOf("192.0.2.9")).toBeUndefined();
    for (const ip of ["198.51.100.1", "192.0.2.0", "web"])
      expect(poolPlan(service("b", asking(ip)), addresses)).toEqual({
        addresses: [],
        problem: `the address ${ip} of spec.loadBalancerIP is not in --load-balancer-cidr`,
      });
    expect(addresses.ownerOf("192.0.2.8")).toBeUndefined();
    expect(
      poolPlan(service("b", asking("fd00::5")), addresses).problem,
    ).toMatch(/none of the Service's families/);
    const both = service("b", {
      ipFamilies: ["IPv6", "IPv4"],
      loadBalancerIP: "FD00:0:0::5",
    });
    expect(poolPlan(both, addresses).addresses).toEqual([
      "fd00::5",
      "192.0.2.2",
    ]);
  });

  test("without a family gives a Service of two the other one", () => {
    const addresses = pool("192.0.2.0/28");
    expect(
      poolPlan(service("a", { ipFamilies: ["IPv4", "IPv6"] }), addresses),
    ).toEqual({ addresses: ["192.0.2.1"] });
    expect(poolPlan(service("b", { ipFamilies: ["IPv6"] }), addresses)).toEqual(
      {
        addresses: [],
        problem: "--load-balancer-cidr has no IPv6 addresses",
      },
    );
  });
});

describe("nodes", () => {
  const node = (
    name: string,
    addresses: readonly (readonly [string, string])[],
    more: Partial<Node> = {},
    ready = "True",
  ): Node =>
    testNode(name, {
      status: {
        conditions: [{ type: "Ready", status: ready }],
        addresses: addresses.map(([type, address]) => ({ type, address })),
      },
      ...more,
    });
  const internal = (address: string) => [["InternalIP", address]] as const;

  test("ready ones give their external addresses, or else internal ones", () => {
    const all = [
      node("b", internal("192.0.2.2")),
      node("a", [
        ...internal("192.0.2.1"),
        ["ExternalIP", "198.51.100.1"],
        ["InternalIP", "fd00::1"],
        ["Hostname", "a"],
        ["InternalIP", "127.0.0.1"],
      ]),
      node("c", internal("192.0.2.3"), {}, "False"),
      node("d", internal("192.0.2.4"), {
        metadata: {
          name: "d",
          labels: {
            "node.kubernetes.io/exclude-from-external-load-balancers": "",
          },
        },
      }),
      node("e", internal("192.0.2.5"), {
        spec: {
          taints: [
            { key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" },
          ],
        },
      }),
      node("f", internal("192.0.2.6"), {
        metadata: { name: "f", deletionTimestamp: "2026-01-01T00:00:00Z" },
      }),
    ];
    expect(nodePlan(service("s"), all).addresses).toEqual([
      "198.51.100.1",
      "192.0.2.2",
    ]);
    expect(
      nodePlan(service("s", { ipFamilies: ["IPv6", "IPv4"] }), all).addresses,
    ).toEqual(["fd00::1", "198.51.100.1", "192.0.2.2"]);
  });

  test("while none is ready, what a Service has of them stays", () => {
    const all = [
      node("a", internal("192.0.2.1"), {}, "Unknown"),
      node("b", internal("192.0.2.2"), {}, "Unknown"),
    ];
    expect(nodePlan(service("s"), all).addresses).toEqual([]);
    expect(
      nodePlan(service("s", {}, ["192.0.2.2", "192.0.2.9"]), all).addresses,
    ).toEqual(["192.0.2.2"]);
  });

  test("their ports have one owner", () => {
    const older = service("older");
    older.metadata.creationTimestamp = "2026-01-01T00:00:00Z";
    const younger = service("younger");
    younger.metadata.creationTimestamp = "2026-01-02T00:00:00Z";
    const sharing = (key: string): Service[] =>
      key === "TCP 80" ? [older, younger] : [];
    expect(portProblem(older, sharing, [])).toBeUndefined();
    expect(portProblem(younger, sharing, [])).toBe(
      "port 80/TCP of the nodes is in use by the Service shop/older",
    );
    younger.status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
    expect(portProblem(younger, sharing, [])).toBeUndefined();
    expect(portProblem(older, sharing, [])).toMatch(/shop\/younger$/);
    const api = service("api", { ports: [{ port: 6443 }] });
    expect(portProblem(api, sharing, [6443])).toBe(
      "port 6443/TCP of the nodes is in use by the cluster itself",
    );
    const udp = service("udp", { ports: [{ port: 6443, protocol: "UDP" }] });
    expect(portProblem(udp, sharing, [6443])).toBeUndefined();
  });
});

test.each([
  [{}, [], true, false],
  [{ loadBalancerClass: "orbit.io/node" }, [], true, false],
  [{ loadBalancerClass: "example.org/other" }, [], false, false],
  [{ loadBalancerClass: "example.org/other" }, ["service"], false, false],
  [{ type: "ClusterIP" }, [], false, false],
  [{ type: "ClusterIP" }, ["service"], false, true],
] as const)("%j with finalizers %j", (spec, finalizers, wants, cleanup) => {
  const made = service("s", spec);
  if (finalizers.length > 0)
    made.metadata.finalizers = ["service.kubernetes.io/load-balancer-cleanup"];
  expect(wantsBalancer(made)).toBe(wants);
  expect(needsCleanup(made)).toBe(cleanup);
});
