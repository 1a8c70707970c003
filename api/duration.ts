// Durations in the three forms the API and its tools use: Go's ("5m0s") in configuration and metav1.Duration fields,
// and the short age of tables ("3m20s", "4d2h"). Milliseconds inside; finer digits survive as fractions.
import { trimEnd } from "./patterns/trim.ts";

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Reads "1h15m30.5s", "-2m", "0". Throws an Error with the reference's text: `time: invalid duration "x"`. */
export function parseDurationMs(text: string): number {
  const quoted = JSON.stringify(text);
  const match = /^([-+]?)(.*)$/s.exec(text)!;
  const rest = match[2]!;
  if (rest === "0") return 0;
  if (rest === "") throw new Error(`time: invalid duration ${quoted}`);
  const part = /([0-9]*)(\.[0-9]*)?([^0-9.]*)/gy;
  let totalMs = 0;
  while (part.lastIndex < rest.length) {
    const [whole, integer = "", fraction = "", unit = ""] = part.exec(rest) ?? [
      "",
    ];
    if (whole === "" || (integer === "" && fraction.length < 2))
      throw new Error(`time: invalid duration ${quoted}`);
    if (unit === "")
      throw new Error(`time: missing unit in duration ${quoted}`);
    const factor = unitMs[unit];
    if (factor === undefined)
      throw new Error(
        `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`,
      );
    totalMs +=
      Number(`${integer || "0"}${fraction === "." ? "" : fraction}`) * factor;
  }
  // An int64 of nanoseconds holds about 292 years.
  if (totalMs > 9_223_372_036_854.775)
    throw new Error(`time: invalid duration ${quoted}`);
  return match[1] === "-" ? -totalMs : totalMs;
}

/** Go's form: "5m0s", "1h0m0s", "1.5s", "500ms", "0s". */
export function formatDuration(durationMs: number): string {
  const sign = durationMs < 0 ? "-" : "";
  const nanos = Math.round(Math.abs(durationMs) * 1e6);
  if (nanos === 0) return "0s";
  if (nanos < 1e3) return `${sign}${nanos}ns`;
  if (nanos < 1e6) return `${sign}${decimals(nanos, 1e3)}µs`;
  if (nanos < 1e9) return `${sign}${decimals(nanos, 1e6)}ms`;
  const hours = Math.floor(nanos / 3.6e12);
  const minutes = Math.floor(nanos / 6e10) % 60;
  const seconds = decimals(nanos % 6e10, 1e9);
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}s` : `${sign}${seconds}s`;
}

function decimals(nanos: number, unit: number): string {
  const whole = Math.floor(nanos / unit);
  const digits = String(nanos % unit).padStart(String(unit).length - 1, "0");
  const fraction = trimEnd(digits, "0");
  return fraction === "" ? String(whole) : `${whole}.${fraction}`;
}

/** The age of tables: about two or three significant digits, "<invalid>" for times in the future. */
export function humanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return pair(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return pair(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 192) return pair(days, "d", hours % 24, "h");
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return days < 2920 ? pair(years, "y", days % 365, "d") : `${years}y`;
}

function pair(
  large: number,
  largeUnit: string,
  small: number,
  smallUnit: string,
): string {
  return small === 0
    ? `${large}${largeUnit}`
    : `${large}${largeUnit}${small}${smallUnit}`;
}
