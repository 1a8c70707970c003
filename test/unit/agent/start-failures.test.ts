import { StartFailures } from "../../../agent/pods/start/start-failures.ts";

test("delays double up to 15 s and begin anew after a start that worked, for each container alone", () => {
  const failures = new StartFailures();
  const next = (): number => failures.failed("a");
  expect([next(), next(), next(), next(), next()]).toEqual([
    2000, 4000, 8000, 15_000, 15_000,
  ]);
  expect(failures.failed("b")).toBe(2000);
  failures.succeeded("b");
  expect(next()).toBe(15_000);
  failures.succeeded("a");
  expect(next()).toBe(2000);
});
