// Which node announces which addresses: every node comes to the same answer.
import { poolCondition } from "../../../../api/objects/load-balancer.ts";
import type { Node, Service } from "../../../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../../../api/types/discovery-v1.ts";
import {
  announcePlan,
  announcerAnnotation,
} from "../../../../network/load-balancer/announce-plan.ts";
import { BalancerTable } from "../../../../network/load-balancer/balancer-table.ts";

const time = "2026-01-01T00:00:00Z";
const node = (
  name: string,
  {
    ready = "True",
    annotation = "true",
    labels = {},
  }: {
    ready?: string;
    annotation?: string;
    labels?: Record<string, string>;
  } = {},
): Node => ({
  metadata: {
    name,
    labels,
    annotations: { [announcerAnnotation]: annotation },
  },
  spec: {},
  status: { conditions: [{ type: "Ready", status: ready }] },
});

const service = (
  addresses: readonly string[],
  {
    pooled = true,
    policy = "Cluster",
  }: { pooled?: boolean; policy?: string } = {},
): Service => ({
  metadata: { name: "web", namespace: "a" },
  spec: { externalTrafficPolicy: policy },
  status: {
    loadBalancer: { ingress: addresses.map((ip) => ({ ip })) },
    ...(pooled
      ? {
          conditions: [
            {
              type: poolCondition,
              status: "True",
              reason: "Assigned",
              message: "",
              lastTransitionTime: time,
            },
          ],
        }
      : {}),
  },
});

const slice = (nodeName: string, ready = true): EndpointSlice => ({
  metadata: { name: nodeName },
  addressType: "IPv4",
  endpoints: [{ addresses: ["10.0.0.1"], nodeName, conditions: { ready } }],
});

const names = ["n1", "n2", "n3"];
const addresses = Array.from({ length: 24 }, (_, n) => `192.0.2.${n + 1}`);

/** Address to the nodes that announce it. */
function owners(
  nodes: readonly Node[],
  all: readonly Service[],
  slices: readonly EndpointSlice[] = [],
): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const name of names)
    for (const address of announcePlan(name, nodes, all, () => slices)
      .addresses)
      found.set(address, [...(found.get(address) ?? []), name]);
  return found;
}

test("each address has one node, and each node some", () => {
  const found = owners(
    names.map((name) => node(name)),
    [service(addresses)],
  );
  expect([...found.keys()].sort()).toEqual([...addresses].sort());
  expect([...found.values()].every((each) => each.length === 1)).toBe(true);
  expect(new Set([...found.values()].flat())).toEqual(new Set(names));
});

test.each<[string, Node]>([
  ["is not ready", node("n2", { ready: "Unknown" })],
  ["does not announce", node("n2", { annotation: "" })],
  [
    "is excluded",
    node("n2", {
      labels: {
        "node.kubernetes.io/exclude-from-external-load-balancers": "",
      },
    }),
  ],
])("the addresses of a node that %s move, and no others", (_what, gone) => {
  const all = [service(addresses)];
  const before = owners(
    names.map((name) => node(name)),
    all,
  );
  const after = owners([node("n1"), gone, node("n3")], all);
  for (const [address, [owner]] of before)
    if (owner === "n2") expect(["n1", "n3"]).toContain(after.get(address)![0]);
    else expect(after.get(address)).toEqual([owner]);
});

test("Local: only nodes with an endpoint that takes traffic, all where there is none", () => {
  const nodes = names.map((name) => node(name));
  const local = [service(addresses, { policy: "Local" })];
  expect(
    new Set(
      [
        ...owners(nodes, local, [slice("n1", false), slice("n3")]).values(),
      ].flat(),
    ),
  ).toEqual(new Set(["n3"]));
  expect(new Set([...owners(nodes, local).values()].flat())).toEqual(
    new Set(names),
  );
});

test("addresses that are not the pool's are never announced", () => {
  expect(
    owners(
      [node("n1")],
      [service(addresses, { pooled: false }), service(["not an address; add"])],
    ).size,
  ).toBe(0);
});

test("one node alone keeps its addresses for good, several renew them", () => {
  const shared = (nodes: readonly Node[]): boolean =>
    announcePlan("n1", nodes, [], () => []).shared;
  expect(shared([node("n1")])).toBe(false);
  expect(shared([node("n1"), node("n2", { ready: "False" })])).toBe(false);
  expect(shared([node("n1"), node("n2")])).toBe(true);
});

test("the table of announced addresses", () => {
  const table = new BalancerTable("10.42.0.0/24");
  expect(table.wholeScript()).toBe(
    "table inet orbit-lb-10-42-0-0-24\ndelete table inet orbit-lb-10-42-0-0-24\n",
  );
  table.set(["192.0.2.1", "fd00::1"]);
  expect(table.wholeScript()).toMatchSnapshot();
});
