// Migrations of stored objects, and the collection of what API servers wrote that are gone, against a server in memory.
import pino from "pino";
import { builtinCatalogue } from "../../../api/catalogue.ts";
import { systemClock } from "../../../api/clock.ts";
import type { StorageVersionMigration } from "../../../api/types/storagemigration-v1alpha1.ts";
import { errors } from "../../../api/errors.ts";
import type { AdmissionPlugin } from "../../../apiserver-lite/admission/plugin.ts";
import { superuser } from "../../../apiserver-lite/server.ts";
import type { Client } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import { configMaps, leases, limitRanges } from "../../../client/resources.ts";
import {
  storageVersionMigrations,
  storageVersions,
} from "../../../controllers/storage-versions/resources.ts";
import { createControllerManager } from "../../../controllers/manager.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import { eventually } from "../../support/eventually.ts";
import { startTestServer, type TestServer } from "../apiserver/support.ts";

const logger = pino({ level: "silent" });
const clock = systemClock;
const featureGates = { StorageVersionAPI: true, StorageVersionMigrator: true };

/** Refuses updates of one resource. */
const closed: AdmissionPlugin = {
  name: "Closed",
  validate({ operation, resource, name }) {
    if (operation === "UPDATE" && resource.resource === "limitranges")
      throw errors.forbidden(resource, name, "closed");
  },
};
const store = createMemoryStore();
let server: TestServer;
let client: Client;
let stopControllers: () => Promise<void>;
beforeAll(async () => {
  server = await startTestServer({
    store,
    catalogue: builtinCatalogue(() => true),
    // What it announces goes by its lease.
    featureGates: { ...featureGates, APIServerIdentity: true },
    parts: () => ({ admission: [closed] }),
  });
  client = createClient(server.server.transport(superuser), { clock, logger });
  const manager = createControllerManager({
    client,
    clock,
    logger,
    options: {
      controllers: [
        "storageversion-garbage-collector-controller",
        "storage-version-migrator-controller",
      ],
      featureGates,
    },
  });
  await manager.start();
  stopControllers = () => manager.stop();
});
afterAll(async () => {
  await stopControllers();
  await client.close();
  await server.stop();
});

/** Resolves to its conditions when it has ended. */
async function migrate(
  name: string,
  resource: StorageVersionMigration["spec"]["resource"],
): Promise<string[]> {
  const migrations = client.resource(storageVersionMigrations);
  await migrations.create({ metadata: { name }, spec: { resource } });
  const ended = await eventually(
    async () => {
      const { status } = await migrations.get(name);
      return status?.conditions?.some(
        ({ type, status: is }) => type !== "Running" && is === "True",
      )
        ? status
        : undefined;
    },
    { what: `the end of ${name}` },
  );
  return ended!.conditions!.map(({ type, status, reason = "", message = "" }) =>
    `${type}=${status} ${reason} ${message}`.trim(),
  );
}

const done = [
  "Running=False StorageVersionMigrationInProgress",
  "Succeeded=True StorageVersionMigrationSucceeded",
];

test("custom objects are written in the version that is stored now", async () => {
  const group = "example.com";
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const version = (name: string, storage: boolean): object => ({
    name,
    served: true,
    storage,
    schema: {
      openAPIV3Schema: {
        type: "object",
        "x-kubernetes-preserve-unknown-fields": true,
      },
    },
  });
  const spec = (stored: string): object => ({
    group,
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: ["v1", "v2"].map((name) => version(name, name === stored)),
  });
  const metadata = { name: `things.${group}` };
  const kind = "CustomResourceDefinition";
  const apiVersion = "apiextensions.k8s.io/v1";
  await server.call("POST", definitions, {
    ...{ apiVersion, kind, metadata, spec: spec("v1") },
  });
  const things = `/apis/${group}/v1/namespaces/default/things`;
  const body = { apiVersion: `${group}/v1`, kind: "Thing" };
  await eventually(
    async () =>
      (await server.call("POST", things, { ...body, metadata: { name: "a" } }))
        .status === 201,
    { what: "the definition to be served" },
  );
  const ref = { group, version: "v1", resource: "things", kind: "Thing" };
  // More than a page.
  await Promise.all(
    Array.from({ length: 510 }, (_, index) =>
      client.resource({ ...ref, namespaced: true }).create({
        metadata: { name: `b${index}`, namespace: "default" },
      }),
    ),
  );
  const storedVersions = async (): Promise<unknown[]> => {
    const { values } = await store.list(`/registry/${group}/things/`);
    return [
      ...new Set(
        values.map(
          ({ value }) =>
            /"apiVersion":"([^"]+)"/.exec(Buffer.from(value).toString())?.[1],
        ),
      ),
    ];
  };
  expect(await storedVersions()).toEqual([`${group}/v1`]);
  const hash = async (): Promise<unknown> =>
    (await server.call("GET", `/apis/${group}/v2`)).body.resources[0]
      .storageVersionHash;
  const before = await hash();
  const { body: definition } = await server.call(
    "GET",
    `${definitions}/${metadata.name}`,
  );
  await server.call("PUT", `${definitions}/${metadata.name}`, {
    ...definition,
    spec: spec("v2"),
  });
  await eventually(async () => (await hash()) !== before, {
    what: "the other version to be stored",
  });
  expect(
    await migrate("things", { group, version: "v2", resource: "things" }),
  ).toEqual(done);
  expect(await storedVersions()).toEqual([`${group}/v2`]);
});

