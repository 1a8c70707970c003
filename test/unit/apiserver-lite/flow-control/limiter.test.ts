import {
  Limiter,
  type Place,
} from "../../../../apiserver-lite/flow-control/limiter.ts";
import { parseRequest } from "../../../../apiserver-lite/request/request-info.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const user = (name: string, ...groups: string[]) => ({
  name,
  groups,
  extra: {},
});
const writing = parseRequest(
  "POST",
  "/api/v1/namespaces/a/pods",
  new URLSearchParams(),
);
const query = new URLSearchParams();
/** A request whose exchange nobody may look at: it has to wait for nothing. */
const place = (limiter: Limiter, name: string, ...groups: string[]): Place =>
  limiter.place({
    info: writing,
    user: user(name, ...groups),
    query,
    limitMs: 0,
    get exchange(): never {
      throw new Error("asked for the exchange");
    },
  })!;
class FakeExchange {
  closed = false;
  #callback: (() => void) | undefined;

  onClose(callback: () => void): void {
    this.#callback = callback;
  }

  destroy(): void {
    this.close();
  }

  close(): void {
    this.closed = true;
    this.#callback?.();
  }
}
const kib = 1024;
const bounded = (bytes = 100 * kib) =>
  new Limiter({ readOnly: 10, mutating: 10, bodiesBytes: bytes });

test("bodies that are received are bounded, for one user and for all", () => {
  const limiter = bounded();
  const first = place(limiter, "a");
  first.expect();
  first.received(40 * kib);
  expect(() => first.received(7 * kib)).toThrow("Too many requests");
  const second = place(limiter, "b");
  second.received(50 * kib);
  expect(() => place(limiter, "c").received(7 * kib)).toThrow();
  place(limiter, "m", "system:masters").received(200 * kib);
  first.leave();
  first.leave();
  second.leave();
  expect(() => place(limiter, "c").received(kib)).toThrow();
});

test("what has left takes nothing any more", () => {
  const limiter = bounded();
  const one = place(limiter, "a");
  expect(limiter.requests).toBe(1);
  void one.take();
  void one.take();
  expect(limiter.inFlight.mutating).toBe(1);
  one.leave();
  expect(() => one.received(1)).toThrow();
  expect(() => place(limiter, "b").leave()).not.toThrow();
  one.leave();
  expect([limiter.requests, limiter.inFlight.mutating]).toEqual([0, 0]);
  const other = place(limiter, "a");
  other.received(50 * kib);
});

test("0 is no limit; a limit of one is for anybody", () => {
  const free = new Limiter({ readOnly: 0, mutating: 0 });
  for (let at = 0; at < 1000; at++)
    expect(place(free, "a").take()).toBeUndefined();
  const one = new Limiter({ readOnly: 1, mutating: 1 });
  void place(one, "a").take();
  expect(() => place(one, "b").take()).toThrow();
});

test("long-running requests have no place", () => {
  const info = parseRequest(
    "GET",
    "/api/v1/namespaces/a/pods/p/exec",
    new URLSearchParams(),
  );
  const exchange = new FakeExchange();
  expect(
    bounded().place({ info, user: user("a"), query, limitMs: 0, exchange }),
  ).toBeUndefined();
});

