// The daemon's reports on a long call: JSON objects, one after another. An error comes as the last of them, after the answer
// began as a success.
import type { Readable } from "node:stream";
import { RuntimeError } from "../../runtime.ts";
import type { Download } from "../../usage.ts";

const maxReportBytes = 1024 * 1024;
/** An image has fewer layers. */
const maxParts = 1000;

interface Report {
  error?: string;
  stream?: string;
  /** Of a layer. */
  id?: string;
  status?: string;
  progressDetail?: { current?: number; total?: number };
}

/** The parts of images that come in at the moment, by what their daemon reports of them. */
export class Downloads {
  readonly #pulls = new Set<Map<string, Download>>();

  /** A pull: what to call with its reports, and at its end. */
  begin(): { heard(report: Report): void; end(): void } {
    const parts = new Map<string, Download>();
    this.#pulls.add(parts);
    return {
      heard({ id, status, progressDetail }) {
        if (id === undefined) return;
        if (status !== "Downloading") parts.delete(id);
        else if (parts.has(id) || parts.size < maxParts)
          parts.set(id, {
            name: id,
            doneBytes: progressDetail?.current ?? 0,
            totalBytes: progressDetail?.total ?? 0,
          });
      },
      end: () => void this.#pulls.delete(parts),
    };
  }

  list(): Download[] {
    return [...this.#pulls].flatMap((parts) => [...parts.values()]);
  }
}

/** Resolves to the texts of the reports; rejects with the error that was reported. `heard` is called at each report. */
export async function readProgress(
  source: Readable,
  heard: (report: Report) => void,
): Promise<string> {
  let rest = "";
  let text = "";
  const take = (line: string): void => {
    if (line.trim() === "") return;
    const report = JSON.parse(line) as Report;
    const { error, stream } = report;
    heard(report);
    if (error !== undefined) throw new RuntimeError("unknown", error);
    if (stream !== undefined && text.length < maxReportBytes) text += stream;
  };
  for await (const chunk of source.setEncoding(
    "utf8",
  ) as AsyncIterable<string>) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    if (rest.length > maxReportBytes)
      throw new RuntimeError("unknown", "a report of the daemon has no end");
    lines.forEach(take);
  }
  take(rest);
  return text;
}
