// Watch semantics over real sockets.
import { WebSocket } from "ws";
import {
  configMap,
  configMaps,
  startTestServer,
  type TestServer,
} from "./support.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({ bookmarkIntervalMs: 50 });
});
afterEach(() => server.stop());

const make = async (name: string, fields: object = {}) =>
  (await server.call("POST", configMaps, configMap(name, fields))).body;

test("added, modified, deleted; the deleted object has the deletion's version", async () => {
  await make("a");
  const watch = await server.watch(`${configMaps}?watch=1`);
  expect(await watch.take(1)).toEqual(["ADDED a"]);
  await make("b");
  await server.call(
    "PATCH",
    `${configMaps}/b`,
    { data: { x: "1" } },
    {
      "content-type": "application/merge-patch+json",
    },
  );
  await server.call("DELETE", `${configMaps}/a`);
  expect(await watch.take(2)).toEqual(["ADDED b", "MODIFIED b"]);
  const gone = await watch.next();
  expect(gone?.type).toBe("DELETED");
  const { body } = await server.call("GET", configMaps);
  expect(gone?.object["metadata"].resourceVersion).toBe(
    body["metadata"].resourceVersion,
  );
  expect(gone?.object["kind"]).toBe("ConfigMap");
  watch.close();
});

test("resumes from any version in history", async () => {
  const a = await make("a");
  await make("b");
  await server.call("DELETE", `${configMaps}/a`);
  const watch = await server.watch(
    `${configMaps}?watch=1&resourceVersion=${a["metadata"].resourceVersion}`,
  );
  expect(await watch.take(2)).toEqual(["ADDED b", "DELETED a"]);
  watch.close();
});

