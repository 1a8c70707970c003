import { SeatDemand } from "../../../../apiserver-lite/flow-control/demand.ts";
import {
  FlowCounts,
  LevelGauges,
} from "../../../../apiserver-lite/flow-control/flow-metrics.ts";
import { LoopGate } from "../../../../apiserver-lite/flow-control/loop-gate.ts";
import { QueueSet } from "../../../../apiserver-lite/flow-control/queue-set.ts";
import { QueuedRequest } from "../../../../apiserver-lite/flow-control/queue.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

let clock: FakeClock;
let set: QueueSet;
let order: string[];
let idles: number;
let gate: LoopGate;
/** Turns of the loop that were asked for. */
let turns: (() => void)[];
let backlog: number;

class Request extends QueuedRequest {
  readonly counts = new FlowCounts();

  constructor(
    readonly name: string,
    readonly hand: readonly number[],
    seats = 1,
    linger?: { readonly seats: number; readonly ms: number },
  ) {
    super();
    this.estimate({
      initialSeats: seats,
      finalSeats: linger?.seats ?? 0,
      lingerMs: linger?.ms ?? 0,
    });
  }

  admit(): void {
    order.push(this.name);
  }
}

beforeEach(() => {
  clock = new FakeClock();
  order = [];
  idles = 0;
  gate = new LoopGate({
    backlog: () => backlog,
    nextTurn: (turn) => void turns.push(turn),
  });
  turns = [];
  backlog = 0;
  set = new QueueSet({
    clock,
    gate,
    gauges: new LevelGauges(0),
    demand: new SeatDemand(0),
    idle: () => void idles++,
  });
});

const configure = (limit: number, queues = 4, queueLength = 5): void =>
  set.configure({ queues, queueLength, exempt: false }, limit, limit || 1);

/** Begins requests; their outcomes. */
const start = (...requests: Request[]): string[] =>
  requests.map((one) => set.start(one));

test("what fits runs at once, what does not waits, what finds a full queue is refused", () => {
  configure(2);
  const all = Array.from({ length: 8 }, (_, at) => new Request(`r${at}`, [0]));
  expect(start(...all)).toEqual([
    ...["runs", "runs", "waits", "waits", "waits", "waits", "waits"],
    "queue-full",
  ]);
  expect([set.executing, set.waiting, set.seatsInUse, set.refused]).toEqual([
    2, 5, 2, 1,
  ]);
  set.finish(all[0]!);
  set.finish(all[1]!);
  expect(order).toEqual(["r2", "r3"]);
  expect([set.executing, set.waiting]).toEqual([2, 3]);
});

test("a level that rejects queues nothing; an exempt one has no limit", () => {
  configure(1, 0);
  const first = new Request("a", []);
  expect(start(first, new Request("b", []))).toEqual([
    "runs",
    "concurrency-limit",
  ]);
  set.finish(first);
  expect(start(new Request("c", []))).toEqual(["runs"]);
  set.configure({ queues: 0, queueLength: 0, exempt: true }, 0, 1);
  expect(
    start(...Array.from({ length: 9 }, () => new Request("e", []))),
  ).toEqual(Array.from({ length: 9 }, () => "runs"));
});

test("a level without seats holds its requests until they are given up", () => {
  configure(0);
  const held = new Request("held", [0]);
  expect(start(held)).toEqual(["waits"]);
  clock.advance(10_000);
  expect(order).toEqual([]);
  expect(set.cancel(held)).toBe(true);
  expect(set.cancel(held)).toBe(false);
  expect([set.waiting, set.cancelled, idles]).toEqual([0, 1, 1]);
});

