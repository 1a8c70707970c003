// --audit-log-path: one line an event, into a file or to standard output. A file that grows too large is renamed with
// the time in its name; old ones are compressed if that is asked for, and go when they are too many or too old.
import { trimEnd } from "../../api/patterns/trim.ts";
import * as fs from "node:fs";
import * as path from "node:path";
import { gzip } from "node:zlib";
import { stringified } from "../../api/escaped-json.ts";
import { goQuoted } from "../../api/field-errors.ts";
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { AuditEvent, AuditSink } from "./audit-event.ts";

export interface AuditLogOptions {
  /** "-": standard output. */
  readonly path: string;
  readonly legacy: boolean;
  readonly maxBytes: number;
  /** 0: all are kept. */
  readonly maxBackups: number;
  /** 0: for ever. */
  readonly maxAgeMs: number;
  readonly compress: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class AuditLog implements AuditSink {
  #file: number;
  #bytes = 0;
  #compressing: Promise<void> = Promise.resolve();

  /** Throws when the file can't be opened. */
  constructor(private readonly options: AuditLogOptions) {
    this.#file = this.#open();
  }

  write(events: readonly AuditEvent[]): boolean {
    const { legacy, maxBytes, logger } = this.options;
    const text = events
      .map((event) => `${legacy ? legacyLine(event) : stringified(event)}\n`)
      .join("");
    try {
      const bytes = Buffer.from(text);
      if (this.#bytes > 0 && this.#bytes + bytes.length > maxBytes)
        this.#rotate();
      fs.writeSync(this.#file, bytes);
      this.#bytes += bytes.length;
      return true;
    } catch (error) {
      logger.error({ err: error }, "can't write the audit log");
      return false;
    }
  }

  async close(): Promise<void> {
    if (this.#file > 2) fs.closeSync(this.#file);
    await this.#compressing;
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
    const stamp = new Date(this.options.clock.now())
      .toISOString()
      .slice(0, 23)
      .replaceAll(":", "-");
    const backup = path.join(dir, `${name}-${stamp}${ext}`);
    fs.closeSync(this.#file);
    fs.renameSync(this.options.path, backup);
    this.#file = this.#open();
    this.#removeOld();
    if (this.options.compress)
      this.#compressing = this.#compressing.then(() => this.#compress(backup));
  }

  #removeOld(): void {
    const { dir, name, ext } = path.parse(this.options.path);
    const { maxBackups, maxAgeMs, clock } = this.options;
    const stamped = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}$/;
    const backups = fs
      .readdirSync(dir || ".")
      .filter((file) => {
        const plain = file.replace(/\.gz$/, "");
        return (
          plain.startsWith(`${name}-`) &&
          plain.endsWith(ext) &&
          stamped.test(plain.slice(name.length + 1, plain.length - ext.length))
        );
      })
      .sort()
      .reverse();
    for (const [index, file] of backups.entries()) {
      const full = path.join(dir, file);
      const tooMany = maxBackups > 0 && index >= maxBackups;
      const tooOld =
        maxAgeMs > 0 && fs.statSync(full).mtimeMs < clock.now() - maxAgeMs;
      if (tooMany || tooOld) fs.rmSync(full, { force: true });
    }
  }

  async #compress(file: string): Promise<void> {
    try {
      const bytes = await fs.promises.readFile(file);
      const packed = await new Promise<Buffer>((resolve, reject) =>
        gzip(bytes, (error, result) =>
          error ? reject(error) : resolve(result),
        ),
      );
      await fs.promises.writeFile(`${file}.gz`, packed, { mode: 0o600 });
      await fs.promises.rm(file, { force: true });
      this.#removeOld();
    } catch (error) {
      // It may have been one too many by now.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT")
        this.options.logger.warn(
          { err: error, file },
          "can't compress an old audit log",
        );
    }
  }
}

interface LegacyUser {
  username?: string;
  groups?: readonly string[];
}

function legacyLine(event: AuditEvent): string {
  const user = event.user as LegacyUser;
  const as = event.impersonatedUser as LegacyUser | undefined;
  const ref = (event.objectRef ?? {}) as { namespace?: string };
  const status = event.responseStatus as { code?: number } | undefined;
  const quoted = (groups: readonly string[]): string =>
    groups.map((group) => goQuoted(group)).join(",");
  const fields = {
    id: event.auditID,
    stage: event.stage,
    ip: event.sourceIPs[0] ?? "<unknown>",
    method: event.verb,
    user: user.username || "<none>",
    groups: user.groups?.length ? quoted(user.groups) : "<none>",
    as: as?.username || "<self>",
    asgroups: as?.groups?.length ? quoted(as.groups) : "<lookup>",
    "user-agent": event.userAgent ?? "",
    namespace: ref.namespace || "<none>",
    uri: event.requestURI,
    response: status?.code ? String(status.code) : "<deferred>",
  };
  const text = Object.entries(fields)
    .map(([name, value]) => `${name}=${goQuoted(value)}`)
    .join(" ");
  const time = trimEnd(trimEnd(event.requestReceivedTimestamp, "Z0"), ".");
  return `${time}Z AUDIT: ${text}`;
}
