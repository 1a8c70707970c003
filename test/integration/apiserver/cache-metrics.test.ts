// What /metrics says of the watch cache, of the lists and watches that read it, and of what it read from the store.
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type TestServer,
} from "./support.ts";

let server: TestServer;
beforeEach(async () => {
  const store = createMemoryStore();
  const open = store.start.bind(store);
  store.start = async () => {
    await open();
    await store.write({
      key: "/registry/configmaps/default/broken",
      expectedRevision: undefined,
      encode: () => Buffer.from("no object"),
    });
  };
  server = await startTestServer({ store });
});
afterEach(() => server.stop());

/** The samples of /metrics by their series. */
async function samples(): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => {
        const at = line.lastIndexOf(" ");
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
  );
}

/** How much each series has grown. */
async function growth(
  series: Readonly<Record<string, number>>,
  run: () => Promise<unknown>,
): Promise<void> {
  const before = await samples();
  await run();
  const after = await samples();
  expect(
    Object.fromEntries(
      Object.keys(series).map((name) => [
        name,
        (after.get(name) ?? 0) - (before.get(name) ?? 0),
      ]),
    ),
  ).toEqual(series);
}

const secrets = "/api/v1/namespaces/default/secrets";

async function makeSecrets(): Promise<void> {
  for (const name of ["a", "b", "c"]) {
    const labels = name === "b" ? { l: "x" } : {};
    await server.call("POST", secrets, { metadata: { name, labels } });
  }
}

const ofSecrets = 'index="",resource_prefix="/secrets"';

test("lists count what they looked at and what they were answered with", async () => {
  await makeSecrets();
  await growth(
    {
      [`apiserver_cache_list_total{${ofSecrets}}`]: 5,
      [`apiserver_cache_list_fetched_objects_total{${ofSecrets}}`]: 13,
      'apiserver_cache_list_returned_objects_total{resource_prefix="/secrets"}': 10,
      'apiserver_watch_cache_consistent_read_total{fallback="false",resource="secrets",success="true"}': 3,
      'apiserver_watch_cache_read_wait_seconds_count{resource="secrets"}': 3,
    },
    async () => {
      await server.call("GET", secrets);
      await server.call("GET", "/api/v1/secrets?resourceVersion=0");
      await server.call("GET", `${secrets}?labelSelector=l=x`);
      const page = await server.call("GET", `${secrets}?limit=2`);
      const { continue: token } = page.body.metadata as { continue: string };
      await server.call("GET", `${secrets}?limit=2&continue=${token}`);
      // Refused ones are none.
      await server.call("GET", `${secrets}?labelSelector=l in`);
      await server.call("GET", `${secrets}?continue=x`);
    },
  );
});

test("watches count what they begin with and each event, by the version that was asked for", async () => {
  await makeSecrets();
  await growth(
    {
      'apiserver_init_events_total{resource="secrets"}': 6,
      'apiserver_watch_events_total{group="",kind="Secret",version="v1"}': 6,
      'apiserver_watch_cache_events_received_total{resource="secrets"}': 1,
      'apiserver_watch_cache_events_dispatched_total{resource="secrets"}': 1,
      'apiserver_storage_events_received_total{resource="secrets"}': 1,
      'apiserver_watch_list_duration_seconds_count{group="",resource="secrets",scope="namespace",version="v1"}': 1,
    },
    async () => {
      const list = await server.watch(
        `${secrets}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      );
      for (let frame = 0; frame < 4; frame++) await list.next();
      const selecting = await server.watch(
        `${secrets}?watch=true&labelSelector=l=x`,
      );
      await selecting.next();
      await server.call("DELETE", `${secrets}/b`);
      for (const watcher of [list, selecting]) await watcher.next();
      for (const watcher of [list, selecting]) watcher.close();
    },
  );
});

test("what was read from the store, and what of it could not be read", async () => {
  await server.call("POST", configMaps, configMap("a"));
  const all = await samples();
  for (const [series, value] of Object.entries({
    'apiserver_storage_list_total{resource="configmaps"}': 1,
    'apiserver_storage_list_fetched_objects_total{resource="configmaps"}': 1,
    'apiserver_storage_decode_errors_total{resource="configmaps"}': 1,
    'apiserver_watch_cache_initializations_total{resource="deployments.apps"}': 1,
  }))
    expect([series, all.get(series)]).toEqual([series, value]);
  expect(
    all.get('apiserver_watch_cache_resource_version{resource="configmaps"}'),
  ).toBeGreaterThan(1);
});

test("the sizes of bodies, and the requests of the server's own parts", async () => {
  const transport = server.server.transport({
    name: "system:apiserver",
    groups: ["system:masters"],
    extra: {},
  });
  const resource = { group: "", version: "v1", resource: "secrets" };
  const namespace = "default";
  const bytes = Buffer.byteLength(JSON.stringify({ metadata: { name: "a" } }));
  await growth(
    {
      'apiserver_request_body_size_bytes_sum{resource="secrets",verb="create"}':
        bytes,
      'apiserver_request_body_size_bytes_count{resource="secrets",verb="delete"}': 2,
      'apiserver_selfrequest_total{resource="secrets",subresource="",verb="LIST"}': 2,
      'apiserver_selfrequest_total{resource="secrets",subresource="",verb="POST"}': 0,
    },
    async () => {
      await server.call("POST", secrets, { metadata: { name: "a" } });
      await server.call("DELETE", `${secrets}/a`);
      await server.call("DELETE", secrets);
      await server.call("POST", "/api/v1/namespaces/default/nothings", {});
      await transport.request({ verb: "list", resource, namespace });
      await transport.request({ verb: "list", resource, namespace: "" });
    },
  );
  expect([...(await samples()).keys()].join()).not.toContain("nothings");
  await transport.close();
});