test("objects in today's version are not written", async () => {
  const { metadata } = await client.resource(configMaps).create({
    metadata: { name: "c", namespace: "default" },
  });
  const resource = { group: "", version: "v1", resource: "configmaps" };
  expect(await migrate("configmaps", resource)).toEqual(done);
  const after = await client.resource(configMaps).get("c", "default");
  expect(after.metadata).toEqual(metadata);
  const migration = await client
    .resource(storageVersionMigrations)
    .get("configmaps");
  expect(migration.status?.resourceVersion).toMatch(/^\d+$/);
});

test.each([
  { group: "none.example.com", version: "v1", resource: "things" },
  { group: "", version: "v1", resource: "things" },
  { group: "apps", version: "v1beta1", resource: "deployments" },
])("what nobody serves fails: %j", async (resource) => {
  expect(
    await migrate(
      `no-${resource.version}-${resource.group || "core"}`,
      resource,
    ),
  ).toEqual([
    "Failed=True StorageVersionMigrationFailed resource does not exist in discovery",
  ]);
});

test("what is never stored fails", async () => {
  const resource = { group: "", version: "v1", resource: "componentstatuses" };
  expect(await migrate("computed", resource)).toEqual([
    "Failed=True StorageVersionMigrationFailed resource not found",
  ]);
});

test("what can't be written fails, and stays failed", async () => {
  await client.resource(limitRanges).create({
    metadata: { name: "l", namespace: "default" },
    spec: { limits: [] },
  });
  const resource = { group: "", version: "v1", resource: "limitranges" };
  expect(await migrate("refused", resource)).toEqual([
    "Running=False StorageVersionMigrationInProgress",
    "Failed=True StorageVersionMigrationFailed migration encountered unhandled error",
  ]);
});

test("entries of servers without a lease go, and StorageVersions without entries", async () => {
  const versions = client.resource(storageVersions);
  const own = (await versions.get("core.pods")).status.storageVersions![0]!;
  const other = { ...own, apiServerID: "other" };
  const write = async (name: string, servers: object[]): Promise<void> => {
    const present = await versions.get(name);
    const status = {
      storageVersions: servers,
      commonEncodingVersion: "v1",
      conditions: [],
    };
    await versions.updateStatus({ ...present, status });
  };
  const servers = async (name: string): Promise<unknown> =>
    (await versions.get(name)).status.storageVersions?.map(
      ({ apiServerID }) => apiServerID,
    );
  await client.resource(leases).create({
    metadata: {
      name: "other",
      namespace: "kube-system",
      labels: { "apiserver.kubernetes.io/identity": "kube-apiserver" },
    },
    spec: {},
  });
  await write("core.pods", [own, other]);
  await write("core.secrets", [own, { ...other, apiServerID: "gone" }]);
  await versions.create({
    metadata: { name: "core.olds" },
    spec: {},
    status: {},
  });
  await write("core.olds", [other]);
  await eventually(
    async () =>
      JSON.stringify(await servers("core.secrets")) ===
      JSON.stringify([own.apiServerID]),
    { what: "the entry without a lease to go" },
  );
  expect(await servers("core.pods")).toEqual([own.apiServerID, "other"]);
  await client.resource(leases).delete("other", "kube-system");
  await eventually(
    async () => ((await servers("core.pods")) as string[]).length === 1,
    { what: "the entry whose lease went to go" },
  );
  await eventually(
    () =>
      versions.get("core.olds").then(
        () => false,
        () => true,
      ),
    { what: "the StorageVersion without entries to go" },
  );
  expect((await versions.get("core.pods")).status).toMatchObject({
    commonEncodingVersion: "v1",
    conditions: [{ type: "AllEncodingVersionsEqual", status: "True" }],
  });
});
