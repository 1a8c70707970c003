// Long pieces of work take turns, and the loop answers others between two turns.
import { TimeSlices } from "../../../../apiserver-lite/loop/time-slices.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function spin(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

/** Works in steps of half a millisecond and notes each. */
async function work(
  slices: TimeSlices,
  steps: number,
  note: () => void,
): Promise<void> {
  for (let step = 0; step < steps; step++) {
    spin(0.5);
    note();
    if (slices.over) await slices.next();
  }
}

test("others run between the slices of one long piece of work", async () => {
  const slices = new TimeSlices(undefined, 2);
  let done = false;
  let turns = 0;
  let longest = 0;
  let inTurn = 0;
  const working = work(slices, 60, () => {
    longest = Math.max(longest, ++inTurn);
  }).then(() => (done = true));
  while (!done) {
    await turn();
    turns++;
    inTurn = 0;
  }
  await working;
  // 30 ms of work, and a slice a turn.
  expect(turns).toBeGreaterThanOrEqual(13);
  expect(longest).toBeLessThanOrEqual(5);
});

test("several pieces of work share the slice and go on in turn", async () => {
  const slices = new TimeSlices(undefined, 2);
  const log: string[] = [];
  let turns = 0;
  let over = false;
  const all = Promise.all(
    ["a", "b", "c", "d"].map((name) => work(slices, 12, () => log.push(name))),
  ).then(() => (over = true));
  // The first has used the slice: each of the others does one step before it waits.
  expect(log.filter((name) => name !== "a")).toEqual(["b", "c", "d"]);
  while (!over) {
    await turn();
    turns++;
  }
  await all;
  expect(turns).toBeGreaterThanOrEqual(6);
  // Nobody is done before the others have had as many turns.
  const middle = log.slice(4, log.length / 2);
  expect(new Set(middle).size).toBe(4);
});

test("work that waits for something else leaves the rest of its slice to the next", async () => {
  const slices = new TimeSlices(undefined, 1_000);
  const resumed: number[] = [];
  const waiting = Array.from({ length: 50 }, async (_, index) => {
    await slices.next();
    resumed.push(index);
  });
  await turn();
  await turn();
  await turn();
  expect(resumed).toEqual(Array.from({ length: 50 }, (_, index) => index));
  await Promise.all(waiting);
});

test("the next turn of the loop begins a new slice", async () => {
  // Long, as a busy machine may take the processor away between two lines.
  const slices = new TimeSlices(undefined, 300);
  expect(slices.over).toBe(false);
  spin(310);
  expect(slices.over).toBe(true);
  // Of this turn, those who wait would have been next.
  await turn();
  expect(slices.over).toBe(true);
  await turn();
  expect(slices.over).toBe(false);
});

test("tenants go on in turn, however many pieces of work each has", async () => {
  const slices = new TimeSlices(undefined, 1);
  const order: string[] = [];
  const works = ["loud", "loud", "loud", "loud", "quiet", "loud"].map(
    async (tenant) => {
      const who = { method: "GET", url: "/", tenant };
      await slices.next(who);
      order.push(tenant);
      spin(1.5);
      await slices.next(who);
      order.push(tenant);
      spin(1.5);
    },
  );
  await Promise.all(works);
  expect(order.slice(0, 5)).toEqual(["loud", "quiet", "loud", "quiet", "loud"]);
  expect(slices.backlog).toBeGreaterThanOrEqual(0);
  await turn();
  await turn();
  expect(slices.backlog).toBe(0);
});

test("the backlog of a turn is what waited when it began", async () => {
  const slices = new TimeSlices(undefined, 1_000);
  const waiting = Array.from({ length: 5 }, () => slices.next());
  expect(slices.backlog).toBe(5);
  await Promise.all(waiting);
  // All went on in one slice, and the next turn may have as many.
  expect(slices.backlog).toBe(5);
  await turn();
  await turn();
  expect(slices.backlog).toBe(0);
});

test("what a piece of work does in a tick behind it counts for the slice", async () => {
  const slices = new TimeSlices(undefined, 2);
  let inTurn = 0;
  let longest = 0;
  const pieces = Array.from({ length: 30 }, async () => {
    await slices.next();
    // As a socket does with what was written to it.
    process.nextTick(() => {
      spin(0.7);
      longest = Math.max(longest, ++inTurn);
    });
  });
  let done = false;
  void Promise.all(pieces).then(() => (done = true));
  while (!done) {
    inTurn = 0;
    await turn();
  }
  expect(longest).toBeLessThanOrEqual(4);
});

test("work that follows at the end of the turn shortens the slice", async () => {
  const slices = new TimeSlices(undefined, 1000);
  expect(slices.over).toBe(false);
  slices.follows(600);
  expect(slices.over).toBe(false);
  slices.follows(600);
  expect(slices.over).toBe(true);
  await turn();
  await turn();
  expect(slices.over).toBe(false);
});
