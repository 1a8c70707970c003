// The edges of watch: versions around now and before history, selectors as borders, deletes' versions, namespaces,
// the exact requests of client-go's reflector, watchers that do not read.
import * as http from "node:http";
import { WebSocket } from "ws";
import { eventually } from "../../support/eventually.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type Json,
  type TestServer,
  type WatchReader,
} from "./support.ts";

let server: TestServer;
const open: WatchReader[] = [];
beforeEach(async () => {
  server = await startTestServer({ bookmarkIntervalMs: 30 });
});
afterEach(async () => {
  for (const each of open.splice(0)) each.close();
  await server.stop();
});

const watch = async (query: string, path = configMaps) => {
  const reader = await server.watch(`${path}?watch=1&${query}`);
  open.push(reader);
  return reader;
};
const make = async (name: string, fields: object = {}): Promise<number> =>
  versionOf(
    (await server.call("POST", configMaps, configMap(name, fields))).body,
  );
const merge = async (name: string, patch: object): Promise<number> =>
  versionOf(
    (
      await server.call("PATCH", `${configMaps}/${name}`, patch, {
        "content-type": "application/merge-patch+json",
      })
    ).body,
  );
const remove = (name: string) => server.call("DELETE", `${configMaps}/${name}`);
const versionOf = (body: Json): number => Number(body.metadata.resourceVersion);
const newest = async () =>
  versionOf((await server.call("GET", configMaps)).body);

describe("where a watch begins", () => {
  test.each([
    ["unset: the state, then what follows", "", true],
    ["0: the state, then what follows", "resourceVersion=0", true],
    [
      "initial events, no version",
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
      true,
    ],
    [
      "initial events, 0",
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0",
      true,
    ],
    [
      "no initial events, no version",
      "sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
      false,
    ],
    [
      "no initial events, 0",
      "sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0",
      false,
    ],
  ])("%s", async (_name, query, state) => {
    await make("before");
    const reader = await watch(query);
    await make("after");
    expect(await reader.take(state ? 2 : 1)).toEqual([
      ...(state ? ["ADDED before"] : []),
      "ADDED after",
    ]);
  });

  test("the newest version: nothing but what follows; one before: the last event", async () => {
    await make("a");
    const last = await make("b");
    const [now, before] = [
      await watch(`resourceVersion=${last}`),
      await watch(`resourceVersion=${last - 1}`),
    ];
    await make("c");
    expect(await now.take(1)).toEqual(["ADDED c"]);
    expect(await before.take(2)).toEqual(["ADDED b", "ADDED c"]);
  });

  test("a version of the future: what is not newer is left out", async () => {
    const now = await newest();
    const reader = await watch(`resourceVersion=${now + 2}`);
    expect(reader.status).toBe(200);
    await make("one");
    await make("two");
    await make("three");
    expect(await reader.take(1)).toEqual(["ADDED three"]);
  });

  test("initial events of a version of the future: 504 with cause and advice", async () => {
    const answer = await server.call(
      "GET",
      `${configMaps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=999999&timeoutSeconds=1`,
    );
    const status =
      answer.body.kind === "Status" ? answer.body : answer.body.object;
    expect(status).toMatchObject({
      code: 504,
      reason: "Timeout",
      message: expect.stringMatching(
        /^Timeout: Too large resource version: 999999, current: \d+$/,
      ) as string,
      details: {
        retryAfterSeconds: 1,
        causes: [
          {
            reason: "ResourceVersionTooLarge",
            message: "Too large resource version",
          },
        ],
      },
    });
  });
});

