// Which APIServices are unavailable, and how often they became so, under the reference's names.
import { Family } from "../../api/metrics/family.ts";

export class AvailabilityMetrics {
  readonly #available = new Map<string, boolean>();
  /** By name, then reason. */
  readonly #becameUnavailable = new Map<string, Map<string, number>>();

  set(name: string, available: boolean): void {
    this.#available.set(name, available);
  }

  becameUnavailable(name: string, reason: string): void {
    const reasons = this.#becameUnavailable.get(name) ?? new Map();
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    this.#becameUnavailable.set(name, reasons);
  }

  /** An APIService is gone. */
  forget(name: string): void {
    this.#available.delete(name);
    this.#becameUnavailable.delete(name);
  }

  families(): Family[] {
    const unavailable = new Family(
      "aggregator_unavailable_apiservice",
      "gauge",
      "1 for an APIService that is unavailable, 0 for one that is available.",
    );
    for (const [name, available] of this.#available)
      unavailable.add({ name }, available ? 0 : 1);
    const total = new Family(
      "aggregator_unavailable_apiservice_total",
      "counter",
      "How often an APIService became unavailable, by reason.",
    );
    for (const [name, reasons] of this.#becameUnavailable)
      for (const [reason, count] of reasons) total.add({ name, reason }, count);
    return [unavailable, total];
  }
}
