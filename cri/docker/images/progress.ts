// The daemon's reports on a long call: JSON objects, one after another. An error comes as the last of them, after the answer
// began as a success.
import type { Readable } from "node:stream";
import { RuntimeError } from "../../runtime.ts";

const maxReportBytes = 1024 * 1024;

interface Report {
  error?: string;
  stream?: string;
}

/** Resolves to the texts of the reports; rejects with the error that was reported. `heard` is called at each report. */
export async function readProgress(
  source: Readable,
  heard: () => void,
): Promise<string> {
  let rest = "";
  let text = "";
  const take = (line: string): void => {
    if (line.trim() === "") return;
    const { error, stream } = JSON.parse(line) as Report;
    if (error !== undefined) throw new RuntimeError("unknown", error);
    if (stream !== undefined && text.length < maxReportBytes) text += stream;
  };
  for await (const chunk of source.setEncoding(
    "utf8",
  ) as AsyncIterable<string>) {
    heard();
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    if (rest.length > maxReportBytes)
      throw new RuntimeError("unknown", "a report of the daemon has no end");
    lines.forEach(take);
  }
  take(rest);
  return text;
}