describe("client-go's reflector", () => {
  const streaming =
    "allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=400";
  test.each(["", "&resourceVersion=0", "&resourceVersion=1"])(
    "streaming list%s",
    async (version) => {
      await make("a");
      const state = await make("b");
      const reader = await watch(streaming + version);
      expect(await reader.take(2)).toEqual(["ADDED a", "ADDED b"]);
      const end = await reader.next();
      expect(end).toMatchObject({
        type: "BOOKMARK",
        object: {
          kind: "ConfigMap",
          apiVersion: "v1",
          metadata: { annotations: { "k8s.io/initial-events-end": "true" } },
        },
      });
      expect(versionOf(end!.object)).toBeGreaterThanOrEqual(state);
      // It goes on from there.
      const next = await make("c");
      for (;;) {
        const frame = await reader.next();
        if (frame!.type === "BOOKMARK") continue;
        expect([frame!.type, versionOf(frame!.object)]).toEqual([
          "ADDED",
          next,
        ]);
        break;
      }
    },
  );

  test("list, then watch from its version with bookmarks", async () => {
    await make("a");
    const list = await server.call(
      "GET",
      `${configMaps}?limit=500&resourceVersion=0`,
    );
    const reader = await watch(
      `allowWatchBookmarks=true&resourceVersion=${list.body.metadata.resourceVersion}&timeoutSeconds=400`,
    );
    await remove("a");
    const frame = await reader.next();
    expect(`${frame!.type} ${frame!.object.metadata.name}`).toBe("DELETED a");
  });
});

describe("versions in events", () => {
  test("a deletion has its own, also for finalized objects", async () => {
    const made = await make("a", {
      metadata: { name: "a", finalizers: ["example.com/x"] },
    });
    const reader = await watch(`resourceVersion=${made}`);
    await remove("a");
    await merge("a", { metadata: { finalizers: null } });
    const marked = await reader.next();
    expect(marked!.type).toBe("MODIFIED");
    expect(marked!.object.metadata.deletionTimestamp).toBeTruthy();
    const gone = await reader.next();
    expect(gone!.type).toBe("DELETED");
    expect(versionOf(gone!.object)).toBe(await newest());
    expect(versionOf(gone!.object)).toBeGreaterThan(versionOf(marked!.object));
    // The same is seen later, from history.
    const later = await watch(`resourceVersion=${made}`);
    expect(await later.take(2)).toEqual(["MODIFIED a", "DELETED a"]);
  });

  test("leaving a selection shows the last state that was in it, at the version of the change", async () => {
    const made = await make("a", {
      metadata: { name: "a", labels: { in: "yes" } },
      data: { n: "1" },
    });
    const reader = await watch(
      `resourceVersion=${made}&labelSelector=in%3Dyes`,
    );
    const left = await merge("a", {
      metadata: { labels: { in: "no" } },
      data: { n: "2" },
    });
    await merge("a", { data: { n: "3" } });
    const back = await merge("a", { metadata: { labels: { in: "yes" } } });
    const gone = await reader.next();
    expect(gone).toMatchObject({
      type: "DELETED",
      object: { data: { n: "1" }, metadata: { labels: { in: "yes" } } },
    });
    expect(versionOf(gone!.object)).toBe(left);
    const again = await reader.next();
    expect(again).toMatchObject({
      type: "ADDED",
      object: { data: { n: "3" } },
    });
    expect(versionOf(again!.object)).toBe(back);
  });

  test("bookmarks of a quiet resource advance with the whole store", async () => {
    const start = await newest();
    const reader = await watch(
      `resourceVersion=${start}&allowWatchBookmarks=true`,
      "/api/v1/namespaces/default/secrets",
    );
    const last = await make("elsewhere");
    for (;;) {
      const frame = await reader.next();
      expect(frame).toMatchObject({
        type: "BOOKMARK",
        object: { kind: "Secret", apiVersion: "v1" },
      });
      expect(
        Object.keys(frame!.object.metadata).filter(
          (key) => key !== "creationTimestamp",
        ),
      ).toEqual(["resourceVersion"]);
      if (versionOf(frame!.object) >= last) break;
    }
  });

  test("without asking there are none", async () => {
    const reader = await watch(
      `resourceVersion=${await newest()}&timeoutSeconds=1`,
    );
    expect(await reader.next()).toBeUndefined();
  });
});

test("one namespace and all", async () => {
  await server.call("POST", "/api/v1/namespaces", {
    metadata: { name: "other" },
  });
  const start = await newest();
  const [one, all, byField] = [
    await watch(`resourceVersion=${start}`),
    await watch(`resourceVersion=${start}`, "/api/v1/configmaps"),
    await watch(
      `resourceVersion=${start}&fieldSelector=metadata.namespace%3Dother`,
      "/api/v1/configmaps",
    ),
  ];
  await server.call(
    "POST",
    "/api/v1/namespaces/other/configmaps",
    configMap("far"),
  );
  await make("near");
  expect(await one.take(1)).toEqual(["ADDED near"]);
  expect(await all.take(2)).toEqual(["ADDED far", "ADDED near"]);
  expect(await byField.take(1)).toEqual(["ADDED far"]);
});

