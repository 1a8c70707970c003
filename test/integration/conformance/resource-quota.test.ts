// ResourceQuota as the conformance tests use it: the status is counted promptly, follows the life of every countable
// object, scopes are kept apart, and what exceeds it is refused.
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
  ns = await tester.namespace(`quota-${count++}`);
});

const hard = {
  pods: "5",
  cpu: "1",
  memory: "500Mi",
  "ephemeral-storage": "50Gi",
  services: "10",
  "services.nodeports": "1",
  "services.loadbalancers": "1",
  replicationcontrollers: "10",
  resourcequotas: "1",
  persistentvolumeclaims: "10",
  "requests.storage": "10Gi",
  secrets: "10",
  configmaps: "10",
  "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "10",
  "count/replicasets.apps": "5",
  "requests.example.com/dongle": "3",
};

const api = (path: string): string => `/api/v1/namespaces/${ns}/${path}`;

async function makeQuota(name: string, spec: Json): Promise<void> {
  await tester.ok("POST", api("resourcequotas"), {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name },
    spec,
  });
}

const used = (wanted: Record<string, string>, name = "test-quota") =>
  eventually(
    async () => {
      const quota = await tester.ok("GET", api(`resourcequotas/${name}`));
      return Object.entries(wanted).every(
        ([key, value]) => quota.status?.used?.[key] === value,
      );
    },
    {
      what: `${name} to have used ${JSON.stringify(wanted)}`,
    },
  );

const pod = (name: string, requests: Json, spec: Json = {}): Json => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: "c",
        image: "busybox",
        resources: { requests, limits: spec.limits },
      },
    ],
    ...spec.pod,
  },
});

test("its status is promptly calculated", async () => {
  await makeQuota("test-quota", { hard });
  await used({
    resourcequotas: "1",
    pods: "0",
    cpu: "0",
    "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "0",
    "requests.example.com/dongle": "0",
  });
  const quota = await tester.ok("GET", api("resourcequotas/test-quota"));
  expect(quota.status.hard).toEqual(quota.spec.hard);
  expect(Object.keys(quota.status.used).sort()).toEqual(
    Object.keys(hard).sort(),
  );
});

test("captures the life of a pod", async () => {
  await makeQuota("test-quota", { hard });
  await used({ pods: "0" });
  const requests = {
    cpu: "500m",
    memory: "252Mi",
    "ephemeral-storage": "30Gi",
    "example.com/dongle": "2",
  };
  const limits = { "example.com/dongle": "2" };
  await tester.ok("POST", api("pods"), pod("test-pod", requests, { limits }));
  await used({
    pods: "1",
    cpu: "500m",
    memory: "252Mi",
    "ephemeral-storage": "30Gi",
    "requests.example.com/dongle": "2",
  });
  const tooMuch = await tester.call(
    "POST",
    api("pods"),
    pod("fail-pod", { cpu: "600m", memory: "100Mi" }),
  );
  expect(tooMuch.status).toBe(403);
  expect(tooMuch.body.message).toContain("exceeded quota: test-quota");
  const extended = await tester.call(
    "POST",
    api("pods"),
    pod(
      "fail-pod-for-extended-resource",
      { cpu: "50m", memory: "50Mi", "example.com/dongle": "2" },
      { limits: { "example.com/dongle": "2" } },
    ),
  );
  expect(extended.status).toBe(403);
  const update = await tester.ok("GET", api("pods/test-pod"));
  update.spec.containers[0].resources.requests.cpu = "100m";
  expect((await tester.call("PUT", api("pods/test-pod"), update)).status).toBe(
    422,
  );
  await tester.ok("DELETE", api("pods/test-pod"));
  await used({ pods: "0", cpu: "0", "requests.example.com/dongle": "0" });
});

test("captures the lives of services, secrets, config maps and replica sets", async () => {
  await makeQuota("test-quota", { hard });
  await eventually(
    async () =>
      (await tester.call("GET", api("configmaps/kube-root-ca.crt"))).status ===
      200,
  );
  const startMaps = (await tester.ok("GET", api("configmaps"))).items.length;
  await used({ configmaps: String(startMaps) });
  const service = (name: string, type: string): Json => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { type, ports: [{ port: 80 }] },
  });
  await tester.ok("POST", api("services"), service("cluster", "ClusterIP"));
  await tester.ok("POST", api("services"), service("node", "NodePort"));
  expect(
    (await tester.call("POST", api("services"), service("lb", "LoadBalancer")))
      .status,
  ).toBe(403);
  await used({
    services: "2",
    "services.nodeports": "1",
    "services.loadbalancers": "0",
  });
  // A change of type takes as a new one does.
  const change = await tester.call(
    "PATCH",
    api("services/cluster"),
    { spec: { type: "NodePort" } },
    patchHeader("merge"),
  );
  expect(change.status).toBe(403);
  for (const each of ["cluster", "node"])
    await tester.ok("DELETE", api(`services/${each}`));
  await used({ services: "0", "services.nodeports": "0" });
  await tester.ok("POST", api("configmaps"), {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: { name: "m" },
  });
  await tester.ok("POST", api("secrets"), {
    kind: "Secret",
    apiVersion: "v1",
    metadata: { name: "s" },
  });
  await tester.ok("POST", `/apis/apps/v1/namespaces/${ns}/replicasets`, {
    kind: "ReplicaSet",
    apiVersion: "apps/v1",
    metadata: { name: "rs" },
    spec: {
      replicas: 0,
      selector: { matchLabels: { a: "b" } },
      template: {
        metadata: { labels: { a: "b" } },
        spec: { containers: [{ name: "c", image: "i" }] },
      },
    },
  });
  await tester.ok("POST", api("replicationcontrollers"), {
    kind: "ReplicationController",
    apiVersion: "v1",
    metadata: { name: "rc" },
    spec: {
      replicas: 0,
      selector: { a: "b" },
      template: {
        metadata: { labels: { a: "b" } },
        spec: { containers: [{ name: "c", image: "i" }] },
      },
    },
  });
  await used({
    configmaps: String(startMaps + 1),
    secrets: "1",
    "count/replicasets.apps": "1",
    replicationcontrollers: "1",
  });
});

