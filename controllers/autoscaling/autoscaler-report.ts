// What one look at an autoscaler finds out, as its status and events show it: conditions, figures of the metrics, replicas.
// Nothing is written where nothing has changed.
import { formatTime, type Clock } from "../../api/clock.ts";
import { setCondition } from "../../api/objects/conditions.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerStatus,
  MetricStatus,
} from "../../api/types/autoscaling-v2.ts";
import type { Client } from "../../client/client.ts";
import type { EventWriter } from "../../client/event-recorder.ts";
import { horizontalPodAutoscalers } from "../../client/resources.ts";

interface ReportContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventWriter;
}

interface Why {
  readonly reason: string;
  readonly message: string;
}

export class AutoscalerReport {
  #conditions: readonly HorizontalPodAutoscalerCondition[];
  /** In the order of the metrics; a failed one is empty. */
  metrics: readonly MetricStatus[] = [];

  constructor(
    readonly autoscaler: HorizontalPodAutoscaler,
    private readonly context: ReportContext,
  ) {
    this.#conditions = autoscaler.status?.conditions ?? [];
  }

  put(
    type: "AbleToScale" | "ScalingActive" | "ScalingLimited",
    holds: boolean,
    { reason, message }: Why,
  ): void {
    this.#conditions = setCondition(
      this.#conditions,
      { type, status: holds ? "True" : "False", reason, message },
      formatTime(this.context.clock.now()),
    );
  }

  warn(reason: string, message: string): void {
    this.context.recorder.event(this.autoscaler, "Warning", reason, message);
  }

  /** Writes the conditions alone: the target could not be looked at. Rejects as write() does. */
  writeConditions(): Promise<void> {
    return this.#write({
      desiredReplicas: 0,
      ...this.autoscaler.status,
      conditions: [...this.#conditions],
    });
  }

  /**
   * Rejects when the status can't be written.
   * @param desiredReplicas undefined: what the status says
   */
  async write(
    currentReplicas: number,
    desiredReplicas: number | undefined,
    rescaled = false,
  ): Promise<void> {
    const { lastScaleTime, desiredReplicas: before = 0 } =
      this.autoscaler.status ?? {};
    const scaledAt = rescaled
      ? formatTime(this.context.clock.now())
      : lastScaleTime;
    await this.#write({
      currentReplicas,
      desiredReplicas: desiredReplicas ?? before,
      ...(scaledAt === undefined ? {} : { lastScaleTime: scaledAt }),
      ...(this.metrics.length > 0 ? { currentMetrics: [...this.metrics] } : {}),
      conditions: [...this.#conditions],
    });
  }

  async #write(status: HorizontalPodAutoscalerStatus): Promise<void> {
    const { autoscaler, context } = this;
    if (sameJson(autoscaler.status, status)) return;
    try {
      await context.client
        .resource(horizontalPodAutoscalers)
        .updateStatus({ ...autoscaler, status });
    } catch (error) {
      const { message } = error as Error;
      this.warn("FailedUpdateStatus", message);
      throw new Error(
        `failed to update status for ${autoscaler.metadata.name}: ${message}`,
        { cause: error },
      );
    }
  }
}
