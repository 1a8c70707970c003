import { ApiError } from "../../../api/errors.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { createClient } from "../../../client/create-client.ts";
import type { WatchOptions } from "../../../client/client.ts";
import type { ApiRequest, Transport } from "../../../client/transport.ts";
import { pods } from "../../../client/resources.ts";
import { silent, testPod } from "../../support/control-plane.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { MemoryApi } from "../../support/memory-api.ts";

const setUp = () => {
  const clock = new FakeClock();
  const api = new MemoryApi(clock);
  return { api, client: createClient(api, { clock, logger: silent }) };
};
const label = (name: string, app: string): Pod => {
  const pod = testPod(name);
  pod.metadata.labels = { app };
  return pod;
};

test("on a cache of this process objects are shared, filters are entered and left, indexes follow", async () => {
  const { api, client } = setUp();
  const informer = client.informer(pods, {
    namespace: "default",
    labelSelector: "app=a",
    indexes: { node: (pod) => [pod.spec.nodeName ?? ""] },
  });
  const log: string[] = [];
  informer.addHandler({
    onAdd: ({ metadata }) => log.push(`+${metadata.name}`),
    onUpdate: (_, { metadata }) => log.push(`~${metadata.name}`),
    onDelete: ({ metadata }) => log.push(`-${metadata.name}`),
  });
  const resource = client.resource(pods);
  await resource.create(label("x", "a"));
  await resource.create(label("y", "b"));
  const setLabel = (name: string, app: string) =>
    resource.patch(name, "default", {
      type: "merge",
      body: { metadata: { labels: { app } } },
    });
  await setLabel("y", "a");
  await setLabel("x", "b");
  await resource.createSubresource("y", "default", "binding", {
    target: { name: "n1" },
  });
  expect(log).toEqual(["+x", "+y", "-x", "~y"]);
  expect(informer.lister.list().map(({ metadata }) => metadata.name)).toEqual([
    "y",
  ]);
  expect(informer.lister.get("x", "default")).toBeUndefined();
  expect(informer.lister.byIndex("node", "n1")).toHaveLength(1);
  expect(informer.lister.byIndex("node", "")).toHaveLength(0);
  expect(informer.lister.get("y", "default")).toBe(
    api.all<Pod>(pods).find(({ metadata }) => metadata.name === "y"),
  );
  expect(() => informer.lister.byIndex("none", "")).toThrow("no index");
});

test("a handler that throws does not keep others from their events; removed ones get none", async () => {
  const { client } = setUp();
  const informer = client.informer(pods);
  const seen: string[] = [];
  informer.addHandler({
    onAdd: () => {
      throw new Error("bad handler");
    },
  });
  const remove = informer.addHandler({
    onAdd: ({ metadata }) => seen.push(metadata.name),
  });
  await client.resource(pods).create(testPod("a"));
  remove();
  await client.resource(pods).create(testPod("b"));
  expect(seen).toEqual(["a"]);
});

test("two callers share one source but have their own indexes; a late one is told what exists", async () => {
  const { client } = setUp();
  await client.resource(pods).create(testPod("a"));
  const first = client.informer(pods, { indexes: { i: () => ["one"] } });
  const second = client.informer(pods, { indexes: { i: () => ["two"] } });
  expect(first.lister.byIndex("i", "one")).toHaveLength(1);
  expect(first.lister.byIndex("i", "two")).toHaveLength(0);
  expect(second.lister.byIndex("i", "two")).toHaveLength(1);
  const seen: string[] = [];
  second.addHandler({ onAdd: ({ metadata }) => seen.push(metadata.name) });
  expect(seen).toEqual(["a"]);
  await expect(second.synced()).resolves.toBeUndefined();
});

test("a resource that is gone is asked for until its last follower has left", async () => {
  const clock = new FakeClock();
  let asked = 0;
  const gone = (): never => {
    asked++;
    throw new ApiError({ code: 404, message: "404 page not found" });
  };
  const transport = { request: gone, watch: gone, close: async () => {} };
  const client = createClient(transport as unknown as Transport, {
    clock,
    logger: silent,
  });
  const leave = client.informer(pods).addHandler({});
  await clock.advanceAsync(60_000);
  const before = asked;
  await clock.advanceAsync(60_000);
  expect(asked).toBeGreaterThan(before);
  leave();
  await clock.advanceAsync(60_000);
  const after = asked;
  await clock.advanceAsync(600_000);
  expect(asked).toBe(after);
  // Whoever follows it later starts anew.
  client.informer(pods).addHandler({});
  await clock.advanceAsync(60_000);
  expect(asked).toBeGreaterThan(after);
  await client.close();
});

test.each([
  ["that it has none of this resource", 500, 2],
  ["that it knows none", 422, 1],
])(
  "a server that answers a streaming list by saying %s is listed",
  async (_, code, streams) => {
    const clock = new FakeClock();
    const asked: string[] = [];
    const pod = testPod("a");
    pod.metadata.resourceVersion = "7";
    const transport = {
      request: async ({ verb }: ApiRequest) => {
        asked.push(verb);
        return { items: [pod], metadata: { resourceVersion: "7" } };
      },
      watch: (_ref: unknown, { sendInitialEvents }: WatchOptions) => {
        asked.push(sendInitialEvents ? "stream" : "watch");
        return {
          [Symbol.asyncIterator]: () => ({
            next: () =>
              Promise.reject(
                new ApiError(
                  sendInitialEvents
                    ? { code, message: "no progress requests" }
                    : { code: 410, reason: "Expired", message: "too old" },
                ),
              ),
          }),
          close: () => {},
        };
      },
      close: async () => {},
    };
    const client = createClient(transport as unknown as Transport, {
      clock,
      logger: silent,
    });
    const informer = client.informer(pods);
    const leave = informer.addHandler({});
    await informer.synced();
    expect(informer.lister.get("a", "default")).toBeDefined();
    // The watch's history is gone: what follows is another start.
    while (asked.length < 5) await clock.advanceAsync(1000);
    leave();
    expect(asked.slice(0, 3)).toEqual(["stream", "list", "watch"]);
    expect(asked.slice(0, 5).filter((each) => each === "stream")).toHaveLength(
      streams,
    );
  },
);
