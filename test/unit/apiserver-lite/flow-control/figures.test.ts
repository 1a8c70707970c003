// The arithmetic of priority and fairness: who borrows how much, hands of queues, seats of requests, when to come back.
import { divideSeats } from "../../../../apiserver-lite/flow-control/borrowing.ts";
import { SeatDemand } from "../../../../apiserver-lite/flow-control/demand.ts";
import { handOf } from "../../../../apiserver-lite/flow-control/hands.ts";
import { RetryAfter } from "../../../../apiserver-lite/flow-control/retry-after.ts";
import { TimingHistogram } from "../../../../apiserver-lite/flow-control/timing-histogram.ts";
import { WatchCounts } from "../../../../apiserver-lite/flow-control/watch-counts.ts";
import { estimateWork } from "../../../../apiserver-lite/flow-control/work-estimate.ts";
import { parseRequest } from "../../../../apiserver-lite/request/request-info.ts";

const level = (changes: object) => ({
  exempt: false,
  least: 10,
  nominal: 20,
  most: 100,
  highWatermark: 0,
  smoothed: 0,
  ...changes,
});

test("without demand all lend alike; who has demand borrows within its bounds", () => {
  const idle = divideSeats(40, [level({}), level({})]);
  expect(idle.limits).toEqual([20, 20]);
  const busy = divideSeats(40, [
    level({ highWatermark: 60, smoothed: 60 }),
    level({}),
  ]);
  expect(busy.limits).toEqual([30, 10]);
  const bounded = divideSeats(40, [
    level({ highWatermark: 60, smoothed: 60, most: 25 }),
    level({}),
  ]);
  expect(bounded.limits).toEqual([25, 15]);
});

test("an exempt level takes what it used, the others share what is left, at least what they do not lend", () => {
  const { limits, fairFraction } = divideSeats(40, [
    level({ exempt: true, least: 0, nominal: 0, highWatermark: 35 }),
    level({ highWatermark: 20 }),
    level({ least: 5 }),
  ]);
  expect(limits).toEqual([35, 10, 5]);
  expect(fairFraction).toBe(0);
  const some = divideSeats(40, [
    level({ exempt: true, least: 0, nominal: 0, highWatermark: 15 }),
    level({ highWatermark: 20 }),
    level({ highWatermark: 20 }),
  ]);
  // 25 are left for bounds of 20 and 40.
  expect(some.limits).toEqual([15, 13, 13]);
});

test("shares add up to what there is, for any demand", () => {
  let seed = 5;
  const random = (below: number): number =>
    (seed = (seed * 48271) % 0x7fffffff) % below;
  for (let round = 0; round < 500; round++) {
    const levels = Array.from({ length: 2 + random(8) }, () => {
      const nominal = 1 + random(100);
      return level({
        nominal,
        least: random(nominal + 1),
        most: nominal + random(600),
        highWatermark: random(300),
        smoothed: random(300),
      });
    });
    const sum = levels.reduce((total, { nominal }) => total + nominal, 0);
    const { limits } = divideSeats(sum, levels);
    const total = limits.reduce((all, one) => all + one, 0);
    expect(Math.abs(total - sum)).toBeLessThanOrEqual(levels.length);
    for (const [at, { least, most }] of levels.entries()) {
      expect(limits[at]).toBeGreaterThanOrEqual(least);
      expect(limits[at]).toBeLessThanOrEqual(most);
    }
  }
});

test("demand rises at once and falls with a half-life of five minutes", () => {
  const demand = new SeatDemand(0);
  demand.set(10, 0);
  demand.set(0, 5_000);
  demand.endPeriod(10_000);
  expect(demand.average).toBe(5);
  expect(demand.deviation).toBe(5);
  expect(demand.highWatermark).toBe(10);
  expect(demand.smoothed).toBe(10);
  for (let period = 2; period <= 31; period++)
    demand.endPeriod(period * 10_000);
  expect(demand.smoothed).toBeGreaterThan(4.9);
  expect(demand.smoothed).toBeLessThan(5.1);
  expect(demand.highWatermark).toBe(0);
});

test("a hand has different queues, the same for the same flow", () => {
  const hands = new Set<string>();
  for (let at = 0; at < 500; at++) {
    const hand = handOf("schema", `user${at}`, 64, 6);
    expect(new Set(hand).size).toBe(6);
    for (const queue of hand) {
      expect(queue).toBeGreaterThanOrEqual(0);
      expect(queue).toBeLessThan(64);
    }
    expect(handOf("schema", `user${at}`, 64, 6)).toEqual(hand);
    hands.add([...hand].sort((a, b) => a - b).join(","));
  }
  expect(hands.size).toBe(500);
  expect(handOf("a", "b", 1, 1)).toEqual([0]);
  expect([...handOf("a", "b", 3, 3)].sort()).toEqual([0, 1, 2]);
});

