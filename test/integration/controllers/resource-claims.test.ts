// Dynamic resource allocation in the control plane: claims made from templates, devices allocated by the scheduler,
// reservations taken back when pods are over. API server, controllers and scheduler are the real ones, nodes and slices
// are objects.
import {
  deviceClasses,
  events,
  nodes,
  pods,
  resourceClaims,
  resourceClaimTemplates,
  resourceSlices,
  startCluster,
  type Cluster,
} from "../../../index.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type {
  Device,
  DeviceClaim,
  ResourceClaim,
} from "../../../api/types/resource-v1beta1.ts";
import { claimFinalizer } from "../../../api/objects/resource-claims.ts";
import { eventually } from "../../support/eventually.ts";

let cluster: Cluster;
const namespace = "default";

beforeAll(async () => {
  cluster = await startCluster({
    args: [
      "--feature-gates=DynamicResourceAllocation=true",
      "--runtime-config=resource.k8s.io/v1beta1=true",
      "--disable-admission-plugins=ServiceAccount",
    ],
  });
  for (const name of ["one", "two"]) {
    await cluster.client.resource(nodes).create({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { "kubernetes.io/hostname": name } },
      spec: {},
    });
    await cluster.client.resource(nodes).patch(
      name,
      undefined,
      {
        type: "strategic",
        body: {
          status: {
            allocatable: { cpu: "8", memory: "8Gi", pods: "110" },
            conditions: [{ type: "Ready", status: "True" }],
          },
        },
      },
      { subresource: "status" },
    );
  }
  await cluster.client.resource(deviceClasses).create({
    apiVersion: "resource.k8s.io/v1beta1",
    kind: "DeviceClass",
    metadata: { name: "gpu" },
    spec: {
      selectors: [
        { cel: { expression: "device.driver == 'gpu.example.com'" } },
      ],
      config: [
        {
          opaque: {
            driver: "gpu.example.com",
            parameters: { mode: "shared" },
          },
        },
      ],
    },
  });
  await slice("one", [gpu("a", 40, "1.2.0"), gpu("b", 80, "2.0.0")]);
});
afterAll(() => cluster?.stop());

const gpu = (name: string, memory: number, version: string): Device => ({
  name,
  basic: {
    attributes: {
      version: { version },
      index: { int: name.charCodeAt(0) },
      "other.example.com/switch": { string: "s1" },
    },
    capacity: { memory: { value: `${memory}Gi` } },
  },
});

async function slice(node: string, devices: Device[]): Promise<void> {
  await cluster.client.resource(resourceSlices).create({
    apiVersion: "resource.k8s.io/v1beta1",
    kind: "ResourceSlice",
    metadata: { name: `${node}-gpus` },
    spec: {
      driver: "gpu.example.com",
      nodeName: node,
      pool: { name: node, generation: 1, resourceSliceCount: 1 },
      devices,
    },
  });
}

function template(name: string, devices: DeviceClaim): Promise<unknown> {
  return cluster.client.resource(resourceClaimTemplates).create({
    apiVersion: "resource.k8s.io/v1beta1",
    kind: "ResourceClaimTemplate",
    metadata: { name, namespace },
    spec: { metadata: { labels: { of: name } }, spec: { devices } },
  });
}

function claim(name: string, devices: DeviceClaim): Promise<unknown> {
  return cluster.client.resource(resourceClaims).create({
    apiVersion: "resource.k8s.io/v1beta1",
    kind: "ResourceClaim",
    metadata: { name, namespace },
    spec: { devices },
  });
}

const one = (expression?: string): DeviceClaim => ({
  requests: [
    {
      name: "gpu",
      deviceClassName: "gpu",
      ...(expression ? { selectors: [{ cel: { expression } }] } : {}),
    },
  ],
});

const create = (
  name: string,
  resourceClaim: NonNullable<Pod["spec"]["resourceClaims"]>[number],
  nodeSelector: Record<string, string> = {},
): Promise<Pod> =>
  cluster.client.resource(pods).create({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace },
    spec: {
      nodeSelector,
      resourceClaims: [resourceClaim],
      containers: [
        {
          name: "c",
          image: "i",
          resources: { claims: [{ name: resourceClaim.name }] },
        },
      ],
    },
  });

