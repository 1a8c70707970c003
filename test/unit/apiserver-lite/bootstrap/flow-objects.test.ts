// What is made, brought back and removed of the FlowSchemas and priority levels every cluster has.
import pino from "pino";
import { DanglingSchemas } from "../../../../apiserver-lite/bootstrap/dangling-schemas.ts";
import { FlowObjects } from "../../../../apiserver-lite/bootstrap/flow-objects.ts";
import {
  createApiServer,
  type ApiServer,
  superuser,
} from "../../../../apiserver-lite/server.ts";
import { createMemoryStore } from "../../../../storage/memory/memory-store.ts";
import { FakeClock, settle } from "../../../support/fake-clock.ts";

const group = "flowcontrol.apiserver.k8s.io";
const logger = pino({ level: "silent" });
const annotation = "apf.kubernetes.io/autoupdate-spec";

let clock: FakeClock;
let server: ApiServer;
beforeEach(async () => {
  clock = new FakeClock();
  server = createApiServer({
    store: createMemoryStore(),
    logger,
    clock,
    listen: false,
  });
  await server.start();
});
afterEach(() => server.stop());

const place = (resource: string) => ({
  resource: { group, version: "v1", resource },
});
const read = (resource: string, name: string) =>
  server.registry.read(group, resource, "", name) as never as {
    metadata: Record<string, unknown> & {
      annotations?: Record<string, string>;
    };
    spec: Record<string, unknown>;
    status?: object;
  };
const change = (resource: string, name: string, body: object) =>
  server.transport(superuser).request({
    verb: "patch",
    ...place(resource),
    name,
    patch: { type: "merge", body },
  });
/** The minute after which the objects are looked at. */
async function minute(): Promise<void> {
  clock.advance(60_000);
  await settle(10);
}

const levels = "prioritylevelconfigurations";
const schemas = "flowschemas";

test("the reference's objects are there, written by its managers", () => {
  expect(server.registry.list(group, levels)).toHaveLength(8);
  expect(server.registry.list(group, schemas)).toHaveLength(13);
  const { metadata } = read(schemas, "probes");
  const managers = metadata["managedFields"] as {
    manager: string;
    operation: string;
  }[];
  expect(
    managers.map(({ manager, operation }) => `${manager} ${operation}`).sort(),
  ).toEqual([
    "api-priority-and-fairness-config-consumer-v1 Apply",
    "api-priority-and-fairness-config-producer-v1 Update",
  ]);
});

test("mandatory objects come back, whatever their annotation is; the exempt level's share stays", async () => {
  await change(levels, "catch-all", {
    metadata: { annotations: { [annotation]: "false" } },
    spec: { limited: { nominalConcurrencyShares: 77 } },
  });
  await change(levels, "exempt", {
    spec: { exempt: { nominalConcurrencyShares: 9 } },
  });
  await server
    .transport(superuser)
    .request({ verb: "delete", ...place(schemas), name: "exempt" });
  await minute();
  const { metadata, spec } = read(levels, "catch-all");
  expect(spec["limited"]).toMatchObject({ nominalConcurrencyShares: 5 });
  expect(metadata.annotations).toEqual({ [annotation]: "true" });
  expect(read(levels, "exempt").spec["exempt"]).toMatchObject({
    nominalConcurrencyShares: 9,
  });
  expect(read(schemas, "exempt")).toBeDefined();
});

test("suggested objects come back while their annotation says so", async () => {
  const shares = { limited: { nominalConcurrencyShares: 1 } };
  await change(levels, "system", { spec: shares });
  await change(levels, "node-high", {
    metadata: { annotations: { [annotation]: "false" } },
    spec: shares,
  });
  // Without an annotation a changed object is the administrator's.
  await change(levels, "workload-low", {
    metadata: { annotations: null },
    spec: shares,
  });
  await change(levels, "workload-high", { metadata: { annotations: null } });
  await minute();
  const found = (name: string) => {
    const { metadata, spec } = read(levels, name);
    const { nominalConcurrencyShares } = spec["limited"] as Record<
      string,
      number
    >;
    return [nominalConcurrencyShares, metadata.annotations?.[annotation]];
  };
  expect(found("system")).toEqual([30, "true"]);
  expect(found("node-high")).toEqual([1, "false"]);
  expect(found("workload-low")).toEqual([1, "false"]);
  expect(found("workload-high")).toEqual([40, "true"]);
});

test("objects of earlier releases are removed, the administrator's stay", async () => {
  for (const [name, value] of [
    ["old", "true"],
    ["own", "false"],
    ["plain", undefined],
  ])
    await server.transport(superuser).request({
      verb: "create",
      ...place(schemas),
      body: {
        metadata: {
          name,
          ...(value ? { annotations: { [annotation]: value } } : {}),
        },
        spec: { priorityLevelConfiguration: { name: "system" } },
      },
    });
  await minute();
  expect(
    ["old", "own", "plain"].map((name) => read(schemas, name) !== undefined),
  ).toEqual([false, true, true]);
});

test("one that cannot be written fails the start, and is tried again later", async () => {
  const objects = new FlowObjects({
    transport: { request: () => Promise.reject(new Error("no store")) },
    state: { read: () => undefined, list: () => [] },
    clock,
    logger,
  });
  await expect(objects.start()).rejects.toThrow("no store");
  objects.stop();
});

test("servers that disagree write a condition at most six times a minute", async () => {
  let exists = true;
  let writes = 0;
  const transport = server.transport(superuser);
  const dangling = new DanglingSchemas({
    transport: {
      request: (request) => {
        writes++;
        return transport.request(request);
      },
    },
    state: server.registry,
    hasLevel: (name) => name !== "system" || (exists = !exists),
    clock,
    logger,
  });
  await dangling.start();
  for (let round = 0; round < 40; round++) {
    clock.advance(100);
    await settle(6);
  }
  expect(writes).toBeGreaterThan(1);
  expect(writes).toBeLessThanOrEqual(6);
  dangling.stop();
});
