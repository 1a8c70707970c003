// The journal of systemd, read by journalctl: which services write to it, and what they wrote.
import { execFile, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import type { LogQuery } from "./log-query.ts";

/** As long as the reference lets a query run. */
const timeoutMs = 30_000;

/** Those of `services` that have entries; none where there is no journal. */
export function inJournal(services: readonly string[]): Promise<Set<string>> {
  return new Promise((resolve) =>
    execFile(
      "journalctl",
      ["--field", "_SYSTEMD_UNIT"],
      { timeout: timeoutMs, maxBuffer: 16 << 20 },
      (error, text) => {
        const units = new Set(error ? [] : text.split("\n"));
        resolve(
          new Set(
            services.filter(
              (name) => units.has(`${name}.service`) || units.has(name),
            ),
          ),
        );
      },
    ),
  );
}

/** Standard output of journalctl; its complaints are the end of it. Destroying it ends the program. */
export function readJournal(
  services: readonly string[],
  options: LogQuery["options"],
): Readable {
  const { sinceTime, untilTime, tailLines, boot, pattern } = options;
  const child = spawn(
    "journalctl",
    [
      ...["--utc", "--no-pager", "--output=short-precise"],
      ...(sinceTime ? [`--since=${journalTime(sinceTime)}`] : []),
      ...(untilTime ? [`--until=${journalTime(untilTime)}`] : []),
      ...(tailLines === undefined ? [] : [`--lines=${tailLines}`]),
      ...services.map((name) => `--unit=${name}`),
      ...(pattern === undefined
        ? []
        : [`--grep=${pattern}`, "--case-sensitive=false"]),
      ...(boot === undefined ? [] : [`--boot=${boot}`]),
    ],
    { stdio: ["ignore", "pipe", "pipe"], timeout: timeoutMs },
  );
  const { stdout } = child;
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (complaint.length < 4096) complaint += chunk.toString("utf8");
  });
  child.once("error", (error) => stdout.destroy(error));
  child.once("exit", (code) => {
    // 1 without a complaint: nothing matched.
    if (code !== 0 && complaint !== "")
      stdout.destroy(new Error(complaint.trim()));
  });
  stdout.once("close", () => child.kill());
  return stdout;
}

/** `2026-01-02 03:04:05.123 UTC` */
function journalTime(rfc3339: string): string {
  return new Date(rfc3339).toISOString().replace("T", " ").replace("Z", " UTC");
}
