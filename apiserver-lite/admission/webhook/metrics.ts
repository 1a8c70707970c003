// The metrics of calls of admission webhooks, with the reference's names. Label values are bounded by the configurations.
import { Family, type Labels } from "../../../api/metrics/family.ts";
import { Histogram } from "../../../api/metrics/histogram.ts";
import { MatchConditionMetrics } from "../expressions/match-condition-metrics.ts";

export type Step = "admit" | "validating";

type RejectedBy =
  "calling_webhook_error" | "apiserver_internal_error" | "no_error";

interface Call {
  readonly name: string;
  readonly step: Step;
  readonly operation: string;
}

const bounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
/** Larger codes are counted as this one. */
const largestCode = 600;

interface Series {
  readonly labels: Labels;
  count: number;
}

class Counter {
  readonly #series = new Map<string, Series>();

  constructor(
    private readonly name: string,
    private readonly help: string,
  ) {}

  add(labels: Labels): void {
    const key = JSON.stringify(labels);
    const known = this.#series.get(key);
    if (known) known.count++;
    else this.#series.set(key, { labels, count: 1 });
  }

  family(): Family {
    const family = new Family(this.name, "counter", this.help);
    for (const { labels, count } of this.#series.values())
      family.add(labels, count);
    return family;
  }
}

const prefix = "apiserver_admission_webhook";

export class WebhookMetrics {
  readonly #durations = new Map<
    string,
    { readonly labels: Labels; readonly histogram: Histogram }
  >();
  readonly #requests = new Counter(
    `${prefix}_request_total`,
    "Admission webhook request total, identified by name and broken out for each admission type (validating or admit) and operation.",
  );
  readonly #rejections = new Counter(
    `${prefix}_rejection_count`,
    "Admission webhook rejection count, identified by name and broken out for each admission type (validating or admit) and operation.",
  );
  readonly #failedOpen = new Counter(
    `${prefix}_fail_open_count`,
    "Admission webhook fail open count, identified by name and broken out for each admission type (validating or admit).",
  );

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
    const labels = { name, type: step, operation, rejected: String(rejected) };
    const key = JSON.stringify(labels);
    let known = this.#durations.get(key);
    if (!known)
      this.#durations.set(
        key,
        (known = { labels, histogram: new Histogram(bounds) }),
      );
    known.histogram.observe(seconds);
    this.#requests.add({
      name,
      type: step,
      operation,
      code: codeText(code),
      rejected: labels.rejected,
    });
  }

  rejected(
    { name, step, operation }: Call,
    by: RejectedBy,
    code: number,
  ): void {
    this.#rejections.add({
      name,
      type: step,
      operation,
      error_type: by,
      rejection_code: codeText(code),
    });
  }

  failedOpen({ name, step }: Call): void {
    this.#failedOpen.add({ name, type: step });
  }

  families(): Family[] {
    const durations = new Family(
      `${prefix}_admission_duration_seconds`,
      "histogram",
      "Admission webhook latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).",
    );
    for (const { labels, histogram } of this.#durations.values())
      durations.addHistogram(labels, histogram);
    return [
      ...this.conditions.families(),
      durations,
      this.#failedOpen.family(),
      this.#rejections.family(),
      this.#requests.family(),
    ];
  }
}

const codeText = (code: number): string => String(Math.min(code, largestCode));