test("queues take turns, whoever was first: a flood of one delays another by one request", () => {
  configure(1, 4, 100);
  const running = new Request("flood0", [0]);
  start(running);
  for (let at = 1; at <= 20; at++) start(new Request(`flood${at}`, [0]));
  const [one, two] = [new Request("one", [1]), new Request("two", [1])];
  start(one, two);
  let current: QueuedRequest = running;
  const seen: string[] = [];
  for (let step = 0; step < 6; step++) {
    clock.advance(3);
    set.finish(current);
    const name = order.at(-1)!;
    seen.push(name.replace(/\d+/, ""));
    current = [...set.queues.flatMap(({ executing }) => [...executing])][0]!;
  }
  expect(seen.slice(0, 4).sort()).toEqual(["flood", "flood", "one", "two"]);
  expect(seen.slice(4)).toEqual(["flood", "flood"]);
});

test("a wide request gets its turn under a steady load of narrow ones", () => {
  configure(4, 4, 10);
  for (let at = 0; at < 14; at++) start(new Request("narrow", [0]));
  const wide = new Request("wide", [1], 4);
  start(wide);
  let finished = 0;
  for (let step = 0; step < 40 && !order.includes("wide"); step++) {
    clock.advance(3);
    const [next] = [...set.queues[0]!.executing];
    if (!next) break;
    set.finish(next);
    finished++;
    start(new Request("narrow", [0]));
  }
  expect(order).toContain("wide");
  // It takes four seats at once, and is not further back than that.
  expect(finished).toBeLessThan(16);
});

test("a request wider than the limit runs alone", () => {
  configure(2);
  const wide = new Request("wide", [0], 5);
  expect(start(wide, new Request("next", [1]))).toEqual(["runs", "waits"]);
  set.finish(wide);
  expect(order).toEqual(["next"]);
});

test("seats linger after a change, and its client does not wait for that", () => {
  configure(2);
  const change = new Request("change", [0], 1, { seats: 2, ms: 5 });
  start(change, new Request("next", [1]));
  set.finish(change);
  expect([set.executing, set.seatsInUse, order]).toEqual([0, 2, []]);
  clock.advance(5);
  expect(order).toEqual(["next"]);
  expect(set.seatsInUse).toBe(1);
});

test("flows with overlapping hands use the queue with the least work", () => {
  configure(1, 4, 50);
  start(new Request("running", [0]));
  for (let at = 0; at < 6; at++) start(new Request("a", [0, 1]));
  expect(set.queues.map(({ waiting }) => waiting.size)).toEqual([3, 3, 0, 0]);
  start(new Request("b", [1, 2]));
  expect(set.queues.map(({ waiting }) => waiting.size)).toEqual([3, 3, 1, 0]);
});

test("fewer queues: those with requests stay until these are over", () => {
  configure(1, 4);
  const running = new Request("running", [3]);
  start(running, new Request("waiting", [3]));
  configure(1, 2);
  expect(set.queues).toHaveLength(4);
  set.finish(running);
  const last = [...set.queues[3]!.executing][0]!;
  set.finish(last);
  expect(set.queues).toHaveLength(2);
  expect(set.isIdle).toBe(true);
});

test("a larger limit begins those that wait", () => {
  configure(1);
  start(...["a", "b", "c"].map((name) => new Request(name, [0])));
  configure(3);
  expect(order).toEqual(["b", "c"]);
});

