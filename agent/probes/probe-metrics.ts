// What /metrics/probes says: the results of probes and how long answers took, as long as the container runs.
import { Family, type Labels } from "../../api/metrics/family.ts";
import { Histogram } from "../../api/metrics/histogram.ts";

export type ProbeResult = "successful" | "failed" | "unknown";

interface Counted {
  readonly labels: Labels;
  readonly results: Map<ProbeResult, number>;
  readonly durations: Histogram;
}

const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export class ProbeMetrics {
  /** By container's id, then by the probe's type. */
  readonly #counted = new Map<string, Map<string, Counted>>();

  /** @param tookSeconds undefined: no answer came, as of a probe that could not be run */
  count(
    probe: { containerId: string; type: string; labels: Labels },
    result: ProbeResult,
    tookSeconds: number | undefined,
  ): void {
    let types = this.#counted.get(probe.containerId);
    if (!types) this.#counted.set(probe.containerId, (types = new Map()));
    let counted = types.get(probe.type);
    if (!counted)
      types.set(
        probe.type,
        (counted = {
          labels: probe.labels,
          results: new Map(),
          durations: new Histogram(bounds),
        }),
      );
    counted.results.set(result, (counted.results.get(result) ?? 0) + 1);
    if (tookSeconds !== undefined) counted.durations.observe(tookSeconds);
  }

  forget(containerId: string): void {
    this.#counted.delete(containerId);
  }

  families(): Family[] {
    const total = new Family(
      "prober_probe_total",
      "counter",
      "[BETA] Cumulative number of a liveness, readiness or startup probe for a container by result.",
    );
    const durations = new Family(
      "prober_probe_duration_seconds",
      "histogram",
      "[ALPHA] Duration in seconds for a probe response.",
    );
    for (const types of this.#counted.values())
      for (const [type, { labels, results, durations: took }] of types) {
        const { pod_uid: _uid, ...short } = labels;
        const probe_type = type[0]!.toUpperCase() + type.slice(1);
        for (const [result, count] of results)
          total.add({ ...labels, probe_type, result }, count);
        if (took.count > 0)
          durations.addHistogram({ ...short, probe_type }, took);
      }
    return [total, durations];
  }
}
