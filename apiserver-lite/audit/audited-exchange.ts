// An exchange that reports to an audit trail what is answered. A long-running request's answer is recorded when its head
// goes out.
import type { OutgoingHttpHeaders } from "node:http";
import { Writable } from "node:stream";
import type { Exchange, FrameStream } from "../../http-kit/exchange.ts";
import type { AuditTrail } from "./auditor.ts";

export class AuditedExchange implements Exchange {
  constructor(
    private readonly inner: Exchange,
    private readonly trail: AuditTrail,
  ) {}

  get method(): string {
    return this.inner.method;
  }
  get url(): string {
    return this.inner.url;
  }
  get headers(): Exchange["headers"] {
    return this.inner.headers;
  }
  get tenant(): string | undefined {
    return this.inner.tenant;
  }
  waits(): (() => void) | undefined {
    return this.inner.waits?.();
  }
  get peer(): Exchange["peer"] {
    return this.inner.peer;
  }
  get http2(): boolean {
    return this.inner.http2;
  }
  get chunks(): boolean {
    return this.inner.chunks;
  }
  get body(): Exchange["body"] {
    return this.inner.body;
  }
  get hasBody(): boolean {
    return this.inner.hasBody;
  }
  get upgrade(): Exchange["upgrade"] {
    return this.inner.upgrade;
  }
  get started(): boolean {
    return this.inner.started;
  }
  get closed(): boolean {
    return this.inner.closed;
  }
  get status(): number {
    return this.inner.status;
  }
  get sentBytes(): number {
    return this.inner.sentBytes;
  }
  set sentBytes(bytes: number) {
    this.inner.sentBytes = bytes;
  }

  respond(
    status: number,
    headers: OutgoingHttpHeaders,
    body?: Uint8Array | string,
  ): void {
    if (body && this.trail.wantsAnswer(status))
      this.trail.answered(
        status,
        body,
        String(headers["content-type"]),
        String(headers["content-encoding"] ?? ""),
      );
    else this.trail.answered(status);
    this.#started();
    this.inner.respond(status, headers, body);
  }

  headerValues(name: string): string[] {
    return this.inner.headerValues(name);
  }

  open(status: number, headers: OutgoingHttpHeaders): Writable {
    const { trail } = this;
    const type = String(headers["content-type"]);
    const coding = String(headers["content-encoding"] ?? "");
    trail.answered(status);
    this.#started();
    const out = this.inner.open(status, headers);
    if (!trail.wantsAnswer(status)) return out;
    const parts: Buffer[] = [];
    const kept = new Writable({
      write(chunk: Buffer, _encoding, done) {
        // The buffer may be used again.
        parts.push(Buffer.from(chunk));
        if (out.write(chunk)) done();
        else out.once("drain", done);
      },
      final(done) {
        trail.answered(status, Buffer.concat(parts), type, coding);
        out.end();
        done();
      },
    });
    out.once("close", () => kept.destroy());
    return kept;
  }

  stream(status: number, headers: OutgoingHttpHeaders): FrameStream {
    if (!this.trail.longRunning && this.trail.wantsAnswer(status)) {
      const out = this.open(status, headers);
      return { out, framed: true, end: () => out.end() };
    }
    this.trail.answered(status);
    this.#started();
    return this.inner.stream(status, headers);
  }

  switched(status = 101): void {
    this.trail.answered(status);
    this.#started();
    this.inner.switched(status);
  }

  onClose(callback: () => void): void {
    this.inner.onClose(callback);
  }

  destroy(): void {
    this.inner.destroy();
  }

  #started(): void {
    if (this.trail.recordsStart) void this.trail.stage("ResponseStarted");
  }
}
