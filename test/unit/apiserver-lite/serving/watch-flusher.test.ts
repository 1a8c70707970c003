// When events reach watchers: before the write they tell of is answered, in order, and in slices when there are many.
import { Writable } from "node:stream";
import type { CacheEvent } from "../../../../apiserver-lite/cache/history.ts";
import { ChunkPool } from "../../../../apiserver-lite/serving/chunk-pool.ts";
import type { Representation } from "../../../../apiserver-lite/serving/representation.ts";
import {
  WatchFlusher,
  WatchResponse,
} from "../../../../apiserver-lite/serving/watch-response.ts";

import { TimeSlices } from "../../../../apiserver-lite/loop/time-slices.ts";

const shown = {
  event: (_type: string, { revision }: CacheEvent) =>
    Buffer.from(`${revision};`),
} as unknown as Representation;

function eventAt(revision: number): CacheEvent {
  return {
    type: "put",
    revision,
    key: "a/b",
    entry: undefined,
    previous: undefined,
  };
}

/** A watcher that takes `busyMs` for each write. */
function watcherOf(
  flusher: WatchFlusher,
  busyMs = 0,
): { response: WatchResponse; writes: string[] } {
  const writes: string[] = [];
  const out = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const untilMs = performance.now() + busyMs;
      while (performance.now() < untilMs);
      writes.push(chunk.toString());
      done();
    },
  });
  const response = new WatchResponse(
    shown,
    flusher,
    false,
    () => undefined,
    new TimeSlices(),
    new ChunkPool(),
  );
  void response.attach({ out, end: () => out.end() });
  return { response, writes };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("events are written before the promise of their write settles", async () => {
  const flusher = new WatchFlusher();
  const { response, writes } = watcherOf(flusher);
  let settle = (): void => undefined;
  const write = new Promise<void>((resolve) => (settle = resolve));
  const answered = write.then(() => [...writes]);
  response.event("MODIFIED", eventAt(5));
  response.event("MODIFIED", eventAt(6));
  settle();
  expect(await answered).toEqual(["5;6;"]);
});

test("many watchers are told in slices, each in order and nothing twice", async () => {
  const flusher = new WatchFlusher();
  const all = Array.from({ length: 40 }, () => watcherOf(flusher, 0.1));
  for (const { response } of all) response.event("ADDED", eventAt(1));
  await Promise.resolve();
  const told = all.filter(({ writes }) => writes.length > 0).length;
  expect(told).toBeGreaterThan(0);
  expect(told).toBeLessThan(all.length);
  for (const { response } of all) response.event("MODIFIED", eventAt(2));
  const deadlineMs = performance.now() + 5_000;
  const missing = () =>
    all.some(({ writes }) => !writes.join("").includes("2"));
  while (missing() && performance.now() < deadlineMs) await turn();
  for (const { writes } of all) expect(writes.join("")).toBe("1;2;");
});

test("a watcher that was closed meanwhile gets nothing", async () => {
  const flusher = new WatchFlusher();
  const { response, writes } = watcherOf(flusher);
  response.event("ADDED", eventAt(1));
  response.close();
  await turn();
  expect(writes).toEqual([]);
});
