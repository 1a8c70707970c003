// How often credential provider programs failed, and how long they ran.
import { Family } from "../../api/metrics/family.ts";
import { Histogram } from "../../api/metrics/histogram.ts";

const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export class ProviderMetrics {
  readonly #errors = new Map<string, number>();
  readonly #durations = new Map<string, Histogram>();

  failed(provider: string): void {
    this.#errors.set(provider, (this.#errors.get(provider) ?? 0) + 1);
  }

  ran(provider: string, seconds: number): void {
    let histogram = this.#durations.get(provider);
    if (!histogram)
      this.#durations.set(provider, (histogram = new Histogram(bounds)));
    histogram.observe(seconds);
  }

  families(): Family[] {
    const errors = new Family(
      "kubelet_credential_provider_plugin_errors",
      "counter",
      "[ALPHA] Number of errors from credential provider plugin",
    );
    for (const [name, count] of this.#errors)
      errors.add({ plugin_name: name }, count);
    const durations = new Family(
      "kubelet_credential_provider_plugin_duration",
      "histogram",
      "[ALPHA] Duration of execution in seconds for credential provider plugin",
    );
    for (const [name, histogram] of this.#durations)
      durations.addHistogram({ plugin_name: name }, histogram);
    return [errors, durations];
  }
}
