// --audit-webhook-config-file: batches of events as an EventList, posted to the server a kubeconfig names. A failed
// batch is tried again with back-off, four times; then its events are lost, and logged.
import type { Logger } from "pino";
import type { Dial } from "../../client/egress/egress-dialer.ts";
import type { Clock } from "../../api/clock.ts";
import {
  JsonWebhook,
  type WebhookConnection,
} from "../../client/webhook/json-webhook.ts";
import type { AuditEvent, AuditSink } from "./audit-event.ts";

interface AuditWebhookOptions {
  readonly connection: WebhookConnection;
  readonly initialBackoffMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: () => number;
  /** How connections leave; undefined: directly. */
  readonly dial?: Dial | undefined;
}

const ATTEMPTS = 5;
const BACKOFF_FACTOR = 1.5;
const JITTER = 0.2;
const TIMEOUT_MS = 30_000;

export class AuditWebhook implements AuditSink {
  readonly #abort = new AbortController();
  readonly #webhook: JsonWebhook;

  constructor(private readonly options: AuditWebhookOptions) {
    this.#webhook = new JsonWebhook(options.connection, {
      ...{ timeoutMs: TIMEOUT_MS, dial: options.dial },
    });
  }

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
        await this.#webhook.post(body);
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

  /** Batches that wait for another try are sent once more, at once. */
  async close(): Promise<void> {
    this.#abort.abort();
    await this.#webhook.close();
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
