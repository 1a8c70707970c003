// Parts of timestamps, in UTC or in a time zone (an offset like +01:00 or a name like Europe/Berlin), and the whole
// units of durations.
import type { Library, OverloadText } from "../checking/declarations.ts";
import { floorDivide } from "../values/time.ts";
import {
  Failure,
  type Duration,
  type Result,
  type Timestamp,
} from "../values/value.ts";

const msPerDay = 86_400_000;

/** The milliseconds that a zone is ahead of UTC at a moment; a failure for unknown zones. */
function offsetMs(zone: string, epochMs: number): number | Failure {
  const colon = zone.indexOf(":");
  if (colon >= 0) return fixedOffset(zone, colon);
  if (zone === "" || zone === "UTC") return 0;
  try {
    const parts = zoneFormat(zone).formatToParts(epochMs);
    const part = (type: string): number =>
      Number(parts.find((found) => found.type === type)?.value);
    const local = Date.UTC(
      part("year"),
      part("month") - 1,
      part("day"),
      part("hour") % 24,
      part("minute"),
      part("second"),
    );
    return local - Math.floor(epochMs / 1000) * 1000;
  } catch {
    return new Failure(`unknown time zone ${zone}`);
  }
}

/** Hours and minutes around a colon. */
function fixedOffset(zone: string, colon: number): number | Failure {
  const parts = [zone.slice(0, colon), zone.slice(colon + 1)];
  for (const part of parts)
    if (!/^[+-]?\d{1,9}$/.test(part))
      return new Failure(
        `strconv.Atoi: parsing ${JSON.stringify(part)}: invalid syntax`,
      );
  const [hours, minutes] = parts.map(Number) as [number, number];
  const total = zone.startsWith("-")
    ? hours * 60 - minutes
    : hours * 60 + minutes;
  return total * 60_000;
}

/** Making a format takes 50 µs; there are about 600 zones. */
const formats = new Map<string, Intl.DateTimeFormat>();

function zoneFormat(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formats.set(zone, format);
  return format;
}

/** Two overloads: in UTC, and in the zone of the argument. */
function part(id: string, read: (date: Date) => number): OverloadText[] {
  const at = ({ nanos }: Timestamp, zone: string): Result => {
    const epochMs = Number(floorDivide(nanos, 1_000_000n));
    const offset = offsetMs(zone, epochMs);
    return offset instanceof Failure
      ? offset
      : BigInt(read(new Date(epochMs + offset)));
  };
  return [
    {
      id,
      member: true,
      args: "timestamp",
      result: "int",
      call: ([time]) => at(time as Timestamp, "UTC"),
    },
    {
      id: `${id}_with_tz`,
      member: true,
      args: "timestamp, string",
      result: "int",
      call: ([time, zone]) => at(time as Timestamp, zone as string),
    },
  ];
}

/** Whole units of a duration. */
function units(id: string, nanosPerUnit: bigint): OverloadText {
  return {
    id,
    member: true,
    args: "duration",
    result: "int",
    call: ([duration]) => (duration as Duration).nanos / nanosPerUnit,
  };
}

function dayOfYear(date: Date): number {
  const start = new Date(date);
  start.setUTCMonth(0, 1);
  start.setUTCHours(0, 0, 0, 0);
  return Math.floor((date.getTime() - start.getTime()) / msPerDay);
}

export const timeLibrary: Library = {
  getFullYear: part("timestamp_to_year", (date) => date.getUTCFullYear()),
  getMonth: part("timestamp_to_month", (date) => date.getUTCMonth()),
  getDayOfYear: part("timestamp_to_day_of_year", dayOfYear),
  getDayOfMonth: part(
    "timestamp_to_day_of_month",
    (date) => date.getUTCDate() - 1,
  ),
  getDate: part("timestamp_to_day_of_month_1_based", (date) =>
    date.getUTCDate(),
  ),
  getDayOfWeek: part("timestamp_to_day_of_week", (date) => date.getUTCDay()),
  getHours: [
    ...part("timestamp_to_hours", (date) => date.getUTCHours()),
    units("duration_to_hours", 3_600_000_000_000n),
  ],
  getMinutes: [
    ...part("timestamp_to_minutes", (date) => date.getUTCMinutes()),
    units("duration_to_minutes", 60_000_000_000n),
  ],
  getSeconds: [
    ...part("timestamp_to_seconds", (date) => date.getUTCSeconds()),
    units("duration_to_seconds", 1_000_000_000n),
  ],
  getMilliseconds: [
    ...part("timestamp_to_milliseconds", (date) => date.getUTCMilliseconds()),
    units("duration_to_milliseconds", 1_000_000n),
  ],
};
