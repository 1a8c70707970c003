// How the autoscaler's syncs and its computations of single metrics went, with the reference's names.
import type { Clock } from "../../api/clock.ts";
import {
  Counters,
  exponentialBounds,
  Histograms,
} from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";

export type ScaleAction = "scale_up" | "scale_down" | "none";

export function actionOf(from: number, to: number): ScaleAction {
  if (from === to) return "none";
  return to > from ? "scale_up" : "scale_down";
}

const bounds = exponentialBounds(0.001, 2, 15);
const prefix = "horizontal_pod_autoscaler_controller";

export class AutoscalerMetrics {
  readonly #syncs = new Counters({
    name: `${prefix}_reconciliations_total`,
    help: "Syncs of autoscalers.",
    labels: ["action", "error"],
  });
  readonly #syncTimes = new Histograms(
    {
      name: `${prefix}_reconciliation_duration_seconds`,
      help: "How long syncs of autoscalers took.",
      labels: ["action", "error"],
    },
    bounds,
  );
  readonly #computations = new Counters({
    name: `${prefix}_metric_computation_total`,
    help: "Computations of what one metric asks for.",
    labels: ["action", "error", "metric_type"],
  });
  readonly #computationTimes = new Histograms(
    {
      name: `${prefix}_metric_computation_duration_seconds`,
      help: "How long computing what one metric asks for took.",
      labels: ["action", "error", "metric_type"],
    },
    bounds,
  );

  constructor(private readonly clock: Clock) {}

  /** Begins a sync, or the computation of a metric of that type; the returned function ends it. */
  began(metricType?: string): (action: ScaleAction, failed?: boolean) => void {
    const startMs = this.clock.monotonic();
    const [counts, times] =
      metricType === undefined
        ? [this.#syncs, this.#syncTimes]
        : [this.#computations, this.#computationTimes];
    return (action, failed = false) => {
      const labels = [action, failed ? "internal" : "none"];
      if (metricType !== undefined) labels.push(metricType);
      counts.count(...labels);
      times.observe((this.clock.monotonic() - startMs) / 1000, ...labels);
    };
  }

  families(): Family[] {
    return [
      this.#syncs.family(),
      this.#syncTimes.family(),
      this.#computations.family(),
      this.#computationTimes.family(),
    ];
  }
}
