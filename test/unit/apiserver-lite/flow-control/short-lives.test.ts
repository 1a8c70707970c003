// What a request holds is gone when it is over, also where the stream it came by, or what a list has left behind, is not:
// an answered stream of HTTP/2 waits until its client has read.
import * as v8 from "node:v8";
import * as vm from "node:vm";
import { Limiter } from "../../../../apiserver-lite/flow-control/limiter.ts";
import { Seats } from "../../../../apiserver-lite/flow-control/seats.ts";
import { parseRequest } from "../../../../apiserver-lite/request/request-info.ts";
import { Stalls } from "../../../../apiserver-lite/request/stalls.ts";
import { eventually } from "../../../support/eventually.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

v8.setFlagsFromString("--expose-gc");
const collect = vm.runInNewContext("gc") as (options?: {
  type: "minor";
}) => void;

const gone = (refs: readonly WeakRef<object>[]): Promise<boolean> =>
  eventually(() => {
    collect();
    return refs.every((ref) => ref.deref() === undefined);
  });

test("a request that waited for its place", async () => {
  const limiter = new Limiter({
    readOnly: 1,
    mutating: 1,
    queue: { length: 8, maxWaitMs: 1000 },
    clock: new FakeClock(),
  });
  const info = parseRequest("GET", "/api/v1/pods", new URLSearchParams());
  const closing: (() => void)[] = [];
  const refs: WeakRef<object>[] = [];
  const enter = (name: string) => {
    const request = {
      info,
      user: { name, groups: [], extra: {} },
      query: new URLSearchParams(),
      limitMs: 0,
      exchange: {
        closed: false,
        onClose: (callback: () => void) => void closing.push(callback),
        destroy: () => undefined,
      },
    };
    refs.push(new WeakRef(request));
    const place = limiter.place(request)!;
    return { place, taken: place.take() };
  };
  const serve = async (): Promise<void> => {
    const first = enter("first");
    const second = enter("second");
    const third = enter("third");
    expect(limiter.inQueue.readOnly).toBe(closing.length);
    first.place.leave();
    await second.taken;
    third.place.answered();
    await expect(third.taken).rejects.toThrow("Too many requests");
    for (const { place } of [second, third]) place.leave();
  };
  await serve();
  await gone(refs);
  expect([closing.length, limiter.requests]).toEqual([2, 0]);
  // Their streams close in the end.
  for (const callback of closing) callback();
  expect(limiter.inFlight.readOnly).toBe(0);
});

const rounds = 24;
const ofRound = 100;
const heldNumbers = 512;
/** Doubles, so that each holds as many bytes as it says. */
const made = (): number[] => new Array<number>(heldNumbers).fill(0.5);

function oldBytes(): number {
  return v8
    .getHeapSpaceStatistics()
    .filter(({ space_name: name }) => !name.startsWith("new"))
    .reduce((sum, { space_used_size: size }) => sum + size, 0);
}

/** Of what all requests held, the part that came to the old generation; four are open at a time. */
function promotedPart(open: () => () => void): number {
  const closing: (() => void)[] = [];
  const request = (): void => {
    closing.push(open());
    if (closing.length > 4) closing.shift()!();
  };
  for (let index = 0; index < 100; index++) request();
  collect();
  const before = oldBytes();
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < ofRound; at++) request();
    collect({ type: "minor" });
    collect({ type: "minor" });
  }
  const promoted = oldBytes() - before;
  for (const close of closing) close();
  return promoted / (rounds * ofRound * heldNumbers * 8);
}

test("an answer that waits for its client", () => {
  const clock = new FakeClock();
  const stalls = new Stalls(clock);
  const part = promotedPart(() => {
    const held = made();
    const one = {
      waitedMs: 0,
      stall: undefined,
      stalled: () => void held.length,
    };
    stalls.begin(one);
    return () => stalls.end(one);
  });
  expect(part).toBeLessThan(0.5);
  clock.advance(10);
  expect(clock.pending).toBe(0);
});

test("a request that waits for seats", () => {
  const seats = new Seats(2, 100);
  const user = { name: "one", groups: [], extra: {} };
  expect(seats.enter(user, 1)).toBe(true);
  const part = promotedPart(() => {
    const held = made();
    return seats.wait(user, 1, () => void held.length)!;
  });
  expect(part).toBeLessThan(0.5);
  expect(seats.waiting).toBe(0);
});
