// Kinds that are off by default: resource.k8s.io in both versions, storage versions and their migration.
import { createEach, each, names, plain, updateEach } from "../cases.ts";
import type { Json } from "../normalise.ts";
import type { Scenario, Server } from "../scenario.ts";

const apis = [
  "resource.k8s.io/v1beta1",
  "resource.k8s.io/v1alpha3",
  "storagemigration.k8s.io/v1alpha1",
  "internal.apiserver.k8s.io/v1alpha1",
];
const beta = "/apis/resource.k8s.io/v1beta1";

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

async function claims(server: Server): Promise<void> {
  const at = `${beta}/namespaces/${server.namespace}/resourceclaims`;
  const request = { name: "r", deviceClassName: "c" };
  const claim = {
    apiVersion: "resource.k8s.io/v1beta1",
    kind: "ResourceClaim",
    metadata: { name: "claim" },
    spec: { devices: { requests: [request] } },
  };
  const selector = (expression: string) => [{ cel: { expression } }];
  const opaque = (changes: object) => ({
    opaque: { driver: "d.example.com", parameters: { a: 1 }, ...changes },
  });
  await createEach(server, "claim", at, claim, [
    ...names.slice(0, 3),
    { spec: {} },
    { "spec.devices": {} },
    { status: { reservedFor: [{ name: "a", resource: "pods", uid: "u" }] } },
    ...each("spec.devices.requests", [
      [request, request],
      [{ name: "A_", deviceClassName: "A_" }],
      [{}],
      many(33, (index) => ({ ...request, name: `r${index}` })),
    ]),
    ...each("spec.devices.requests.0.allocationMode", ["All", "X", ""]),
    ...each("spec.devices.requests.0.count", [0, -1, 3]),
    {
      "spec.devices.requests.0.count": 1,
      "spec.devices.requests.0.allocationMode": "All",
    },
    { "spec.devices.requests.0.adminAccess": true },
    ...each("spec.devices.requests.0.selectors", [
      [{}],
      many(33, () => ({ cel: { expression: "true" } })),
      selector("true"),
      selector('device.driver == "a"'),
      selector('device.attributes["a.example.com"].model == "x"'),
      selector(
        'device.capacity["a.example.com"].memory.isGreaterThan(quantity("1Gi"))',
      ),
      selector("device.attributes.all(d, device.attributes[d].all(a, true))"),
      selector("1"),
      selector("device.none"),
      selector("this is nothing"),
      selector("x".repeat(10_241)),
      selector(
        "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, device.attributes.all(e, a + b + c + d == e)))))",
      ),
    ]),
    ...each("spec.devices.constraints", [
      [{ matchAttribute: "a.example.com/model" }],
      [{ requests: ["r"], matchAttribute: "model" }],
      [{ requests: ["r", "r", "other"], matchAttribute: "/" }],
      [{ requests: ["A_"], matchAttribute: "" }],
      [{ requests: ["r"] }],
      [{ matchAttribute: "A_/0-" }],
      [{ matchAttribute: `a/${"x".repeat(33)}` }],
      many(33, () => ({ matchAttribute: "a.example.com/model" })),
    ]),
    ...each("spec.devices.config", [
      [opaque({})],
      [{}],
      [{ requests: ["none"], ...opaque({}) }],
      [opaque({ driver: "" })],
      [opaque({ driver: "A_" })],
      [opaque({ parameters: undefined })],
      [opaque({ parameters: { a: "x".repeat(10_240) } })],
      many(33, () => opaque({})),
    ]),
  ]);
  await updateEach(server, "claim", at, claim, [
    {},
    { "metadata.labels": { a: "b" } },
    { "spec.devices.requests.0.deviceClassName": "other" },
  ]);
  await statusOf(server, at, claim, opaque);
  const template = {
    apiVersion: "resource.k8s.io/v1beta1",
    kind: "ResourceClaimTemplate",
    metadata: { name: "template" },
    spec: { spec: claim.spec },
  };
  const templates = `${beta}/namespaces/${server.namespace}/resourceclaimtemplates`;
  await createEach(server, "template", templates, template, [
    ...names.slice(0, 3),
    { "spec.metadata": { labels: { a: "b" }, annotations: { c: "d" } } },
    {
      "spec.metadata": { labels: { "A B": "-" }, annotations: { "A B": "d" } },
    },
    { "spec.metadata": { name: "x", finalizers: ["a.example.com/b"] } },
    { "spec.spec.devices.requests": [{}] },
  ]);
  await updateEach(server, "template", templates, template, [
    {},
    { "spec.metadata": { labels: { a: "b" } } },
  ]);
}

