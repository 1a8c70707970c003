// The CRI log format: `2026-11-21T00:00:00.123456789Z stdout F text`. Tag P marks a piece of a longer line, F its end.

interface LogLine {
  /** Position of the text inside the line's bytes. */
  text: Buffer;
  timestamp: string;
  stream: "stdout" | "stderr";
  partial: boolean;
}

const space = 0x20;

/** undefined for a line of another form. `line` is without its newline. */
export function parseLogLine(line: Buffer): LogLine | undefined {
  const first = line.indexOf(space);
  const second = line.indexOf(space, first + 1);
  if (first < 0 || second < 0) return undefined;
  const third = line.indexOf(space, second + 1);
  const stream = line.toString("latin1", first + 1, second);
  if (stream !== "stdout" && stream !== "stderr") return undefined;
  const end = third < 0 ? line.length : third;
  const tags = line.toString("latin1", second + 1, end);
  return {
    timestamp: line.toString("latin1", 0, first),
    stream,
    partial: tags.split(":")[0] === "P",
    text: third < 0 ? Buffer.alloc(0) : line.subarray(third + 1),
  };
}
