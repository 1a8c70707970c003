// metrics.k8s.io is served without an APIService, so that an add-on's registration is its own: it takes the group over, keeps
// it over a restart of the API server, and gives it back.
import pino from "pino";
import {
  createMetricsReader,
  serveNodeMetrics,
} from "../../../apiserver-lite/index.ts";
import { systemClock } from "../../../api/clock.ts";
import { createFileStore } from "../../../storage/file/file-store.ts";
import { eventually } from "../../support/eventually.ts";
import {
  startExtensionServer,
  type ExtensionTestServer,
} from "../../support/extension-server.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import type { Json, TestServer } from "../apiserver/support.ts";
import {
  apiService,
  apiServices,
  condition,
  createService,
  proxyIdentity,
  startAggregator,
} from "./support.ts";

const group = "metrics.k8s.io";
const name = `v1beta1.${group}`;
const path = `${apiServices}/${name}`;
const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const managed = "kube-aggregator.kubernetes.io/automanaged";
const aggregated =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const tempDirectory = useTempDirectories();

async function start(directory = tempDirectory()): Promise<TestServer> {
  const server = await startAggregator({
    store: createFileStore({ directory }),
    parts: (state) => ({
      start: () =>
        serveNodeMetrics({
          state,
          proxy: { readAgent: () => Promise.reject(new Error("no agent")) },
          clock: systemClock,
          logger: pino({ level: "silent" }),
        }),
      bootstrap: createMetricsReader,
    }),
  });
  stops.push(() => server.stop());
  return server;
}

async function startAddOn(): Promise<ExtensionTestServer> {
  const addOn = await startExtensionServer({
    frontProxyAuthority: proxyIdentity.authority,
    group,
    version: "v1beta1",
    service: "extension.default",
  });
  stops.push(() => addOn.stop());
  return addOn;
}

const registration = ({ port, authority }: ExtensionTestServer): object =>
  apiService(
    group,
    port,
    { caBundle: Buffer.from(authority).toString("base64") },
    "v1beta1",
  );

const available = (server: TestServer): Promise<unknown> =>
  eventually(async () => (await condition(server, name))?.status === "True");

/** The resources of the group's version, and whether both forms of discovery have the group. */
async function served({ call }: TestServer): Promise<unknown> {
  const list = await call("GET", `/apis/${group}/v1beta1`);
  const old = await call("GET", "/apis");
  const now = await call("GET", "/apis", undefined, { accept: aggregated });
  return {
    resources: list.body.resources.map((one: Json) => one.name),
    listed: old.body.groups.some((one: Json) => one.name === group),
    described: now.body.items.some((one: Json) => one.metadata.name === group),
  };
}
const own = { resources: ["nodes", "pods"], listed: true, described: true };

test("the group is in discovery, and nothing stands where an add-on registers", async () => {
  const server = await start();
  expect(await served(server)).toEqual(own);
  expect((await server.call("GET", path)).status).toBe(404);
});

test("an add-on has the group until it is removed, with its role", async () => {
  const server = await start();
  await createService(server);
  const addOn = await startAddOn();
  const body = registration(addOn);
  expect((await server.call("POST", apiServices, body)).status).toBe(201);
  const role = { metadata: { name: "system:aggregated-metrics-reader" } };
  expect((await server.call("POST", roles, role)).status).toBe(201);
  await available(server);
  expect(await served(server)).toMatchObject({
    resources: expect.not.arrayContaining(["nodes"]),
    listed: true,
  });
  await server.call("DELETE", `${roles}/${role.metadata.name}`);
  await server.call("DELETE", path);
  expect(await served(server)).toEqual(own);
  const left = await server.call("GET", roles);
  expect(
    left.body.items.filter(
      ({ rules, metadata }: Json) =>
        rules?.some(({ apiGroups }: Json) => apiGroups?.includes(group)) &&
        metadata.labels["rbac.authorization.k8s.io/aggregate-to-view"],
    ),
  ).toHaveLength(1);
});

test("an add-on that was applied over a kept APIService has the group after a restart", async () => {
  const directory = tempDirectory();
  const before = await start(directory);
  await createService(before);
  const addOn = await startAddOn();
  const body = registration(addOn) as Json;
  body.metadata.labels = { [managed]: "onstart" };
  await before.call("POST", apiServices, body);
  await available(before);
  await stops.splice(0, 1)[0]!();
  const after = await start(directory);
  await available(after);
  const { body: found } = await after.call("GET", path);
  expect(found.spec.service).toMatchObject({ name: "extension" });
});

test("a kept APIService of the group itself goes at a start", async () => {
  const directory = tempDirectory();
  const before = await start(directory);
  const { spec } = apiService(group, 1, {}, "v1beta1") as Json;
  await before.call("POST", apiServices, {
    metadata: { name, labels: { [managed]: "onstart" } },
    spec: { ...spec, service: undefined },
  });
  await stops.splice(0, 1)[0]!();
  const after = await start(directory);
  await eventually(async () => (await after.call("GET", path)).status === 404);
  expect(await served(after)).toEqual(own);
});
