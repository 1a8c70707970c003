// Claims of devices with all gates of 1.32 on: pods that name claims, administrators' access, what drivers report of
// devices, releases, tables, owners of fields, and the events of a watch.
import { createEach, each, plain, updateEach } from "../cases.ts";
import type { Json } from "../normalise.ts";
import type { Scenario, Server } from "../scenario.ts";

const apiVersion = "resource.k8s.io/v1beta1";
const root = `/apis/${apiVersion}`;
const asTable = {
  headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" },
  keep: (body: Json) => [
    body.columnDefinitions?.map(({ name, type, priority }: Json) => [
      name,
      type,
      priority,
    ]),
    body.rows?.map(({ cells }: Json) => cells.slice(0, -1)),
  ],
};
const claim = (name: string, request: object = {}): Json => ({
  apiVersion,
  kind: "ResourceClaim",
  metadata: { name },
  spec: {
    devices: { requests: [{ name: "r", deviceClassName: "c", ...request }] },
  },
});
const result = {
  request: "r",
  driver: "d.example.com",
  pool: "p",
  device: "dev",
};
const consumer = { resource: "pods", name: "pod", uid: "u" };

/** Writes the status of a claim as it is now. */
async function status(
  { call }: Server,
  label: string,
  path: string,
  value: object,
): Promise<void> {
  const { body } = await call("read", "GET", path, { silent: true });
  await call(`status: ${label}`, "PUT", `${path}/status`, {
    body: { ...body, status: value },
    ...plain,
  });
}

async function reported(server: Server): Promise<void> {
  const { call, namespace } = server;
  const at = `${root}/namespaces/${namespace}/resourceclaims`;
  await call("make a claim", "POST", at, {
    body: claim("reported"),
    silent: true,
  });
  const path = `${at}/reported`;
  const allocation = { devices: { results: [result] } };
  const device = { driver: "d.example.com", pool: "p", device: "dev" };
  const reports: Record<string, object[]> = {
    "of a device": [{ ...device, data: { a: 1 }, networkData: {} }],
    "of another device": [{ ...device, device: "other" }],
    "of one twice": [device, device],
    "of an address": [
      {
        ...device,
        networkData: {
          interfaceName: "eth0",
          ips: ["10.0.0.1/24", "2001:db8::1/64"],
          hardwareAddress: "ea:9f:cb:40:b1:7b",
        },
      },
    ],
    "of bad addresses": [
      {
        ...device,
        networkData: {
          interfaceName: "x".repeat(257),
          ips: ["10.0.0.1", "300.0.0.1/24", "10.0.0.1/33"],
          hardwareAddress: "x".repeat(129),
        },
      },
    ],
    "of conditions": [
      {
        ...device,
        conditions: [
          {
            type: "Ready",
            status: "True",
            reason: "R",
            message: "m",
            lastTransitionTime: "2024-01-01T00:00:00Z",
          },
        ],
      },
    ],
    "of bad conditions": [
      { ...device, conditions: [{ type: "A B", status: "X", reason: "" }] },
    ],
    "of large data": [{ ...device, data: { a: "x".repeat(10_240) } }],
    "of data that is no object": [{ ...device, data: [1] }],
  };
  await status(server, "report without an allocation", path, {
    devices: [device],
  });
  for (const [label, devices] of Object.entries(reports))
    await status(server, `report ${label}`, path, { allocation, devices });
  await status(server, "reserved", path, {
    allocation,
    reservedFor: [consumer],
    devices: [device],
  });
  await status(server, "given back while it is reserved", path, {
    reservedFor: [consumer],
  });
  await status(server, "too many users", path, {
    allocation,
    reservedFor: Array.from({ length: 257 }, (_, index) => ({
      ...consumer,
      uid: `u${index}`,
    })),
  });
  await call("rows of claims", "GET", at, asTable);

  for (const driver of ["a", "b"])
    await call(
      `applied by driver ${driver}`,
      "PATCH",
      `${path}/status?fieldManager=driver-${driver}&force=true`,
      {
        body: {
          apiVersion,
          kind: "ResourceClaim",
          metadata: { name: "reported" },
          status: { devices: [{ ...device, data: { by: driver } }] },
        },
        headers: { "content-type": "application/apply-patch+yaml" },
        lean: true,
        keep: (body: Json) => [
          body.status?.devices?.map(({ data }: Json) => data),
          body.metadata?.managedFields?.map(({ manager }: Json) => manager),
        ],
      },
    );
  await call("delete a reserved claim", "DELETE", path, {
    lean: true,
    keep: (body: Json) => body.kind,
  });
}

async function administrators(server: Server): Promise<void> {
  const { call, namespace } = server;
  const at = (kind: string): string =>
    `${root}/namespaces/${namespace}/${kind}`;
  const wanted = { adminAccess: true, allocationMode: "All" };
  await createEach(
    server,
    "admin access",
    at("resourceclaims"),
    claim("admin", wanted),
    each("spec.devices.requests.0.adminAccess", [false, undefined]),
  );
  await createEach(
    server,
    "admin access by template",
    at("resourceclaimtemplates"),
    {
      apiVersion,
      kind: "ResourceClaimTemplate",
      metadata: { name: "admin" },
      spec: { spec: claim("", wanted).spec },
    },
    each("spec.spec.devices.requests.0.adminAccess", [false]),
  );
  await call("make an admin's claim", "POST", at("resourceclaims"), {
    body: claim("admin", wanted),
    silent: true,
  });
  const path = `${at("resourceclaims")}/admin`;
  for (const adminAccess of [true, false])
    await status(server, `admin access of a result ${adminAccess}`, path, {
      allocation: { devices: { results: [{ ...result, adminAccess }] } },
    });
  await call("remove the admin's claim", "DELETE", path, { silent: true });
}

