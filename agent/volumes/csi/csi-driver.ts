// One registered driver: its calls, each bounded in time. A call's error keeps the driver's own text; whether the call may
// still be going on in the driver decides what is kept of it (isFinal).
import {
  GrpcChannel,
  grpcCode,
  grpcCodes,
  grpcStatusText,
  loadGrpc,
  type GrpcMethod,
} from "../../../grpc/channel.ts";
import { createBoundedWireCodec } from "../../../grpc/wire.ts";
import type { CsiMetrics } from "./csi-metrics.ts";
import {
  csiMessages,
  csiMethods,
  type ExpandRequest,
  type NodeInfoAnswer,
  type PublishRequest,
  type StageRequest,
  type StatsAnswer,
} from "./csi-protocol.ts";

/** As the reference waits for a driver. */
const callTimeoutMs = 120_000;
const statsTimeoutMs = 10_000;

/** Of one answer; the largest, with all topology segments that are taken, has some two hundred. */
const maxFields = 4096;
const codec = createBoundedWireCodec(maxFields, csiMessages);

/** A driver's refusal, as events show it. */
export class CsiCallError extends Error {
  /** The driver does nothing for the call any more. */
  readonly isFinal: boolean;
  readonly code: number | undefined;

  constructor(cause: unknown) {
    const code = grpcCode(cause);
    super(grpcStatusText(cause), { cause });
    this.code = code;
    this.isFinal =
      code !== undefined &&
      ![
        grpcCodes.cancelled,
        grpcCodes.deadlineExceeded,
        grpcCodes.unavailable,
        8,
        10,
      ].includes(code);
  }
}

export class CsiDriver {
  readonly #channel: GrpcChannel;
  #capabilities: Promise<ReadonlySet<number>> | undefined;

  private constructor(
    readonly name: string,
    readonly endpoint: string,
    channel: GrpcChannel,
    private readonly metrics: CsiMetrics,
  ) {
    this.#channel = channel;
  }

  static async open(
    name: string,
    endpoint: string,
    metrics: CsiMetrics,
  ): Promise<CsiDriver> {
    const path = endpoint.replace(/^unix:(\/\/)?/, "");
    const channel = new GrpcChannel(await loadGrpc(), {
      target: `unix://${path}`,
      codec,
      settings: { "grpc.max_reconnect_backoff_ms": 2000 },
    });
    return new CsiDriver(name, endpoint, channel, metrics);
  }

  /** Calls under way fail. */
  close(): void {
    this.#channel.abort();
  }

  /** Numbers of nodeCapability. Asked once: a driver that changes registers again. */
  capabilities(): Promise<ReadonlySet<number>> {
    this.#capabilities ??= this.#call<{
      capabilities: { rpc?: { type: number } }[];
    }>(csiMethods.capabilities, {}).then(
      ({ capabilities }) =>
        new Set(capabilities.flatMap(({ rpc }) => (rpc ? [rpc.type] : []))),
    );
    this.#capabilities.catch(() => (this.#capabilities = undefined));
    return this.#capabilities;
  }

  info(): Promise<NodeInfoAnswer> {
    return this.#call(csiMethods.info, {});
  }

  async stage(request: StageRequest): Promise<void> {
    await this.#call(csiMethods.stage, request);
  }

  async unstage(volume: string, stagingPath: string): Promise<void> {
    await this.#call(csiMethods.unstage, {
      volume_id: volume,
      staging_target_path: stagingPath,
    });
  }

  async publish(request: PublishRequest): Promise<void> {
    await this.#call(csiMethods.publish, request);
  }

  async unpublish(volume: string, targetPath: string): Promise<void> {
    await this.#call(csiMethods.unpublish, {
      volume_id: volume,
      target_path: targetPath,
    });
  }

  async expand(request: ExpandRequest): Promise<void> {
    await this.#call(csiMethods.expand, request);
  }

  stats(
    volume: string,
    path: string,
    stagingPath: string,
  ): Promise<StatsAnswer> {
    return this.#call(
      csiMethods.stats,
      {
        volume_id: volume,
        volume_path: path,
        staging_target_path: stagingPath,
      },
      statsTimeoutMs,
    );
  }

  async #call<T>(
    method: GrpcMethod,
    request: object,
    timeoutMs = callTimeoutMs,
  ): Promise<T> {
    const startMs = performance.now();
    const ended = (error?: unknown): void =>
      this.metrics.observe(
        this.name,
        method.path,
        (performance.now() - startMs) / 1000,
        error,
      );
    try {
      const answer = await this.#channel.unary<T>(method, request, {
        timeoutMs,
      });
      ended();
      return answer;
    } catch (error) {
      ended(error);
      throw new CsiCallError(error);
    }
  }
}
