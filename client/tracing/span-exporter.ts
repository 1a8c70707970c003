// Sends spans to a collector over OTLP gRPC, in batches and in the background. A collector that is slow or not there costs
// spans, never a request: the queue is bounded, what does not fit is dropped and counted, one export runs at a time and
// ends in a bounded time, and one that may succeed later is tried again a few times.
import type { Logger } from "pino";
import { backoffMs } from "../../api/queueing/backoff.ts";
import type { Clock, Timer } from "../../api/clock.ts";
import type {
  Attributes,
  EndedSpan,
  SpanSink,
} from "../../api/tracing/span.ts";
import {
  GrpcChannel,
  grpcCode,
  grpcCodes,
  grpcStatusText,
  loadGrpc,
} from "../../grpc/channel.ts";
import { createWireCodec } from "../../grpc/wire.ts";
import { exportMethod, exportRequest, otlpTable } from "./otlp.ts";

/** The reference's: those of the OpenTelemetry SDK. */
const maxQueued = 2048;
const maxBatch = 512;
const batchEveryMs = 5_000;
const exportMs = 10_000;
const stopMs = 5_000;
const retries = { baseMs: 1_000, maxMs: 10_000, jitter: 0.2 };
const maxTries = 4;
/** Of the complaint that spans are lost. */
const complainEveryMs = 60_000;
const temporary: readonly (number | undefined)[] = [
  grpcCodes.cancelled,
  grpcCodes.deadlineExceeded,
  grpcCodes.unavailable,
];

interface SpanExporterOptions {
  /** As grpc-js names it: `dns:localhost:4317`, `unix:/run/collector.sock`. */
  readonly target: string;
  /** What all spans are of: `service.name` … */
  readonly resource: Attributes;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class SpanExporter implements SpanSink {
  #queue: EndedSpan[] = [];
  #timer: Timer | undefined;
  #retry: { cancel(): void } | undefined;
  #exporting: Promise<void> | undefined;
  #channel: GrpcChannel | undefined;
  #stopped = false;
  #dropped = 0;
  #complainedMs = -Infinity;

  constructor(private readonly options: SpanExporterOptions) {}

  /** Spans that were lost since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  add(span: EndedSpan): void {
    if (this.#stopped || this.#queue.length >= maxQueued) {
      this.#dropped++;
      return;
    }
    this.#queue.push(span);
    if (this.#queue.length >= maxBatch) this.#flush();
    else
      this.#timer ??= this.options.clock.after(batchEveryMs, () =>
        this.#flush(),
      );
  }

  /** Sends what is queued, for as long as a few seconds. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#retry?.cancel();
    const { clock } = this.options;
    const sent = (async () => {
      await this.#exporting;
      this.#flush();
      await this.#exporting;
    })();
    await new Promise<void>((resolve) => {
      const timer = clock.after(stopMs, () => resolve());
      void sent.then(() => {
        timer.cancel();
        resolve();
      });
    });
    this.#channel?.close();
  }

  #flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#queue.length === 0) return;
    this.#exporting ??= this.#exportAll().finally(() => {
      this.#exporting = undefined;
    });
  }

  /** Never rejects. */
  async #exportAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, maxBatch);
      try {
        await this.#send(batch);
      } catch (error) {
        this.#lose(batch.length, error);
      }
    }
  }

  async #send(batch: readonly EndedSpan[]): Promise<void> {
    const { resource } = this.options;
    for (let tries = 0; ; tries++)
      try {
        const channel = (this.#channel ??= await this.#connect());
        await channel.unary(exportMethod, exportRequest(resource, batch), {
          timeoutMs: exportMs,
        });
        return;
      } catch (error) {
        const again = temporary.includes(grpcCode(error));
        if (!again || this.#stopped || tries + 1 >= maxTries) throw error;
        await this.#wait(backoffMs(retries, tries));
      }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.options.clock.after(ms, resolve);
      this.#retry = {
        cancel: () => {
          timer.cancel();
          resolve();
        },
      };
    });
  }

  async #connect(): Promise<GrpcChannel> {
    return new GrpcChannel(await loadGrpc(), {
      target: this.options.target,
      codec: createWireCodec(otlpTable),
      settings: {
        "grpc.max_reconnect_backoff_ms": retries.maxMs,
        "grpc.service_config_disable_resolution": 1,
        "grpc.use_local_subchannel_pool": 1,
      },
    });
  }

  #lose(spans: number, error: unknown): void {
    const { clock, logger, target } = this.options;
    this.#dropped += spans;
    if (clock.monotonic() - this.#complainedMs < complainEveryMs) return;
    this.#complainedMs = clock.monotonic();
    const reason = grpcStatusText(error);
    logger.warn(
      { target, reason, dropped: this.#dropped },
      "spans can't be sent to the collector",
    );
  }
}