test("one object by its name: only its events", async () => {
  const start = await newest();
  const reader = await watch(
    `resourceVersion=${start}&fieldSelector=metadata.name%3Db`,
  );
  for (const name of ["a", "b", "bb"]) await make(name);
  await remove("a");
  await remove("b");
  expect(await reader.take(2)).toEqual(["ADDED b", "DELETED b"]);
});

test("pods enter by node name", async () => {
  const pods = "/api/v1/namespaces/default/pods";
  await server.call("POST", "/api/v1/nodes", { metadata: { name: "n" } });
  const made = await server.call("POST", pods, {
    metadata: { name: "p" },
    spec: { containers: [{ name: "c", image: "i" }] },
  });
  expect(made.status).toBe(201);
  const reader = await watch("fieldSelector=spec.nodeName%3Dn", "/api/v1/pods");
  const bound = await server.call("POST", `${pods}/p/binding`, {
    metadata: { name: "p" },
    target: { kind: "Node", name: "n" },
  });
  expect([bound.status, bound.text]).toEqual([201, expect.anything()]);
  expect(await reader.take(1)).toEqual(["ADDED p"]);
});

test.each(["watch=true", "watch=1", "watch", "watch=True"])(
  "?%s is a watch",
  async (query) => {
    const answer = await server.call(
      "GET",
      `${configMaps}?${query}&timeoutSeconds=1`,
    );
    expect([answer.status, answer.body.kind]).toEqual([200, undefined]);
  },
);
test.each(["watch=false", "watch=0", "watch=False"])(
  "?%s is a list",
  async (query) => {
    expect((await server.call("GET", `${configMaps}?${query}`)).body.kind).toBe(
      "ConfigMapList",
    );
  },
);

test("a watcher that does not read is cut off; others see everything", async () => {
  const start = await newest();
  const slow = await new Promise<http.IncomingMessage>((resolve, reject) =>
    http
      .get(
        `${server.url}${configMaps}?watch=1&resourceVersion=${start}`,
        resolve,
      )
      .on("error", reject),
  );
  slow.pause();
  let cut = false;
  slow.on("close", () => (cut = true)).on("error", () => undefined);
  const good = await watch(`resourceVersion=${start}`);
  const count = 80;
  const blob = "x".repeat(900_000);
  const reading = (async () => {
    const names: string[] = [];
    while (names.length < count)
      names.push((await good.next())!.object.metadata.name);
    return names;
  })();
  for (let index = 0; index < count; index++)
    await make(`big${index}`, { data: { blob } });
  expect(await reading).toEqual(
    Array.from({ length: count }, (_, index) => `big${index}`),
  );
  slow.resume();
  await eventually(() => cut, {
    what: "the slow watcher's end",
    timeoutMs: 60_000,
  });
  expect((await server.call("GET", "/metrics")).text).toContain(
    'apiserver_terminated_watchers_total{resource="configmaps"} 1\n',
  );
});

test("history that has gone is an ERROR event, over WebSocket as well", async () => {
  const small = await startTestServer({ historyMs: 1, historyBytes: 1 });
  try {
    for (const name of ["a", "b", "c", "d"]) {
      await small.call("POST", configMaps, configMap(name));
      await new Promise((resolve) => setTimeout(resolve, 4));
    }
    const messages: Json[] = [];
    await new Promise<void>((resolve, reject) => {
      const socket = new WebSocket(
        `${small.url.replace("http", "ws")}${configMaps}?watch=1&resourceVersion=1`,
      );
      socket.on("message", (data: Buffer) =>
        messages.push(JSON.parse(data.toString())),
      );
      socket.on("close", () => resolve());
      socket.on("error", reject);
    });
    expect(messages).toMatchObject([
      {
        type: "ERROR",
        object: { kind: "Status", code: 410, reason: "Expired" },
      },
    ]);
  } finally {
    await small.stop();
  }
});