test("refusals raise the time to come back, quiet lowers it", () => {
  const retry = new RetryAfter();
  const refuse = (second: number, times: number): number => {
    for (let at = 0; at < times; at++) retry.refused(second * 1000);
    return retry.seconds;
  };
  expect(refuse(0, 10)).toBe(1);
  expect(refuse(1, 10)).toBe(2);
  expect(refuse(2, 10)).toBe(2);
  expect(refuse(3, 10)).toBe(4);
  for (let second = 4; second < 200; second++) refuse(second, 200);
  expect(retry.seconds).toBe(32);
  for (let second = 300; second < 400; second += 10) refuse(second, 1);
  expect(retry.seconds).toBeLessThan(25);
});

test("a ratio is weighted by its time in nanoseconds", () => {
  const timing = new TimingHistogram([0.5, 1], 0);
  timing.setDenominator(2, 0);
  timing.set(1, 0);
  timing.add(1, 2);
  const histogram = timing.read(3);
  expect([...histogram.cumulative()]).toEqual([
    [0.5, 2e6],
    [1, 3e6],
    [Infinity, 3e6],
  ]);
  expect(histogram.sum).toBe(2e6);
});

describe("seats of requests", () => {
  const watches = new WatchCounts();
  const ends: (() => void)[] = [];
  const pods = "/api/v1/namespaces/a/pods";
  const infoOf = (method: string, target: string) => {
    const [path, query] = target.split("?");
    const parameters = new URLSearchParams(query);
    return { info: parseRequest(method, path!, parameters), query: parameters };
  };
  const seatsOf = (
    method: string,
    target: string,
    levelSeats = 0,
  ): number[] => {
    const { info, query } = infoOf(method, target);
    const { initialSeats, finalSeats, lingerMs } = estimateWork(info, query, {
      objects: ({ resource }) => (resource === "pods" ? 450 : undefined),
      watches,
      levelSeats,
      sawWatches: () => undefined,
    });
    return [initialSeats, finalSeats, lingerMs];
  };
  const watch = (target: string, times: number): void => {
    for (let at = 0; at < times; at++) {
      const { info, query } = infoOf("GET", target);
      ends.push(watches.add(info, query));
    }
  };

  it.each<[string, string, number[], number]>([
    ["GET", `${pods}/x`, [1, 0, 0], 0],
    ["GET", pods, [5, 0, 0], 0],
    ["GET", pods, [3, 0, 0], 3],
    ["GET", `${pods}?limit=10`, [5, 0, 0], 0],
    ["GET", `${pods}?limit=10&resourceVersion=5`, [1, 0, 0], 0],
    ["GET", `${pods}?limit=120&continue=x`, [3, 0, 0], 0],
    ["GET", `${pods}?limit=120&continue=x&labelSelector=a`, [6, 0, 0], 0],
    [
      "GET",
      `${pods}?resourceVersion=5&resourceVersionMatch=Exact`,
      [9, 0, 0],
      0,
    ],
    ["GET", `${pods}?fieldSelector=metadata.name%3Dx`, [1, 0, 0], 0],
    ["GET", "/api/v1/namespaces/a/configmaps", [1, 0, 0], 0],
    ["GET", `${pods}?watch=1`, [1, 0, 0], 0],
    ["GET", `${pods}?watch=1&sendInitialEvents=true`, [5, 0, 0], 0],
    ["DELETE", pods, [1, 0, 0], 0],
    ["GET", "/version", [1, 0, 0], 0],
    ["POST", pods, [1, 0, 0], 0],
  ])("%s %s: %j", (method, target, seats, levelSeats) => {
    expect(seatsOf(method, target, levelSeats)).toEqual(seats);
  });

  test("a change takes a seat for each ten watches that see it", () => {
    watch("/api/v1/pods?watch=1", 8);
    expect(seatsOf("PUT", `${pods}/x`)).toEqual([1, 0, 0]);
    watch(`${pods}?watch=1`, 12);
    watch(`${pods}?watch=1&fieldSelector=metadata.name%3Dx`, 5);
    watch("/api/v1/watch/namespaces/a/pods/x", 4);
    watch("/api/v1/namespaces/b/pods?watch=1", 50);
    watch("/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dn", 500);
    expect(seatsOf("PUT", `${pods}/x`)).toEqual([1, 3, 5]);
    expect(seatsOf("POST", pods)).toEqual([1, 3, 5]);
    expect(seatsOf("PUT", `${pods}/x`, 1)).toEqual([1, 1, 15]);
    expect(
      seatsOf("POST", "/api/v1/namespaces/a/serviceaccounts/s/token"),
    ).toEqual([1, 0, 0]);
    for (const end of ends.splice(0)) end();
    expect(seatsOf("PUT", `${pods}/x`)).toEqual([1, 0, 0]);
  });
});
