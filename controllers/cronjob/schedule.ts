// Schedules of CronJobs as the reference reads them: five fields with lists, ranges, steps (`5/15` too), `?` and names;
// @hourly and the like; @every with a duration. Six fields and weekday 7 are refused. Written by hand, as the parsers of
// the package world differ from this in what they accept.
//
// Day of month and day of week: when both are restricted a day matching either will do.
import { parseDurationMs } from "../../api/duration.ts";

export interface Schedule {
  /** The first time after afterMs, both epoch milliseconds; undefined when there is none within five years. */
  next(afterMs: number): number | undefined;
  /** Of a schedule that knows no clock, only a distance. */
  readonly everyMs?: number;
}

export class UnknownTimeZone extends Error {}

const macros: Record<string, string> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const weekdays = "sun mon tue wed thu fri sat".split(" ");
const fields = [
  { name: "minute", min: 0, max: 59, names: [] as string[] },
  { name: "hour", min: 0, max: 23, names: [] },
  { name: "day of month", min: 1, max: 31, names: [] },
  { name: "month", min: 1, max: 12, names: months },
  { name: "day of week", min: 0, max: 6, names: weekdays },
];
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const horizonDays = 5 * 366;

interface FieldSet {
  values: ReadonlySet<number>;
  star: boolean;
}

/** @param timeZone an IANA name; default UTC. Throws an Error that says what is wrong. */
export function parseSchedule(text: string, timeZone = "UTC"): Schedule {
  const zone = zoneClock(timeZone);
  const trimmed = text.trim();
  if (trimmed.startsWith("@every ")) return every(trimmed.slice(7).trim());
  const line = macros[trimmed] ?? trimmed;
  if (line.startsWith("@")) throw new Error(`unrecognized descriptor: ${text}`);
  const parts = line.split(/\s+/);
  if (parts.length !== 5 || line === "")
    throw new Error(
      `expected exactly 5 fields, found ${line === "" ? 0 : parts.length}: [${text}]`,
    );
  const sets = parts.map((part, index) => parseField(part, fields[index]!));
  return { next: (afterMs) => nextTime(sets, zone, afterMs) };
}

function every(duration: string): Schedule {
  const intervalMs = Math.floor(parseDurationMs(duration) / 1000) * 1000;
  if (intervalMs < 1000) throw new Error(`bad interval: @every ${duration}`);
  return {
    everyMs: intervalMs,
    next: (afterMs) => Math.floor(afterMs / 1000) * 1000 + intervalMs,
  };
}

function parseField(
  text: string,
  { name, min, max, names }: (typeof fields)[number],
): FieldSet {
  const values = new Set<number>();
  let star = false;
  const bad = (why: string): Error =>
    new Error(`bad ${name} "${text}": ${why}`);
  const number = (part: string): number => {
    const named = names.indexOf(part.toLowerCase());
    if (named >= 0) return named + min;
    if (!/^\d+$/.test(part)) throw bad(`"${part}" is not a number`);
    return Number(part);
  };
  for (const part of text.split(",")) {
    const [range = "", step, ...more] = part.split("/");
    if (more.length > 0) throw bad("too many slashes");
    const [from = "", to, ...rest] = range.split("-");
    if (rest.length > 0) throw bad("too many hyphens");
    let first: number;
    let last: number;
    if (from === "*" || from === "?") {
      if (to !== undefined) throw bad("a range needs numbers");
      [first, last] = [min, max];
      // Each of them is all of them: the field says nothing.
      if (step === undefined || Number(step) === 1) star = true;
    } else {
      first = number(from);
      last = to !== undefined ? number(to) : step !== undefined ? max : first;
    }
    const by = step === undefined ? 1 : Number(step);
    if (!Number.isInteger(by) || by < 1) throw bad("the step must be positive");
    if (first < min || last > max)
      throw bad(`must be within ${min} and ${max}`);
    if (first > last) throw bad("the range's beginning is after its end");
    for (let value = first; value <= last; value += by) values.add(value);
  }
  return { values, star };
}

/** Wall clock of a zone: a UTC-like number of local milliseconds, and back. */
interface ZoneClock {
  toLocal(utcMs: number): number;
  /** undefined: there is no such local time (clocks go forward). */
  toUtc(localMs: number): number | undefined;
}

