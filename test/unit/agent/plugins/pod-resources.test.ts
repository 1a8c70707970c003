// The pod resources API over its socket: what containers have, gates, and the limit of requests.
import { join } from "node:path";
import { pino } from "pino";
import { existsSync } from "node:fs";
import {
  podResourcesCodec,
  podResourcesMethods,
} from "../../../../agent/pod-resources/pod-resources-protocol.ts";
import { PodResources } from "../../../../agent/pod-resources/pod-resources.ts";
import type { Pod } from "../../../../api/types/core-v1.ts";
import { GrpcChannel, grpcCode, loadGrpc } from "../../../../grpc/channel.ts";
import { eventually } from "../../../support/eventually.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const directories = useTempDirectories();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const pod: Pod = {
  metadata: { name: "p", namespace: "n", uid: "u" },
  spec: {
    initContainers: [
      { name: "once", image: "i" },
      { name: "sidecar", image: "i", restartPolicy: "Always" },
    ],
    containers: [{ name: "main", image: "i" }],
  },
};

const over: Pod = {
  metadata: { name: "over", namespace: "n", uid: "o" },
  spec: { containers: [{ name: "done", image: "i" }] },
};

async function serve(gates = true): Promise<{
  call: (
    method: keyof typeof podResourcesMethods,
    request?: object,
  ) => Promise<unknown>;
  clock: FakeClock;
  /** Lines of the metrics that have counted something. */
  counts: () => string[];
}> {
  const directory = join(directories(), "pod-resources");
  const clock = new FakeClock();
  const server = new PodResources({
    directory,
    pods: () => [pod],
    allPods: () => [pod, over],
    devices: {
      holdings: (uid, name) =>
        uid === "u" && name === "main"
          ? [
              {
                podUid: "u",
                container: "main",
                resource: "example.com/gadget",
                devices: [
                  { id: "a", numaNodes: [0, 1] },
                  { id: "b", numaNodes: [] },
                ],
                allocation: {} as never,
              },
            ]
          : [],
      healthyDevices: () =>
        new Map([
          ["example.com/gadget", [{ id: "c", healthy: true, numaNodes: [1] }]],
        ]),
    },
    resources: {
      sharesOf: (uid, name) => ({
        cpus: uid === "u" && name === "sidecar" ? [3, 4] : [],
        memory:
          uid === "u" && name === "sidecar"
            ? [{ numaAffinity: [0, 1], type: "memory", size: 2 ** 33 }]
            : [],
      }),
      allocatable: () => ({
        cpus: [1, 2, 3, 4],
        memory: [
          { numaAffinity: [0], type: "memory", size: 5 },
          { numaAffinity: [1], type: "hugepages-2Mi", size: 6 },
        ],
      }),
    },
    claimsOf: (_, { name }) => {
      if (name === "done") return [];
      if (name !== "main") throw new Error("not prepared");
      return [
        {
          ...{ namespace: "n", name: "claim", uid: "x", pods: ["u"] },
          drivers: {
            "gpu.example.com": [
              {
                request_names: ["r"],
                pool_name: "pool",
                device_name: "dev",
                cdi_device_ids: ["example.com/gpu=dev"],
              },
            ],
          },
        },
      ];
    },
    get: gates,
    dynamicResources: gates,
    clock,
    logger: pino({ level: "silent" }),
  });
  server.start();
  closing.push(() => server.stop());
  const socket = join(directory, "kubelet.sock");
  await eventually(() => existsSync(socket));
  const channel = new GrpcChannel(await loadGrpc(), {
    target: `unix://${socket}`,
    codec: podResourcesCodec,
    settings: {},
  });
  closing.push(() => channel.close());
  return {
    clock,
    counts: () =>
      server.counts
        .families()
        .flatMap((family) => [...family.text()].join("").split("\n"))
        .filter((line) => line.includes("{"))
        .map((line) => line.replace("kubelet_pod_resources_endpoint_", "")),
    call: (method, request = {}) =>
      channel.unary(podResourcesMethods[method], request, {
        timeoutMs: 60_000,
      }),
  };
}