const pod = (name: string): Promise<Pod> =>
  cluster.client.resource(pods).get(name, namespace);
const claims = async (): Promise<ResourceClaim[]> =>
  (await cluster.client.resource(resourceClaims).list({ namespace })).items;
const claimOf = async (name: string): Promise<ResourceClaim> => {
  const { status } = await pod(name);
  return await cluster.client
    .resource(resourceClaims)
    .get(status!.resourceClaimStatuses![0]!.resourceClaimName!, namespace);
};
const scheduled = (name: string, node: string): Promise<boolean> =>
  eventually(async () => {
    const { spec, status } = await pod(name);
    if (spec.nodeName === node) return true;
    throw new Error(JSON.stringify(status));
  });

/** As a node does when its containers have ended. */
async function finish(name: string): Promise<void> {
  await cluster.client
    .resource(pods)
    .patch(
      name,
      namespace,
      { type: "merge", body: { status: { phase: "Succeeded" } } },
      { subresource: "status" },
    );
}

test("a claim is made from its template, allocated, reserved and given back", async () => {
  await template(
    "large",
    one(
      `device.capacity["gpu.example.com"].memory.compareTo(quantity("60Gi")) > 0`,
    ),
  );
  const made = await create("p", {
    name: "gpu",
    resourceClaimTemplateName: "large",
  });
  expect(made.spec.resourceClaims).toHaveLength(1);
  expect(made.spec.containers[0]!.resources?.claims).toEqual([{ name: "gpu" }]);
  await scheduled("p", "one");
  const found = await claimOf("p");
  expect(found.metadata).toMatchObject({
    name: expect.stringMatching(/^p-gpu-[a-z0-9]{5}$/),
    labels: { of: "large" },
    annotations: { "resource.kubernetes.io/pod-claim-name": "gpu" },
    finalizers: [claimFinalizer],
    ownerReferences: [
      { kind: "Pod", name: "p", controller: true, blockOwnerDeletion: true },
    ],
  });
  expect(found.status).toEqual({
    allocation: {
      devices: {
        results: [
          {
            request: "gpu",
            driver: "gpu.example.com",
            pool: "one",
            device: "b",
          },
        ],
        config: [
          {
            source: "FromClass",
            requests: ["gpu"],
            opaque: {
              driver: "gpu.example.com",
              parameters: { mode: "shared" },
            },
          },
        ],
      },
      nodeSelector: {
        nodeSelectorTerms: [
          {
            matchFields: [
              { key: "metadata.name", operator: "In", values: ["one"] },
            ],
          },
        ],
      },
    },
    reservedFor: [{ resource: "pods", name: "p", uid: made.metadata.uid }],
  });
  await finish("p");
  await eventually(async () => (await claims()).length === 0);
});

test("a pod waits for a device, and gets it when another pod is over", async () => {
  await claim(
    "first",
    one(
      `device.attributes["gpu.example.com"].version.isGreaterThan(semver("1.5.0"))`,
    ),
  );
  await claim(
    "second",
    one(`device.attributes["gpu.example.com"].version.major() == 2`),
  );
  await create("q", { name: "g", resourceClaimName: "first" });
  await scheduled("q", "one");
  await create("r", { name: "g", resourceClaimName: "second" });
  await eventually(async () => {
    const message = (await pod("r")).status?.conditions?.[0]?.message ?? "";
    return message.startsWith(
      "0/2 nodes are available: 2 cannot allocate all claims.",
    );
  });
  await finish("q");
  await scheduled("r", "one");
  let all = await claims();
  const of = (name: string): ResourceClaim =>
    all.find(({ metadata }) => metadata.name === name)!;
  // A claim of its own stays, without its devices.
  await eventually(async () => {
    all = await claims();
    return (of("first").metadata.finalizers ?? []).length === 0;
  });
  expect(of("first").status?.allocation).toBeUndefined();
  expect(of("second").status?.allocation?.devices?.results?.[0]?.device).toBe(
    "b",
  );
  await finish("r");
});