test("captures the life of a claim", async () => {
  await makeQuota("test-quota", { hard });
  await used({ persistentvolumeclaims: "0" });
  await tester.ok("POST", api("persistentvolumeclaims"), {
    kind: "PersistentVolumeClaim",
    apiVersion: "v1",
    metadata: { name: "claim" },
    spec: {
      storageClassName: "gold",
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
    },
  });
  await used({
    persistentvolumeclaims: "1",
    "requests.storage": "1Gi",
    "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
  });
  await tester.ok("DELETE", api("persistentvolumeclaims/claim"));
  await used({ persistentvolumeclaims: "0", "requests.storage": "0" });
});

test("scopes: best effort and terminating", async () => {
  await makeQuota("best", { hard: { pods: "5" }, scopes: ["BestEffort"] });
  await makeQuota("not-best", {
    hard: { pods: "5" },
    scopes: ["NotBestEffort"],
  });
  await makeQuota("ending", { hard: { pods: "5" }, scopes: ["Terminating"] });
  await makeQuota("lasting", {
    hard: { pods: "5" },
    scopes: ["NotTerminating"],
  });
  for (const each of ["best", "not-best", "ending", "lasting"])
    await used({ pods: "0" }, each);
  await tester.ok("POST", api("pods"), pod("p", {}));
  await used({ pods: "1" }, "best");
  await used({ pods: "1" }, "lasting");
  await used({ pods: "0" }, "not-best");
  await tester.ok("DELETE", api("pods/p"));
  await used({ pods: "0" }, "best");
  await tester.ok(
    "POST",
    api("pods"),
    pod("q", { cpu: "1m" }, { pod: { activeDeadlineSeconds: 3600 } }),
  );
  await used({ pods: "1" }, "not-best");
  await used({ pods: "1" }, "ending");
  await used({ pods: "0" }, "lasting");
});

test("update and delete; a status someone writes stays", async () => {
  await makeQuota("test-quota", { hard: { cpu: "1", memory: "1Gi" } });
  await used({ cpu: "0" });
  const quota = await tester.ok("GET", api("resourcequotas/test-quota"));
  quota.spec.hard.cpu = "2";
  // The controller may write its status meanwhile.
  delete quota.metadata.resourceVersion;
  await tester.ok("PUT", api("resourcequotas/test-quota"), quota);
  await eventually(
    async () =>
      (await tester.ok("GET", api("resourcequotas/test-quota"))).status.hard
        .cpu === "2",
  );
  const patched = await tester.ok(
    "PATCH",
    api("resourcequotas/test-quota/status"),
    { status: { hard: { cpu: "7" } } },
    patchHeader("merge"),
  );
  expect(patched.status.hard.cpu).toBe("7");
  await tester.ok("DELETE", api("resourcequotas/test-quota"));
  expect(
    (await tester.call("GET", api("resourcequotas/test-quota"))).status,
  ).toBe(404);
});

test("a replication controller says that a quota holds it back, until it may", async () => {
  await makeQuota("condition-test", { hard: { pods: "2" } });
  await used({ pods: "0" }, "condition-test");
  await tester.ok("POST", api("replicationcontrollers"), {
    kind: "ReplicationController",
    apiVersion: "v1",
    metadata: { name: "rc" },
    spec: {
      replicas: 3,
      selector: { a: "b" },
      template: {
        metadata: { labels: { a: "b" } },
        spec: { containers: [{ name: "c", image: "i" }] },
      },
    },
  });
  const failure = async (): Promise<Json> =>
    (
      await tester.ok("GET", api("replicationcontrollers/rc"))
    ).status.conditions?.find(({ type }: Json) => type === "ReplicaFailure");
  await eventually(async () => (await failure())?.reason === "FailedCreate");
  await tester.ok(
    "PATCH",
    api("replicationcontrollers/rc/scale"),
    { spec: { replicas: 2 } },
    patchHeader("merge"),
  );
  await eventually(async () => (await failure()) === undefined);
});
