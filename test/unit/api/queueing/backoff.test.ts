import { Backoff, backoffMs, sleep } from "../../../../api/queueing/backoff.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

test.each([
  [{ baseMs: 10, maxMs: 100 }, [10, 20, 40, 80, 100, 100]],
  [{ baseMs: 10, maxMs: 100, factor: 3 }, [10, 30, 90, 100, 100, 100]],
  [{ baseMs: 200, maxMs: 100 }, [100, 100, 100, 100, 100, 100]],
])("%j", (options, delays) => {
  expect(delays.map((_, failures) => backoffMs(options, failures))).toEqual(
    delays,
  );
  const backoff = new Backoff(options);
  expect(delays.map(() => backoff.nextMs())).toEqual(delays);
  expect(backoff.failures).toBe(delays.length);
  backoff.reset();
  expect(backoff.nextMs()).toBe(delays[0]);
});

test("any number of failures has a finite delay", () =>
  expect(backoffMs({ baseMs: 10, maxMs: 100 }, 1e9)).toBe(100));

test("jitter only lengthens, up to its share", () => {
  const options = { baseMs: 100, maxMs: 100, jitter: 0.5 };
  const delays = Array.from({ length: 200 }, () => backoffMs(options, 3));
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(100);
  expect(Math.max(...delays)).toBeLessThan(150);
  expect(new Set(delays).size).toBeGreaterThan(1);
});

describe("sleep", () => {
  const state = async (promise: Promise<void>): Promise<string> =>
    Promise.race([promise.then(() => "over"), Promise.resolve("asleep")]);

  test("ends on the clock", async () => {
    const clock = new FakeClock();
    const slept = sleep(clock, 100);
    clock.advance(99);
    expect(await state(slept)).toBe("asleep");
    clock.advance(1);
    await slept;
  });

  test("ends with its signal and leaves no timer", async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const slept = sleep(clock, 100, controller.signal);
    controller.abort();
    await slept;
    expect(clock.pending).toBe(0);
    await sleep(clock, 100, controller.signal);
    expect(clock.pending).toBe(0);
  });
});
