import { TokenBucket } from "../../../../api/queueing/token-bucket.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const bucketOf = (perSecond: number, burst: number) => {
  const clock = new FakeClock();
  return { clock, bucket: new TokenBucket(clock, perSecond, burst) };
};

test("a burst at once, then at the rate, never more than the burst", () => {
  const { clock, bucket } = bucketOf(10, 3);
  const takeAll = (): number => {
    let taken = 0;
    while (bucket.tryTake()) taken++;
    return taken;
  };
  expect(takeAll()).toBe(3);
  clock.advance(99);
  expect(takeAll()).toBe(0);
  clock.advance(101);
  expect(takeAll()).toBe(2);
  clock.advance(3_600_000);
  expect(takeAll()).toBe(3);
});

test("says how long to wait, without taking", () => {
  const { clock, bucket } = bucketOf(10, 1);
  expect(bucket.takeOrWaitMs()).toBe(0);
  expect(bucket.takeOrWaitMs()).toBe(100);
  expect(bucket.takeOrWaitMs()).toBe(100);
  clock.advance(40);
  expect(bucket.takeOrWaitMs()).toBe(60);
  clock.advance(60);
  expect(bucket.takeOrWaitMs()).toBe(0);
});

test("gives tokens of the future in turn", () => {
  const { clock, bucket } = bucketOf(10, 1);
  expect([bucket.reserve(), bucket.reserve(), bucket.reserve()]).toEqual([
    0, 100, 200,
  ]);
  clock.advance(250);
  expect(bucket.tryTake()).toBe(false);
});

test("setting the machine's clock gives no tokens", () => {
  const { clock, bucket } = bucketOf(10, 1);
  bucket.tryTake();
  clock.jump(1e9);
  expect(bucket.tryTake()).toBe(false);
});
