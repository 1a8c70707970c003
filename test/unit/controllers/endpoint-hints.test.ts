// Hints of endpoints for clients of their zone, by the Service's trafficDistribution.
import { wantedGroups } from "../../../controllers/endpoints/wanted-endpoints.ts";
import type { Node, Pod, Service } from "../../../api/types/core-v1.ts";

const service = (
  trafficDistribution?: string,
  annotations?: Record<string, string>,
): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name: "web",
    namespace: "shop",
    ...(annotations ? { annotations } : {}),
  },
  spec: {
    ports: [{ port: 80 }],
    ...(trafficDistribution ? { trafficDistribution } : {}),
  },
});

const pod = (name: string, nodeName: string, ready: boolean): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "shop", uid: name },
  spec: { nodeName, containers: [] },
  status: {
    podIPs: [{ ip: `10.42.0.${name}` }],
    conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
  },
});

const nodeNamed = (name: string): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: {
    name,
    ...(name === "nowhere"
      ? {}
      : { labels: { "topology.kubernetes.io/zone": `zone-${name}` } }),
  },
  spec: {},
});

const hints = (of: Service): (string[] | undefined)[] =>
  wantedGroups(
    of,
    [pod("1", "a", true), pod("2", "b", true), pod("3", "c", false)],
    nodeNamed,
  )[0]!.endpoints.map((each) => each.hints?.forZones?.map(({ name }) => name));

test("PreferClose: each ready endpoint is for its own zone", () =>
  expect(hints(service("PreferClose"))).toEqual([
    ["zone-a"],
    ["zone-b"],
    undefined,
  ]));

test.each<[string, Service]>([
  ["without trafficDistribution", service()],
  [
    "with hints of another kind asked for",
    service("PreferClose", { "service.kubernetes.io/topology-mode": "Auto" }),
  ],
])("%s there are none", (_, of) =>
  expect(hints(of)).toEqual([undefined, undefined, undefined]),
);

test("an endpoint of no zone has none", () =>
  expect(
    wantedGroups(
      service("PreferClose"),
      [pod("1", "nowhere", true)],
      nodeNamed,
    )[0]!.endpoints[0]!.hints,
  ).toBeUndefined());
