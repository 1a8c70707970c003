// `service.kubernetes.io/topology-mode: Auto`: from nodes and pods to what the proxy of each zone chooses, and every reason for
// giving up with its event.
import type { Event, Node, Service } from "../../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../../api/types/discovery-v1.ts";
import {
  endpointSlices,
  events,
  nodes,
  pods,
  services,
} from "../../../client/resources.ts";
import { TopologyHints } from "../../../controllers/endpoints/topology-hints.ts";
import {
  zoneAllocations,
  zoneTransfers,
} from "../../../controllers/endpoints/zone-allocations.ts";
import { proxyPorts } from "../../../network/proxy/service-ports.ts";
import {
  passes,
  startControlPlane,
  testNode,
  testPod,
} from "../../support/control-plane.ts";
import type { ControlPlane } from "../../support/control-plane.ts";

const zoneLabel = "topology.kubernetes.io/zone";
const mode = "service.kubernetes.io/topology-mode";

describe("in a cluster", () => {
  let plane: ControlPlane;
  beforeEach(async () => {
    plane = await startControlPlane({
      controllers: { controllers: ["endpointslice-controller"] },
    });
    for (const zone of ["a", "b"])
      await plane.client.resource(nodes).create(nodeOf(zone));
  });
  afterEach(() => plane.stop());

  const nodeOf = (zone: string): Node => {
    const node = testNode(`node-${zone}`);
    return {
      ...node,
      metadata: { ...node.metadata, labels: { [zoneLabel]: zone } },
    };
  };
  const service = (annotations?: Record<string, string>): Service => ({
    metadata: {
      name: "s",
      namespace: "default",
      ...(annotations ? { annotations } : {}),
    },
    spec: {
      clusterIP: "10.43.0.9",
      clusterIPs: ["10.43.0.9"],
      selector: { app: "a" },
      ports: [{ port: 80, protocol: "TCP" }],
    },
  });
  const run = async (n: number, zone: string): Promise<void> => {
    const pod = testPod(`p${n}`, { nodeName: `node-${zone}` });
    pod.metadata.labels = { app: "a" };
    await plane.client.resource(pods).create(pod);
    await plane.client.resource(pods).patch(
      `p${n}`,
      "default",
      {
        type: "merge",
        body: {
          status: {
            phase: "Running",
            podIP: `10.0.0.${n}`,
            conditions: [{ type: "Ready", status: "True" }],
          },
        },
      },
      { subresource: "status" },
    );
  };
  const slices = () => plane.api.all<EndpointSlice>(endpointSlices);
  const hints = () =>
    slices()
      .flatMap(({ endpoints = [] }) => endpoints)
      .map(
        ({ addresses: [ip], hints: has }) =>
          `${ip} ${has?.forZones?.map(({ name }) => name).join() ?? "none"}`,
      )
      .sort();
  const chosen = (zone: string) =>
    proxyPorts(
      plane.api.all<Service>(services)[0]!,
      slices(),
      { name: `node-${zone}`, zone },
      4,
    )[0]!.cluster.map(({ address }) => address);
  const messages = () =>
    plane.api.all<Event>(events).map(({ message }) => message);

  test("zones share endpoints by their CPU, and each proxy keeps to its zone", async () => {
    await plane.client.resource(services).create(service({ [mode]: "Auto" }));
    for (const [n, zone] of ["a", "a", "a", "b"].entries())
      await run(n + 1, zone);
    await passes(() => {
      // One of a's three is b's now.
      expect(hints().filter((each) => each.endsWith(" a"))).toHaveLength(2);
      expect(hints().filter((each) => each.endsWith(" b"))).toHaveLength(2);
    });
    expect(chosen("a")).toHaveLength(2);
    expect(chosen("b")).toContain("10.0.0.4");
    expect([...chosen("a"), ...chosen("b")].sort()).toEqual(
      [1, 2, 3, 4].map((n) => `10.0.0.${n}`),
    );
    await passes(() =>
      expect(messages()).toContain(
        "Topology Aware Hints has been enabled, addressType: IPv4",
      ),
    );
    // A zone without a ready node takes the hints away, and gives them back.
    const ready = (status: string) =>
      plane.client.resource(nodes).patch(
        "node-b",
        undefined,
        {
          type: "merge",
          body: { status: { conditions: [{ type: "Ready", status }] } },
        },
        { subresource: "status" },
      );
    await ready("False");
    await passes(() =>
      expect(hints().every((each) => each.endsWith("none"))).toBe(true),
    );
    expect(chosen("a")).toHaveLength(4);
    await ready("True");
    await passes(() =>
      expect(hints().some((each) => each.endsWith("none"))).toBe(false),
    );
    await plane.client.resource(services).patch("s", "default", {
      type: "merge",
      body: { metadata: { annotations: { [mode]: "Disabled" } } },
    });
    await passes(() =>
      expect(hints().every((each) => each.endsWith("none"))).toBe(true),
    );
    await passes(() =>
      expect(messages()).toContain(
        "Topology Aware Hints has been disabled, addressType: IPv4",
      ),
    );
  });

  test("fewer endpoints than zones have no hints, and an event says so", async () => {
    await plane.client.resource(services).create(service({ [mode]: "auto" }));
    await run(1, "a");
    await passes(() =>
      expect(messages()).toContain(
        "Insufficient number of endpoints (1 endpoints, 2 zones), addressType: IPv4",
      ),
    );
    expect(hints()).toEqual(["10.0.0.1 none"]);
  });
});

