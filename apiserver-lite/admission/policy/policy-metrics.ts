// How often policies decided and how long it took, by policy, binding, kind of error and what followed.
import { Family } from "../../../api/metrics/family.ts";
import { Histogram } from "../../../api/metrics/histogram.ts";
import { MatchConditionMetrics } from "../expressions/match-condition-metrics.ts";

const bounds = [0.0000005, 0.001, 0.01, 0.1, 1];
/** Names come from clients: later ones are not counted. */
const maxRows = 10_000;

interface Row {
  readonly labels: Readonly<Record<string, string>>;
  readonly duration: Histogram;
}

/** As the reference sorts failures, by their texts. */
export function errorType({
  evaluation,
  message,
}: {
  readonly evaluation: string;
  readonly message: string;
}): string {
  if (evaluation === "admit") return "no_error";
  if (message.startsWith("compilation")) return "compile_error";
  return message.startsWith("validation failed due to running out of cost")
    ? "out_of_budget"
    : "invalid_error";
}

export class PolicyMetrics {
  readonly #rows = new Map<string, Row>();

  /** @param conditions are reported by whom they belong to: those of webhooks are counted with them */
  constructor(readonly conditions = new MatchConditionMetrics()) {}

  observe(
    policy: string,
    binding: string,
    error: string,
    action: string,
    seconds: number,
  ): void {
    const key = `${policy}/${binding}/${error}/${action}`;
    let row = this.#rows.get(key);
    if (!row) {
      if (this.#rows.size >= maxRows) return;
      const labels = {
        enforcement_action: action,
        error_type: error,
        policy,
        policy_binding: binding,
      };
      this.#rows.set(key, (row = { labels, duration: new Histogram(bounds) }));
    }
    row.duration.observe(seconds);
  }

  families(): Family[] {
    const total = new Family(
      "apiserver_validating_admission_policy_check_total",
      "counter",
      "[BETA] Validation admission policy check total, labeled by policy and further identified by binding and enforcement action taken.",
    );
    const duration = new Family(
      "apiserver_validating_admission_policy_check_duration_seconds",
      "histogram",
      "[BETA] Validation admission latency for individual validation expressions in seconds, labeled by policy and further including binding and enforcement action taken.",
    );
    for (const { labels, duration: histogram } of this.#rows.values()) {
      total.add(labels, histogram.count);
      duration.addHistogram(labels, histogram);
    }
    return [total, duration];
  }
}
