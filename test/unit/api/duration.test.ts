import {
  formatDuration,
  humanDuration,
  parseDurationMs,
} from "../../../api/duration.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

test.each([
  ["0", 0],
  ["0s", 0],
  ["5m0s", 300_000],
  ["1h15m30.5s", 4_530_500],
  ["-2m", -120_000],
  ["+1s", 1000],
  ["1.5h", 5_400_000],
  [".5s", 500],
  ["1.s", 1000],
  ["100us", 0.1],
  ["3ns", 0.000003],
])("parse %s", (text, ms) => expect(parseDurationMs(text)).toBeCloseTo(ms, 9));

test.each([
  ["", 'time: invalid duration ""'],
  ["-", 'time: invalid duration "-"'],
  ["5", 'time: missing unit in duration "5"'],
  ["1d", 'time: unknown unit "d" in duration "1d"'],
  ["s", 'time: invalid duration "s"'],
  [".s", 'time: invalid duration ".s"'],
  ["1s 2s", 'time: unknown unit "s " in duration "1s 2s"'],
  ["99999999999h", 'time: invalid duration "99999999999h"'],
])("refuse %j", (text, message) =>
  expect(() => parseDurationMs(text)).toThrow(message),
);

test.each([
  [0, "0s"],
  [300_000, "5m0s"],
  [3_600_000, "1h0m0s"],
  [1500, "1.5s"],
  [500, "500ms"],
  [0.5, "500µs"],
  [-90_000, "-1m30s"],
  [90_061_001, "25h1m1.001s"],
])("format %d", (ms, text) => expect(formatDuration(ms)).toBe(text));

test.each([
  [-5 * second, "<invalid>"],
  [-500, "0s"],
  [0, "0s"],
  [119 * second, "119s"],
  [2 * minute, "2m"],
  [200 * second, "3m20s"],
  [10 * minute + 5 * second, "10m"],
  [179 * minute, "179m"],
  [3 * hour, "3h"],
  [5 * hour + 3 * minute, "5h3m"],
  [8 * hour + 59 * minute, "8h"],
  [47 * hour, "47h"],
  [2 * day, "2d"],
  [4 * day + 2 * hour, "4d2h"],
  [8 * day + 5 * hour, "8d"],
  [729 * day, "729d"],
  [740 * day, "2y10d"],
  [3000 * day, "8y"],
])("human %d", (ms, text) => expect(humanDuration(ms)).toBe(text));
