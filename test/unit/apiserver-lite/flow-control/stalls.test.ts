// Answers whose clients do not read give their places to others.
import { Limiter } from "../../../../apiserver-lite/flow-control/limiter.ts";
import { parseRequest } from "../../../../apiserver-lite/request/request-info.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const kib = 1024;
const query = new URLSearchParams();
const info = parseRequest("GET", "/api/v1/pods", query);
let clock: FakeClock;
let limiter: Limiter;
let cut: string[];

beforeEach(() => {
  clock = new FakeClock();
  cut = [];
  limiter = new Limiter({
    readOnly: 6,
    mutating: 2,
    bodiesBytes: 1000 * kib,
    clock,
  });
});

function enter(name: string) {
  const place = limiter.place({
    info,
    user: { name, groups: [], extra: {} },
    query,
    limitMs: 0,
    exchange: {
      closed: false,
      onClose: () => undefined,
      destroy: () => void cut.push(name),
    },
  })!;
  void place.take();
  return place;
}

test("who waits for its client gives its place back, and takes none when it goes on", () => {
  const slow = enter("slow");
  slow.stalls(100 * kib);
  clock.advance(1);
  expect(limiter.inFlight.readOnly).toBe(1);
  clock.advance(4);
  expect(limiter.inFlight.readOnly).toBe(0);
  expect(clock.pending).toBe(0);
  slow.goesOn();
  slow.stalls(100 * kib);
  clock.advance(100);
  expect(limiter.inFlight.readOnly).toBe(0);
  slow.leave();
  expect([limiter.inFlight.readOnly, limiter.requests]).toEqual([0, 0]);
});

test("a client that reads keeps its place; many short waits count as a long one", () => {
  const place = enter("reader");
  for (let part = 0; part < 100; part++) {
    place.stalls(100 * kib);
    place.goesOn();
  }
  expect(limiter.inFlight.readOnly).toBe(1);
  for (let part = 0; part < 10; part++) {
    place.stalls(100 * kib);
    clock.advance(0.5);
    place.goesOn();
    clock.advance(50);
  }
  expect(limiter.inFlight.readOnly).toBe(0);
  place.leave();
});

test("what the unread answers of one user keep in memory is bounded: beyond it they are cut off", () => {
  for (let at = 0; at < 6; at++) {
    enter("slow").stalls(100 * kib);
    clock.advance(40);
  }
  // Five of them take half of the memory.
  expect(cut).toEqual(["slow"]);
  enter("other").stalls(100 * kib);
  clock.advance(40);
  expect(cut).toEqual(["slow"]);
  expect(limiter.inFlight.readOnly).toBe(1);
});

test("a list is refused where there is no memory for its unread answer", () => {
  enter("slow").expectUnread();
  expect(() => enter("slow").expectUnread()).toThrow("Too many requests");
  enter("other").expectUnread();
});

test("a place that was given back while it waited is not given back again", () => {
  const one = enter("slow");
  one.stalls(100 * kib);
  one.leave();
  clock.advance(100);
  expect(limiter.inFlight.readOnly).toBe(0);
  expect(clock.pending).toBe(0);
});
