// One line of JSON for each request, written in batches. A log that can't keep up loses lines, which are counted: the proxy
// never waits for it.
import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";

interface AccessRecord {
  readonly time: string;
  readonly client: string;
  readonly method: string;
  readonly host: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly protocol: string;
  readonly status: number;
  readonly bytes: number;
  readonly durationMs: number;
  /** kind/namespace/name of what routed it. */
  readonly route?: string;
  /** Namespace, name and port of the Service. */
  readonly backend?: string;
  /** Address and port. */
  readonly endpoint?: string;
  readonly userAgent?: string;
}

/** Bytes that wait for the file, at most. */
const maxWaiting = 1024 * 1024;
const flushMs = 100;
const longestText = 2048;

export class AccessLog {
  readonly #out: Writable;
  #lines: string[] = [];
  #length = 0;
  #timer: NodeJS.Timeout | undefined;
  dropped = 0;

  /** @param file "-": standard output */
  constructor(
    file: string,
    private readonly onError: (error: Error) => void,
  ) {
    this.#out =
      file === "-"
        ? process.stdout
        : createWriteStream(file, { flags: "a", mode: 0o640 });
    this.#out.on("error", this.onError);
  }

  add(record: AccessRecord): void {
    if (this.#length + this.#out.writableLength > maxWaiting) {
      this.dropped++;
      return;
    }
    const line = `${JSON.stringify(record, (_key, value: unknown) =>
      typeof value === "string" && value.length > longestText
        ? `${value.slice(0, longestText)}…`
        : value,
    )}\n`;
    this.#lines.push(line);
    this.#length += line.length;
    this.#timer ??= setTimeout(() => this.flush(), flushMs);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lines.length === 0 || this.#out.destroyed) return;
    this.#out.write(this.#lines.join(""));
    this.#lines = [];
    this.#length = 0;
  }

  /** Resolves when everything is written. */
  async close(): Promise<void> {
    this.flush();
    if (this.#out === process.stdout || this.#out.destroyed) return;
    await new Promise<void>((resolve) => {
      this.#out.once("error", () => resolve());
      this.#out.end(() => resolve());
    });
  }
}