describe("a queue", () => {
  let clock: FakeClock;
  let limiter: Limiter;
  let exchanges: Map<Place, FakeExchange>;
  beforeEach(() => {
    clock = new FakeClock();
    limiter = new Limiter({
      readOnly: 4,
      mutating: 4,
      queue: { length: 4, maxWaitMs: 1000 },
      clock,
    });
    exchanges = new Map();
  });

  const request = (name: string, ...groups: string[]): Place => {
    const exchange = new FakeExchange();
    const made = limiter.place({
      info: writing,
      user: user(name, ...groups),
      query,
      limitMs: 0,
      exchange,
    })!;
    exchanges.set(made, exchange);
    return made;
  };
  /** What became of a place that waits. */
  function outcome(waiting: void | Promise<void>): { state: string } {
    const found = { state: "waits" };
    if (!waiting) return { state: "taken" };
    waiting.then(
      () => (found.state = "taken"),
      (error: Error) => (found.state = error.message),
    );
    return found;
  }
  const turn = (): Promise<void> => new Promise(setImmediate);
  const tooMany = "Too many requests, please try again later.";
  const fill = (...names: string[]): Place[] =>
    names.map((name) => {
      const one = request(name);
      expect(one.take()).toBeUndefined();
      return one;
    });

  test("who finds no place gets one in turn, each user within its half", async () => {
    const [first, second, third] = fill("a", "a", "b", "b");
    const names = ["c", "a", "d"];
    const waiting = names.map((name) => outcome(request(name).take()));
    expect(limiter.inQueue).toEqual({ readOnly: 0, mutating: 3 });
    third!.leave();
    await turn();
    expect(waiting.map(({ state }) => state)).toEqual([
      "taken",
      "waits",
      "waits",
    ]);
    // The next is one of a's own; then it is d's turn.
    first!.leave();
    await turn();
    expect(waiting[1]!.state).toBe("taken");
    second!.leave();
    await turn();
    expect(waiting[2]!.state).toBe("taken");
    expect(limiter.inFlight.mutating).toBe(4);
    expect(limiter.inQueue.mutating).toBe(0);
  });

  test("who waits for its own share only holds up nobody", async () => {
    fill("a", "a");
    const own = outcome(request("a").take());
    expect(request("b").take()).toBeUndefined();
    await turn();
    expect(own.state).toBe("waits");
  });

  test("the queue is bounded, for one user and for all; a master never waits", () => {
    fill("a", "a", "b", "b");
    void outcome(request("c").take());
    void outcome(request("c").take());
    expect(() => request("c").take()).toThrow(tooMany);
    void outcome(request("d").take());
    void outcome(request("d").take());
    expect(() => request("e").take()).toThrow(tooMany);
    expect(request("m", "system:masters").take()).toBeUndefined();
    expect(limiter.inQueue.mutating).toBe(4);
  });

  test("a client that goes away, is answered or waits too long leaves the queue", async () => {
    const [first] = fill("a", "a", "b", "b");
    const gone = request("c");
    const answered = request("c");
    const slow = request("d");
    const left = request("d");
    const outcomes = [gone, answered, slow, left].map((one) =>
      outcome(one.take()),
    );
    exchanges.get(gone!)!.close();
    answered.answered();
    left.leave();
    clock.advance(999);
    await turn();
    expect(outcomes.map(({ state }) => state)).toEqual([
      tooMany,
      tooMany,
      "waits",
      tooMany,
    ]);
    clock.advance(1);
    await turn();
    expect(outcomes[2]!.state).toBe(tooMany);
    expect(limiter.inQueue.mutating).toBe(0);
    // None of them took what is given back now, or gives back what it did not take.
    for (const one of [gone, answered, slow, left]) one.leave();
    expect(limiter.inFlight.mutating).toBe(4);
    first!.leave();
    first!.leave();
    expect(limiter.inFlight.mutating).toBe(3);
    expect(limiter.requests).toBe(3);
  });

  test("one that has gone already does not wait", async () => {
    fill("a", "a", "b", "b");
    const gone = request("c");
    exchanges.get(gone!)!.close();
    await expect(gone.take()).rejects.toThrow(tooMany);
    expect(limiter.inQueue.mutating).toBe(0);
  });

  test("a place given back between admission and its notice is given back once", async () => {
    const [first] = fill("a", "a", "b", "b");
    const next = request("c");
    const waiting = outcome(next.take());
    first!.leave();
    exchanges.get(next!)!.close();
    next.leave();
    next.leave();
    await turn();
    expect(waiting.state).toBe("taken");
    expect(limiter.inFlight.mutating).toBe(3);
    expect(limiter.requests).toBe(3);
  });

  test("a storm ends with nothing taken", async () => {
    const names = "abcdefgh";
    let seed = 7;
    const random = (below: number): number =>
      (seed = (seed * 48271) % 0x7fffffff) % below;
    const open: Place[] = [];
    for (let step = 0; step < 5000; step++) {
      if (random(2) === 0) {
        const one = request(names[random(names.length)]!);
        try {
          void outcome(one.take());
          open.push(one);
        } catch {
          one.leave();
        }
      } else if (open.length > 0) {
        const [one] = open.splice(random(open.length), 1);
        if (random(3) === 0) exchanges.get(one!)!.close();
        one!.leave();
      }
      expect(limiter.inFlight.mutating).toBeLessThanOrEqual(4);
      expect(limiter.inQueue.mutating).toBeLessThanOrEqual(4);
    }
    for (const one of open) one.leave();
    await turn();
    expect(limiter.inFlight.mutating).toBe(0);
    expect(limiter.inQueue.mutating).toBe(0);
    expect(limiter.requests).toBe(0);
  });
});
