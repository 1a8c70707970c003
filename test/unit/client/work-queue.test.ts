import pino from "pino";
import { WorkQueue } from "../../../client/work-queue.ts";
import type { WorkResult } from "../../../client/work-queue.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";

const logger = pino({ level: "silent" });

function queueOf(
  process: (key: string) => Promise<WorkResult | void>,
  concurrency = 1,
) {
  const clock = new FakeClock();
  const queue = new WorkQueue({
    name: "test",
    clock,
    logger,
    process,
    concurrency,
  });
  return { clock, queue };
}

test("a key added several times is worked on once", async () => {
  const seen: string[] = [];
  const { queue } = queueOf(async (key) => {
    seen.push(key);
  });
  queue.add("a");
  queue.add("a");
  queue.add("b");
  queue.start();
  await settle();
  expect(seen).toEqual(["a", "b"]);
});

test("a key added during its work is worked on again, never twice at once", async () => {
  let running = 0;
  let most = 0;
  let runs = 0;
  const { queue } = queueOf(async (key) => {
    running++;
    most = Math.max(most, running);
    if (++runs === 1) queue.add(key);
    await settle(1);
    running--;
  }, 5);
  queue.add("a");
  queue.start();
  await settle(10);
  expect([runs, most]).toEqual([2, 1]);
});

test("concurrency is bounded", async () => {
  let running = 0;
  let most = 0;
  const { queue } = queueOf(async () => {
    most = Math.max(most, ++running);
    await settle(1);
    running--;
  }, 3);
  for (let n = 0; n < 20; n++) queue.add(String(n));
  queue.start();
  await settle(40);
  expect(most).toBe(3);
  expect(queue.pending).toBe(0);
});

test("failures come back after 5, 10, 20 ms; success resets", async () => {
  const at: number[] = [];
  let fail = 3;
  const { queue, clock } = queueOf(async () => {
    at.push(clock.monotonic());
    if (fail-- > 0) throw new Error("no");
  });
  queue.add("a");
  queue.start();
  for (let n = 0; n < 50; n++) await clock.advanceAsync(1);
  expect(at).toEqual([0, 5, 15, 35]);
  expect(queue.failures("a")).toBe(0);
});

test("the soonest of several delays holds, and an add at once takes it away", async () => {
  const at: number[] = [];
  const { queue, clock } = queueOf(async () => {
    at.push(clock.monotonic());
  });
  queue.start();
  queue.addAfter("a", 100);
  queue.addAfter("a", 50);
  queue.addAfter("a", 70);
  await clock.advanceAsync(200);
  expect(at).toEqual([50]);
  queue.addAfter("a", 10);
  queue.add("a");
  await clock.advanceAsync(100);
  expect(at).toEqual([50, 200]);
});

test("requeueAfterMs brings the key back; stop waits for the work under way", async () => {
  let runs = 0;
  const { queue, clock } = queueOf(async () => {
    runs++;
    await settle(1);
    return { requeueAfterMs: 1000 };
  });
  queue.add("a");
  queue.start();
  await settle(5);
  await clock.advanceAsync(1000);
  await settle(5);
  expect(runs).toBe(2);
  await clock.advanceAsync(999);
  const stopped = queue.stop();
  await clock.advanceAsync(10);
  await stopped;
  expect(runs).toBe(2);
  expect(clock.pending).toBe(0);
});
