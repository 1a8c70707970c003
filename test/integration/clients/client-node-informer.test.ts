// Informers and watches of @kubernetes/client-node: list and watch, selectors, coming back after the server ended the
// stream, listing again after 410.
import * as k8s from "@kubernetes/client-node";
import { eventually } from "../../support/eventually.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type TestServer,
} from "../apiserver/support.ts";

let server: TestServer;
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

function configOf(url: string): k8s.KubeConfig {
  const config = new k8s.KubeConfig();
  config.loadFromClusterAndUser(
    { name: "c", server: url, skipTLSVerify: true },
    { name: "u" },
  );
  return config;
}

async function start(
  options: Parameters<typeof startTestServer>[0] = {},
): Promise<k8s.KubeConfig> {
  server = await startTestServer(options);
  stops.push(() => server.stop());
  return configOf(server.url);
}

function informerOf(config: k8s.KubeConfig, labelSelector?: string) {
  const core = config.makeApiClient(k8s.CoreV1Api);
  const informer = k8s.makeInformer(
    config,
    configMaps,
    () =>
      core.listNamespacedConfigMap({
        namespace: "default",
        ...(labelSelector ? { labelSelector } : {}),
      }),
    labelSelector,
  );
  const seen: string[] = [];
  for (const verb of ["add", "update", "delete"] as const)
    informer.on(verb as "add", (object) =>
      seen.push(`${verb} ${object.metadata!.name}`),
    );
  stops.push(() => informer.stop());
  return { informer, seen };
}

const make = (name: string, fields: object = {}) =>
  server.call("POST", configMaps, configMap(name, fields));
const label = (name: string, value: string | null) =>
  server.call(
    "PATCH",
    `${configMaps}/${name}`,
    { metadata: { labels: { watched: value } } },
    { "content-type": "application/merge-patch+json" },
  );

test("an informer follows, with and without selector", async () => {
  const config = await start();
  await make("before", {
    metadata: { name: "before", labels: { watched: "yes" } },
  });
  const all = informerOf(config);
  const some = informerOf(config, "watched=yes");
  await all.informer.start();
  await some.informer.start();
  await make("after");
  await label("after", "yes");
  await label("before", "no");
  await server.call("DELETE", `${configMaps}/after`);
  await eventually(() => all.seen.length === 5 && some.seen.length === 4, {
    what: "all events",
  });
  expect(all.seen).toEqual([
    "add before",
    "add after",
    "update after",
    "update before",
    "delete after",
  ]);
  expect(some.seen).toEqual([
    "add before",
    "add after",
    "delete before",
    "delete after",
  ]);
  expect(all.informer.list().map((object) => object.metadata!.name)).toEqual([
    "before",
  ]);
});

test("a watch that the server ends is taken up again without loss", async () => {
  const config = await start();
  const core = config.makeApiClient(k8s.CoreV1Api);
  const watch = new k8s.Watch(config);
  const seen: string[] = [];
  let rounds = 0;
  const informer = new k8s.ListWatch<k8s.V1ConfigMap>(
    configMaps,
    {
      watch: (path, query, callback, done) => {
        rounds++;
        return watch.watch(
          path,
          { ...query, timeoutSeconds: 1 },
          callback,
          done,
        );
      },
    } as k8s.Watch,
    () => core.listNamespacedConfigMap({ namespace: "default" }),
    false,
    undefined,
    undefined,
    { delayFn: () => Promise.resolve() },
  );
  informer.on("add", (object) => seen.push(object.metadata!.name!));
  informer.on("connect", () => void make(`round-${rounds}`));
  await informer.start();
  stops.push(() => informer.stop());
  await eventually(() => rounds >= 3 && seen.includes("round-2"), {
    what: "three rounds",
  });
  expect(seen).toEqual(
    expect.arrayContaining(["round-0", "round-1", "round-2"]),
  );
  expect(new Set(seen).size).toBe(seen.length);
});

test("410 makes an informer list again", async () => {
  const config = await start({ historyMs: 1, historyBytes: 1 });
  await make("old");
  const watch = new k8s.Watch(config);
  const queries: string[] = [];
  const core = config.makeApiClient(k8s.CoreV1Api);
  let lists = 0;
  const informer = new k8s.ListWatch<k8s.V1ConfigMap>(
    configMaps,
    {
      watch: async (path, query, callback, done) => {
        queries.push(String(query["resourceVersion"]));
        // The first start is from a version that history has lost.
        const version = queries.length === 1 ? "1" : query["resourceVersion"];
        return watch.watch(
          path,
          { ...query, resourceVersion: version },
          callback,
          done,
        );
      },
    } as k8s.Watch,
    () => {
      lists++;
      return core.listNamespacedConfigMap({ namespace: "default" });
    },
    false,
    undefined,
    undefined,
    { delayFn: () => Promise.resolve() },
  );
  for (const name of ["x", "y", "z"]) {
    await new Promise((resolve) => setTimeout(resolve, 3));
    await make(name);
  }
  const added: string[] = [];
  informer.on("add", (object) => added.push(object.metadata!.name!));
  await informer.start();
  stops.push(() => informer.stop());
  await eventually(() => lists === 2 && queries.length === 2, {
    what: "the second list",
  });
  await make("late");
  await eventually(() => added.includes("late"), {
    what: "the event after it",
  });
  expect(added).toEqual(["old", "x", "y", "z", "late"]);
});

test("Watch with bookmarks and initial events", async () => {
  const config = await start({ bookmarkIntervalMs: 30 });
  await make("a");
  const seen: string[] = [];
  const controller = await new k8s.Watch(config).watch(
    configMaps,
    {
      allowWatchBookmarks: true,
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
    },
    (phase, object) =>
      seen.push(
        `${phase} ${object.metadata.name ?? object.metadata.annotations?.["k8s.io/initial-events-end"]}`,
      ),
    () => undefined,
  );
  await eventually(() => seen.length >= 3, { what: "a bookmark" });
  expect(seen.slice(0, 3)).toEqual([
    "ADDED a",
    "BOOKMARK true",
    "BOOKMARK undefined",
  ]);
  controller.abort();
});

test("errors of a watch reach its callback", async () => {
  const config = await start();
  const error = await new Promise<{ statusCode?: number }>((resolve) => {
    void new k8s.Watch(config).watch(
      "/api/v1/nothings",
      {},
      () => undefined,
      resolve,
    );
  });
  expect(error.statusCode).toBe(404);
});
