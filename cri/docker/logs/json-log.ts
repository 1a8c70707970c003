// The daemon's own log of a container (logs/docker-entry.ts) in the CRI format: each entry becomes one line.
import { parseDockerEntry, type DockerEntry } from "../../logs/docker-entry.ts";

const newline = 0x0a;

interface Converted {
  /** Lines in the CRI format. */
  text: string;
  /** Entries read, whether they gave a line or not. */
  entries: number;
  /** Bytes of the input that these entries were. */
  bytes: number;
  /** Time of the first entry; "?" when it has none. */
  first: string | undefined;
}

/** Whole entries only; `skip` of them give no line, as it was written before. */
export function convertEntries(input: Buffer, skip = 0): Converted {
  const end = input.lastIndexOf(newline) + 1;
  const converted: Converted = {
    text: "",
    entries: 0,
    bytes: end,
    first: undefined,
  };
  if (end === 0) return converted;
  const lines: string[] = [];
  for (const line of input.toString("utf8", 0, end - 1).split("\n")) {
    const entry = parseDockerEntry(line);
    // A line cut by a crash of the daemon counts: so the number of lines written stays that of entries read.
    converted.first ??= entry?.time ?? "?";
    if (converted.entries++ >= skip)
      lines.push(entry ? criLine(entry) : unreadable);
  }
  converted.text = lines.join("");
  return converted;
}

/** In place of an entry that can't be read. No reader shows it, as it is not in the CRI format. */
const unreadable = "#\n";

function criLine({ log, stream, time }: DockerEntry): string {
  const whole = log.endsWith("\n");
  // One entry is one line; a newline within it would begin another.
  const text = (whole ? log.slice(0, -1) : log).replaceAll("\n", "");
  return `${time} ${stream} ${whole ? "F" : "P"} ${text}\n`;
}
