// Timestamps and durations as text, to the nanosecond: RFC 3339 and Go's notation of durations.
import { trimEnd } from "../../patterns/trim.ts";
import { Duration, Timestamp } from "./value.ts";

export const nanosPerSecond = 1_000_000_000n;
const nanosPerMilli = 1_000_000n;
const firstSecond = -62_135_596_800n;
const lastSecond = 253_402_300_799n;

const timePattern =
  /^(\d{4})-(\d{2})-(\d{2})[T](\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/;

/** RFC 3339, undefined for anything else; years 1 to 9999 are not checked. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = timePattern.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map(Number) as [number, number, number, number, number, number];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const date = dateOf(year, month, day);
  if (date === undefined) return undefined;
  const offset = (Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0)) * 60;
  if (Number(match[9] ?? 0) > 24 || Number(match[10] ?? 0) > 59)
    return undefined;
  const local = date / 1000 + hour * 3600 + minute * 60 + second;
  const seconds = BigInt(local + (match[8] === "-" ? offset : -offset));
  const fraction = BigInt((match[7] ?? "").padEnd(9, "0").slice(0, 9));
  return new Timestamp(seconds * nanosPerSecond + fraction);
}

/** Midnight in UTC of `2006-01-02`, undefined for what is no date. */
export function parseDate(text: string): Timestamp | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!match) return undefined;
  const date = dateOf(Number(match[1]), Number(match[2]), Number(match[3]));
  return date === undefined
    ? undefined
    : new Timestamp(BigInt(date) * nanosPerMilli);
}

/** Milliseconds since 1970 of a day's start, undefined for days that no month has. */
function dateOf(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
    ? date.getTime()
    : undefined;
}

/** Whether a timestamp lies in the years 1 to 9999. */
export function inRange({ nanos }: Timestamp): boolean {
  const seconds = floorDivide(nanos, nanosPerSecond);
  return seconds >= firstSecond && seconds <= lastSecond;
}

export function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

export function formatTimestamp({ nanos }: Timestamp): string {
  const seconds = floorDivide(nanos, nanosPerSecond);
  const fraction = nanos - seconds * nanosPerSecond;
  // ISO text writes years beyond 9999 with a sign; values are in range.
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  const digits = trimEnd(fraction.toString().padStart(9, "0"), "0");
  return `${text}${digits === "" ? "" : `.${digits}`}Z`;
}

const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: nanosPerMilli,
  s: nanosPerSecond,
  m: 60n * nanosPerSecond,
  h: 3600n * nanosPerSecond,
};

/** Go's notation, "1h15m30.5s"; undefined for anything else and beyond int64. */
export function parseGoDuration(text: string): Duration | undefined {
  const match = /^([-+]?)(.+)$/.exec(text);
  if (!match) return undefined;
  const rest = match[2] as string;
  if (rest === "0") return new Duration(0n);
  const part = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;
  let nanos = 0n;
  while (part.lastIndex < rest.length) {
    const [, whole = "", fraction = "", unit = ""] = part.exec(rest) ?? [];
    if (whole === "" && fraction === "") return undefined;
    const scale = unitNanos[unit] as bigint;
    // More digits than a nanosecond of an hour has say nothing.
    const digits = fraction.slice(0, 18);
    nanos += BigInt(whole.slice(0, 20) || "0") * scale;
    if (digits !== "")
      nanos += (BigInt(digits) * scale) / 10n ** BigInt(digits.length);
  }
  if (match[1] === "-") nanos = -nanos;
  return BigInt.asIntN(64, nanos) === nanos ? new Duration(nanos) : undefined;
}

/** Seconds with all their digits: "90s", "0.5s". */
export function formatSeconds({ nanos }: Duration): string {
  const sign = nanos < 0n ? "-" : "";
  const absolute = nanos < 0n ? -nanos : nanos;
  const digits = trimEnd(
    (absolute % nanosPerSecond).toString().padStart(9, "0"),
    "0",
  );
  return `${sign}${absolute / nanosPerSecond}${digits === "" ? "" : `.${digits}`}s`;
}