describe("the shares", () => {
  const even = new Map([
    ["a", 0.5],
    ["b", 0.5],
  ]);

  test.each([
    [4, 2, 2, 2],
    [5, 3, 2, 3],
    [10, 5, 5, 5],
  ])("of %d endpoints", (count, minimum, maximum, desired) => {
    expect(zoneAllocations(even, count).get("a")).toEqual({
      minimum,
      maximum,
      desired,
    });
  });

  test("transfers are whole endpoints, and none of less than a half", () => {
    const of = (a: number, b: number) =>
      zoneTransfers(
        zoneAllocations(even, a + b),
        new Map([
          ["a", a],
          ["b", b],
        ]),
      );
    expect([...of(3, 1).giving, ...of(3, 1).receiving]).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
    expect(of(2, 2).giving.size).toBe(0);
    expect([...of(8, 0).giving]).toEqual([["a", 4]]);
  });
});

describe("giving up", () => {
  const nodeIn = (zone: string | undefined, cpu = "4"): Node => ({
    metadata: { name: `n-${zone}`, labels: zone ? { [zoneLabel]: zone } : {} },
    spec: {},
    status: {
      allocatable: { cpu },
      conditions: [{ type: "Ready", status: "True" }],
    } as Node["status"] & object,
  });
  const assign = (
    all: readonly Node[],
    zones: readonly (string | undefined)[],
  ): string[] => {
    const topology = new TopologyHints();
    topology.setNodes(all);
    const plan = {
      create: [
        {
          addressType: "IPv4",
          ports: [],
          endpoints: zones.map((zone, n) => ({
            addresses: [`10.0.0.${n}`],
            conditions: { ready: true },
            ...(zone ? { zone } : {}),
          })),
        },
      ],
      update: [],
      delete: [],
      added: 0,
      removed: 0,
      updated: 0,
    };
    return topology
      .assign("default/s", "IPv4", plan, [])
      .map(({ message }) => message.replace(", addressType: IPv4", ""));
  };
  const noNodes =
    "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes";

  test.each<[string, Node[], (string | undefined)[], string]>([
    ["one zone", [nodeIn("a")], ["a", "a"], noNodes],
    [
      "a node of no zone",
      [nodeIn("a"), nodeIn("b"), nodeIn(undefined)],
      ["a", "b"],
      noNodes,
    ],
    [
      "a node without CPU",
      [nodeIn("a"), nodeIn("b", "0")],
      ["a", "b"],
      noNodes,
    ],
    [
      "an endpoint of no zone",
      [nodeIn("a"), nodeIn("b")],
      ["a", undefined],
      "One or more endpoints do not have a zone specified",
    ],
    [
      "what would overload",
      [nodeIn("a"), nodeIn("b")],
      ["a", "a", "b"],
      "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (3 endpoints, 2 zones)",
    ],
    [
      "no reason",
      [nodeIn("a"), nodeIn("b")],
      ["a", "b"],
      "Topology Aware Hints has been enabled",
    ],
  ])("for %s", (_, all, zones, message) =>
    expect(assign(all, zones)).toEqual([message]),
  );
});
