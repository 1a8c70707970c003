// --audit-webhook-config-file: batches of events as an EventList, posted to the server a kubeconfig names. What fails is
// tried again with back-off, four times; then the events are lost, and logged.
import type { Logger } from "pino";
import type { Dispatcher } from "undici";
import type { Clock } from "../../api/clock.ts";
import type { HttpTransportOptions } from "../../client/http-transport.ts";
import type { AuditEvent, AuditSink } from "./audit-event.ts";

export interface AuditWebhookOptions {
  readonly connection: Pick<
    HttpTransportOptions,
    "server" | "tls" | "token" | "username" | "password"
  >;
  readonly initialBackoffMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: () => number;
}

const ATTEMPTS = 5;
const BACKOFF_FACTOR = 1.5;
const JITTER = 0.2;
const TIMEOUT_MS = 30_000;

export class AuditWebhook implements AuditSink {
  readonly #abort = new AbortController();
  #dispatcher: Promise<Dispatcher> | undefined;

  constructor(private readonly options: AuditWebhookOptions) {}

  async write(events: readonly AuditEvent[]): Promise<boolean> {
    const {
      initialBackoffMs,
      clock,
      logger,
      random = Math.random,
    } = this.options;
    const body = JSON.stringify({
      kind: "EventList",
      apiVersion: "audit.k8s.io/v1",
      metadata: {},
      items: events,
    });
    let waitMs = initialBackoffMs;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#post(body);
        return true;
      } catch (error) {
        if (attempt >= ATTEMPTS || this.#abort.signal.aborted) {
          logger.error(
            { err: error, events: events.length },
            "can't send audit events; they are lost",
          );
          return false;
        }
      }
      await this.#pause(clock, waitMs * (1 + JITTER * random()));
      waitMs *= BACKOFF_FACTOR;
    }
  }

  /** What waits for another try is tried once more, at once. */
  async close(): Promise<void> {
    this.#abort.abort();
    await (await this.#dispatcher)?.close();
  }

  async #post(body: string): Promise<void> {
    const { server, token, username, password } = this.options.connection;
    const basic =
      username === undefined
        ? undefined
        : `Basic ${Buffer.from(`${username}:${password ?? ""}`).toString("base64")}`;
    const authorization = token ? `Bearer ${token}` : basic;
    const { request } = await import("undici");
    const answer = await request(server, {
      method: "POST",
      dispatcher: await (this.#dispatcher ??= this.#connect()),
      headers: {
        "content-type": "application/json",
        accept: "application/json, */*",
        ...(authorization ? { authorization } : {}),
      },
      body,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    await answer.body.dump();
    if (answer.statusCode >= 300)
      throw new Error(`the webhook answered ${answer.statusCode}`);
  }

  async #connect(): Promise<Dispatcher> {
    const { Agent } = await import("undici");
    const { tls } = this.options.connection;
    return new Agent({
      connect: {
        ...(tls?.ca ? { ca: tls.ca } : {}),
        ...(tls?.cert ? { cert: tls.cert } : {}),
        ...(tls?.key ? { key: tls.key } : {}),
        ...(tls?.serverName ? { servername: tls.serverName } : {}),
        rejectUnauthorized: !tls?.insecureSkipVerify,
        timeout: TIMEOUT_MS,
      },
    });
  }

  #pause(clock: Clock, ms: number): Promise<void> {
    const { signal } = this.#abort;
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = clock.after(ms, done);
      function done(): void {
        timer.cancel();
        signal.removeEventListener("abort", done);
        resolve();
      }
      signal.addEventListener("abort", done);
    });
  }
}