const nothing = { cpu_ids: [], memory: [], dynamic_resources: [] };
const gadgets = [
  {
    resource_name: "example.com/gadget",
    device_ids: ["a"],
    topology: { nodes: [{ ID: 0 }] },
  },
  {
    resource_name: "example.com/gadget",
    device_ids: ["a"],
    topology: { nodes: [{ ID: 1 }] },
  },
  { resource_name: "example.com/gadget", device_ids: ["b"] },
];
const claim = {
  claim_name: "claim",
  claim_namespace: "n",
  claim_resources: [
    {
      driver_name: "gpu.example.com",
      pool_name: "pool",
      device_name: "dev",
      cdi_devices: [{ name: "example.com/gpu=dev" }],
    },
  ],
};
const containers = (withClaims: boolean): object[] => [
  {
    ...{ name: "sidecar", devices: [], cpu_ids: [3, 4] },
    memory: [
      {
        ...{ memory_type: "memory", size: 2 ** 33 },
        topology: { nodes: [{ ID: 0 }, { ID: 1 }] },
      },
    ],
    dynamic_resources: [],
  },
  {
    ...{ name: "main", devices: gadgets, cpu_ids: [], memory: [] },
    dynamic_resources: withClaims ? [claim] : [],
  },
];

test("what containers have is listed; init containers that end have nothing", async () => {
  const { call } = await serve();
  const own = { name: "p", namespace: "n", containers: containers(true) };
  expect(await call("list")).toEqual({ pod_resources: [own] });
  expect(await call("get", { pod_name: "p", pod_namespace: "n" })).toEqual({
    pod_resources: own,
  });
  expect(await call("get", { pod_name: "over", pod_namespace: "n" })).toEqual({
    pod_resources: {
      ...{ name: "over", namespace: "n" },
      containers: [{ name: "done", ...nothing, devices: [] }],
    },
  });
  await expect(
    call("get", { pod_name: "q", pod_namespace: "n" }),
  ).rejects.toThrow("pod q in namespace n not found");
  expect(await call("allocatable")).toEqual({
    devices: [
      {
        resource_name: "example.com/gadget",
        device_ids: ["c"],
        topology: { nodes: [{ ID: 1 }] },
      },
    ],
    cpu_ids: [1, 2, 3, 4],
    memory: [
      {
        ...{ memory_type: "memory", size: 5 },
        topology: { nodes: [{ ID: 0 }] },
      },
      {
        ...{ memory_type: "hugepages-2Mi", size: 6 },
        topology: { nodes: [{ ID: 1 }] },
      },
    ],
  });
});

test("without their gates", async () => {
  const { call } = await serve(false);
  expect(await call("list")).toEqual({
    pod_resources: [
      { name: "p", namespace: "n", containers: containers(false) },
    ],
  });
  await expect(call("get", { pod_name: "p" })).rejects.toThrow(
    "PodResources API Get method disabled",
  );
});

test("more requests than the limit are refused, until time has passed", async () => {
  const { call, clock } = await serve();
  for (let count = 0; count < 10; count++) await call("list");
  const refused = await call("list").catch((error: unknown) => error);
  expect(grpcCode(refused)).toBe(8);
  expect((refused as Error).message).toMatch(/rejected by rate limit/);
  clock.advance(10);
  await call("list");
});

test("monitors of before v1 get the devices of ordinary containers", async () => {
  const { call } = await serve(false);
  expect(await call("listAlpha")).toEqual({
    pod_resources: [
      {
        name: "p",
        namespace: "n",
        containers: [
          {
            ...nothing,
            name: "main",
            devices: [
              { resource_name: "example.com/gadget", device_ids: ["a"] },
              { resource_name: "example.com/gadget", device_ids: ["b"] },
            ],
          },
        ],
      },
      {
        ...{ name: "over", namespace: "n" },
        containers: [{ name: "done", ...nothing, devices: [] }],
      },
    ],
  });
});

test("requests and errors are counted, refused ones are not", async () => {
  const { call, counts } = await serve(false);
  expect(counts()).toEqual([]);
  for (let count = 0; count < 6; count++) await call("list");
  await call("allocatable");
  await call("listAlpha");
  for (let count = 0; count < 2; count++)
    await expect(call("get")).rejects.toThrow("disabled");
  await expect(call("list")).rejects.toThrow("rejected by rate limit");
  await expect(call("listAlpha")).rejects.toThrow("rejected by rate limit");
  expect(counts()).toEqual([
    'requests_total{server_api_version="v1"} 9',
    'requests_total{server_api_version="v1alpha1"} 1',
    'requests_list{server_api_version="v1"} 6',
    'requests_get_allocatable{server_api_version="v1"} 1',
    'requests_get{server_api_version="v1"} 2',
    'errors_get{server_api_version="v1"} 2',
  ]);
});
