import {
  Limiter,
  type Place,
} from "../../../../apiserver-lite/flow-control/limiter.ts";
import { parseRequest } from "../../../../apiserver-lite/request/request-info.ts";

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
const place = (limiter: Limiter, name: string, ...groups: string[]): Place =>
  limiter.place(writing, user(name, ...groups))!;
const kib = 1024;

test("bodies that are received are bounded, for one user and for all", () => {
  const limiter = new Limiter(10, 10, 100 * kib);
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
  const limiter = new Limiter(10, 10, 100 * kib);
  const one = place(limiter, "a");
  expect(limiter.requests).toBe(1);
  void one.take();
  void one.take();
  expect(limiter.mutatingInFlight).toBe(1);
  one.leave();
  expect(() => one.received(1)).toThrow();
  expect(() => place(limiter, "b").leave()).not.toThrow();
  one.leave();
  expect([limiter.requests, limiter.mutatingInFlight]).toEqual([0, 0]);
  const other = place(limiter, "a");
  other.received(50 * kib);
});

test("0 is no limit; a limit of one is for anybody", () => {
  const free = new Limiter(0, 0);
  for (let at = 0; at < 1000; at++) void place(free, "a").take();
  const one = new Limiter(1, 1);
  void place(one, "a").take();
  expect(() => place(one, "b").take()).toThrow();
});

test("what runs long has no place", () => {
  const limiter = new Limiter(1, 1);
  for (const [path, query] of [
    ["/api/v1/pods", "watch=1"],
    ["/api/v1/namespaces/a/pods/p/log", ""],
    ["/api/v1/namespaces/a/pods/p/proxy/x", ""],
  ] as const)
    expect(
      limiter.place(
        parseRequest("GET", path, new URLSearchParams(query)),
        user("a"),
      ),
    ).toBeUndefined();
});
