import { EventHistory } from "../../../storage/local/event-history.ts";
import type { StoreEvent } from "../../../storage/store.ts";

const event = (revision: number): StoreEvent => ({
  type: "put",
  key: `/k${revision}`,
  revision,
  value: new Uint8Array([1]),
  attachment: undefined,
});
const range = (first: number, last: number): StoreEvent[] =>
  Array.from({ length: last - first + 1 }, (_, index) => event(first + index));

function listening(history: EventHistory, after: number) {
  const seen: (number | string)[] = [];
  const lost: Error[] = [];
  const stop = history.subscribe(
    after,
    (events, upTo) =>
      seen.push(
        ...events.map(({ revision }) => revision),
        ...(upTo === undefined ? [] : [`to ${upTo}`]),
      ),
    (error) => lost.push(error),
  );
  return { seen, lost, stop };
}

test("gives a late subscriber what it missed, then what comes, each once", () => {
  const history = new EventHistory();
  history.publish(range(1, 5));
  const { seen, stop } = listening(history, 3);
  expect(seen).toEqual([4, 5]);
  history.publish([event(6), event(7)]);
  history.advance(9);
  expect(seen).toEqual([4, 5, 6, 7, "to 9"]);
  stop();
  history.publish([event(10)]);
  expect(seen).toHaveLength(5);
});

test("has no gap at any revision it can still replay from", async () => {
  const history = new EventHistory();
  for (let at = 1; at <= 5000; at += 7)
    history.publish(range(at, Math.min(5000, at + 6)));
  let replayed = 0;
  for (let after = 0; after <= 5000; after += 13) {
    const { seen, lost } = listening(history, after);
    await Promise.resolve();
    if (lost.length > 0) {
      expect(lost[0]).toMatchObject({ code: "compacted" });
      expect(seen).toEqual([]);
      continue;
    }
    replayed++;
    expect(seen).toEqual(
      range(after + 1, 5000).map(({ revision }) => revision),
    );
  }
  // A thousand events are kept at least, and not all of them.
  expect(replayed).toBeGreaterThan(1000 / 13);
  expect(replayed).toBeLessThan(5000 / 13);
});

test("refuses what is below its floor, later, and not when it was stopped before", async () => {
  const history = new EventHistory();
  history.reset(10);
  const refused = listening(history, 9);
  const stopped = listening(history, 9);
  stopped.stop();
  const served = listening(history, 10);
  expect(refused.lost).toEqual([]);
  await Promise.resolve();
  expect(refused.lost).toMatchObject([{ code: "compacted" }]);
  expect(stopped.lost).toEqual([]);
  expect(served.lost).toEqual([]);
});

test("a listener that throws loses its subscription, and nobody else notices", async () => {
  const failures: unknown[] = [];
  const history = new EventHistory((error) => {
    failures.push(error);
    throw new Error("the report fails, too");
  });
  const lost: Error[] = [];
  let calls = 0;
  history.subscribe(
    0,
    () => {
      calls++;
      throw new Error("broken");
    },
    (error) => {
      lost.push(error);
      throw new Error("and again");
    },
  );
  const { seen } = listening(history, 0);
  history.publish([event(1)]);
  history.publish([event(2)]);
  expect([calls, seen]).toEqual([1, [1, 2]]);
  expect(lost).toEqual([]);
  await Promise.resolve();
  expect(lost).toMatchObject([{ code: "unavailable" }]);
  expect(history.failures).toBe(2);
  expect(failures).toHaveLength(2);
});

test("one that throws at what it missed is lost as well", async () => {
  const history = new EventHistory();
  history.publish([event(1)]);
  const lost: Error[] = [];
  history.subscribe(
    0,
    () => {
      throw new Error("broken");
    },
    (error) => lost.push(error),
  );
  await Promise.resolve();
  expect(lost).toHaveLength(1);
});

test("losing all ends every subscription once", () => {
  const history = new EventHistory();
  const [one, two] = [listening(history, 0), listening(history, 0)];
  history.lose(new Error("gone"));
  history.lose(new Error("gone again"));
  history.publish([event(1)]);
  for (const { lost, seen } of [one, two]) {
    expect(lost.map(({ message }) => message)).toEqual(["gone"]);
    expect(seen).toEqual([]);
  }
});

test("a listener that subscribes or stops another during a publish harms nobody", () => {
  const history = new EventHistory();
  let later: ReturnType<typeof listening> | undefined;
  const first = history.subscribe(
    0,
    () => {
      later ??= listening(history, 1);
      first();
    },
    () => undefined,
  );
  const { seen } = listening(history, 0);
  history.publish([event(1)]);
  history.publish([event(2)]);
  expect(seen).toEqual([1, 2]);
  expect(later?.seen).toEqual([2]);
});
