// --registry-qps and --registry-burst: a pull too many fails at once, and there is a place again when time has passed.
import { pullLimit } from "../../../../agent/images/pull-limit.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

test("as many as the burst begin at once, then those of the rate", () => {
  const clock = new FakeClock();
  const mayPull = pullLimit(clock, 2, 3);
  for (let n = 0; n < 3; n++) mayPull();
  expect(mayPull).toThrow("pull QPS exceeded");
  clock.advance(500);
  mayPull();
  expect(mayPull).toThrow("pull QPS exceeded");
});

test("0 sets no limit", () => {
  const mayPull = pullLimit(new FakeClock(), 0, 0);
  for (let n = 0; n < 100; n++) mayPull();
});