function zoneClock(timeZone: string): ZoneClock {
  if (timeZone === "UTC" || timeZone === "Etc/UTC")
    return { toLocal: (ms) => ms, toUtc: (ms) => ms };
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    throw new UnknownTimeZone(`unknown time zone ${timeZone}`);
  }
  const toLocal = (utcMs: number): number => {
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(utcMs))
      parts[type] = Number(value);
    return Date.UTC(
      parts["year"]!,
      parts["month"]! - 1,
      parts["day"]!,
      parts["hour"]!,
      parts["minute"]!,
      parts["second"]!,
    );
  };
  return {
    toLocal,
    toUtc(localMs) {
      let utcMs = localMs - (toLocal(localMs) - localMs);
      utcMs = localMs - (toLocal(utcMs) - utcMs);
      return toLocal(utcMs) === localMs ? utcMs : undefined;
    },
  };
}

function nextTime(
  [minute, hour, monthDay, month, weekday]: FieldSet[],
  zone: ZoneClock,
  afterMs: number,
): number | undefined {
  const wholeMs = Math.floor(afterMs / 1000) * 1000;
  const localMs = zone.toLocal(wholeMs);
  const firstDayMs = Math.floor(localMs / dayMs) * dayMs;
  const minutes = [...minute!.values].sort((a, b) => a - b);
  const hours = [...hour!.values].sort((a, b) => a - b);
  for (let day = 0; day < horizonDays; day++) {
    const dayStartMs = firstDayMs + day * dayMs;
    const date = new Date(dayStartMs);
    if (!month!.values.has(date.getUTCMonth() + 1)) continue;
    const inMonth = monthDay!.values.has(date.getUTCDate());
    const inWeek = weekday!.values.has(date.getUTCDay());
    const matches =
      monthDay!.star || weekday!.star ? inMonth && inWeek : inMonth || inWeek;
    if (!matches) continue;
    for (const hourOfDay of hours)
      for (const minuteOfHour of minutes) {
        const candidateMs =
          dayStartMs + (hourOfDay * 60 + minuteOfHour) * minuteMs;
        if (candidateMs + dayMs < localMs) continue;
        if (day === 0 && candidateMs + 2 * 60 * minuteMs < localMs) continue;
        const utcMs = zone.toUtc(candidateMs);
        if (utcMs !== undefined && utcMs > afterMs) return utcMs;
      }
  }
  return undefined;
}

/** The time as a clock of the zone shows it, in RFC 3339. */
export function timeIn(timeZone: string, ms: number): string {
  const localMs = zoneClock(timeZone).toLocal(ms);
  const minutes = Math.round((localMs - ms) / minuteMs);
  const digits = (part: number): string => String(part).padStart(2, "0");
  const away = Math.abs(minutes);
  const offset =
    minutes === 0
      ? "Z"
      : `${minutes < 0 ? "-" : "+"}${digits(Math.floor(away / 60))}:${digits(away % 60)}`;
  return new Date(localMs).toISOString().replace(/\.\d+Z$/, offset);
}

const hourMs = 3_600_000;
const lookBackMs = [1, 24, 32 * 24, 367 * 24, 5 * 367 * 24].map(
  (hours) => hours * hourMs,
);

/**
 * The last time of a schedule that is not after nowMs: looked for in growing windows, so that few times are counted.
 * @param fromMs after which a schedule that knows no clock is counted
 */
export function latestBefore(
  schedule: Schedule,
  nowMs: number,
  fromMs: number,
): number | undefined {
  const { everyMs } = schedule;
  if (everyMs !== undefined) {
    const beginMs = Math.floor(fromMs / 1000) * 1000;
    return beginMs + Math.floor((nowMs - beginMs) / everyMs) * everyMs;
  }
  for (const windowMs of lookBackMs) {
    let last: number | undefined;
    for (
      let next = schedule.next(nowMs - windowMs);
      next !== undefined && next <= nowMs;
      next = schedule.next(next)
    )
      last = next;
    if (last !== undefined) return last;
  }
  return undefined;
}