async function statusOf(
  server: Server,
  at: string,
  claim: Json,
  opaque: (changes: object) => object,
): Promise<void> {
  const { call } = server;
  const made = { ...claim, metadata: { name: "allocated" } };
  await call("make a claim", "POST", at, { body: made, ...plain });
  const result = {
    request: "r",
    driver: "d.example.com",
    pool: "p",
    device: "dev",
  };
  const user = { resource: "pods", name: "p", uid: "u" };
  const put = (label: string, status: object): Promise<unknown> =>
    call(`status: ${label}`, "PUT", `${at}/allocated/status`, {
      body: { ...made, status },
      ...plain,
    });
  await put("reserved, not allocated", { reservedFor: [user] });
  await put("bad results", {
    allocation: {
      devices: {
        results: [{ ...result, request: "none", pool: "A_/", device: "A_" }],
        config: [{ source: "X", ...opaque({}) }, { source: "" }],
      },
      nodeSelector: { nodeSelectorTerms: [] },
    },
  });
  const allocation = { devices: { results: [result] } };
  await put("allocated", { allocation });
  await put("another allocation", {
    allocation: { devices: { results: [{ ...result, device: "other" }] } },
  });
  await put("reserved", { allocation, reservedFor: [user] });
  await put("reserved twice", { allocation, reservedFor: [user, user] });
  await put("reserved by nothing", { allocation, reservedFor: [{}] });
  await put("devices, which are behind a gate", {
    allocation,
    devices: [{ ...result, conditions: [] }],
  });
  await call("rows of claims", "GET", at, {
    headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" },
    keep: (body: Json) =>
      body.rows?.map(({ cells }: Json) => cells.slice(0, 2)),
  });
  await put("released", {});
  await call(
    "in the other version",
    "GET",
    `${at.replace("v1beta1", "v1alpha3")}/allocated`,
    plain,
  );
  await call("remove the claim", "DELETE", `${at}/allocated`, { silent: true });
}

async function devices(server: Server): Promise<void> {
  const { call } = server;
  const deviceClass = {
    apiVersion: "resource.k8s.io/v1beta1",
    kind: "DeviceClass",
    metadata: { name: "class.example.com" },
    spec: {},
  };
  const parameters = { driver: "d.example.com", parameters: { a: 1 } };
  await createEach(server, "class", `${beta}/deviceclasses`, deviceClass, [
    ...names.slice(0, 3),
    { "spec.selectors": [{ cel: { expression: "device.driver == 'x'" } }] },
    { "spec.selectors": [{}] },
    { "spec.selectors": [{ cel: { expression: "1 +" } }] },
    { "spec.config": [{ opaque: parameters }] },
    { "spec.config": [{}] },
  ]);
  await updateEach(server, "class", `${beta}/deviceclasses`, deviceClass, [
    {},
    { "spec.config": [{ opaque: parameters }] },
  ]);
  const slice = {
    apiVersion: "resource.k8s.io/v1beta1",
    kind: "ResourceSlice",
    metadata: { name: "slice" },
    spec: {
      driver: "d.example.com",
      nodeName: "n",
      pool: { name: "p", generation: 1, resourceSliceCount: 1 },
      devices: [
        {
          name: "dev",
          basic: {
            attributes: { model: { string: "x" } },
            capacity: { memory: { value: "1Gi" } },
          },
        },
      ],
    },
  };
  const slices = `${beta}/resourceslices`;
  await createEach(server, "slice", slices, slice, [
    ...names.slice(0, 3),
    ...each("spec.driver", [undefined, "A_", "x".repeat(64)]),
    ...each("spec.pool", [
      {},
      { name: "a/b", generation: -1, resourceSliceCount: 0 },
      { name: "A_", generation: 0, resourceSliceCount: 1 },
    ]),
    { "spec.nodeName": undefined },
    { "spec.nodeName": "A_" },
    { "spec.allNodes": true },
    { "spec.nodeName": undefined, "spec.allNodes": true },
    {
      "spec.nodeName": undefined,
      "spec.nodeSelector": {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: "a", operator: "Exists" }] },
        ],
      },
    },
    ...each("spec.devices", [
      [],
      [{ name: "A_" }],
      many(129, (index) => ({ name: `d${index}`, basic: {} })),
      [
        { name: "a", basic: {} },
        { name: "a", basic: {} },
      ],
    ]),
    ...each("spec.devices.0.basic.attributes", [
      { a: {} },
      { a: { int: 1, bool: true } },
      { a: { version: "1.2.3" } },
      { a: { version: "1.2.3-rc.1+build.5" } },
      { a: { version: "1.2" } },
      { a: { version: "01.2.3" } },
      { a: { string: "x".repeat(65) } },
      { "A B": { int: 1 } },
      { "a.example.com/model": { bool: false } },
      { "/": { bool: false } },
      Object.fromEntries(many(33, (index) => [`a${index}`, { int: index }])),
    ]),
    ...each("spec.devices.0.basic.capacity", [
      { memory: { value: "x" } },
      { "0": { value: "1" } },
    ]),
  ]);
  await updateEach(server, "slice", slices, slice, [
    {},
    { "spec.driver": "other.example.com" },
    { "spec.nodeName": "other" },
    { "spec.pool.name": "other" },
    { "spec.pool.generation": 2 },
  ]);
  await call(
    "the slice as v1alpha3",
    "GET",
    "/apis/resource.k8s.io/v1alpha3/resourceslices/slice",
    plain,
  );
  for (const selector of ["spec.nodeName=n", "spec.driver=x", "spec.none=x"])
    await call(
      `slices by ${selector}`,
      "GET",
      `${slices}?fieldSelector=${selector}`,
      {
        keep: (body: Json) => body.items?.length ?? body.message,
      },
    );
  for (const made of [
    `${slices}/slice`,
    `${beta}/deviceclasses/${deviceClass.metadata.name}`,
  ])
    await call("remove", "DELETE", made, { silent: true });
}

