// ConfigMaps and Secrets that pods' volumes are made of: who is named when one changes, and which watches are open.
import pino from "pino";
import { ApiError } from "../../../api/errors.ts";
import { systemClock, type Clock } from "../../../api/clock.ts";
import {
  objectCacheMs,
  ReferencedObjects,
} from "../../../agent/sources/referenced-objects.ts";
import type { ChangeDetection } from "../../../agent/config/agent-config.ts";
import { payloadNames } from "../../../agent/volumes/payload/payload-names.ts";
import type { Client, WatchEvent } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import { MemoryObjects } from "../../../client/memory-objects.ts";
import { configMaps } from "../../../client/resources.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { testPod } from "./runtime-objects.ts";

const logger = pino({ level: "silent" });
const name = (each: string) => ({
  resource: "configmaps",
  namespace: "ns",
  name: each,
});
const version = (each: string, resourceVersion: string, immutable = false) => ({
  metadata: { name: each, namespace: "ns", resourceVersion },
  ...(immutable ? { immutable } : {}),
});

/** An API server's ConfigMaps: what GET answers, and one queue of events a watch. */
class Server {
  gets = 0;
  readonly objects = new Map<string, object>();
  readonly watches: {
    selector: string;
    closed: boolean;
    send: (event: WatchEvent<never> | "end") => void;
  }[] = [];
  refuses = false;

  readonly client = {
    informer: () => undefined,
    resource: () => ({
      get: (each: string) => {
        this.gets++;
        const found = this.objects.get(each);
        if (found) return Promise.resolve(found);
        const gone = { status: "Failure", code: 404, reason: "NotFound" };
        return Promise.reject(new ApiError(gone as never));
      },
      watch: ({ fieldSelector }: { fieldSelector: string }) => {
        if (this.refuses) throw new Error("forbidden");
        return this.#watch(fieldSelector);
      },
    }),
  } as unknown as Client;

  #watch(selector: string) {
    const events: (WatchEvent<never> | "end")[] = [];
    let wake = (): void => undefined;
    const watch = {
      selector,
      closed: false,
      send(event: WatchEvent<never> | "end") {
        events.push(event);
        wake();
      },
    };
    this.watches.push(watch);
    return {
      close() {
        watch.closed = true;
        wake();
      },
      async *[Symbol.asyncIterator]() {
        for (;;) {
          const event = events.shift();
          if (watch.closed || event === "end") return;
          if (event) yield event;
          else await new Promise<void>((resolve) => (wake = resolve));
        }
      },
    };
  }
}

function start(
  changeDetection: ChangeDetection = "Watch",
  clock: Clock = systemClock,
) {
  const server = new Server();
  const named: string[] = [];
  const { client } = server;
  const objects = new ReferencedObjects({
    client,
    isLocal: false,
    clock,
    logger,
    changeDetection,
  });
  objects.onChange((uid) => named.push(uid));
  return { server, objects, named };
}

const modified = (object: object) =>
  ({ type: "MODIFIED", object }) as WatchEvent<never>;

test("every holder of a changed object is named once, and reads what the watch gave", async () => {
  const { server, objects, named } = start();
  server.objects.set("a", version("a", "1"));
  objects.hold("u1", [name("a")]);
  objects.hold("u2", [name("a"), name("b")]);
  await objects.configMap("ns", "a");
  await eventually(() => server.watches.length === 2);
  const [a] = server.watches;
  expect(a!.selector).toBe("metadata.name=a");
  a!.send({ type: "ADDED", object: version("a", "1") as never });
  a!.send(modified(version("a", "2")));
  await eventually(() => named.length > 0);
  expect(named).toEqual(["u1", "u2"]);
  const before = server.gets;
  expect(await objects.configMap("ns", "a")).toEqual(version("a", "2"));
  expect(server.gets).toBe(before);
  objects.release("u2");
  expect(server.watches.map(({ closed }) => closed)).toEqual([false, true]);
  objects.release("u1");
  expect(a!.closed).toBe(true);
});

