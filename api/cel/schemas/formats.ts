// Strings of a schema whose format makes them something else: bytes, durations, dates and times.
import {
  Duration,
  Failure,
  type Result,
  type Timestamp,
} from "../values/value.ts";
import { parseDate, parseGoDuration, parseTimestamp } from "../values/time.ts";

export type StringFormat = "byte" | "duration" | "date" | "date-time";

/** A failure for text that has not that format. */
export function readFormatted(format: StringFormat, text: string): Result {
  switch (format) {
    case "byte":
      if (!/^[A-Za-z0-9+/\r\n]*={0,2}$/.test(text))
        return new Failure(
          `Invalid byte formatted string ${text}: illegal base64 data`,
        );
      return Buffer.from(text, "base64");
    case "duration":
      return (
        parseWordyDuration(text) ??
        new Failure(
          `Invalid duration ${text}: unable to parse ${text} as duration`,
        )
      );
    case "date":
      return (
        parseDate(text) ??
        new Failure(`Invalid date formatted string ${text}: parsing time`)
      );
    case "date-time":
      return (
        parseDateTime(text) ??
        new Failure(`Invalid date-time formatted string ${text}: parsing time`)
      );
  }
}

/** RFC 3339, with a blank or small letters too, and local time taken as UTC. */
function parseDateTime(text: string): Timestamp | undefined {
  if (text === "") return parseTimestamp("1970-01-01T00:00:00Z");
  const usual = text.replace(/[tz]/g, (letter) => letter.toUpperCase());
  return parseTimestamp(usual) ?? parseTimestamp(`${usual}Z`);
}

const day = 24n * 3600n * 1_000_000_000n;
/** Short names match whole, the last of each also as the beginning of longer ones. */
const units: readonly (readonly [bigint, readonly string[], string])[] = [
  [1n, ["ns"], "nano"],
  [1000n, ["us", "µs"], "micro"],
  [1_000_000n, ["ms"], "milli"],
  [1_000_000_000n, ["s"], "sec"],
  [60_000_000_000n, ["m"], "min"],
  [3_600_000_000_000n, ["h", "hr"], "hour"],
  [day, ["d"], "day"],
  [7n * day, ["w", "wk"], "week"],
];

/** Go's notation, or numbers with units in words: "3 days 2 hours". */
function parseWordyDuration(text: string): Duration | undefined {
  const exact = parseGoDuration(text);
  if (exact) return exact;
  let nanos: bigint | undefined;
  for (const [, digits = "", word = ""] of text.matchAll(
    /(\d{1,18})\s*([A-Za-zµ]+)/g,
  )) {
    const unit = word.toLowerCase();
    for (const [scale, names, prefix] of units)
      if (names.includes(unit) || unit.startsWith(prefix))
        nanos = (nanos ?? 0n) + BigInt(digits) * scale;
  }
  return nanos === undefined
    ? undefined
    : new Duration(BigInt.asIntN(64, nanos));
}
