// Gates that are on and are turned off: their fields are dropped, but for objects that have them.
import { createFileStore } from "../../../storage/file/file-store.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { startTestServer, type Json, type TestServer } from "./support.ts";

const jobs = "/apis/batch/v1/namespaces/default/jobs";
const services = "/api/v1/namespaces/default/services";
const gates = [
  "JobBackoffLimitPerIndex",
  "JobManagedBy",
  "JobSuccessPolicy",
  "ServiceTrafficDistribution",
];
const tempDirectory = useTempDirectories();
let directory: string;
let server: TestServer;
const start = async (on: boolean): Promise<void> => {
  server = await startTestServer({
    store: createFileStore({ directory }),
    featureGates: Object.fromEntries(gates.map((name) => [name, on])),
  });
};
afterEach(() => server.stop());

const ofFeatures = {
  managedBy: "example.com/other",
  backoffLimitPerIndex: 1,
  maxFailedIndexes: 2,
  successPolicy: { rules: [{ succeededCount: 1 }] },
};
const job = (name: string): Json => ({
  metadata: { name },
  spec: {
    ...ofFeatures,
    completions: 3,
    parallelism: 3,
    completionMode: "Indexed",
    template: {
      spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] },
    },
  },
});
const service = (name: string): Json => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], trafficDistribution: "PreferClose" },
});

test("what was written with the gates on stays when they are off, and nothing new has it", async () => {
  directory = tempDirectory();
  await start(true);
  const whole = await server.call("POST", jobs, job("before"));
  expect(whole.body.spec).toMatchObject(ofFeatures);
  const routed = await server.call("POST", services, service("before"));
  expect(routed.body.spec.trafficDistribution).toBe("PreferClose");
  await server.stop();

  await start(false);
  const made = await server.call("POST", jobs, job("after"));
  expect(made.status).toBe(201);
  for (const field of Object.keys(ofFeatures))
    expect(made.body.spec).not.toHaveProperty(field);
  const plain = await server.call("POST", services, service("after"));
  expect(plain.status).toBe(201);
  expect(plain.body.spec).not.toHaveProperty("trafficDistribution");

  const merge = { "content-type": "application/merge-patch+json" };
  const change = { metadata: { labels: { a: "b" } } };
  const changed = await server.call("PATCH", `${jobs}/before`, change, merge);
  expect(changed.body).toMatchObject({ spec: ofFeatures });
  const added = await server.call(
    "PATCH",
    `${services}/after`,
    { spec: { trafficDistribution: "PreferClose" } },
    merge,
  );
  expect(added.body.spec).not.toHaveProperty("trafficDistribution");
});

test("without WatchList a watch does not begin with a list that was asked for, and as ever with the state", async () => {
  directory = tempDirectory();
  server = await startTestServer({
    store: createFileStore({ directory }),
    featureGates: { WatchList: false },
  });
  const asked =
    "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const refused = await server.call("GET", `${services}?${asked}`);
  expect([refused.status, refused.body.message]).toEqual([
    422,
    'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
  ]);
  await server.call("POST", services, service("there"));
  for (const version of ["", "&resourceVersion=0"]) {
    const watch = await server.watch(`${services}?watch=1${version}`);
    expect((await watch.next())!.object.metadata.name).toBe("there");
    watch.close();
  }
});

test("hashes of stored versions can be left out of discovery", async () => {
  const hashes = async (): Promise<number> => {
    const { body } = await server.call("GET", "/apis/apps/v1");
    const resources = (body as Json)["resources"] as Json[];
    return resources.filter(
      ({ storageVersionHash }) => storageVersionHash !== undefined,
    ).length;
  };
  server = await startTestServer({});
  expect(await hashes()).toBeGreaterThan(4);
  await server.stop();
  server = await startTestServer({
    featureGates: { StorageVersionHash: false },
  });
  expect(await hashes()).toBe(0);
});
