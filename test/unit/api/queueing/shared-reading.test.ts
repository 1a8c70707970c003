import { SharedReading } from "../../../../api/queueing/shared-reading.ts";

describe("a shared reading", () => {
  let begun = 0;
  let finish: ((value: string) => void)[] = [];
  let fail: ((error: Error) => void)[] = [];
  const readings = (): SharedReading<string> => {
    [begun, finish, fail] = [0, [], []];
    return new SharedReading(() => {
      begun++;
      return new Promise((resolve, reject) => {
        finish.push(resolve);
        fail.push(reject);
      });
    });
  };
  const settle = (): Promise<void> =>
    new Promise((resolve) => setImmediate(resolve));

  it("answers all that asked before it began", async () => {
    const shared = readings();
    const asked = [shared.value(), shared.value(), shared.value()];
    await settle();
    expect(begun).toBe(1);
    finish[0]!("first");
    expect(await Promise.all(asked)).toEqual(["first", "first", "first"]);
  });

  it("answers those that ask while one runs by one more", async () => {
    const shared = readings();
    const before = shared.value();
    await settle();
    const later = Array.from({ length: 100 }, () => shared.value());
    await settle();
    // What runs may have seen the state before they asked.
    expect(begun).toBe(1);
    finish[0]!("first");
    expect(await before).toBe("first");
    await settle();
    expect(begun).toBe(2);
    finish[1]!("second");
    expect(new Set(await Promise.all(later))).toEqual(new Set(["second"]));
  });

  it("fails for those that it was for alone", async () => {
    const shared = readings();
    const failing = Promise.allSettled([shared.value(), shared.value()]);
    await settle();
    const next = shared.value();
    fail[0]!(new Error("not now"));
    expect((await failing).map(({ status }) => status)).toEqual([
      "rejected",
      "rejected",
    ]);
    await settle();
    finish[1]!("second");
    expect(await next).toBe("second");
  });
});