async function versions(server: Server): Promise<void> {
  const { call } = server;
  const migrations =
    "/apis/storagemigration.k8s.io/v1alpha1/storageversionmigrations";
  const migration = {
    apiVersion: "storagemigration.k8s.io/v1alpha1",
    kind: "StorageVersionMigration",
    metadata: { name: "migration" },
    spec: { resource: { group: "apps", version: "v1", resource: "x" } },
  };
  await createEach(server, "migration", migrations, migration, [
    ...names.slice(0, 3),
    { "spec.resource": {} },
    { spec: undefined },
  ]);
  await call("make a migration", "POST", migrations, {
    body: migration,
    ...plain,
  });
  const condition = (type: string, status = "True") => ({
    type,
    status,
    lastUpdateTime: "2024-01-01T00:00:00Z",
    reason: "R",
  });
  const put = async (
    label: string,
    path: string,
    change: (object: Json) => void,
  ) => {
    const { body } = await call("read", "GET", `${migrations}/migration`, {
      silent: true,
    });
    change(body);
    await call(label, "PUT", `${migrations}/migration${path}`, {
      body,
      ...plain,
    });
  };
  await put(
    "another resource",
    "",
    (object) => (object.spec.resource.version = "v2"),
  );
  await put("bad conditions", "/status", (object) => {
    object.status = {
      resourceVersion: "x",
      conditions: [
        { type: "A B", status: "X", reason: "_" },
        condition("A"),
        condition("A"),
      ],
    };
  });
  await put("running and done", "/status", (object) => {
    object.status = {
      conditions: [
        condition("Running"),
        condition("Succeeded"),
        condition("Failed"),
      ],
    };
  });
  await put("done", "/status", (object) => {
    object.status = {
      resourceVersion: "5",
      conditions: [condition("Succeeded")],
    };
  });
  await put("not done", "/status", (object) => {
    object.status = { resourceVersion: "6", conditions: [] };
  });
  await call("remove the migration", "DELETE", `${migrations}/migration`, {
    silent: true,
  });
  const storage = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions";
  const version = {
    apiVersion: "internal.apiserver.k8s.io/v1alpha1",
    kind: "StorageVersion",
    metadata: { name: "g.resources" },
    spec: {},
    status: {},
  };
  await createEach(server, "storage version", storage, version, [
    { "metadata.name": "x" },
    { "metadata.name": "A_.b-" },
  ]);
  await call("make a storage version", "POST", storage, {
    body: version,
    ...plain,
  });
  const server1 = {
    apiServerID: "a",
    encodingVersion: "v1",
    decodableVersions: ["v1"],
    servedVersions: ["v1"],
  };
  for (const [label, status] of Object.entries({
    fine: { commonEncodingVersion: "v1", storageVersions: [server1] },
    "no common version": { storageVersions: [server1] },
    "another common version": {
      commonEncodingVersion: "v2",
      storageVersions: [server1],
    },
    "no agreement": {
      commonEncodingVersion: "v1",
      storageVersions: [
        server1,
        { ...server1, apiServerID: "b", encodingVersion: "g/v2" },
      ],
    },
    "bad server": {
      storageVersions: [
        {
          apiServerID: "A_",
          encodingVersion: "/A",
          decodableVersions: ["a/b/c"],
          servedVersions: ["v9"],
        },
        { ...server1, apiServerID: "A_" },
      ],
    },
    conditions: {
      conditions: [
        { type: "A B", status: "", reason: "", message: "" },
        { type: "A B", status: "True", reason: "R", message: "m" },
      ],
    },
  })) {
    const { body } = await call("read", "GET", `${storage}/g.resources`, {
      silent: true,
    });
    body.status = status;
    await call(
      `storage version: ${label}`,
      "PUT",
      `${storage}/g.resources/status`,
      { body, ...plain },
    );
  }
  await call("remove the storage version", "DELETE", `${storage}/g.resources`, {
    silent: true,
  });
}

export const optionalKinds: Scenario = {
  name: "optional-kinds",
  options: [
    `--runtime-config=${apis.map((api) => `${api}=true`).join(",")}`,
    "--feature-gates=StorageVersionMigrator=true,StorageVersionAPI=true",
  ],
  async run(server) {
    for (const api of apis)
      await server.call(`what ${api} has`, "GET", `/apis/${api}`, {
        keep: (body: Json) => body.resources?.map(({ name }: Json) => name),
      });
    await claims(server);
    await devices(server);
    await versions(server);
  },
};
