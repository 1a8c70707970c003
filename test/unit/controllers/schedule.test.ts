import {
  latestBefore,
  parseSchedule,
  timeIn,
  UnknownTimeZone,
} from "../../../controllers/cronjob/schedule.ts";

const at = (text: string) => Date.parse(text);
const next = (schedule: string, after: string, zone?: string) => {
  const time = parseSchedule(schedule, zone).next(at(after));
  return time === undefined ? undefined : new Date(time).toISOString();
};

test.each([
  ["*/5 * * * *", "2025-01-01T00:02:00Z", "2025-01-01T00:05:00.000Z"],
  ["0 0 * * *", "2025-01-01T00:00:00Z", "2025-01-02T00:00:00.000Z"],
  ["5/15 * * * *", "2025-01-01T00:21:00Z", "2025-01-01T00:35:00.000Z"],
  ["0 12 1,15 * ?", "2025-01-02T00:00:00Z", "2025-01-15T12:00:00.000Z"],
  ["0 0 29 feb *", "2025-01-01T00:00:00Z", "2028-02-29T00:00:00.000Z"],
  ["0 9-17/4 * * MON-FRI", "2025-01-03T17:30:00Z", "2025-01-06T09:00:00.000Z"],
  ["0 0 13 * 5", "2025-01-01T00:00:00Z", "2025-01-03T00:00:00.000Z"],
  ["0 0 16 dec */1", "2025-01-01T00:00:00Z", "2025-12-16T00:00:00.000Z"],
  ["0 0 13 * */2", "2025-01-01T00:00:00Z", "2025-01-02T00:00:00.000Z"],
  ["@hourly", "2025-01-01T00:00:01Z", "2025-01-01T01:00:00.000Z"],
  ["@every 1m30s", "2025-01-01T00:00:00Z", "2025-01-01T00:01:30.000Z"],
])("%s after %s", (schedule, after, expected) => {
  expect(next(schedule, after)).toBe(expected);
});

test("what comes each so many seconds is counted from its beginning", () => {
  const schedule = parseSchedule("@every 30s");
  const [now, from] = [at("2025-01-01T01:00:17Z"), at("2025-01-01T00:00:05Z")];
  expect(latestBefore(schedule, now, from)).toBe(at("2025-01-01T01:00:05Z"));
});

test("a zone that does not exist is said before anything else", () => {
  for (const schedule of ["* * * * *", "@every 1m", "nonsense"])
    expect(() => parseSchedule(schedule, "No/Where")).toThrow(UnknownTimeZone);
});

test("a time as the clock of a zone shows it", () => {
  const time = at("2025-07-01T12:00:00Z");
  expect(timeIn("UTC", time)).toBe("2025-07-01T12:00:00Z");
  expect(timeIn("Asia/Kolkata", time)).toBe("2025-07-01T17:30:00+05:30");
  expect(timeIn("America/New_York", time)).toBe("2025-07-01T08:00:00-04:00");
});

test("time zones, and the hour that does not exist", () => {
  expect(next("30 9 * * *", "2025-01-01T00:00:00Z", "America/New_York")).toBe(
    "2025-01-01T14:30:00.000Z",
  );
  expect(next("30 9 * * *", "2025-07-01T00:00:00Z", "Asia/Kolkata")).toBe(
    "2025-07-01T04:00:00.000Z",
  );
  expect(next("30 2 * * *", "2025-03-30T00:00:00Z", "Europe/Berlin")).toBe(
    "2025-03-31T00:30:00.000Z",
  );
  expect(next("30 2 * * *", "2025-10-25T12:00:00Z", "Europe/Berlin")).toMatch(
    /^2025-10-26T0[01]:30/,
  );
});

test("what can never be has no next time", () => {
  expect(next("0 0 31 2 *", "2025-01-01T00:00:00Z")).toBeUndefined();
});

test.each([
  "",
  "* * * *",
  "* * * * * *",
  "60 * * * *",
  "* * * * 7",
  "5-1 * * * *",
  "*/0 * * * *",
  "a * * * *",
  "@never",
  "@every x",
  "1--2 * * * *",
])("%j is refused", (text) => {
  expect(() => parseSchedule(text)).toThrow();
});

test("an unknown time zone is refused", () => {
  expect(() => parseSchedule("* * * * *", "Mars/Base")).toThrow(
    "unknown time zone Mars/Base",
  );
});