test("streaming lists end with the annotated bookmark", async () => {
  await make("a");
  await make("b");
  const watch = await server.watch(
    `${configMaps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  );
  expect(await watch.take(2)).toEqual(["ADDED a", "ADDED b"]);
  const end = await watch.next();
  expect(end?.type).toBe("BOOKMARK");
  expect(end?.object).toMatchObject({
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: { annotations: { "k8s.io/initial-events-end": "true" } },
  });
  const blueprint: unknown = JSON.parse(
    Buffer.from(
      end?.object["metadata"].annotations[
        "kubernetes.io/initial-events-list-blueprint"
      ],
      "base64",
    ).toString(),
  );
  expect(blueprint).toEqual({
    kind: "ConfigMapList",
    apiVersion: "v1",
    metadata: {},
    items: [],
  });
  await make("c");
  let next = await watch.next();
  while (next?.type === "BOOKMARK") next = await watch.next();
  expect(next?.object["metadata"].name).toBe("c");
  watch.close();
});

test("streaming lists of metadata end with the blueprint of a list of metadata", async () => {
  await make("a");
  const meta = "g=meta.k8s.io;v=v1";
  const watch = await server.watch(
    `${configMaps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    { accept: `application/json;as=PartialObjectMetadata;${meta}` },
  );
  expect(await watch.take(1)).toEqual(["ADDED a"]);
  const end = await watch.next();
  expect(end).toMatchObject({
    type: "BOOKMARK",
    object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" },
  });
  const annotations = end?.object["metadata"].annotations;
  expect(
    JSON.parse(
      Buffer.from(
        annotations["kubernetes.io/initial-events-list-blueprint"],
        "base64",
      ).toString(),
    ),
  ).toEqual({
    kind: "PartialObjectMetadataList",
    apiVersion: "meta.k8s.io/v1",
    metadata: {},
    items: [],
  });
  watch.close();
  // A list is still asked for by its own name.
  const { status } = await server.call("GET", configMaps, undefined, {
    accept: `application/json;as=PartialObjectMetadata;${meta}`,
  });
  expect(status).toBe(406);
});

test.each(["true", "false", ""])(
  "a list may not ask for initial events: %j",
  async (value) => {
    const { status, body } = await server.call(
      "GET",
      `${configMaps}?sendInitialEvents=${value}`,
    );
    expect(status).toBe(422);
    expect(body).toMatchObject({
      reason: "Invalid",
      details: {
        group: "meta.k8s.io",
        kind: "ListOptions",
        causes: [
          {
            reason: "FieldValueForbidden",
            message: "Forbidden: sendInitialEvents is forbidden for list",
            field: "sendInitialEvents",
          },
        ],
      },
    });
  },
);

test("sendInitialEvents=false sends no state", async () => {
  await make("a");
  const watch = await server.watch(
    `${configMaps}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`,
  );
  await make("b");
  expect(await watch.take(1)).toEqual(["ADDED b"]);
  watch.close();
});

test("bookmarks carry the present version", async () => {
  const { body } = await server.call("GET", configMaps);
  const watch = await server.watch(
    `${configMaps}?watch=1&allowWatchBookmarks=true&resourceVersion=${body["metadata"].resourceVersion}`,
  );
  await server.call("POST", "/api/v1/namespaces", {
    metadata: { name: "other" },
  });
  const latest = await server.call("GET", configMaps);
  for (;;) {
    const frame = await watch.next();
    expect(frame?.type).toBe("BOOKMARK");
    if (
      frame?.object["metadata"].resourceVersion ===
      latest.body["metadata"].resourceVersion
    )
      break;
  }
  watch.close();
});

test("a selector makes objects enter and leave", async () => {
  const label = (name: string, value: string | null) =>
    server.call(
      "PATCH",
      `${configMaps}/${name}`,
      { metadata: { labels: { watched: value } } },
      { "content-type": "application/merge-patch+json" },
    );
  await make("a");
  const watch = await server.watch(
    `${configMaps}?watch=1&labelSelector=watched%3Dyes`,
  );
  await label("a", "yes");
  await server.call(
    "PATCH",
    `${configMaps}/a`,
    { data: { x: "1" } },
    { "content-type": "application/merge-patch+json" },
  );
  await label("a", "no");
  await label("a", "yes");
  await server.call("DELETE", `${configMaps}/a`);
  expect(await watch.take(5)).toEqual([
    "ADDED a",
    "MODIFIED a",
    "DELETED a",
    "ADDED a",
    "DELETED a",
  ]);
  watch.close();
});

test("one object by name, in its old path or by field selector", async () => {
  await make("a");
  const byPath = await server.watch(
    `${configMaps.replace("/v1/", "/v1/watch/")}/b`,
  );
  const bySelector = await server.watch(
    `${configMaps}?watch=1&fieldSelector=metadata.name%3Db`,
  );
  await make("b");
  for (const watch of [byPath, bySelector]) {
    expect(await watch.take(1)).toEqual(["ADDED b"]);
    watch.close();
  }
});

test("timeoutSeconds ends the stream", async () => {
  const watch = await server.watch(`${configMaps}?watch=1&timeoutSeconds=1`);
  expect(await watch.next()).toBeUndefined();
});

test.each([
  ["resourceVersionMatch=NotOlderThan", 422],
  ["sendInitialEvents=true", 422],
  ["sendInitialEvents=true&resourceVersionMatch=Exact", 422],
  ["resourceVersion=abc", 400],
  ["labelSelector=%21%21", 400],
])("%s is refused", async (query, status) => {
  const answer = await server.call("GET", `${configMaps}?watch=1&${query}`);
  expect(answer.status).toBe(status);
});

test("the server's stop ends watches", async () => {
  const watch = await server.watch(`${configMaps}?watch=1`);
  const end = watch.next().catch(() => undefined);
  await server.stop();
  expect(await end).toBeUndefined();
  server = await startTestServer();
});

test("over WebSocket: one message an event", async () => {
  await make("a");
  const url = `${server.url.replace("http", "ws")}${configMaps}?watch=1`;
  const socket = new WebSocket(url);
  const messages: string[] = [];
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as {
        type: string;
        object: { metadata: { name: string } };
      };
      messages.push(`${frame.type} ${frame.object.metadata.name}`);
      if (messages.length === 1) void make("b");
      if (messages.length === 2) resolve();
    });
  });
  expect(messages).toEqual(["ADDED a", "ADDED b"]);
  socket.close();
});
