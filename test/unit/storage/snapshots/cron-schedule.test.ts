import { parseCronSchedule } from "../../../../storage/snapshots/cron-schedule.ts";

const at = (text: string): number => Date.parse(text);

describe("the next time", () => {
  test.each([
    ["0 */12 * * *", "2025-01-01T00:00:00Z", "2025-01-01T12:00:00Z"],
    ["0 */12 * * *", "2025-01-01T11:59:59.999Z", "2025-01-01T12:00:00Z"],
    ["0 */12 * * *", "2025-12-31T12:00:00.001Z", "2026-01-01T00:00:00Z"],
    ["*/10 * * * * *", "2025-01-01T00:00:05Z", "2025-01-01T00:00:10Z"],
    ["@daily", "2025-01-31T08:00:00Z", "2025-02-01T00:00:00Z"],
    ["30 2 * * mon-fri", "2025-01-03T02:30:00Z", "2025-01-06T02:30:00Z"],
    ["0 0 L * *", "2025-02-01T00:00:00Z", "2025-02-28T00:00:00Z"],
    ["0 22-1 * * *", "2025-01-01T23:30:00Z", "2025-01-02T00:00:00Z"],
    // Day of month and day of week must both match.
    ["0 0 13 * 5", "2025-01-01T00:00:00Z", "2025-06-13T00:00:00Z"],
    // No leap year in 2100.
    ["0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"],
    // UTC, where other zones have no such hour.
    ["30 2 30 3 *", "2025-01-01T00:00:00Z", "2025-03-30T02:30:00Z"],
  ])("of %s after %s", async (expression, after, expected) => {
    const schedule = await parseCronSchedule(expression);
    expect(new Date(schedule.next(at(after))).toISOString()).toBe(
      new Date(at(expected)).toISOString(),
    );
  });
});

describe("what is no schedule", () => {
  test.each([
    ["", "expression:"],
    ["nonsense", "expected 5 or 6 fields but got 1"],
    ["* * * *", "expected 5 or 6 fields but got 4"],
    ["* * * * * * *", "got 7"],
    ["60 * * * *", "minute: 60"],
    ["0 24 * * *", "hour: 24"],
    ["*/0 * * * *", "minute: */0"],
    ["0 0 31 2 *", "dayOfMonth:"],
    ["0 0 31W 4 *", "it never comes"],
    ["0 0 * * 8", "dayOfWeek: 8"],
    ["a b * * *", "minute: a is a invalid expression for minute; hour: b"],
    ["0 0 * * *; rm", "expression:"],
  ])("%s is refused", async (expression, message) => {
    await expect(parseCronSchedule(expression)).rejects.toThrow(message);
  });

  test("a text of 100 KB is refused in linear time", async () => {
    for (const prefix of ["1,", "*/", "1-", " ", "L#"])
      await expect(
        parseCronSchedule(`${prefix.repeat(50_000)}x`),
      ).rejects.toThrow();
  });
});
