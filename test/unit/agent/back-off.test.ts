import { BackOff } from "../../../agent/pacing/back-off.ts";

test("delays double from the last failure and are forgotten after twice the maximum", () => {
  const backOff = new BackOff(10_000, 300_000);
  expect(backOff.remainingMs("k", 0, 0)).toBe(0);
  const delays: number[] = [];
  let nowMs = 0;
  for (let crash = 0; crash < 8; crash++) {
    const finishedMs = nowMs;
    const remainingMs = backOff.remainingMs("k", finishedMs, nowMs);
    delays.push(remainingMs);
    nowMs += remainingMs;
    backOff.next("k", finishedMs, nowMs);
    nowMs += 1000;
  }
  expect(delays).toEqual([
    0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000,
  ]);
  // Ten minutes of running: it starts over.
  nowMs += 601_000;
  expect(backOff.remainingMs("k", nowMs, nowMs)).toBe(0);
  backOff.next("k", nowMs, nowMs);
  expect(backOff.delayMs("k")).toBe(10_000);
});

test("keys are independent and can be dropped by prefix", () => {
  const backOff = new BackOff();
  for (const key of ["a/1", "a/2", "b/1"]) backOff.next(key, 0, 0);
  backOff.resetPrefix("a/");
  expect(["a/1", "a/2", "b/1"].map((key) => backOff.delayMs(key))).toEqual([
    0, 0, 10_000,
  ]);
});

test("a lower maximum bounds the first delay, and keys are remembered for ten minutes all the same", () => {
  const backOff = new BackOff(2000, 2000, 600_000);
  backOff.next("k", 0, 0);
  backOff.next("k", 3000, 5000);
  expect(backOff.delayMs("k")).toBe(2000);
  expect(backOff.remainingMs("k", 500_000, 500_000)).toBe(2000);
  expect(backOff.remainingMs("k", 606_000, 606_000)).toBe(0);
});

test("a clock that is set back by a day makes nothing wait for a day", () => {
  const backOff = new BackOff();
  const day = 86_400_000;
  backOff.next("k", day, day);
  expect(backOff.remainingMs("k", day, day + 4_000)).toBe(6_000);
  expect(backOff.remainingMs("k", day, day - 500)).toBe(10_500);
  expect(backOff.remainingMs("k", day, 0)).toBe(0);
});
