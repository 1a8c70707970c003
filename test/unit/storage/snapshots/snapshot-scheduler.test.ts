import pino from "pino";
import { parseCronSchedule } from "../../../../storage/snapshots/cron-schedule.ts";
import {
  SnapshotScheduler,
  type TakenSnapshot,
} from "../../../../storage/snapshots/snapshot-scheduler.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const hourMs = 3_600_000;
const startMs = Date.UTC(2025, 0, 1, 1);
const taken: TakenSnapshot = {
  name: "a",
  revision: 1,
  keys: 1,
  bytes: 100,
  removed: [],
  pruneFailure: undefined,
};

async function scheduler(
  take: (atMs: number, signal: AbortSignal) => Promise<TakenSnapshot>,
  clock = new FakeClock(startMs),
) {
  const lines: { level: number; msg: string }[] = [];
  const logger = pino(
    { level: "debug" },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const schedule = await parseCronSchedule("0 */12 * * *");
  const made = new SnapshotScheduler({ schedule, take, clock, logger });
  return {
    made,
    clock,
    errors: () => lines.filter(({ level }) => level >= 40),
  };
}

it("takes one at each time of the schedule", async () => {
  const times: number[] = [];
  const { made, clock } = await scheduler((atMs) => {
    times.push(atMs);
    return Promise.resolve(taken);
  });
  made.start();
  await clock.advanceAsync(47 * hourMs);
  expect(times.map((ms) => new Date(ms).toISOString().slice(8, 16))).toEqual([
    "01T12:00",
    "02T00:00",
    "02T12:00",
    "03T00:00",
  ]);
  expect(made.counts).toMatchObject({ taken: 4, failed: 0, lastBytes: 100 });
  await made.stop();
  expect(clock.pending).toBe(0);
  await clock.advanceAsync(48 * hourMs);
  expect(times).toHaveLength(4);
});

it("logs and counts a failure, and goes on", async () => {
  let calls = 0;
  const { made, clock, errors } = await scheduler(() =>
    calls++ === 0
      ? Promise.reject(new Error("no space left"))
      : Promise.resolve({ ...taken, pruneFailure: "EACCES" }),
  );
  made.start();
  await clock.advanceAsync(24 * hourMs);
  expect(made.counts).toMatchObject({ failed: 1, taken: 1, pruneFailed: 1 });
  expect(errors().map(({ msg }) => msg)).toEqual([
    "the scheduled snapshot failed",
    "old snapshots can't be removed",
  ]);
  await made.stop();
});

it("never takes two at once", async () => {
  let underWay = 0;
  let most = 0;
  const finish: (() => void)[] = [];
  const { made, clock } = await scheduler(async () => {
    most = Math.max(most, ++underWay);
    await new Promise<void>((resolve) => finish.push(resolve));
    underWay--;
    return taken;
  });
  made.start();
  await clock.advanceAsync(36 * hourMs);
  expect(made.counts).toMatchObject({ skipped: 2, taken: 0 });
  finish.shift()!();
  await clock.advanceAsync(12 * hourMs);
  expect(finish).toHaveLength(1);
  expect(most).toBe(1);
  finish.shift()!();
  await made.stop();
  expect(made.counts.taken).toBe(2);
});

it("ends the one under way when it stops, without calling that a failure", async () => {
  const { made, clock, errors } = await scheduler(
    (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("ended")));
      }),
  );
  made.start();
  await clock.advanceAsync(12 * hourMs);
  await made.stop();
  expect(made.counts.failed).toBe(0);
  expect(errors()).toEqual([]);
});

/** A wall clock that can be set; timers count monotonic time. */
class SetClock extends FakeClock {
  offsetMs = 0;
  override now(): number {
    return super.now() + this.offsetMs;
  }
}

it.each([
  ["forward", 6 * hourMs, 1],
  // Midnight comes again.
  ["back", -6 * hourMs, 1],
])("follows a wall clock that is set %s", async (_, offsetMs, count) => {
  const clock = new SetClock(startMs);
  const { made } = await scheduler(() => Promise.resolve(taken), clock);
  made.start();
  await clock.advanceAsync(hourMs / 2);
  clock.offsetMs = offsetMs;
  await clock.advanceAsync(6 * hourMs);
  expect(made.counts.taken).toBe(count);
  clock.offsetMs = 0;
  await clock.advanceAsync(24 * hourMs);
  expect(made.counts.taken).toBeGreaterThanOrEqual(2);
  await made.stop();
});
