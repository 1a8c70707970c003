// sig-storage's API: claims and volumes find each other, are protected while they are used, and are let go.
import { eventually } from "../../support/eventually.ts";
import { patchHeader, startTester, type Json, type Tester } from "./support.ts";

let tester: Tester;
let ns: string;
let count = 0;
beforeAll(async () => {
  tester = await startTester();
});
afterAll(() => tester.stop());
beforeEach(async () => {
  ns = await tester.namespace(`storage-${count++}`);
});

const claims = (path = ""): string =>
  `/api/v1/namespaces/${ns}/persistentvolumeclaims${path}`;
const volumes = (path = ""): string => `/api/v1/persistentvolumes${path}`;
const claim = (name: string, spec: Json = {}): Json => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name },
  spec: {
    storageClassName: ns,
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "1Gi" } },
    ...spec,
  },
});
const volume = (name: string, storage: string, spec: Json = {}): Json => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name },
  spec: {
    storageClassName: ns,
    accessModes: ["ReadWriteOnce"],
    capacity: { storage },
    hostPath: { path: `/tmp/${name}` },
    ...spec,
  },
});
const phase = (path: string, wanted: string) =>
  eventually(
    async () => (await tester.ok("GET", path)).status.phase === wanted,
    { what: `${path} to be ${wanted}` },
  );
const gone = (path: string) =>
  eventually(async () => (await tester.call("GET", path)).status === 404, {
    what: `${path} to go`,
  });

test("a claim takes the smallest volume that suits, holds it, and releases it", async () => {
  for (const [name, size] of [
    ["big", "5Gi"],
    ["fits", "2Gi"],
    ["small", "500Mi"],
  ] as const)
    await tester.ok("POST", volumes(), volume(`${ns}-${name}`, size));
  for (const name of ["big", "fits", "small"])
    await phase(volumes(`/${ns}-${name}`), "Available");
  await tester.ok("POST", claims(), claim("c"));
  await phase(claims("/c"), "Bound");
  const bound = await tester.ok("GET", claims("/c"));
  expect(bound.spec.volumeName).toBe(`${ns}-fits`);
  expect(bound.status.capacity).toEqual({ storage: "2Gi" });
  await phase(volumes(`/${ns}-fits`), "Bound");
  // A bound volume stays until its claim is gone.
  await tester.ok("DELETE", volumes(`/${ns}-fits`));
  expect(
    (await tester.ok("GET", volumes(`/${ns}-fits`))).metadata.deletionTimestamp,
  ).toBeTruthy();
  await tester.ok("DELETE", claims("/c"));
  await gone(claims("/c"));
  await gone(volumes(`/${ns}-fits`));
  await tester.ok(
    "PATCH",
    volumes(`/${ns}-big/status`),
    { status: { message: "StatusPatched", reason: "E2E patchStatus" } },
    patchHeader("merge"),
  );
  expect((await tester.ok("GET", volumes(`/${ns}-big`))).status).toMatchObject({
    phase: "Available",
    message: "StatusPatched",
  });
});

test("a volume made for a claim is kept for it, and stays released after it", async () => {
  await tester.ok(
    "POST",
    volumes(),
    volume(`${ns}-mine`, "1Gi", { claimRef: { namespace: ns, name: "later" } }),
  );
  await tester.ok("POST", claims(), claim("other"));
  await tester.ok("POST", claims(), claim("later"));
  await phase(claims("/later"), "Bound");
  await phase(claims("/other"), "Pending");
  await tester.ok("DELETE", claims("/later"));
  await gone(claims("/later"));
  await phase(volumes(`/${ns}-mine`), "Released");
  await phase(claims("/other"), "Pending");
});

test("a claim that a pod on a node uses stays until the pod is gone", async () => {
  await tester.ok("POST", claims(), claim("used"));
  await tester.ok("POST", `/api/v1/namespaces/${ns}/pods`, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: {
      nodeName: "n1",
      terminationGracePeriodSeconds: 0,
      containers: [{ name: "c", image: "i" }],
      volumes: [{ name: "v", persistentVolumeClaim: { claimName: "used" } }],
    },
  });
  await tester.ok("DELETE", claims("/used"));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect((await tester.call("GET", claims("/used"))).status).toBe(200);
  await tester.ok("DELETE", `/api/v1/namespaces/${ns}/pods/p`, {
    gracePeriodSeconds: 0,
  });
  await gone(claims("/used"));
});

test("a class that waits for the first consumer binds on its pod's node", async () => {
  await tester.ok("POST", "/apis/storage.k8s.io/v1/storageclasses", {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: ns },
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: "WaitForFirstConsumer",
  });
  const onNode = (name: string): Json => ({
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          {
            matchExpressions: [
              { key: "kubernetes.io/hostname", operator: "In", values: [name] },
            ],
          },
        ],
      },
    },
    hostPath: null,
    local: { path: "/mnt" },
  });
  for (const name of ["w1", "w2"]) {
    await tester.ok("POST", "/api/v1/nodes", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { "kubernetes.io/hostname": name } },
    });
    await tester.ok(
      "POST",
      volumes(),
      volume(`${ns}-${name}`, "1Gi", onNode(name)),
    );
  }
  await tester.ok("POST", claims(), claim("c"));
  await new Promise((resolve) => setTimeout(resolve, 200));
  await phase(claims("/c"), "Pending");
  await tester.ok("POST", `/api/v1/namespaces/${ns}/pods`, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: {
      nodeName: "w2",
      containers: [{ name: "c", image: "i" }],
      volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }],
    },
  });
  await phase(claims("/c"), "Bound");
  expect((await tester.ok("GET", claims("/c"))).spec.volumeName).toBe(
    `${ns}-w2`,
  );
});

test("a pod waits for its claim, and goes where its volume is", async () => {
  await tester.ok("POST", "/api/v1/nodes", {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "s1", labels: { "kubernetes.io/hostname": "s1" } },
  });
  await tester.ok(
    "PATCH",
    "/api/v1/nodes/s1/status",
    {
      status: {
        allocatable: { cpu: "4", memory: "8Gi", pods: "110" },
        conditions: [{ type: "Ready", status: "True" }],
      },
    },
    patchHeader("merge"),
  );
  const path = `/api/v1/namespaces/${ns}/pods`;
  await tester.ok("POST", path, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: {
      containers: [{ name: "c", image: "i" }],
      volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }],
    },
  });
  const told = (text: RegExp) =>
    eventually(
      async () =>
        (await tester.ok("GET", `${path}/p`)).status.conditions?.some(
          ({ message = "" }: Json) => text.test(message),
        ) ?? false,
      { what: String(text) },
    );
  await told(
    /^0\/\d+ nodes are available: persistentvolumeclaim "c" not found\./,
  );
  await tester.ok("POST", claims(), claim("c"));
  await told(/available: pod has unbound immediate PersistentVolumeClaims\./);
  await tester.ok("POST", volumes(), volume(`${ns}-v`, "1Gi"));
  await eventually(
    async () => (await tester.ok("GET", `${path}/p`)).spec.nodeName === "s1",
    { what: "the pod to be placed" },
  );
});
