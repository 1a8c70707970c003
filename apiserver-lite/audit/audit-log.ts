// --audit-log-path: one line an event, into a file (rotated by size) or to standard output. In the blocking modes a line is
// written before the request goes on; in batch mode lines are buffered, and dropped beyond the buffer.
import * as fs from "node:fs";
import * as path from "node:path";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { AuditEvent, AuditSink } from "./auditor.ts";

export interface AuditLogOptions {
  /** "-": standard output. */
  readonly path: string;
  readonly batch: boolean;
  readonly legacy: boolean;
  /** Events, batch mode. */
  readonly bufferSize: number;
  readonly batchSize: number;
  readonly batchWaitMs: number;
  /** 0: never rotated. */
  readonly maxBytes: number;
  /** 0: all are kept. */
  readonly maxBackups: number;
  /** 0: for ever. */
  readonly maxAgeMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class AuditLog implements AuditSink {
  #file: number;
  #bytes = 0;
  #buffer: string[] = [];
  #dropped = 0;
  #timer: Timer | undefined;
  /** The timer is set for the next turn. */
  #urgent = false;

  /** Throws when the file can't be opened. */
  constructor(private readonly options: AuditLogOptions) {
    this.#file = this.#open();
  }

  write(event: AuditEvent): void {
    const { legacy, batch, bufferSize, batchSize, batchWaitMs, clock } =
      this.options;
    const line = `${legacy ? legacyLine(event) : JSON.stringify(event)}\n`;
    if (!batch) return this.#append(line);
    if (this.#buffer.length >= bufferSize) {
      this.#dropped++;
      return;
    }
    this.#buffer.push(line);
    // Not within the request: what has come by the next turn is one write.
    const full = this.#buffer.length >= batchSize;
    if (full && !this.#urgent) {
      this.#urgent = true;
      this.#timer?.cancel();
      this.#timer = clock.after(0, () => this.#flush());
    } else this.#timer ??= clock.after(batchWaitMs, () => this.#flush());
  }

  close(): void {
    this.#flush();
    if (this.#file > 2) fs.closeSync(this.#file);
  }

  #flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#urgent = false;
    if (this.#buffer.length > 0) this.#append(this.#buffer.join(""));
    this.#buffer = [];
    if (this.#dropped > 0)
      this.options.logger.error(
        { events: this.#dropped },
        "the audit buffer was full; events are lost",
      );
    this.#dropped = 0;
  }

  #append(text: string): void {
    try {
      const bytes = Buffer.from(text);
      const { maxBytes } = this.options;
      if (
        maxBytes > 0 &&
        this.#bytes > 0 &&
        this.#bytes + bytes.length > maxBytes
      )
        this.#rotate();
      fs.writeSync(this.#file, bytes);
      this.#bytes += bytes.length;
    } catch (error) {
      this.options.logger.error({ err: error }, "can't write the audit log");
    }
  }

  #open(): number {
    if (this.options.path === "-") return 1;
    fs.mkdirSync(path.dirname(this.options.path), { recursive: true });
    const file = fs.openSync(this.options.path, "a", 0o600);
    this.#bytes = fs.fstatSync(file).size;
    return file;
  }

  #rotate(): void {
    if (this.options.path === "-") return;
    const { dir, name, ext } = path.parse(this.options.path);
    const nowMs = this.options.clock.now();
    const stamp = new Date(nowMs)
      .toISOString()
      .slice(0, 23)
      .replaceAll(":", "-");
    fs.closeSync(this.#file);
    fs.renameSync(this.options.path, path.join(dir, `${name}-${stamp}${ext}`));
    this.#file = this.#open();
    const { maxBackups, maxAgeMs } = this.options;
    const backups = fs
      .readdirSync(dir || ".")
      .filter(
        (file) =>
          file.startsWith(`${name}-`) &&
          file.endsWith(ext) &&
          /^\d{4}-\d\d-\d\dT[\d.-]+$/.test(
            file.slice(name.length + 1, file.length - ext.length),
          ),
      )
      .sort()
      .reverse();
    for (const [index, file] of backups.entries()) {
      const full = path.join(dir, file);
      const tooMany = maxBackups > 0 && index >= maxBackups;
      const tooOld =
        maxAgeMs > 0 && fs.statSync(full).mtimeMs < nowMs - maxAgeMs;
      if (tooMany || tooOld) fs.rmSync(full);
    }
  }
}

function legacyLine(event: AuditEvent): string {
  const user = event.user as { username: string; groups: readonly string[] };
  const groups = user.groups.map((group) => JSON.stringify(group)).join(",");
  const ref = (event.objectRef ?? {}) as { namespace?: string };
  const status = event.responseStatus as { code: number } | undefined;
  return `${event.stageTimestamp} AUDIT: id=${JSON.stringify(event.auditID)} stage=${JSON.stringify(event.stage)} ip=${JSON.stringify(event.sourceIPs[0] ?? "")} method=${JSON.stringify(event.verb)} user=${JSON.stringify(user.username)} groups=${JSON.stringify(groups)} as="<self>" asgroups="<lookup>" user-agent=${JSON.stringify(event.userAgent ?? "")} namespace=${JSON.stringify(ref.namespace ?? "<none>")} uri=${JSON.stringify(event.requestURI)} response="${status?.code ?? "<deferred>"}"`;
}
