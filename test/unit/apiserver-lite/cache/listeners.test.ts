// Listeners of the watch cache that throw: the state, the store and the other listeners don't notice.
import pino from "pino";
import { systemClock } from "../../../../api/clock.ts";
import type { AnyObject } from "../../../../api/object.ts";
import type { CachedResource } from "../../../../apiserver-lite/cache/cached-resource.ts";
import { WatchCache } from "../../../../apiserver-lite/cache/watch-cache.ts";
import { createMemoryStore } from "../../../../storage/memory/memory-store.ts";
import type { Store } from "../../../../storage/store.ts";

const kind: CachedResource = {
  prefix: "/registry/configmaps",
  namespaced: true,
  decode: (value) => JSON.parse(Buffer.from(value).toString()) as AnyObject,
  fieldsOf: () => ({}),
};

async function put(store: Store, name: string): Promise<void> {
  const object = {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: { name, namespace: "default" },
  };
  const result = await store.write({
    key: `/registry/configmaps/default/${name}`,
    expectedRevision: undefined,
    encode: () => Buffer.from(JSON.stringify(object)),
  });
  expect(result.ok).toBe(true);
}

it("ends a watcher that throws, keeps one that has no end, and goes on", async () => {
  const store = createMemoryStore();
  await store.start();
  const cache = new WatchCache({
    store,
    clock: systemClock,
    logger: pino({ level: "silent" }),
  });
  await cache.start([kind]);
  const resource = cache.resource(kind.prefix)!;
  const seen: string[] = [];
  const ended: unknown[] = [];
  const fault = new Error("its own fault");
  resource.listen(
    () => {
      throw fault;
    },
    {
      onLost: (error) => {
        ended.push(error);
        throw new Error("and once more");
      },
    },
  );
  let calls = 0;
  resource.listen(({ key }) => {
    if (calls++ === 0) throw fault;
    seen.push(`kept ${key}`);
  });
  resource.listen(({ key }) => void seen.push(key));
  for (const name of ["a", "b", "c"]) await put(store, name);
  expect(ended).toEqual([fault]);
  expect(seen).toEqual([
    "default/a",
    "kept default/b",
    "default/b",
    "kept default/c",
    "default/c",
  ]);
  expect(cache.listenerFailures).toBe(3);
  expect(store.listenerFailures).toBe(0);
  expect(cache.revision).toBe(store.revision);
  expect(cache.lost).toBeUndefined();
  cache.stop();
  await store.stop();
});
