// One pass at a time, wakes together, retries with doubling delays, and a rest after too many passes in a row.
import {
  PassLoop,
  type NextPass,
} from "../../../agent/pods/worker/pass-loop.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";

function loopOf(pass: () => Promise<NextPass>) {
  const clock = new FakeClock();
  const retries: number[] = [];
  const loop = new PassLoop({
    pass,
    onFailure: (_error, retryMs) => retries.push(retryMs),
    clock,
  });
  return { clock, loop, retries };
}

test("wakes in the same turn are one pass, one during a pass is another", async () => {
  let running = 0;
  let passes = 0;
  const { loop } = loopOf(async () => {
    expect(++running).toBe(1);
    if (++passes === 1) loop.wake();
    await settle();
    running--;
    return Infinity;
  });
  loop.wake();
  loop.wake();
  await settle(12);
  expect(passes).toBe(2);
});

test("a pass says when the next one is due; a wake comes before it", async () => {
  const next: NextPass[] = ["again", 500, 700, Infinity];
  let passes = 0;
  const { clock, loop } = loopOf(() => Promise.resolve(next[passes++]!));
  loop.wake();
  await settle();
  expect(passes).toBe(2);
  await clock.advanceAsync(499);
  expect(passes).toBe(2);
  await clock.advanceAsync(1);
  expect(passes).toBe(3);
  loop.wake();
  await settle();
  expect(passes).toBe(4);
  // The timer of before is gone.
  await clock.advanceAsync(10_000);
  expect(passes).toBe(4);
});

test("failures are tried again at 1, 2, 4, 8, 15 and 15 s, from the beginning after a success", async () => {
  let fails = true;
  const { clock, loop, retries } = loopOf(() =>
    fails ? Promise.reject(new Error("no")) : Promise.resolve(Infinity),
  );
  loop.wake();
  for (const seconds of [1, 2, 4, 8, 15]) {
    await settle();
    await clock.advanceAsync(seconds * 1000);
  }
  expect(retries).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000]);
  fails = false;
  await clock.advanceAsync(15_000);
  fails = true;
  loop.wake();
  await settle();
  expect(retries.at(-1)).toBe(1000);
});

test("a pass that always asks for another one rests", async () => {
  let passes = 0;
  const { clock, loop } = loopOf(() => {
    passes++;
    return Promise.resolve("again");
  });
  loop.wake();
  await settle(10);
  const first = passes;
  expect(first).toBeLessThan(100);
  await settle(10);
  expect(passes).toBe(first);
  await clock.advanceAsync(1000);
  expect(passes).toBeGreaterThan(first);
  void loop.close();
});

test("after close nothing begins, and close waits for the pass", async () => {
  let finish = (): void => undefined;
  let passes = 0;
  const { clock, loop } = loopOf(async () => {
    passes++;
    await new Promise<void>((resolve) => (finish = resolve));
    return 10;
  });
  loop.wake();
  await settle();
  let closed = false;
  const closing = loop.close().then(() => (closed = true));
  await settle();
  expect(closed).toBe(false);
  finish();
  await closing;
  loop.wake();
  await clock.advanceAsync(1000);
  expect(passes).toBe(1);
  expect(clock.pending).toBe(0);
});
