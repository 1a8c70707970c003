// A resource is registered under a write storm: no event is lost, none comes twice, and its cache is the store's state.
import * as path from "node:path";
import pino from "pino";
import { systemClock } from "../../../../api/clock.ts";
import type { AnyObject } from "../../../../api/object.ts";
import type { CachedResource } from "../../../../apiserver-lite/cache/cached-resource.ts";
import { WatchCache } from "../../../../apiserver-lite/cache/watch-cache.ts";
import { createFileStore } from "../../../../storage/file/file-store.ts";
import { createMemoryStore } from "../../../../storage/memory/memory-store.ts";
import type { Store } from "../../../../storage/store.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();
const kind: CachedResource = {
  prefix: "/registry/example.com/widgets",
  namespaced: true,
  decode: (value) => JSON.parse(Buffer.from(value).toString()) as AnyObject,
  fieldsOf: () => ({}),
};

function write(store: Store, name: string, removes: boolean): Promise<unknown> {
  const object = {
    kind: "Widget",
    apiVersion: "example.com/v1",
    metadata: { name, namespace: "default" },
  };
  return store.write({
    key: `${kind.prefix}/default/${name}`,
    expectedRevision: undefined,
    encode: () => (removes ? undefined : Buffer.from(JSON.stringify(object))),
  });
}

it.each<[string, () => Store]>([
  ["memory", () => createMemoryStore()],
  [
    "file",
    () => createFileStore({ directory: path.join(tempDirectory(), "s") }),
  ],
])("loses nothing on the %s store", async (_, makeStore) => {
  const store = makeStore();
  await store.start();
  // The list's answer comes late: writes go on while it is on its way.
  const list = store.list.bind(store);
  let late: Promise<unknown> = Promise.resolve();
  store.list = async (prefix) => {
    const answer = await list(prefix);
    await late;
    return answer;
  };
  const cache = new WatchCache({
    store,
    clock: systemClock,
    logger: pino({ level: "silent" }),
  });
  await cache.start([]);
  for (let i = 0; i < 20; i++) await write(store, `w${i}`, false);
  const storm = async (): Promise<void> => {
    for (let i = 0; i < 40; i++) await write(store, `w${i % 25}`, i % 3 === 0);
  };
  late = storm();
  const registering = cache.register(kind);
  await expect(cache.register(kind)).rejects.toThrow(
    "is being registered already",
  );
  const first = await registering;
  const revisions = first.history
    .after(first.history.floor)
    .map(({ revision }) => revision);
  expect(new Set(revisions).size).toBe(revisions.length);
  expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
  expect(revisions.length).toBeGreaterThan(20);
  await storm();
  const { values } = await list(`${kind.prefix}/`);
  expect(first.entries().map(({ key, revision }) => [key, revision])).toEqual(
    values.map(({ key, revision }) => [
      key.slice(kind.prefix.length + 1),
      revision,
    ]),
  );
  expect(cache.revision).toBe(store.revision);
  cache.stop();
  await store.stop();
});
