import type { Endpoints, Pod, Service } from "../../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../../api/types/discovery-v1.ts";
import {
  endpoints,
  endpointSlices,
  pods,
  services,
} from "../../../client/resources.ts";
import {
  passes,
  startControlPlane,
  testPod,
} from "../../support/control-plane.ts";
import { TriggerTimes } from "../../../controllers/endpoints/trigger-times.ts";
import type { ControlPlane } from "../../support/control-plane.ts";

let plane: ControlPlane;
beforeEach(async () => {
  // Without the mirror, which takes over when a service loses its selector.
  plane = await startControlPlane({
    controllers: {
      maxEndpointsPerSlice: 3,
      controllers: ["*", "-endpointslicemirroring"],
    },
  });
});
afterEach(() => plane.stop());

const slices = () => plane.api.all<EndpointSlice>(endpointSlices);
const addresses = () =>
  slices()
    .flatMap((slice) => slice.endpoints ?? [])
    .map((endpoint) => `${endpoint.addresses[0]} ${endpoint.conditions?.ready}`)
    .sort();
const service = (extra: Partial<Service["spec"]> = {}): Service => ({
  metadata: { name: "s", namespace: "default", labels: { team: "x" } },
  spec: {
    selector: { app: "a" },
    ports: [{ name: "http", port: 80, targetPort: "web", protocol: "TCP" }],
    ...extra,
  },
});
async function run(name: string, ip: string, ready = true) {
  const pod = testPod(name, {
    nodeName: "n",
    containers: [
      { name: "c", image: "x", ports: [{ name: "web", containerPort: 8080 }] },
    ],
  });
  pod.metadata.labels = { app: "a" };
  await plane.client.resource(pods).create(pod);
  await setReady(name, ip, ready);
}
const setReady = (name: string, ip: string, ready: boolean) =>
  plane.client.resource(pods).patch(
    name,
    "default",
    {
      type: "merge",
      body: {
        status: {
          phase: "Running",
          podIP: ip,
          conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
        },
      },
    },
    { subresource: "status" },
  );

test("slices and Endpoints follow pods: named ports, readiness, termination, removal", async () => {
  await plane.client.resource(services).create(service());
  await passes(() => expect(slices()).toHaveLength(1));
  await run("p1", "10.0.0.1");
  await run("p2", "10.0.0.2", false);
  await passes(() =>
    expect(addresses()).toEqual(["10.0.0.1 true", "10.0.0.2 false"]),
  );
  const [slice] = slices().filter(({ endpoints: list }) => list?.length);
  expect(slice).toMatchObject({
    addressType: "IPv4",
    ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    metadata: {
      labels: {
        team: "x",
        "kubernetes.io/service-name": "s",
        "endpointslice.kubernetes.io/managed-by":
          "endpointslice-controller.k8s.io",
      },
      ownerReferences: [{ kind: "Service", name: "s", controller: true }],
    },
  });
  await passes(() =>
    expect(plane.api.all<Endpoints>(endpoints)[0]!.subsets).toMatchObject([
      {
        addresses: [{ ip: "10.0.0.1", targetRef: { name: "p1" } }],
        notReadyAddresses: [{ ip: "10.0.0.2" }],
        ports: [{ name: "http", port: 8080, protocol: "TCP" }],
      },
    ]),
  );
  await plane.client.resource(pods).delete("p1", "default");
  await passes(() =>
    expect(
      slices()
        .flatMap((one) => one.endpoints ?? [])
        .find(({ addresses: [ip] }) => ip === "10.0.0.1")?.conditions,
    ).toEqual({ ready: false, serving: true, terminating: true }),
  );
  await plane.client
    .resource(pods)
    .delete("p1", "default", { gracePeriodSeconds: 0 });
  await passes(() => expect(addresses()).toEqual(["10.0.0.2 false"]));
});

test("the addresses of Endpoints are in order, whatever the pods' names", async () => {
  await plane.client.resource(services).create(service());
  await run("a", "10.0.0.9");
  await run("b", "10.0.0.10");
  await run("c", "10.0.0.8");
  await passes(() =>
    expect(
      plane.api
        .all<Endpoints>(endpoints)[0]!
        .subsets?.[0]?.addresses?.map(({ ip }) => ip),
    ).toEqual(["10.0.0.10", "10.0.0.8", "10.0.0.9"]),
  );
});

