// What all watchers together may leave unread.
import { Writable } from "node:stream";
import { ChunkPool } from "../../../../apiserver-lite/serving/chunk-pool.ts";
import type { CacheEvent } from "../../../../apiserver-lite/cache/history.ts";
import { TimeSlices } from "../../../../apiserver-lite/loop/time-slices.ts";
import { UnreadBudget } from "../../../../apiserver-lite/request/unread-budget.ts";
import type { Representation } from "../../../../apiserver-lite/serving/representation.ts";
import {
  WatchFlusher,
  WatchResponse,
} from "../../../../apiserver-lite/serving/watch-response.ts";

const mib = 1024 * 1024;

test("of the tenant that is behind the most the furthest is cut off", () => {
  const budget = new UnreadBudget(10 * mib);
  const cut: string[] = [];
  const reader = (tenant: string, name: string) => ({
    tenant,
    cutOff: () => void cut.push(name),
  });
  const loud = ["a", "b", "c", "d"].map((name) => reader("loud", name));
  const quiet = reader("quiet", "quiet");
  budget.note(quiet, 4 * mib);
  budget.note(loud[0]!, 1 * mib);
  budget.note(loud[1]!, 3 * mib);
  budget.note(loud[2]!, 2 * mib);
  expect(cut).toEqual([]);
  budget.note(loud[3]!, 1 * mib);
  expect(cut).toEqual(["b"]);
  expect(budget.bytes).toBe(8 * mib);
  // Who reads again is not counted.
  budget.note(loud[2]!, 1000);
  budget.forget(quiet);
  expect(budget.bytes).toBe(2 * mib);
  budget.note(loud[0]!, 1000);
  budget.note(loud[3]!, 1000);
  expect(budget.bytes).toBe(0);
});

test("watchers that read nothing are cut off long before each has its own bound", async () => {
  const flusher = new WatchFlusher();
  const frame = Buffer.alloc(mib);
  const shown = { event: () => frame } as unknown as Representation;
  const cut = new Set<number>();
  const watcher = (at: number, tenant: string, reads: boolean) => {
    const response = new WatchResponse(
      shown,
      flusher,
      false,
      () => void cut.add(at),
      new TimeSlices(),
      new ChunkPool(),
      { method: "GET", url: "/", tenant },
    );
    const out = new Writable({
      write: (_chunk, _encoding, done) => void (reads && done()),
    });
    void response.attach({ out, end: () => out.end() });
    return response;
  };
  const all = Array.from({ length: 60 }, (_, at) => watcher(at, "loud", false));
  all.push(watcher(60, "quiet", true), watcher(61, "quiet", false));
  for (let round = 0; round < 12; round++) {
    for (const one of all) one.event("MODIFIED", { revision: 1 } as CacheEvent);
    for (let turn = 0; turn < 3; turn++)
      await new Promise((resolve) => setTimeout(resolve, 12));
    expect(flusher.unread.bytes).toBeLessThanOrEqual(256 * mib);
  }
  // Twelve MiB each: about twenty of them fit.
  expect(cut.size).toBeGreaterThan(35);
  expect(cut.has(60)).toBe(false);
  expect(cut.has(61)).toBe(false);
  for (const one of all) one.close();
  expect(flusher.unread.bytes).toBe(0);
});
