// The watch cache after the store has lost events (etcd compacted them away while it was not there): it reads anew, and
// its listeners see what changed.
import pino from "pino";
import { systemClock } from "../../../../api/clock.ts";
import type { AnyObject } from "../../../../api/object.ts";
import type { CachedResource } from "../../../../apiserver-lite/cache/cached-resource.ts";
import { WatchCache } from "../../../../apiserver-lite/cache/watch-cache.ts";
import { createMemoryStore } from "../../../../storage/memory/memory-store.ts";
import type { Store, StoreListener } from "../../../../storage/store.ts";
import { eventually } from "../../../support/eventually.ts";

const kind: CachedResource = {
  prefix: "/registry/configmaps",
  namespaced: true,
  decode: (value) => JSON.parse(Buffer.from(value).toString()) as AnyObject,
  fieldsOf: () => ({}),
};

function put(store: Store, name: string, data: string): Promise<unknown> {
  return store.write({
    key: `/registry/configmaps/default/${name}`,
    expectedRevision: undefined,
    encode: () =>
      Buffer.from(
        JSON.stringify({
          kind: "ConfigMap",
          apiVersion: "v1",
          metadata: { name, namespace: "default" },
          data: { data },
        }),
      ),
  });
}

it("reads anew, tells what changed, and follows again", async () => {
  const store = createMemoryStore();
  await store.start();
  for (const name of ["same", "changed", "removed"])
    await put(store, name, "1");
  const subscribe = store.subscribe.bind(store);
  let deaf = false;
  let lose: (error: Error) => void = () => undefined;
  store.subscribe = (after, listener: StoreListener, onLost) => {
    lose = onLost;
    return subscribe(
      after,
      (...args) => {
        if (!deaf) listener(...args);
      },
      onLost,
    );
  };
  const list = store.list.bind(store);
  let failures = 1;
  const cache = new WatchCache({
    store,
    clock: systemClock,
    logger: pino({ level: "silent" }),
  });
  await cache.start([kind]);
  const seen: string[] = [];
  cache.resource(kind.prefix)!.listen(({ type, key, revision, previous }) => {
    seen.push(`${type} ${key} ${revision} ${previous ? "known" : "new"}`);
  });

  deaf = true;
  await put(store, "added", "1");
  await put(store, "changed", "2");
  await put(store, "changed", "3");
  await store.write({
    key: "/registry/configmaps/default/removed",
    expectedRevision: undefined,
    encode: () => undefined,
  });
  expect(seen).toEqual([]);
  store.list = (prefix) =>
    failures-- > 0 ? Promise.reject(new Error("not yet")) : list(prefix);
  const base = cache.revision;
  deaf = false;
  lose(new Error("compacted"));
  expect(cache.lost).toBeDefined();
  await eventually(() => cache.lost === undefined);
  expect(seen).toEqual([
    `put default/added ${base + 1} new`,
    `put default/changed ${base + 3} known`,
    `delete default/removed ${base + 4} known`,
  ]);
  expect(cache.revision).toBe(store.revision);
  cache.stop();
  await store.stop();
});
