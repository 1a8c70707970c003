// Events wait here and go on in batches, without the request waiting: when a batch is full, or its first event has
// waited long enough. Events that do not fit into the buffer are dropped, counted and logged. Batches may be throttled by
// a token bucket.
import { TokenBucket } from "../../api/queueing/token-bucket.ts";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { AuditEvent, AuditSink } from "./audit-event.ts";

interface AuditBatchOptions {
  readonly bufferSize: number;
  readonly maxBatchSize: number;
  /** 0: no longer than till the next turn. */
  readonly maxWaitMs: number;
  /** Undefined: as fast as they come. */
  readonly throttle:
    { readonly qps: number; readonly burst: number } | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Batches on their way at once; the rest waits in the buffer. */
const MAX_IN_FLIGHT = 16;

export class AuditBatch implements AuditSink {
  readonly #buffer: AuditEvent[] = [];
  readonly #inFlight = new Set<Promise<unknown>>();
  #timer: Timer | undefined;
  /** When the timer goes off at once. */
  #urgent = false;
  readonly #throttle: TokenBucket | undefined;
  #closing = false;
  dropped = 0;
  #droppedToTell = 0;

  constructor(
    private readonly sink: AuditSink,
    private readonly options: AuditBatchOptions,
  ) {
    const { clock, throttle } = options;
    this.#throttle =
      throttle && new TokenBucket(clock, throttle.qps, throttle.burst);
  }

  write(events: readonly AuditEvent[]): boolean {
    const { bufferSize, maxBatchSize, maxWaitMs } = this.options;
    for (const event of events) {
      if (this.#buffer.length >= bufferSize) {
        this.dropped++;
        this.#droppedToTell++;
      } else this.#buffer.push(event);
    }
    if (this.#buffer.length >= maxBatchSize) this.#schedule(0);
    else if (!this.#timer) this.#schedule(maxWaitMs);
    return true;
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#timer?.cancel();
    while (this.#buffer.length > 0) this.#send();
    await Promise.all(this.#inFlight);
    await this.sink.close();
  }

  #schedule(ms: number): void {
    if (this.#closing || this.#urgent) return;
    this.#timer?.cancel();
    this.#urgent = ms === 0;
    this.#timer = this.options.clock.after(ms, () => {
      this.#timer = undefined;
      this.#urgent = false;
      this.#drain();
    });
  }

  #drain(): void {
    const { maxBatchSize, logger, maxWaitMs } = this.options;
    if (this.#droppedToTell > 0)
      logger.error(
        { events: this.#droppedToTell },
        "audit buffer queue blocked; events are lost",
      );
    this.#droppedToTell = 0;
    do {
      if (this.#inFlight.size >= MAX_IN_FLIGHT) return;
      const waitMs = this.#throttle?.takeOrWaitMs() ?? 0;
      if (waitMs > 0) return this.#schedule(waitMs);
      this.#send();
    } while (this.#buffer.length >= maxBatchSize);
    if (this.#buffer.length > 0) this.#schedule(maxWaitMs);
  }

  #send(): void {
    const batch = this.#buffer.splice(0, this.options.maxBatchSize);
    if (batch.length === 0) return;
    const sent = this.sink.write(batch);
    if (!(sent instanceof Promise)) return;
    this.#inFlight.add(sent);
    void sent.finally(() => {
      this.#inFlight.delete(sent);
      if (this.#buffer.length > 0) this.#schedule(0);
    });
  }
}
