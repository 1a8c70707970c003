// Metrics that also notify a test of each attempt.
import {
  SchedulerMetrics,
  type AttemptResult,
} from "../../../scheduler/metrics/scheduler-metrics.ts";

export class NotedAttempts extends SchedulerMetrics {
  constructor(
    private readonly note: (attempt: {
      result: AttemptResult;
      profile: string;
    }) => void,
  ) {
    super();
  }

  override attempt(
    ...args: Parameters<SchedulerMetrics["attempt"]>
  ): ReturnType<SchedulerMetrics["attempt"]> {
    super.attempt(...args);
    const [result, , profile] = args;
    this.note({ result, profile });
  }
}
