import { reportFailure } from "../../../cli/program.ts";
import { retryDelayMs } from "../../../cli/lifecycle.ts";
import { DependencyError, UsageError } from "../../../cli/options/table.ts";

test("a start that fails again and again waits longer each time, up to a minute", () => {
  expect([0, 1, 2, 3, 6, 7, 5000].map(retryDelayMs)).toEqual([
    0, 1000, 3000, 7000, 60_000, 60_000, 60_000,
  ]);
});

test.each([
  [new UsageError("x"), 1],
  [new DependencyError("x"), 2],
  // The unit starts the service again after this one, but not after 1.
  [new TypeError("x"), 70],
])("%s exits with %i", (error, code) => {
  const write = jest.spyOn(process.stderr, "write").mockReturnValue(true);
  expect(reportFailure(error)).toBe(code);
  write.mockRestore();
});
