// The lease by which an API server is known, and the collection of those whose servers are gone.
import * as os from "node:os";
import pino from "pino";
import { apiServerId } from "../../../../apiserver-lite/bootstrap/identity-lease.ts";
import { publishStorageVersions } from "../../../../apiserver-lite/bootstrap/storage-versions.ts";
import type { ApiServerOptions } from "../../../../apiserver-lite/server-options.ts";
import {
  createApiServer,
  superuser,
  type ApiServer,
} from "../../../../apiserver-lite/server.ts";
import { builtinCatalogue } from "../../../../api/catalogue.ts";
import { formatMicroTime } from "../../../../api/clock.ts";
import type { Lease } from "../../../../api/types/coordination-v1.ts";
import type { StorageVersion } from "../../../../api/types/apiserverinternal-v1alpha1.ts";
import { createMemoryStore } from "../../../../storage/memory/memory-store.ts";
import type { Store } from "../../../../storage/store.ts";
import { FakeClock, settle } from "../../../support/fake-clock.ts";

const logger = pino({ level: "silent" });
const resource = {
  group: "coordination.k8s.io",
  version: "v1",
  resource: "leases",
};
const namespace = "kube-system";
const id = apiServerId(os.hostname());

let clock: FakeClock;
let store: Store;
let server: ApiServer;
async function start(options: Partial<ApiServerOptions> = {}): Promise<void> {
  server = createApiServer({ store, logger, clock, listen: false, ...options });
  await server.start();
  await settle(10);
}
beforeEach(() => {
  clock = new FakeClock();
  store = createMemoryStore();
});
afterEach(() => (server as ApiServer | undefined)?.stop());

const leases = (): Lease[] =>
  server.registry.list(resource.group, "leases", namespace) as never;
const lease = (name: string): Lease | undefined =>
  leases().find(({ metadata }) => metadata.name === name);
const write = (name: string, spec: object, labels: object): Promise<unknown> =>
  server.transport(superuser).request({
    verb: "create",
    resource,
    namespace,
    body: { metadata: { name, labels }, spec },
  });
const identity = { "apiserver.kubernetes.io/identity": "kube-apiserver" };

test("its name is the reference's of the same host", () => {
  // Read from a kube-apiserver on a host of this name.
  expect(apiServerId("vm")).toBe("apiserver-wlv32tlttr4jl3gtroqexyxapa");
  expect(apiServerId("other")).not.toBe(apiServerId("vm"));
});

test("it is there from the start, and renewed", async () => {
  await start();
  const first = lease(id)!;
  expect(first.metadata.labels).toEqual({
    ...identity,
    "kubernetes.io/hostname": os.hostname(),
  });
  expect(first.spec).toEqual({
    holderIdentity: expect.stringMatching(new RegExp(`^${id}_[0-9a-f-]{36}$`)),
    leaseDurationSeconds: 3600,
    renewTime: formatMicroTime(clock.now()),
  });
  clock.advance(63_000);
  await settle(10);
  const renewed = lease(id)!;
  expect(Date.parse(renewed.spec.renewTime!)).toBeGreaterThanOrEqual(
    Date.parse(first.spec.renewTime!) + 60_000,
  );
  expect(renewed.spec.holderIdentity).toBe(first.spec.holderIdentity);
});

test("it is made again when it was deleted or changed by others", async () => {
  await start();
  await server
    .transport(superuser)
    .request({ verb: "delete", resource, namespace, name: id });
  // The renewal that finds it gone fails; the next one makes it.
  for (const _ of [1, 2]) {
    clock.advance(63_000);
    await settle(10);
  }
  expect(lease(id)?.spec.leaseDurationSeconds).toBe(3600);
});

test("those that have ended are removed within the hour, others stay", async () => {
  await start();
  const now = formatMicroTime(clock.now());
  const ending = { leaseDurationSeconds: 60, renewTime: now };
  await write("gone", ending, identity);
  await write("odd", {}, identity);
  await write("long", { ...ending, leaseDurationSeconds: 9000 }, identity);
  await write("elsewhere", ending, {});
  for (let hour = 0; hour < 62; hour++) {
    clock.advance(63_000);
    await settle(2);
  }
  expect(leases().map(({ metadata }) => metadata.name)).toEqual(
    expect.arrayContaining([id, "long", "elsewhere"]),
  );
  expect(lease("gone")).toBeUndefined();
  expect(lease("odd")).toBeUndefined();
});

test("without the gate there is none", async () => {
  await start({ featureGates: { APIServerIdentity: false } });
  expect(leases()).toEqual([]);
});

test("storage versions name this server beside others, and agree or not", async () => {
  const options = {
    catalogue: builtinCatalogue(() => true),
    featureGates: { StorageVersionAPI: true },
  };
  await start(options);
  const group = "internal.apiserver.k8s.io";
  const read = (name: string): StorageVersion =>
    server.registry.read(group, "storageversions", "", name) as never;
  const own = {
    apiServerID: id,
    encodingVersion: "v1",
    decodableVersions: ["v1", "events.k8s.io/v1"],
    servedVersions: ["v1"],
  };
  const agreed = {
    storageVersions: [own],
    commonEncodingVersion: "v1",
    conditions: [
      {
        type: "AllEncodingVersionsEqual",
        status: "True",
        reason: "CommonEncodingVersionSet",
        message: "Common encoding version set",
        lastTransitionTime: expect.any(String),
      },
    ],
  };
  expect(read("core.events").status).toEqual(agreed);
  const other = {
    apiServerID: "other",
    encodingVersion: "events.k8s.io/v1",
    decodableVersions: ["events.k8s.io/v1"],
  };
  const status = {
    storageVersions: [other, { ...own, servedVersions: [] }],
    conditions: [],
  };
  await server.transport(superuser).request({
    verb: "update",
    resource: { group, version: "v1alpha1", resource: "storageversions" },
    name: "core.events",
    subresource: "status",
    body: { ...read("core.events"), status },
  });
  await publishStorageVersions({
    transport: server.transport(superuser),
    kinds: server.registry.kinds.all(),
    serverId: id,
    clock,
  });
  expect(read("core.events").status).toMatchObject({
    storageVersions: [other, own],
    conditions: [
      {
        type: "AllEncodingVersionsEqual",
        status: "False",
        reason: "CommonEncodingVersionUnset",
      },
    ],
  });
  expect(read("core.events").status.commonEncodingVersion).toBeUndefined();
  expect(read("core.pods").status).toMatchObject({
    storageVersions: [{ apiServerID: id }],
  });
});