const pod = (name: string): Json => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: {
    containers: [
      { name: "c", image: "i", resources: { claims: [{ name: "gpu" }] } },
    ],
    resourceClaims: [{ name: "gpu", resourceClaimName: "a-claim" }],
  },
});

async function pods(server: Server): Promise<void> {
  const { call, namespace } = server;
  const at = `/api/v1/namespaces/${namespace}/pods`;
  await createEach(server, "pod", at, pod("pod"), [
    ...each("spec.resourceClaims", [
      [],
      [{ name: "gpu" }],
      [{ name: "gpu", resourceClaimName: "a", resourceClaimTemplateName: "b" }],
      [{ name: "gpu", resourceClaimTemplateName: "A_" }],
      [{ name: "gpu", resourceClaimName: "A_" }],
      [{ name: "G_", resourceClaimName: "a" }],
      [
        { name: "gpu", resourceClaimName: "a" },
        { name: "gpu", resourceClaimName: "b" },
      ],
      [{ resourceClaimName: "a" }],
    ]),
    ...each("spec.containers.0.resources.claims", [
      [{ name: "none" }],
      [{ name: "gpu" }, { name: "gpu" }],
      [{ name: "gpu", request: "r" }],
      [
        { name: "gpu", request: "r" },
        { name: "gpu", request: "s" },
      ],
      [
        { name: "gpu", request: "r" },
        { name: "gpu", request: "r" },
      ],
      [{ name: "gpu" }, { name: "gpu", request: "r" }],
      [{ name: "gpu", request: "A_" }],
      [{}],
    ]),
  ]);
  await updateEach(server, "pod", at, pod("pod"), [
    { "spec.resourceClaims": [{ name: "gpu", resourceClaimName: "other" }] },
    { "spec.resourceClaims": undefined },
  ]);
  const path = `${at}/pod`;
  for (const [label, statuses] of Object.entries({
    known: [{ name: "gpu", resourceClaimName: "pod-gpu-abc" }],
    unknown: [{ name: "none", resourceClaimName: "x" }],
    "bad name": [{ name: "gpu", resourceClaimName: "A_" }],
    twice: [{ name: "gpu" }, { name: "gpu" }],
  }))
    await status(server, `claims of the pod: ${label}`, path, {
      phase: "Pending",
      resourceClaimStatuses: statuses,
    });
  await call("remove the pod", "DELETE", `${path}?gracePeriodSeconds=0`, {
    silent: true,
  });
}

async function classesAndSlices({ call }: Server): Promise<void> {
  await call("make a class", "POST", `${root}/deviceclasses`, {
    body: {
      apiVersion,
      kind: "DeviceClass",
      metadata: { name: "gpu.example.com" },
      spec: { selectors: [{ cel: { expression: "device.driver == 'd'" } }] },
    },
    ...plain,
  });
  const slice = (name: string, more: object): Json => ({
    apiVersion,
    kind: "ResourceSlice",
    metadata: { name },
    spec: {
      driver: "d.example.com",
      pool: { name: "p", generation: 1, resourceSliceCount: 1 },
      devices: [{ name: "dev", basic: {} }],
      ...more,
    },
  });
  for (const [name, more] of Object.entries({
    everywhere: { allNodes: true },
    "one-node": { nodeName: "n" },
  }))
    await call(`make a slice ${name}`, "POST", `${root}/resourceslices`, {
      body: slice(name, more),
      ...plain,
    });
  await call("rows of classes", "GET", `${root}/deviceclasses`, asTable);
  await call("rows of slices", "GET", `${root}/resourceslices`, asTable);
  await call(
    "slices of a driver of a node",
    "GET",
    `${root}/resourceslices?fieldSelector=${encodeURIComponent("spec.nodeName=n,spec.driver=d.example.com")}`,
    {
      keep: (body: Json) =>
        body.items?.map(({ metadata }: Json) => metadata.name),
    },
  );
  await call(
    "slices of no node",
    "GET",
    `${root}/resourceslices?fieldSelector=spec.nodeName%3D`,
    {
      keep: (body: Json) =>
        body.items?.map(({ metadata }: Json) => metadata.name),
    },
  );
  await call(
    "a watch of a node's slices",
    "GET",
    `${root}/resourceslices?watch=1&fieldSelector=spec.nodeName%3Dn`,
    {
      frames: 2,
      meanwhile: async () => {
        for (const name of ["everywhere", "one-node"])
          await call("delete", "DELETE", `${root}/resourceslices/${name}`, {
            silent: true,
          });
      },
      keep: (frames: Json) =>
        frames?.map(({ type, object }: Json) => [type, object.metadata.name]),
    },
  );
  await call(
    "remove the class",
    "DELETE",
    `${root}/deviceclasses/gpu.example.com`,
    {
      silent: true,
    },
  );
}

export const deviceClaims: Scenario = {
  name: "device-claims",
  options: [
    `--runtime-config=${apiVersion}=true`,
    "--feature-gates=DynamicResourceAllocation=true,DRAAdminAccess=true,DRAResourceClaimDeviceStatus=true",
  ],
  async run(server) {
    await reported(server);
    await administrators(server);
    await pods(server);
    await classesAndSlices(server);
  },
};