describe("in a turn of the loop", () => {
  const nextTurn = (): void => {
    for (const turn of turns.splice(0)) turn();
  };

  test("one tenant's thousand requests delay another's by one turn", () => {
    configure(2000, 8, 1000);
    const flood = Array.from({ length: 1000 }, () => new Request("flood", [0]));
    start(...flood);
    expect(set.executing).toBe(8);
    nextTurn();
    expect(set.executing).toBe(16);
    // Those that ran are over, and their client asks again at once.
    for (const one of flood.slice(0, 16)) {
      set.finish(one);
      set.start(new Request("flood", [0]));
    }
    expect(start(new Request("other", [1]))).toEqual(["waits"]);
    nextTurn();
    expect(order.slice(8)).toContain("other");
    for (let turn = 0; turn < 200 && set.waiting > 0; turn++) nextTurn();
    expect([set.waiting, set.executing]).toEqual([0, 1001]);
    nextTurn();
    expect(turns).toEqual([]);
  });

  test("who has nothing waiting is served in the next turn, however long others have waited", () => {
    configure(2000, 8, 1000);
    for (let at = 0; at < 600; at++) start(new Request("flood", [at % 4]));
    /** Eight requests of a tenth of a millisecond. */
    const serve = (): void => {
      nextTurn();
      for (const { executing } of set.queues)
        for (const one of [...executing]) {
          clock.advance(0.1);
          set.finish(one);
          set.start(new Request("flood", [(one as Request).hand[0]!]));
        }
    };
    for (let turn = 0; turn < 20; turn++) serve();
    const before = order.length;
    start(new Request("other", [5]));
    serve();
    expect(order.slice(before)).toContain("other");
    // Nor does it get more than its turn.
    for (let at = 0; at < 50; at++) start(new Request("other", [5]));
    for (let turn = 0; turn < 10; turn++) serve();
    const of = (name: string): number =>
      order.slice(-50).filter((one) => one === name).length;
    expect(of("other")).toBeGreaterThanOrEqual(6);
    expect(of("other")).toBeLessThanOrEqual(14);
  });

  test("while long work waits for the loop, only flows that have nothing running begin", () => {
    configure(20);
    backlog = 4;
    const [first, second] = [new Request("first", [0]), new Request("2", [0])];
    expect(start(first, second, new Request("other", [1]))).toEqual([
      "runs",
      "waits",
      "runs",
    ]);
    nextTurn();
    nextTurn();
    expect(order).toEqual(["other"]);
    set.finish(first);
    expect(order).toEqual(["other", "2"]);
    start(new Request("3", [0]));
    backlog = 3;
    nextTurn();
    expect(order).toEqual(["other", "2", "3"]);
  });

  test("refusals are answered a few a turn while requests wait for it", () => {
    configure(2000, 1, 1000);
    let answered = 0;
    const refuse = (): void => gate.refuse(() => void answered++);
    refuse();
    expect(answered).toBe(1);
    start(...Array.from({ length: 60 }, () => new Request("flood", [0])));
    for (let at = 0; at < 10; at++) refuse();
    expect(answered).toBe(1);
    nextTurn();
    expect(answered).toBe(5);
    for (let turn = 0; turn < 20; turn++) nextTurn();
    expect(answered).toBe(11);
    expect(turns).toEqual([]);
  });
});

test("a storm ends with nothing taken, and never exceeds the limit", () => {
  configure(8, 8, 6);
  let seed = 11;
  const random = (below: number): number =>
    (seed = (seed * 48271) % 0x7fffffff) % below;
  const open: Request[] = [];
  let most = 0;
  let longest = 0;
  let stuck = 0;
  for (let step = 0; step < 5000; step++) {
    clock.advance(random(3));
    for (const turn of turns.splice(0)) turn();
    if (random(3) === 0 || open.length === 0) {
      const one = new Request("r", [random(8), random(8)], 1 + random(4), {
        seats: random(3),
        ms: random(2) * 5,
      });
      const outcome = set.start(one);
      if (outcome === "runs" || outcome === "waits") open.push(one);
    } else {
      const [one] = open.splice(random(open.length), 1);
      if (!set.cancel(one!)) set.finish(one!);
    }
    most = Math.max(most, set.seatsInUse);
    for (const { waiting } of set.queues)
      longest = Math.max(longest, waiting.size);
    if (set.waiting > 0 && set.executing === 0 && set.seatsInUse === 0) stuck++;
  }
  expect(most).toBe(8);
  expect(longest).toBeLessThanOrEqual(6);
  expect(stuck).toBe(0);
  for (const one of open) if (!set.cancel(one)) set.finish(one);
  clock.advance(100);
  expect([
    set.waiting,
    set.waitingSeats,
    set.executing,
    set.seatsInUse,
  ]).toEqual([0, 0, 0, 0]);
  for (const { waitingWork, seatsInUse, busy } of set.queues)
    expect([waitingWork, seatsInUse, busy]).toEqual([0, 0, false]);
});
