// The CRI log format: `2026-11-21T00:00:00.123456789Z stdout F text`. Tag P marks a piece of a longer line, F its end. Behind
// cri-dockerd the log is Docker's own (docker-entry.ts).
import { parseDockerEntry } from "./docker-entry.ts";

interface LogLine {
  /** Position of the text inside the line's bytes. */
  text: Buffer;
  /** As it was written: Go's runtimes leave out zeros at its end. */
  timestamp: string;
  stream: "stdout" | "stderr";
  partial: boolean;
}

const space = 0x20;
const brace = 0x7b;
const timestampForm =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/;

/** undefined for a line of another form. `line` is without its newline. */
export function parseLogLine(line: Buffer): LogLine | undefined {
  if (isDockerEntry(line)) return parseDockerLine(line);
  const first = line.indexOf(space);
  const second = line.indexOf(space, first + 1);
  if (first < 0 || second < 0) return undefined;
  const third = line.indexOf(space, second + 1);
  // A line that was torn before its text.
  if (third < 0) return undefined;
  const stream = line.toString("latin1", first + 1, second);
  if (stream !== "stdout" && stream !== "stderr") return undefined;
  const timestamp = line.toString("latin1", 0, first);
  if (!timestampForm.test(timestamp)) return undefined;
  const tags = line.toString("latin1", second + 1, third);
  return {
    timestamp,
    stream,
    partial: tags.split(":")[0] === "P",
    text: line.subarray(third + 1),
  };
}

/** With all nine digits of its fraction, as the reference shows it: lines then sort by their texts. */
export function shownTimestamp(timestamp: string): string {
  const parts = timestampForm.exec(timestamp);
  if (!parts) return timestamp;
  const [, seconds, fraction = "", zone] = parts;
  // conmon writes the offset of UTC as a number.
  const shownZone = zone === "+00:00" ? "Z" : zone;
  return `${seconds}.${fraction.slice(0, 9).padEnd(9, "0")}${shownZone}`;
}

/** Its end says whether it is whole, where a line of the CRI format says so at its beginning. */
export function isDockerEntry(line: Buffer): boolean {
  return line[0] === brace;
}

function parseDockerLine(line: Buffer): LogLine | undefined {
  const entry = parseDockerEntry(line.toString("utf8"));
  if (!entry) return undefined;
  const { log, stream, time } = entry;
  const partial = !log.endsWith("\n");
  const text = Buffer.from(partial ? log : log.slice(0, -1));
  return { timestamp: time, stream, partial, text };
}