test("an object that comes later, and changes while no watch ran, are seen", async () => {
  const { server, objects, named } = start();
  objects.hold("u1", [name("a")]);
  expect(await objects.configMap("ns", "a")).toBeUndefined();
  await eventually(() => server.watches.length === 1);
  server.watches[0]!.send({
    type: "ADDED",
    object: version("a", "5") as never,
  });
  await eventually(() => named.length === 1);
  server.watches[0]!.send("end");
  await eventually(() => server.watches.length === 2);
  server.watches[1]!.send({
    type: "ADDED",
    object: version("a", "5") as never,
  });
  server.watches[1]!.send("end");
  await eventually(() => server.watches.length === 3);
  expect(named).toHaveLength(1);
  server.watches[2]!.send({
    type: "ADDED",
    object: version("a", "9") as never,
  });
  await eventually(() => named.length === 2);
  objects.stop();
  expect(server.watches[2]!.closed).toBe(true);
});

test("an immutable object is not watched any further; a refused watch is tried again", async () => {
  const { server, objects } = start();
  objects.hold("u1", [name("a")]);
  await eventually(() => server.watches.length === 1);
  server.watches[0]!.send({
    type: "ADDED",
    object: version("a", "1", true) as never,
  });
  await eventually(() => server.watches[0]!.closed);
  server.refuses = true;
  objects.hold("u2", [name("b")]);
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(server.watches).toHaveLength(1);
  server.refuses = false;
  await eventually(() => server.watches.length === 2);
  expect(server.watches[1]!.selector).toBe("metadata.name=b");
  objects.stop();
});

test("the strategies Get and Cache watch nothing", async () => {
  const clock = new FakeClock();
  const get = start("Get", clock);
  get.objects.hold("u1", [name("a")]);
  await get.objects.configMap("ns", "a");
  await get.objects.configMap("ns", "a");
  expect(get.server.gets).toBe(2);
  const cache = start("Cache", clock);
  cache.objects.setCacheTime(() => 30_000);
  cache.objects.hold("u1", [name("a")]);
  await cache.objects.configMap("ns", "a");
  clock.advance(29_000);
  await cache.objects.configMap("ns", "a");
  expect(cache.server.gets).toBe(1);
  // A new pod gets it as it is now.
  cache.objects.hold("u2", [name("a")]);
  await cache.objects.configMap("ns", "a");
  expect(cache.server.gets).toBe(2);
  clock.advance(30_000);
  await cache.objects.configMap("ns", "a");
  expect(cache.server.gets).toBe(3);
  clock.advance(60_000);
  expect([get, cache].flatMap(({ server }) => server.watches)).toEqual([]);
  const annotated = (text?: string) =>
    objectCacheMs({
      spec: {},
      metadata: {
        name: "n",
        ...(text
          ? { annotations: { "node.alpha.kubernetes.io/ttl": text } }
          : {}),
      },
    });
  expect([annotated(), annotated("0"), annotated("300")]).toEqual([
    60_000, 0, 300_000,
  ]);
});

test("without an API server changes of the objects in memory are named", async () => {
  const named: string[] = [];
  const memory = new MemoryObjects();
  const objects = new ReferencedObjects({
    client: createClient(memory, { clock: systemClock, logger }),
    isLocal: true,
    clock: systemClock,
    logger,
    changeDetection: "Watch",
  });
  objects.onChange((uid) => named.push(uid));
  const put = (word: string): void =>
    void memory.put(configMaps, {
      metadata: { name: "a", namespace: "ns" },
      data: { word },
    });
  put("old");
  objects.start();
  objects.hold("u1", [name("a")]);
  expect(named).toEqual([]);
  put("new");
  expect(await objects.configMap("ns", "a")).toMatchObject({
    data: { word: "new" },
  });
  memory.remove(configMaps, "a", "ns");
  expect(named).toEqual(["u1", "u1"]);
  expect(await objects.configMap("ns", "a")).toBeUndefined();
  objects.stop();
  put("later");
  expect(named).toHaveLength(2);
});

test("the objects of a pod's volumes", () => {
  const pod = testPod({
    volumes: [
      { name: "1", configMap: { name: "a" } },
      { name: "2", secret: { secretName: "b" } },
      { name: "3", emptyDir: {} },
      {
        name: "4",
        projected: {
          sources: [
            { configMap: { name: "c" } },
            { secret: { name: "d" } },
            { serviceAccountToken: { path: "token" } },
          ],
        },
      },
    ],
  });
  expect(
    payloadNames(pod).map(({ resource, name }) => `${resource}/${name}`),
  ).toEqual(["configmaps/a", "secrets/b", "configmaps/c", "secrets/d"]);
});