test("slices are split at the limit, and endpoints stay where they are", async () => {
  await plane.client.resource(services).create(service());
  for (let n = 1; n <= 7; n++) await run(`p${n}`, `10.0.0.${n}`);
  await passes(() => {
    expect(addresses()).toHaveLength(7);
    expect(slices()).toHaveLength(3);
    for (const { endpoints: list } of slices())
      expect(list!.length).toBeLessThanOrEqual(3);
  });
  plane.api.writes.length = 0;
  await setReady("p4", "10.0.0.4", false);
  await passes(() => expect(addresses()).toContain("10.0.0.4 false"));
  const writes = plane.api.writes.filter((write) =>
    write.includes("endpointslices"),
  );
  expect(writes).toHaveLength(1);
});

test("where the ports change the slice takes the new ones, in one write", async () => {
  await plane.client.resource(services).create(service());
  await run("p1", "10.0.0.1");
  await passes(() => expect(addresses()).toHaveLength(1));
  const [before] = slices();
  plane.api.writes.length = 0;
  await plane.client.resource(services).patch("s", "default", {
    type: "merge",
    body: {
      spec: {
        ports: [{ name: "http", port: 80, targetPort: 9090, protocol: "TCP" }],
      },
    },
  });
  await passes(() =>
    expect(slices()).toMatchObject([
      { metadata: { name: before?.metadata.name }, ports: [{ port: 9090 }] },
    ]),
  );
  expect(
    plane.api.writes.filter((write) => write.includes("endpointslices")),
  ).toHaveLength(1);
});

test("a service that loses its selector gives its slices up; a deleted one loses its Endpoints", async () => {
  await plane.client.resource(services).create(service());
  await run("p1", "10.0.0.1");
  await passes(() => expect(addresses()).toHaveLength(1));
  await plane.client.resource(services).patch("s", "default", {
    type: "merge",
    body: { spec: { selector: null } },
  });
  await passes(() => expect(slices()).toHaveLength(0));
  await plane.client.resource(services).delete("s", "default");
  await passes(() => expect(plane.api.all(endpoints)).toHaveLength(0));
  expect(plane.api.all<Pod>(pods)).toHaveLength(1);
});

test("what is written says when its cause happened", async () => {
  const annotation = "endpoints.kubernetes.io/last-change-trigger-time";
  const times = (): unknown[] => [
    slices()[0]?.metadata.annotations?.[annotation],
    plane.api.all<Endpoints>(endpoints)[0]?.metadata.annotations?.[annotation],
  ];
  const change = (ready: boolean, time: string): Promise<unknown> =>
    plane.client.resource(pods).patch(
      "a",
      "default",
      {
        type: "merge",
        body: {
          status: {
            conditions: [
              {
                type: "Ready",
                status: ready ? "True" : "False",
                lastTransitionTime: time,
              },
            ],
          },
        },
      },
      { subresource: "status" },
    );
  const { metadata } = await plane.client.resource(services).create(service());
  const created = metadata.creationTimestamp;
  await passes(() => expect(times()).toEqual([created, created]));
  await run("a", "10.0.0.1");
  await passes(() => expect(addresses()).toEqual(["10.0.0.1 true"]));
  const [first, second] = ["2030-01-01T00:00:00Z", "2030-01-01T00:00:07Z"];
  await change(false, first);
  await passes(() => expect(times()).toEqual([first, first]));
  // A change without a time of its own takes the last one's away.
  const now = { gracePeriodSeconds: 0 };
  await plane.client.resource(pods).delete("a", "default", now);
  await passes(() => expect(times()).toEqual([undefined, undefined]));
  await run("a", "10.0.0.2", false);
  await change(true, second);
  await passes(() => expect(times()).toEqual([second, second]));
});

test("the earliest of the changes since the last look counts", () => {
  const triggers = new TriggerTimes();
  const of = (name: string, time: string): Pod => ({
    ...testPod(name),
    status: {
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: time }],
    },
  });
  const day = (number: number): string => `2030-01-0${number}T00:00:00Z`;
  const own = service();
  own.metadata.creationTimestamp = day(1);
  const next = (...list: Pod[]): unknown => triggers.next("k", own, list);
  expect(next(of("a", day(2)))).toBe(day(1));
  expect(next(of("a", day(2)))).toBeUndefined();
  expect(next(of("a", day(4)), of("b", day(3)))).toBe(day(3));
  expect(next(of("a", day(4)), of("b", day(3)))).toBeUndefined();
  expect(next(of("b", day(4)))).toBe(day(4));
  own.metadata.creationTimestamp = day(5);
  expect(next()).toBe(day(5));
  triggers.forget("k");
  own.metadata.creationTimestamp = day(1);
  expect(next()).toBe(day(1));
});
