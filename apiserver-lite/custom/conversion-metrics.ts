// Calls of conversion webhooks, with the reference's names.
import {
  Counters,
  exponentialBounds,
  Histograms,
} from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";

/** What went wrong with a call. */
export type ConversionFailure =
  | "call_failure"
  | "malformed_response_failure"
  | "partial_response_failure"
  | "invalid_converted_object_failure";

interface Converted {
  readonly definition: string;
  readonly from: string;
  readonly to: string;
}

const labels = ["result", "failure_type"];

export class ConversionMetrics {
  readonly #byVersions = new Histograms(
    {
      name: "apiserver_crd_conversion_webhook_duration_seconds",
      help: "How long webhooks took to convert, by definition and versions.",
      labels: ["crd_name", "from_version", "to_version", "succeeded"],
    },
    exponentialBounds(0.001, 2, 15),
  );
  readonly #took = new Histograms(
    {
      name: "apiserver_conversion_webhook_duration_seconds",
      help: "How long calls of conversion webhooks took.",
      labels,
    },
    [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60],
  );
  readonly #requests = new Counters({
    name: "apiserver_conversion_webhook_request_total",
    help: "Calls of conversion webhooks.",
    labels,
  });

  /** @param startMs of performance.now() @param failure undefined: it has converted */
  called(
    { definition, from, to }: Converted,
    startMs: number,
    failure?: ConversionFailure,
  ): void {
    const seconds = (performance.now() - startMs) / 1000;
    const succeeded = String(failure === undefined);
    this.#byVersions.observe(seconds, definition, from, to, succeeded);
    const result = failure === undefined ? "success" : "failure";
    const type = failure === undefined ? "" : `conversion_webhook_${failure}`;
    this.#took.observe(seconds, result, type);
    this.#requests.count(result, type);
  }

  /** The definition is gone. */
  forget(definition: string): void {
    this.#byVersions.forget(({ crd_name }) => crd_name === definition);
  }

  families(): Family[] {
    return [
      this.#byVersions.family(),
      this.#took.family(),
      this.#requests.family(),
    ];
  }
}
