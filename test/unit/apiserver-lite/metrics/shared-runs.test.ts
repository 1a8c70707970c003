// At most one run at a time; who asks while it runs gets the next, which began later.
import { SharedRuns } from "../../../../apiserver-lite/metrics/shared-runs.ts";

/** Runs that the test ends. */
function controlled(): {
  runs: SharedRuns<number>;
  ask: () => Promise<number>;
  ends: ((error?: Error) => void)[];
} {
  const runs = new SharedRuns<number>();
  const ends: ((error?: Error) => void)[] = [];
  const ask = (): Promise<number> =>
    runs.ask(
      () =>
        new Promise((resolve, reject) => {
          const number = ends.length;
          ends.push((error) => (error ? reject(error) : resolve(number)));
        }),
    );
  return { runs, ask, ends };
}

const settle = (): Promise<void> => new Promise((done) => setImmediate(done));

test("who asks while one runs shares the next", async () => {
  const { ask, ends } = controlled();
  const first = ask();
  await settle();
  const others = [ask(), ask(), ask()];
  await settle();
  expect(ends.length).toBe(1);
  ends[0]!();
  expect(await first).toBe(0);
  await settle();
  expect(ends.length).toBe(2);
  const late = ask();
  ends[1]!();
  expect(await Promise.all(others)).toEqual([1, 1, 1]);
  await settle();
  ends[2]!();
  expect(await late).toBe(2);
});

test("one after the other each has its own", async () => {
  const { ask, ends } = controlled();
  for (const number of [0, 1, 2]) {
    const asked = ask();
    await settle();
    ends[number]!();
    expect(await asked).toBe(number);
  }
});

test("a failure is that of those who shared the run", async () => {
  const { ask, ends } = controlled();
  const first = ask();
  await settle();
  const second = ask();
  ends[0]!(new Error("no"));
  await expect(first).rejects.toThrow("no");
  await settle();
  ends[1]!();
  expect(await second).toBe(1);
});
