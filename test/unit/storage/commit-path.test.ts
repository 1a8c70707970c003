// Nobody can break the commit path: not a listener, not a disk that never answers.
import {
  LocalStore,
  MAX_COMMIT_MS,
  type Medium,
} from "../../../storage/local/local-store.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import type { StoreEvent } from "../../../storage/store.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";
import { put } from "./contract.ts";

const noLoss = (error: Error): never => {
  throw error;
};

it("ends a listener that throws, and nobody else notices", async () => {
  const failures: unknown[] = [];
  const medium: Medium = {
    open: () => Promise.resolve(0),
    commit: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const store = new LocalStore(medium, {
    onListenerFailure: (error) => failures.push(error),
  });
  await store.start();
  const seen: number[] = [];
  const lost: Error[] = [];
  let calls = 0;
  const bad = new Error("a listener's own fault");
  store.subscribe(
    store.revision,
    () => {
      calls++;
      throw bad;
    },
    (error) => lost.push(error),
  );
  store.subscribe(
    store.revision,
    (events) => seen.push(...events.map(({ revision }) => revision)),
    noLoss,
  );
  for (let i = 0; i < 3; i++)
    expect((await put(store, "/a", `${i}`)).ok).toBe(true);
  expect(seen).toEqual([2, 3, 4]);
  expect(calls).toBe(1);
  expect(failures).toEqual([bad]);
  expect(store.listenerFailures).toBe(1);
  expect(lost).toEqual([
    expect.objectContaining({ code: "unavailable", cause: bad }),
  ]);
  await store.healthy();
  await store.stop();
});

it("lets a listener subscribe again when it lost its subscription", async () => {
  const store = createMemoryStore();
  await store.start();
  const seen: StoreEvent[] = [];
  let failed = 0;
  const begin = (after: number): void => {
    store.subscribe(
      after,
      (events) => {
        if (Math.random() < 0.2) {
          failed++;
          throw new Error("at random");
        }
        seen.push(...events);
      },
      () => begin(seen.at(-1)?.revision ?? 1),
    );
  };
  begin(1);
  const others: number[] = [];
  store.subscribe(
    1,
    (events) => others.push(...events.map(({ revision }) => revision)),
    noLoss,
  );
  for (let round = 0; round < 100; round++)
    await Promise.all([
      put(store, `/a${round % 7}`, "x"),
      put(store, "/b", "y"),
    ]);
  for (let i = 0; i < 100 && seen.length < 200; i++) await settle();
  const all = Array.from({ length: 200 }, (_, i) => i + 2);
  expect(others).toEqual(all);
  expect(seen.map(({ revision }) => revision)).toEqual(all);
  expect(failed).toBeGreaterThan(0);
  await store.stop();
});

it("is unhealthy when a commit takes longer than it may, and well when it ends", async () => {
  const clock = new FakeClock();
  let end: () => void = () => undefined;
  const store = new LocalStore(
    {
      open: () => Promise.resolve(0),
      commit: () => new Promise((resolve) => (end = resolve)),
      close: () => Promise.resolve(),
    },
    { clock },
  );
  await store.start();
  const write = put(store, "/a", "1");
  await settle();
  clock.advance(MAX_COMMIT_MS);
  await store.healthy();
  expect(store.fatal).toBeUndefined();
  clock.advance(2_000);
  await expect(store.healthy()).rejects.toThrow(
    "a commit has been under way for 12 s",
  );
  expect(store.fatal).toBeDefined();
  // Reads go on meanwhile.
  expect(await store.get("/a")).toBeUndefined();
  end();
  expect((await write).ok).toBe(true);
  await store.healthy();
  expect(store.fatal).toBeUndefined();
  await store.stop();
});

it("refuses every write, and is unhealthy, when the commit path itself fails", async () => {
  const medium = {
    open: () => Promise.resolve(0),
    commit: () => Promise.resolve(),
    maintain() {
      throw new Error("a bug");
    },
    close: () => Promise.resolve(),
  };
  const store = new LocalStore(medium);
  await store.start();
  const [first, second] = [put(store, "/a", "1"), put(store, "/b", "1")];
  // These were durable already.
  expect((await first).ok && (await second).ok).toBe(true);
  await expect(put(store, "/a", "2")).rejects.toThrow("the store failed");
  await expect(store.healthy()).rejects.toThrow("a bug");
  expect(store.fatal).toBeDefined();
  await store.stop();
});

it("commits what a turn's promises lead to together", async () => {
  const batches: number[] = [];
  const store = new LocalStore({
    open: () => Promise.resolve(0),
    commit: (writes) => {
      batches.push(writes.length);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  });
  await store.start();
  const late = (async () => {
    for (let i = 0; i < 20; i++) await Promise.resolve();
    await put(store, "/late", "1");
  })();
  await Promise.all([put(store, "/a", "1"), put(store, "/b", "1"), late]);
  expect(batches).toEqual([3]);
  await store.stop();
});

it("bounds the bytes of a commit", async () => {
  const batches: number[] = [];
  const store = new LocalStore({
    open: () => Promise.resolve(0),
    commit: (writes) => {
      batches.push(writes.length);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  });
  await store.start();
  const value = "x".repeat(400 * 1024);
  await Promise.all(
    Array.from({ length: 5 }, (_, i) => put(store, `/k${i}`, value)),
  );
  expect(batches).toEqual([2, 2, 1]);
  await store.stop();
});
