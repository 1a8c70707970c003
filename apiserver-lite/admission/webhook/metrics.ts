// The metrics of calls of admission webhooks, with the reference's names. Label values are bounded by the configurations.
import { Counters, Histograms } from "../../../api/metrics/counted.ts";
import type { Family } from "../../../api/metrics/family.ts";
import { MatchConditionMetrics } from "../expressions/match-condition-metrics.ts";

export type Step = "admit" | "validating";

type RejectedBy =
  "calling_webhook_error" | "apiserver_internal_error" | "no_error";

interface Call {
  readonly name: string;
  readonly step: Step;
  readonly operation: string;
}

/** Larger codes are counted as this one. */
const largestCode = 600;

const prefix = "apiserver_admission_webhook";

export class WebhookMetrics {
  readonly #durations = new Histograms(
    {
      name: `${prefix}_admission_duration_seconds`,
      help: "Admission webhook latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).",
      labels: ["name", "type", "operation", "rejected"],
    },
    [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
  );
  readonly #requests = new Counters({
    name: `${prefix}_request_total`,
    help: "Admission webhook request total, identified by name and broken out for each admission type (validating or admit) and operation.",
    labels: ["name", "type", "operation", "code", "rejected"],
  });
  readonly #rejections = new Counters({
    name: `${prefix}_rejection_count`,
    help: "Admission webhook rejection count, identified by name and broken out for each admission type (validating or admit) and operation.",
    labels: ["name", "type", "operation", "error_type", "rejection_code"],
  });
  readonly #failedOpen = new Counters({
    name: `${prefix}_fail_open_count`,
    help: "Admission webhook fail open count, identified by name and broken out for each admission type (validating or admit).",
    labels: ["name", "type"],
  });

  /** @param conditions those of policies are counted with them */
  constructor(readonly conditions = new MatchConditionMetrics()) {}

  called(
    { name, step, operation }: Call,
    {
      seconds,
      code,
      rejected,
    }: { seconds: number; code: number; rejected: boolean },
  ): void {
    const refused = String(rejected);
    this.#durations.observe(seconds, name, step, operation, refused);
    this.#requests.count(name, step, operation, codeText(code), refused);
  }

  rejected(
    { name, step, operation }: Call,
    by: RejectedBy,
    code: number,
  ): void {
    this.#rejections.count(name, step, operation, by, codeText(code));
  }

  failedOpen({ name, step }: Call): void {
    this.#failedOpen.count(name, step);
  }

  families(): Family[] {
    return [
      ...this.conditions.families(),
      this.#durations.family(),
      this.#failedOpen.family(),
      this.#rejections.family(),
      this.#requests.family(),
    ];
  }
}

const codeText = (code: number): string => String(Math.min(code, largestCode));