test("two pods share a claim, and the last one gives it back", async () => {
  await claim("shared", one());
  await create("s1", { name: "g", resourceClaimName: "shared" });
  await scheduled("s1", "one");
  await create("s2", { name: "g", resourceClaimName: "shared" });
  await scheduled("s2", "one");
  const get = (): Promise<ResourceClaim> =>
    cluster.client.resource(resourceClaims).get("shared", namespace);
  expect((await get()).status?.reservedFor?.map(({ name }) => name)).toEqual([
    "s1",
    "s2",
  ]);
  await cluster.client
    .resource(pods)
    .delete("s1", namespace, { gracePeriodSeconds: 0 });
  await eventually(async () => (await get()).status?.reservedFor?.length === 1);
  expect((await get()).status?.allocation).toBeDefined();
  // A claim that is in use stays until it is not.
  await cluster.client.resource(resourceClaims).delete("shared", namespace);
  expect((await get()).metadata.deletionTimestamp).toBeDefined();
  await finish("s2");
  await eventually(async () =>
    (await claims()).every(({ metadata }) => metadata.name !== "shared"),
  );
});

test("constraints, counts and all devices", async () => {
  await claim("pair", {
    requests: [
      {
        name: "x",
        deviceClassName: "gpu",
        allocationMode: "ExactCount",
        count: 2,
      },
    ],
    constraints: [{ matchAttribute: "gpu.example.com/index" }],
  });
  await create("c1", { name: "g", resourceClaimName: "pair" });
  await eventually(async () =>
    (await pod("c1")).status?.conditions?.[0]?.message?.includes(
      "cannot allocate all claims",
    ),
  );
  await claim("every", {
    requests: [{ name: "x", deviceClassName: "gpu", allocationMode: "All" }],
    constraints: [{ matchAttribute: "other.example.com/switch" }],
  });
  // Of a node without devices all are none.
  await create(
    "c2",
    { name: "g", resourceClaimName: "every" },
    { "kubernetes.io/hostname": "one" },
  );
  await scheduled("c2", "one");
  const every = await cluster.client
    .resource(resourceClaims)
    .get("every", namespace);
  expect(
    every.status?.allocation?.devices?.results?.map(({ device }) => device),
  ).toEqual(["a", "b"]);
  await finish("c2");
});

test("what is missing or wrong is named", async () => {
  await create("none", { name: "g", resourceClaimTemplateName: "missing" });
  await eventually(async () => {
    const { items } = await cluster.client.resource(events).list({ namespace });
    return items.some(
      ({ reason, message }) =>
        reason === "FailedResourceClaimCreation" &&
        message ===
          'PodResourceClaim g: resource claim template "missing": resourceclaimtemplate.resource.k8s.io "missing" not found',
    );
  });
  await claim("classless", {
    requests: [{ name: "x", deviceClassName: "nothing" }],
  });
  await create("classless", { name: "g", resourceClaimName: "classless" });
  await eventually(async () =>
    (await pod("classless")).status?.conditions?.[0]?.message?.includes(
      "request x: device class nothing does not exist",
    ),
  );
  await claim("failing", one(`device.attributes["x"].y == 1`));
  await create("failing", { name: "g", resourceClaimName: "failing" });
  await eventually(async () => {
    const condition = (await pod("failing")).status?.conditions?.[0];
    return (
      condition?.reason === "SchedulerError" &&
      condition.message?.includes(
        "claim default/failing: selector #0: CEL runtime error: no such key: y",
      )
    );
  });
});

test("a slice that comes later makes a waiting pod fit, on its node", async () => {
  await claim("tiny", one(`device.attributes["gpu.example.com"].index == 122`));
  await create("later", { name: "g", resourceClaimName: "tiny" });
  await eventually(async () =>
    (await pod("later")).status?.conditions?.some(
      ({ type }) => type === "PodScheduled",
    ),
  );
  await slice("two", [gpu("z", 1, "1.0.0")]);
  await scheduled("later", "two");
});

test.each([
  [[{ name: "x" }], "must specify one of"],
  [
    [{ name: "x", resourceClaimName: "a", resourceClaimTemplateName: "b" }],
    "at most one of",
  ],
  [[{ name: "y", resourceClaimName: "a" }], "must be one of the names"],
])("claims that are invalid are refused: %j", async (list, text) => {
  await expect(
    cluster.client.resource(pods).create({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "bad", namespace },
      spec: {
        resourceClaims: list,
        containers: [
          { name: "c", image: "i", resources: { claims: [{ name: "x" }] } },
        ],
      },
    }),
  ).rejects.toThrow(text);
});
